package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"alfred/internal/domain"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
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
}

// Place is where a caller's rows are, and what the tools work with there.
type Place struct {
	Config

	// Turns reads the caller's turns, and looks whether they may, while a tool waits.
	Turns *follow.Reader
}

// Caller is on whose behalf a server acts.
type Caller struct {
	// MaySend offers send_message; otherwise all tools are read-only.
	MaySend bool
	// At finds the place, before each call of a tool.
	At func(ctx context.Context) (*Place, error)
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
	add(server, f, caller, "list_entities", "What a session knows: refs with label, tier and the reason why they are kept.", (*Place).listEntities)
	add(server, f, caller, "search_history", "Past turns by words and meaning, best first; without a query the newest turn of each of the newest sessions.", (*Place).searchHistory)
	add(server, f, caller, "explain_context", "What stood in the prompts of a turn, and why; of a session what a node would see of its coming turn, with the text.", (*Place).explainContext)
	add(server, f, caller, "get_turn", "A turn: message, plan, steps, reply, question, cost.", (*Place).getTurn)
	if caller.MaySend {
		add(server, f, caller, "send_message", "Say something to Alfred, in a session or a new one, and wait for the reply.", (*Place).sendMessage)
	}

	return server
}

// add registers a tool; what it takes and answers is described by the types.
func add[In, Out any](server *mcp.Server, f *Factory, caller Caller, name, description string, work func(*Place, context.Context, In) (*Out, error)) {
	sends := name == "send_message"
	tool := &mcp.Tool{
		Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !sends, DestructiveHint: &sends, OpenWorldHint: new(false)},
	}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (_ *mcp.CallToolResult, out *Out, err error) {
		place, err := caller.At(ctx)
		if err == nil {
			out, err = work(place, ctx, in)
		}
		if err != nil {
			return nil, nil, f.config.callerError(ctx, name, err)
		}

		return nil, out, nil
	})
}

const instructions = "Alfred is an assistant over the user's rows in Postgres. A session is one conversation; search_history finds sessions and turns. " +
	"A ref such as recipe_1 names a row within its session, gen_recipe_1 a draft that is not saved."

// Handler serves streamable HTTP. It keeps no protocol sessions, so that any instance can answer any request; callerOf
// says for whom a request acts.
func (f *Factory) Handler(callerOf func(*http.Request) Caller) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return f.For(callerOf(r)) },
		&mcp.StreamableHTTPOptions{Stateless: true, Logger: f.config.Logger, DisableLocalhostProtection: true})
}

// callerError is an error as the caller may know it. What is unknown goes to the log alone; why the database cannot be
// reached goes there, too.
func (c *Config) callerError(ctx context.Context, tool string, err error) error {
	known := problem.Of(err)
	if known.Status == http.StatusInternalServerError || pg.IsTransient(err) || errors.Is(err, context.DeadlineExceeded) {
		c.Logger.LogAttrs(ctx, slog.LevelError, "tool failed", slog.String("tool", tool), slog.Any("error", err))
	}

	return known
}
