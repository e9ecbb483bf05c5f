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
	serve := a.door.Admit(http.MethodGet, func(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
		ctx, done, err := a.door.Hold(ctx)
		if err != nil {
			return err
		}
		defer done()
		if r.Method == http.MethodPost {
			err = a.readTool(ctx, w, r)
		}
		if err == nil {
			handler.ServeHTTP(w, r.WithContext(ctx))
		}

		return err
	}, problem.Write)
	mux.HandleFunc("POST /mcp", serve)
	mux.HandleFunc("GET /mcp", serve) // answered as the protocol requires of servers without sessions
	mux.HandleFunc("DELETE /mcp", serve)
}

// readTool does what must precede the protocol's handler, which answers with a stream, reports refusals as results and
// waits for a body without end.
func (a *api) readTool(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	if err := a.gate.CheckStays(ctx, auth.CallerOf(ctx)); err != nil {
		return err
	}
	body, err := door.ReadAll(w, r, maxBody)
	r.Body = io.NopCloser(bytes.NewReader(body))

	return err
}

// Tools are what servers of the Model Context Protocol work with.
func (c *Config) Tools() mcpserver.Config {
	return mcpserver.Config{
		Pool: c.Pool, Domain: c.Domain, Preview: c.Preview, Search: c.Search, Limits: c.Limits, Logger: c.Logger, Version: c.Version,
	}
}
