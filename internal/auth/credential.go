package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// Credential is what a request presents: a key, or a token's user. Only the database of a key's user knows whether the key is
// valid.
type Credential struct {
	// KeyHash is that of an API key, nil for a token.
	KeyHash []byte
	// User is the name that a token with a good signature has, "" for a key.
	User string

	expires time.Time
	scopes  []string
}

// Read reads the value of an Authorization header. tokens is nil where none are taken. Errors: [ErrUnauthorized],
// [ErrNoKeys].
func Read(ctx context.Context, authorization string, tokens *Tokens) (Credential, error) {
	scheme, secret, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Credential{}, ErrUnauthorized
	}
	if tokens == nil || strings.HasPrefix(secret, keyPrefix) {
		return Credential{KeyHash: hashKey(secret)}, nil
	}

	return tokens.verify(ctx, secret)
}

// Authorization is the request's Authorization header. The password of Basic authentication, which is all that operators' browsers
// and Prometheus support, counts as a bearer token.
func Authorization(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return "Bearer " + password
	}

	return r.Header.Get("Authorization")
}

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
