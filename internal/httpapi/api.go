package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/httpapi/agui"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/openai"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/preview"
	"alfred/internal/recall"
	"alfred/internal/telemetry"
	"alfred/jobs"
)

// Config is what the API needs. Budget, Tokens, UserOf, OpenUser, Origins and Stopping are optional.
type Config struct {
	Pool     *pgxpool.Pool
	Listener *pg.Listener
	// Rows are the domain's rows for user interfaces.
	Rows    *crud.Tools
	Preview *preview.Preview
	// Search finds rows and turns.
	Search *recall.Searcher
	// Domain is the domain of new sessions.
	Domain *domain.Domain
	// Limits are what a user may use per day; zero: unlimited.
	Limits jobs.Limits
	// Budget, Tokens, UserOf and OpenUser are described in [auth.Config].
	Budget   auth.Budget
	Tokens   *auth.Tokens
	UserOf   func(ctx context.Context, name string) (uuid.UUID, error)
	OpenUser uuid.UUID
	// Origins are the additional origins whose pages may call the API from a browser.
	Origins []string
	// Stopping, if not nil, is closed before the server shuts down: streams and waits end, and clients resume
	// elsewhere.
	Stopping <-chan struct{}
	// Telemetry, if not nil, records requests and serves /metrics.
	Telemetry *telemetry.Telemetry
	// RiverUI, if not nil, is served under /riverui/.
	RiverUI http.Handler
	Logger  *slog.Logger
	Version string
}

type api struct {
	Config

	q     *db.Queries
	huma  huma.API
	door  *door.Door
	gate  *auth.Gate
	drift drift
}

// New returns the handler of the whole API and the page.
func New(config Config) http.Handler {
	mux := http.NewServeMux()
	a := &api{Config: config, q: db.New(), gate: auth.NewGate(auth.Config{
		Pool: config.Pool, Budget: config.Budget, OpenUser: config.OpenUser, Tokens: config.Tokens, UserOf: config.UserOf,
	})}
	a.door = &door.Door{Pool: a.Pool, Listener: a.Listener, Gate: a.gate, Domain: a.Domain, Limits: a.Limits, Stopping: a.Stopping}
	a.register(mux)
	openai.Register(mux, a.door)
	agui.Register(mux, a.door, a.refs)
	a.registerMCP(mux)
	a.registerHealth(mux)
	a.registerOperator(mux)
	registerPage(mux, config.RiverUI != nil)

	return a.logRequests(drainBodies(securityHeaders(a.guardOrigin(a.traced(fallback(mux))))))
}

// register describes and serves every route of our own.
func (a *api) register(mux *http.ServeMux) {
	a.huma = newHuma(mux, a.Version)
	a.huma.UseMiddleware(a.authenticate, a.checkParameters)
	a.registerConversations()
	a.registerInsight()
	a.registerRows()
	documentErrors(a.huma.OpenAPI())
	a.registerReference(mux)
}

// readAll reads as the owner, for the data tools, which choose the role themselves.
func (a *api) readAll(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, a.Pool, work)
}

// writeAll writes as the owner, likewise.
func (a *api) writeAll(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InTx(ctx, a.Pool, work)
}

// userOf is the user the request acts for.
func userOf(ctx context.Context) uuid.UUID { return auth.CallerOf(ctx).User }

// authenticate authenticates requests to routes described by Huma.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	who, err := a.gate.Admit(ctx.Context(), ctx.Header("Authorization"), ctx.Method())
	if err != nil {
		a.fail(ctx, err)

		return
	}
	next(huma.WithContext(ctx, auth.With(ctx.Context(), who)))
}

// checkParameters refuses a parameter that the route does not have, or has once and is given again: if a misspelt or a
// second filter were ignored, its caller would be shown more than they asked for.
func (a *api) checkParameters(ctx huma.Context, next func(huma.Context)) {
	address := ctx.URL()
	given, err := url.ParseQuery(address.RawQuery)
	var known []string
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" {
			continue
		}
		if n := len(given[p.Name]); n > 1 && p.Schema.Type != huma.TypeArray {
			a.fail(ctx, problem.Invalid(fmt.Sprintf("%s is given %d times, and only one can apply.", p.Name, n)))

			return
		}
		known = append(known, p.Name)
		delete(given, p.Name)
	}
	slices.Sort(known)
	switch unknown := slices.Sorted(maps.Keys(given)); {
	case err != nil:
		a.fail(ctx, problem.Invalid("The query of this address could not be read."))
	case len(unknown) > 0:
		a.fail(ctx, problem.Invalid(fmt.Sprintf("There is no parameter %.100q here. Those that exist: %s.", unknown[0], cmp.Or(strings.Join(known, ", "), "none"))))
	default:
		next(ctx)
	}
}

func (a *api) fail(ctx huma.Context, err error) {
	problem.Note(ctx.Context(), err)
	_, w := humago.Unwrap(ctx)
	problem.Write(w, problem.Of(err))
}
