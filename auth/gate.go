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
	// ErrForbidden says that the caller lacks permission.
	ErrForbidden = errors.New("this key may not do that")

	// ErrUnauthorized says that there is no key or token, or that it is no longer valid.
	ErrUnauthorized = errors.New("no valid key or token")
)

// Scopes of keys and tokens: read may only look; chat and admin may also act.
const (
	scopeAdmin = "admin"
	scopeChat  = "chat"
	scopeRead  = "read"
)

// Config is what a gate needs. Only Pool and Logger are required.
type Config struct {
	Pool *pgxpool.Pool
	// Budget is what a caller may use of this process; zero: unlimited.
	Budget Budget
	// OpenUser, if set, is the user of every request without a key: only for a loopback listener.
	OpenUser uuid.UUID
	// Tokens says whose signed tokens are accepted besides keys.
	Tokens TokenConfig
	Logger *slog.Logger
}

// Gate admits requests.
type Gate struct {
	budgets  budgets
	openUser uuid.UUID
	pool     *pgxpool.Pool
	q        *db.Queries
	tokens   *tokens // nil: tokens are not accepted
}

// NewGate returns a gate. It fetches the issuer's keys when the first token arrives.
func NewGate(c Config) *Gate {
	g := &Gate{budgets: budgets{Budget: c.Budget, used: map[string]*usedBudget{}}, openUser: c.OpenUser, pool: c.Pool, q: db.New()}
	if c.Tokens.Enabled() {
		g.tokens = newTokens(c.Tokens, c.Logger)
	}

	return g
}

// Caller is the user a request acts for, and with what permissions.
type Caller struct {
	User uuid.UUID

	// budget identifies whose rate and streams are counted; "" counts nothing: without keys, callers are
	// indistinguishable.
	budget  string
	expires time.Time // for a token
	key     uuid.UUID // the API key; uuid.Nil for tokens and without keys
	scopes  []string
}

// Admin reports whether the caller operates this system.
func (c Caller) Admin() bool { return slices.Contains(c.scopes, scopeAdmin) }

// May reports whether the caller may use an HTTP method: read keys may only look, chat and admin keys may also act.
func (c Caller) May(method string) bool {
	if slices.Contains(c.scopes, scopeChat) || c.Admin() {
		return true
	}

	return (method == http.MethodGet || method == http.MethodHead) && slices.Contains(c.scopes, scopeRead)
}

// Admit identifies the caller, checks that it may use the method, and counts the request against its budget. Errors:
// those of [Gate.Identify], [ErrForbidden], [*BudgetError].
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

// Identify finds the owner of a key or token. Errors: [ErrUnauthorized], [ErrNoKeys].
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
	// The lookup compares hashes of 256 random bits, so its timing reveals nothing about a key.
	found, err := g.q.ApiKeyFind(ctx, g.pool, hashKey(key))
	if errors.Is(err, pgx.ErrNoRows) {
		return Caller{}, ErrUnauthorized
	}
	if err != nil {
		return Caller{}, fmt.Errorf("look up key: %w", err)
	}
	// A read-only database still serves reads: failing to record a key's last use is no reason to reject it.
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

// StillGood checks a caller's key or token again: a stream outlives its initial check. A revoked one yields
// [ErrUnauthorized].
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
