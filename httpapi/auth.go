package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

type contextKey int

const (
	userKey contextKey = iota
	causeKey
)

// userOf is whom the request acts for.
func userOf(ctx context.Context) uuid.UUID {
	id, _ := ctx.Value(userKey).(uuid.UUID)

	return id
}

// NewKey returns a new API key and the hash under which it is stored. The key has
// 256 random bits, so that a plain hash of it cannot be guessed.
func NewKey() (key string, hash []byte) {
	secret := make([]byte, 32)
	rand.Read(secret) // documented never to fail
	key = "alf_" + base64.RawURLEncoding.EncodeToString(secret)

	return key, hashKey(key)
}

func hashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))

	return sum[:]
}

// authenticate finds the user behind the request's key and checks that the key
// may do what the method does.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	user, err := a.userOfKey(ctx.Context(), ctx.Header("Authorization"), ctx.Method())
	if err != nil {
		a.fail(ctx, err)

		return
	}
	next(huma.WithValue(ctx, userKey, user))
}

func (a *api) userOfKey(ctx context.Context, authorization, method string) (uuid.UUID, error) {
	if a.OpenUser != uuid.Nil {
		return a.OpenUser, nil
	}
	scheme, key, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || key == "" {
		return uuid.Nil, errUnauthorized
	}
	// The look-up compares hashes of 256 random bits: how long it takes says nothing about a key.
	found, err := a.q.ApiKeyFind(ctx, a.Pool, hashKey(key))
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, errUnauthorized
	}
	if err != nil {
		return uuid.Nil, err //nolint:wrapcheck // mapped to "internal" by the caller, who logs it
	}
	if !allows(found, method) {
		return uuid.Nil, errForbidden
	}

	return found.UserID, a.q.ApiKeyTouch(ctx, a.Pool, found.ID)
}

// allows: read keys look, chat and admin keys act too.
func allows(key *db.ApiKeyFindRow, method string) bool {
	if slices.Contains(key.Scopes, "chat") || slices.Contains(key.Scopes, "admin") {
		return true
	}

	return (method == http.MethodGet || method == http.MethodHead) && slices.Contains(key.Scopes, "read")
}

func (a *api) fail(ctx huma.Context, err error) {
	noteCause(ctx.Context(), err)
	_, w := humago.Unwrap(ctx)
	writeProblem(w, problemOf(err))
}
