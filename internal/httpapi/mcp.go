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
	serve := func(w http.ResponseWriter, r *http.Request) {
		who, err := a.gate.Admit(r.Context(), r.Header.Get("Authorization"), http.MethodGet)
		closed := func() {}
		if err == nil && r.Method == http.MethodPost {
			closed, err = a.takeTool(w, r, who)
		}
		if err != nil {
			problem.Note(r.Context(), err)
			problem.Write(w, problem.Of(err))

			return
		}
		defer closed()
		ctx, cancel := a.door.UntilStopping(auth.With(r.Context(), who))
		defer cancel()
		handler.ServeHTTP(w, r.WithContext(ctx))
	}
	mux.HandleFunc("POST /mcp", serve)
	mux.HandleFunc("GET /mcp", serve) // answered as the protocol requires of servers without sessions
	mux.HandleFunc("DELETE /mcp", serve)
}

// takeTool does what must precede the protocol's handler, which answers with a stream, reports refusals as results and
// waits for a body without end.
func (a *api) takeTool(w http.ResponseWriter, r *http.Request, who auth.Caller) (closed func(), err error) {
	if err := a.gate.CheckStays(r.Context(), who); err != nil {
		return nil, err
	}
	body, err := door.ReadAll(w, r, maxBody)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	return a.gate.OpenStream(who)
}

// Tools are what servers of the Model Context Protocol work with.
func (c *Config) Tools() mcpserver.Config {
	return mcpserver.Config{
		Pool: c.Pool, Domain: c.Domain, Preview: c.Preview, Search: c.Search, Limits: c.Limits, Logger: c.Logger, Version: c.Version,
	}
}
