package auth

import (
	"context"
	"strings"
	"time"
)

// Credential is what a request shows of whom it acts for: a key or a token's user. Whether a key is good, only the
// database of its user knows.
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
	claims, err := tokens.verify(ctx, secret)
	if err != nil {
		return Credential{}, err
	}

	return Credential{User: claims.user, scopes: claims.scopes, expires: claims.expires}, nil
}
