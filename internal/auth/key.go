package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// keyPrefix distinguishes our keys from tokens, and lets scanners for leaked secrets find them.
const keyPrefix = "alf_"

// NewKey returns a new API key and the hash under which it is stored. The key has 256 random bits, so a plain hash
// cannot be reversed by guessing.
func NewKey() (key string, hash []byte) {
	secret := make([]byte, 32)
	rand.Read(secret) // documented never to fail
	key = keyPrefix + base64.RawURLEncoding.EncodeToString(secret)

	return key, hashKey(key)
}

func hashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))

	return sum[:]
}
