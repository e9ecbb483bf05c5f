package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"alfred/internal/domain"
	"alfred/internal/follow"
	"alfred/internal/pg"
	"alfred/internal/preview"
	"alfred/internal/recall"
	"alfred/jobs"
)

// Config is what the tools need.
type Config struct {
	Pool    *pgxpool.Pool
	Domain  *domain.Domain
	Preview *preview.Preview
	Search  *recall.Searcher
	Limits  jobs.Limits
	Logger  *slog.Logger
	Version string
	// Explain says what a caller may know of an error; nil: nothing.
	Explain func(error) *Error
}

// Caller is on whose behalf a server acts.
type Caller struct {
	// MaySend offers send_message; otherwise all tools are read-only.
	MaySend bool
	// Turns reads the caller's turns, and looks whether they may, while a tool waits.
	Turns *follow.Reader
}

// Factory creates servers, one per caller.
type Factory struct {
	config  Config
	schemas *mcp.SchemaCache
}

// New returns a factory.
func New(config Config) *Factory { return &Factory{config: config, schemas: mcp.NewSchemaCache()} }

// For returns a server that acts for this caller only.
func (f *Factory) For(caller Caller) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "alfred", Title: "Alfred", Version: f.config.Version}, &mcp.ServerOptions{
		Instructions: instructions, SchemaCache: f.schemas, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	f.Into(server, caller)

	return server
}

// Into replaces a server's tools by those of this factory.
func (f *Factory) Into(server *mcp.Server, caller Caller) {
	t := &tools{Config: f.config, turns: caller.Turns, user: caller.Turns.UserID}
	t.register(server, caller.MaySend)
}

const instructions = "Alfred is an assistant over the user's rows in Postgres. A session is one conversation; search_history finds sessions and turns. " +
	"A ref such as recipe_1 names a row within its session, gen_recipe_1 a draft that is not saved."

// Handler serves streamable HTTP. It keeps no protocol sessions, so that any instance can answer any request; callerOf
// says for whom a request acts.
func (f *Factory) Handler(callerOf func(*http.Request) Caller) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return f.For(callerOf(r)) },
		&mcp.StreamableHTTPOptions{Stateless: true, Logger: f.config.Logger, DisableLocalhostProtection: true})
}

// Error is a tool's answer if it cannot do what was requested.
type Error struct {
	Code     string // as in the HTTP API
	Sentence string
}

func (e *Error) Error() string { return e.Code + ": " + e.Sentence }

var (
	errNotFound = &Error{"not_found", "There is no such thing here."}
	errInternal = &Error{"internal", "Something went wrong on our side."}
)

// callerError is an error as the caller may know it. What is unknown goes to the log alone; why the database cannot be
// reached goes there, too.
func (t *tools) callerError(ctx context.Context, tool string, err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	known := cmp.Or(t.Explain(err), errInternal)
	if known == errInternal || pg.IsTransient(err) || errors.Is(err, context.DeadlineExceeded) {
		t.Logger.LogAttrs(ctx, slog.LevelError, "tool failed", slog.String("tool", tool), slog.Any("error", err))
	}

	return known
}
