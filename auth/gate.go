package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/pg"
)

var (
	// ErrForbidden says that this caller may not do that.
	ErrForbidden = errors.New("this key may not do that")

	// ErrUnauthorized says that there is no key or token, or none that is good any more.
	ErrUnauthorized = errors.New("no valid key or token")
)

// What a key or token may do: read looks, chat and admin act too.
const (
	scopeAdmin = "admin"
	scopeChat  = "chat"
	scopeRead  = "read"
)

// Config is what a gate works with. All but Pool and Logger are optional.
type Config struct {
	Pool *pgxpool.Pool
	// Budget is what a caller may do to this process; the zero value: anything.
	Budget Budget
	// OpenUser, if set, is who every request acts for, without a key: only for a
	// listener on loopback.
	OpenUser uuid.UUID
	// Tokens says whose signed tokens are taken besides keys.
	Tokens TokenConfig
	Logger *slog.Logger
}

// Gate lets requests in.
type Gate struct {
	budgets  budgets
	openUser uuid.UUID
	pool     *pgxpool.Pool
	q        *db.Queries
	tokens   *tokens // nil: none are taken
}

// NewGate returns a gate. It asks a token's issuer for keys when the first token comes.
func NewGate(c Config) *Gate {
	g := &Gate{budgets: budgets{Budget: c.Budget, used: map[string]*usedBudget{}}, openUser: c.OpenUser, pool: c.Pool, q: db.New()}
	if c.Tokens.Enabled() {
		g.tokens = newTokens(c.Tokens, c.Logger)
	}

	return g
}

// Caller is whom a request acts for, and by what right.
type Caller struct {
	User uuid.UUID

	// budget names whose rate and streams are counted; "" is nobody's: without keys there is nothing to tell callers apart by.
	budget  string
	expires time.Time // of a token
	key     uuid.UUID // the API key; uuid.Nil for tokens and without keys
	scopes  []string
}

// Admin says that the caller operates this system, and does not only use it.
func (c Caller) Admin() bool { return slices.Contains(c.scopes, scopeAdmin) }

// May says whether the caller may do what a method does: read keys look, chat and admin keys act too.
func (c Caller) May(method string) bool {
	if slices.Contains(c.scopes, scopeChat) || c.Admin() {
		return true
	}

	return (method == http.MethodGet || method == http.MethodHead) && slices.Contains(c.scopes, scopeRead)
}

// Admit finds who is behind a key or token, checks that it may do what the method
// does, and that it does not do so too often. Errors: those of [Gate.Identify],
// [ErrForbidden], [*BudgetError].
func (g *Gate) Admit(ctx context.Context, authorization, method string) (Caller, error) {
	who, err := g.Identify(ctx, authorization)
	switch {
	case err != nil:
	case !who.May(method):
		err = ErrForbidden
	default:
		err = g.budgets.take(who.budget)
	}

	return who, err
}

// Identify finds who is behind a key or token. Errors: [ErrUnauthorized], [ErrNoKeys].
func (g *Gate) Identify(ctx context.Context, authorization string) (Caller, error) {
	if g.openUser != uuid.Nil {
		return Caller{User: g.openUser, scopes: []string{scopeAdmin}}, nil
	}
	scheme, secret, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Caller{}, ErrUnauthorized
	}
	if g.tokens != nil && !strings.HasPrefix(secret, keyPrefix) {
		return g.byToken(ctx, secret)
	}

	return g.byKey(ctx, secret)
}

func (g *Gate) byKey(ctx context.Context, key string) (Caller, error) {
	// The look-up compares hashes of 256 random bits: how long it takes says nothing about a key.
	found, err := g.q.ApiKeyFind(ctx, g.pool, hashKey(key))
	if errors.Is(err, pgx.ErrNoRows) {
		return Caller{}, ErrUnauthorized
	}
	if err != nil {
		return Caller{}, fmt.Errorf("look up key: %w", err)
	}
	// A database that may only be read still answers: when a key was last used is no reason to refuse it.
	if err := g.q.ApiKeyTouch(ctx, g.pool, found.ID); err != nil && pg.Code(err) != pgerrcode.ReadOnlySQLTransaction {
		return Caller{}, fmt.Errorf("note use of key: %w", err)
	}

	return Caller{User: found.UserID, scopes: found.Scopes, budget: found.ID.String(), key: found.ID}, nil
}

func (g *Gate) byToken(ctx context.Context, token string) (Caller, error) {
	claims, err := g.tokens.verify(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	user, err := g.q.UserEnsure(ctx, g.pool, claims.user)
	if err != nil {
		return Caller{}, fmt.Errorf("make the token's user: %w", err)
	}

	return Caller{User: user, scopes: claims.scopes, budget: user.String(), expires: claims.expires}, nil
}

// OpenStream counts a stream of the caller until done is called. Errors: [*BudgetError].
func (g *Gate) OpenStream(who Caller) (done func(), err error) {
	return g.budgets.openStream(who.budget)
}

// StillGood asks again whether a caller's key or token is: a stream outlives the
// check that it began with. One that was revoked is [ErrUnauthorized].
func (g *Gate) StillGood(ctx context.Context, who Caller) error {
	if !who.expires.IsZero() && time.Now().After(who.expires) {
		return ErrUnauthorized
	}
	if who.key == uuid.Nil {
		return nil
	}
	active, err := g.q.ApiKeyActive(ctx, g.pool, who.key)
	if err != nil {
		return fmt.Errorf("look at key: %w", err)
	}
	if !active {
		return ErrUnauthorized
	}

	return nil
}
