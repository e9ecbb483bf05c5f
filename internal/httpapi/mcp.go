package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"alfred/internal/auth"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
	"alfred/internal/mcpserver"
)

// registerMCP serves the Model Context Protocol. A read key is enough to connect; the tool that sends messages requires
// a chat key.
func (a *api) registerMCP(mux *http.ServeMux) {
	tools := a.Tools()
	handler := mcpserver.New(tools).Handler(func(r *http.Request) mcpserver.Caller {
		here := &mcpserver.Place{Config: tools, Turns: a.door.Reader(r.Context())}

		return mcpserver.Caller{MaySend: auth.CallerOf(r.Context()).May(http.MethodPost), At: func(context.Context) (*mcpserver.Place, error) { return here, nil }}
	})
	other := func(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
		handler.ServeHTTP(w, r.WithContext(ctx))

		return nil
	}
	// The protocol's handler answers with a stream, reports refusals as results and waits for a body without end: what must come
	// before that, comes here.
	call := func(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
		ctx, done, err := a.door.Hold(ctx)
		if err != nil {
			return err
		}
		defer done()
		if err := a.gate.CheckStays(ctx, auth.CallerOf(ctx)); err != nil {
			return err
		}
		body, err := door.ReadAll(w, r, maxBody)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))

		return other(ctx, w, r)
	}
	mux.HandleFunc("POST /mcp", a.door.Admit(http.MethodGet, call, problem.Write))
	mux.HandleFunc("GET /mcp", a.door.Admit(http.MethodGet, other, problem.Write)) // answered as the protocol requires of servers without sessions
	mux.HandleFunc("DELETE /mcp", a.door.Admit(http.MethodGet, other, problem.Write))
}

// Tools are what servers of the Model Context Protocol work with.
func (c *Config) Tools() mcpserver.Config {
	return mcpserver.Config{
		Pool: c.Pool, Domain: c.Domain, Preview: c.Preview, Search: c.Search, Limits: c.Limits, Logger: c.Logger, Version: c.Version,
	}
}
