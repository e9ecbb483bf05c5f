package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/pg"
)

var (
	// ErrForbidden says that the caller lacks permission.
	ErrForbidden = errors.New("this key may not do that")

	// ErrElsewhere says that another database serves the user, or will in a moment.
	ErrElsewhere = errors.New("this user has moved to another database")

	// ErrUnauthorized says that there is no key or token, or that it is no longer valid.
	ErrUnauthorized = errors.New("no valid key or token")
)

// Scopes of keys and tokens: read may only look; chat and admin may also act.
const (
	scopeAdmin = "admin"
	scopeChat  = "chat"
	scopeRead  = "read"
)

// Config is what a gate needs. Only Pool is required.
type Config struct {
	Pool *pgxpool.Pool
	// Budget is what a caller may use of this process; zero: unlimited.
	Budget Budget
	// OpenUser, if set, is the user of every request without a key: only for a loopback listener.
	OpenUser uuid.UUID
	// Tokens says whose signed tokens are accepted besides keys; nil: nobody's.
	Tokens *Tokens
	// UserOf, if set, finds the user of a token's name where a directory spreads users over several databases. A user
	// placed in this database is created here on the first request.
	UserOf func(ctx context.Context, name string) (uuid.UUID, error)
}

// Gate admits requests.
type Gate struct {
	Config

	budgets budgets
	q       *db.Queries
}

// NewGate returns a gate.
func NewGate(c Config) *Gate {
	return &Gate{Config: c, budgets: budgets{Budget: c.Budget, used: map[string]*usedBudget{}}, q: db.New()}
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

// Identify finds the owner of a key or token. Errors: [ErrUnauthorized], [ErrNoKeys], [ErrElsewhere].
func (g *Gate) Identify(ctx context.Context, authorization string) (Caller, error) {
	if g.OpenUser != uuid.Nil {
		return Caller{User: g.OpenUser, scopes: []string{scopeAdmin}}, nil
	}
	credential, err := Read(ctx, authorization, g.Tokens)
	if err != nil {
		return Caller{}, err
	}
	if credential.KeyHash == nil {
		return g.byToken(ctx, credential)
	}

	return g.byKey(ctx, credential.KeyHash)
}

func (g *Gate) byKey(ctx context.Context, hash []byte) (Caller, error) {
	// The lookup compares hashes of 256 random bits, so its timing reveals nothing about a key.
	found, err := g.q.ApiKeyFind(ctx, g.Pool, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return Caller{}, ErrUnauthorized
	}
	if err != nil {
		return Caller{}, fmt.Errorf("look up key: %w", err)
	}
	if found.Elsewhere {
		return Caller{}, ErrElsewhere
	}
	// A read-only database still serves reads: failing to record a key's last use is no reason to reject it.
	if err := g.q.ApiKeyTouch(ctx, g.Pool, found.ID); err != nil && pg.Code(err) != pgerrcode.ReadOnlySQLTransaction {
		return Caller{}, fmt.Errorf("note use of key: %w", err)
	}

	return Caller{User: found.UserID, scopes: found.Scopes, budget: found.ID.String(), key: found.ID}, nil
}

func (g *Gate) byToken(ctx context.Context, token Credential) (Caller, error) {
	user, err := g.userOf(ctx, token.User)
	if err != nil {
		return Caller{}, fmt.Errorf("make the token's user: %w", err)
	}

	return Caller{User: user, scopes: token.scopes, budget: user.String(), expires: token.expires}, g.served(ctx, user)
}

func (g *Gate) userOf(ctx context.Context, name string) (uuid.UUID, error) {
	if g.UserOf == nil {
		return g.q.UserEnsure(ctx, g.Pool, name)
	}
	user, err := g.UserOf(ctx, name)
	if err != nil {
		return uuid.Nil, err
	}

	return user, g.q.UserPlaceMake(ctx, g.Pool, &db.UserPlaceMakeParams{ID: user, Name: name})
}

// served returns ErrElsewhere for a user whom another database serves; the lookup of a key checks this itself.
func (g *Gate) served(ctx context.Context, user uuid.UUID) error {
	if g.UserOf == nil {
		return nil
	}

	return CheckServed(ctx, g.Pool, user)
}

// CheckServed returns ErrElsewhere for a user whom another database than this one serves.
func CheckServed(ctx context.Context, pool *pgxpool.Pool, user uuid.UUID) error {
	elsewhere, err := db.New().UserPlaceElsewhere(ctx, pool, user)
	if err != nil {
		return fmt.Errorf("look for the user's place: %w", err)
	}
	if elsewhere {
		return ErrElsewhere
	}

	return nil
}

// CheckStays returns ErrElsewhere for a user who is about to leave this database, or has left: for requests that cannot report it
// later.
func (g *Gate) CheckStays(ctx context.Context, who Caller) error {
	if g.UserOf == nil {
		return nil
	}
	stays, err := g.q.UserPlaceStays(ctx, g.Pool, who.User)
	if err != nil {
		return fmt.Errorf("look for the user's place: %w", err)
	}
	if !stays {
		return ErrElsewhere
	}

	return nil
}

// OpenStream counts a stream of the caller until done is called. Errors: [*BudgetError].
func (g *Gate) OpenStream(who Caller) (done func(), err error) {
	return g.budgets.openStream(who.budget)
}

// StillGood checks a caller's key or token again: a stream outlives its initial check. A revoked one yields
// [ErrUnauthorized], one whose user has moved [ErrElsewhere]: it is valid where the user is then.
func (g *Gate) StillGood(ctx context.Context, who Caller) error {
	if !who.expires.IsZero() && time.Now().After(who.expires) {
		return ErrUnauthorized
	}
	if who.key == uuid.Nil {
		return g.served(ctx, who.User)
	}
	found, err := g.q.ApiKeyActive(ctx, g.Pool, &db.ApiKeyActiveParams{ID: who.key, UserID: who.User})
	if err != nil {
		return fmt.Errorf("look at key: %w", err)
	}
	switch {
	case found.Elsewhere: // which may have its row no more
		return ErrElsewhere
	case !found.Active:
		return ErrUnauthorized
	default:
		return nil
	}
}

// At is the gate for the callers of this one who have moved to another database.
func (g *Gate) At(pool *pgxpool.Pool) *Gate {
	return &Gate{Config: Config{Pool: pool, UserOf: g.UserOf}, q: g.q}
}
