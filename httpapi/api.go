package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/crud"
	"alfred/db"
	"alfred/memory"
	"alfred/pg"
)

// Config is what the API works with. All fields but OpenUser are required.
type Config struct {
	Pool     *pgxpool.Pool
	Listener *pg.Listener
	// Rows are the domain's rows for user interfaces.
	Rows *crud.Tools
	// Memory shows what a node would see now.
	Memory *memory.Memory
	// Domain is the name that new sessions are given.
	Domain string
	// OpenUser, if set, is who every request acts for, without a key: only for a
	// listener on loopback.
	OpenUser uuid.UUID
	Logger   *slog.Logger
	Version  string
}

type api struct {
	Config

	q    *db.Queries
	huma huma.API
}

// New returns the handler of the whole API and the page.
func New(config Config) http.Handler {
	mux := http.NewServeMux()
	a := &api{Config: config, q: db.New()}
	a.huma = newHuma(mux, config.Version)
	a.huma.UseMiddleware(a.authenticate)
	a.registerSessions()
	a.registerTurns()
	a.registerEvents()
	a.registerEntities()
	a.registerRows()
	a.registerHealth(mux)
	registerPage(mux)

	return a.logRequests(securityHeaders(mux))
}

// problemsOnce replaces Huma's error model by ours. Huma keeps it in a package
// variable, which may not be written while another server answers.
var problemsOnce = sync.OnceFunc(func() { huma.NewError = newProblem }) //nolint:gochecknoglobals // guards Huma's own global

func newHuma(mux *http.ServeMux, version string) huma.API {
	problemsOnce()
	config := huma.DefaultConfig("Alfred", version)
	config.OpenAPIPath = "/v1/openapi"
	config.DocsPath = ""
	config.SchemasPath = "/v1/schemas"
	config.CreateHooks = nil // no $schema field in our objects
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"key": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"key": {}}}

	return humago.New(mux, config)
}

// read runs work in one read-only transaction that sees the caller's rows alone.
func (a *api) read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, a.Pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, userOf(ctx), work)
	})
}

// write runs work in one transaction under the tenant's role: it may call the SQL
// functions granted to it, and nothing else.
func (a *api) write(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InTx(ctx, a.Pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, userOf(ctx), work)
	})
}

// page is the common shape of lists; NextCursor is empty on the last page.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// pageQuery are the query parameters of every list.
type pageQuery struct {
	Limit  int    `default:"50" doc:"Items per page." maximum:"200" minimum:"1" query:"limit"`
	Cursor string `doc:"next_cursor of the page before." query:"cursor"`
}

// parseID reads an id of a path. What is no id names nothing, so the answer is
// the same as for an id that does not exist.
func parseID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, errNotFound
	}

	return id, nil
}

func operation(method, path, id, summary string, status int) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, DefaultStatus: status,
		MaxBodyBytes: 1 << 20, BodyReadTimeout: 10 * time.Second,
		Errors: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound},
	}
}
