package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

type mcpCommand struct {
	Send bool             `help:"Also offer send_message; without it, all tools only read."`
	User program.UserName `default:"demo" min:"1" max:"200" help:"The user to act for; created if missing."`
}

// Help explains the purpose.
func (c *mcpCommand) Help() string {
	return "Serves the Model Context Protocol on standard input and output, for programs that start it themselves; api serve has the same at /mcp."
}

// Run serves until the client closes the input.
func (c *mcpCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return c.serve(ctx, e, console, &mcp.StdioTransport{})
}

func (c *mcpCommand) serve(ctx context.Context, e settings.Env, console *program.Console, transport mcp.Transport) error {
	s, err := settings.Parse(e, settings.API)
	if err != nil {
		return err
	}

	return withUser(ctx, e, string(c.User), func(u placed) error {
		living, end := context.WithCancel(ctx)
		r := &resident{
			placed: u, name: string(c.User), send: c.Send, env: e, settings: s, living: living,
			logger: slog.New(slog.NewJSONHandler(console.Errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}
		defer r.places.Wait() //nolint:errcheck // each ends without an error when it is ended
		defer end()
		if err := r.settle(ctx, u.pool); err != nil {
			return err
		}
		if err := r.server.Run(ctx, transport); err != nil && ctx.Err() == nil {
			return fmt.Errorf("serve: %w", err)
		}

		return nil
	})
}
