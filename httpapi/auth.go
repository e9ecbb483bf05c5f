package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"

	"alfred/pg"
)

type contextKey int

const (
	callerKey contextKey = iota
	causeKey
)

// What a key or token may do: read looks, chat and admin act too.
const (
	scopeAdmin = "admin"
	scopeChat  = "chat"
	scopeRead  = "read"
)

// caller is whom a request acts for, and by what right.
type caller struct {
	user   uuid.UUID
	scopes []string
	// budget names whose rate and streams are counted; "" is nobody's: without keys there is nothing to tell callers apart by.
	budget string

	key     uuid.UUID // the API key; uuid.Nil for tokens and without keys
	expires time.Time // of a token
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey).(caller)

	return c
}

// userOf is whom the request acts for.
func userOf(ctx context.Context) uuid.UUID { return callerOf(ctx).user }

// keyPrefix tells our keys from tokens, and lets scanners for leaked secrets find them.
const keyPrefix = "alf_"

// NewKey returns a new API key and the hash under which it is stored. The key has
// 256 random bits, so that a plain hash of it cannot be guessed.
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

// authenticate finds who is behind the request's key or token, checks that it may
// do what the method does, and that it does not do so too often.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	who, err := a.admit(ctx.Context(), ctx.Header("Authorization"), ctx.Method())
	if err != nil {
		a.fail(ctx, err)

		return
	}
	next(huma.WithValue(ctx, callerKey, who))
}

func (a *api) admit(ctx context.Context, authorization, method string) (caller, error) {
	who, err := a.identify(ctx, authorization)
	switch {
	case err != nil:
	case !who.may(method):
		err = errForbidden
	default:
		err = a.budgets.take(who.budget)
	}

	return who, err
}

func (a *api) identify(ctx context.Context, authorization string) (caller, error) {
	if a.OpenUser != uuid.Nil {
		return caller{user: a.OpenUser, scopes: []string{scopeAdmin}}, nil
	}
	scheme, secret, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return caller{}, errUnauthorized
	}
	if a.tokens != nil && !strings.HasPrefix(secret, keyPrefix) {
		return a.byToken(ctx, secret)
	}

	return a.byKey(ctx, secret)
}

func (a *api) byKey(ctx context.Context, key string) (caller, error) {
	// The look-up compares hashes of 256 random bits: how long it takes says nothing about a key.
	found, err := a.q.ApiKeyFind(ctx, a.Pool, hashKey(key))
	if errors.Is(err, pgx.ErrNoRows) {
		return caller{}, errUnauthorized
	}
	if err != nil {
		return caller{}, fmt.Errorf("look up key: %w", err)
	}
	// A database that may only be read still answers: when a key was last used is no reason to refuse it.
	if err := a.q.ApiKeyTouch(ctx, a.Pool, found.ID); err != nil && pg.Code(err) != pgerrcode.ReadOnlySQLTransaction {
		return caller{}, fmt.Errorf("note use of key: %w", err)
	}

	return caller{user: found.UserID, scopes: found.Scopes, budget: found.ID.String(), key: found.ID}, nil
}

func (a *api) byToken(ctx context.Context, token string) (caller, error) {
	claims, err := a.tokens.verify(ctx, token)
	if err != nil {
		return caller{}, err
	}
	user, err := a.q.UserEnsure(ctx, a.Pool, claims.user)
	if err != nil {
		return caller{}, fmt.Errorf("make the token's user: %w", err)
	}

	return caller{user: user, scopes: claims.scopes, budget: user.String(), expires: claims.expires}, nil
}

// may: read keys look, chat and admin keys act too.
func (c caller) may(method string) bool {
	if slices.Contains(c.scopes, scopeChat) || slices.Contains(c.scopes, scopeAdmin) {
		return true
	}

	return (method == http.MethodGet || method == http.MethodHead) && slices.Contains(c.scopes, scopeRead)
}

// stillGood asks again whether a request's key or token is: a stream outlives the
// check that it began with. A key that was revoked is errUnauthorized.
func (a *api) stillGood(ctx context.Context) error { return a.good(ctx, callerOf(ctx)) }

func (a *api) good(ctx context.Context, who caller) error {
	if !who.expires.IsZero() && time.Now().After(who.expires) {
		return errUnauthorized
	}
	if who.key == uuid.Nil {
		return nil
	}
	active, err := a.q.ApiKeyActive(ctx, a.Pool, who.key)
	if err != nil {
		return fmt.Errorf("look at key: %w", err)
	}
	if !active {
		return errUnauthorized
	}

	return nil
}

func (a *api) fail(ctx huma.Context, err error) {
	noteCause(ctx.Context(), err)
	_, w := humago.Unwrap(ctx)
	writeProblem(w, problemOf(err))
}
