package main

import (
	"context"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

// startMCP runs `api mcp` on pipes, as a client would start it, and connects.
func startMCP(t *testing.T, url string, command *mcpCommand) *mcp.ClientSession {
	t.Helper()

	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- command.serve(context.WithoutCancel(t.Context()), settings.Env{"DATABASE_URL": url},
			&program.Console{Out: io.Discard, Errs: io.Discard}, &mcp.IOTransport{Reader: in, Writer: out})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		require.NoError(t, <-done, "it ends with its input")
	})

	return session
}

func TestMCPOnStandardInput(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	exec(t, url, `SELECT enqueue_turn(start_session('ada', 'Dinner'), 'hello')`)
	ada := startMCP(t, url, &mcpCommand{User: "ada"})
	tools, err := ada.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 4, "without --send everything only reads")
	found, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_history"})
	require.NoError(t, err)
	require.False(t, found.IsError)
	items, _ := found.StructuredContent.(map[string]any)["turns"].([]any)
	require.Len(t, items, 1)
	session := items[0].(map[string]any)["session_id"]

	eve := startMCP(t, url, &mcpCommand{User: "eve", Send: true})
	tools, err = eve.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 5)
	refused, err := eve.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message", Arguments: map[string]any{"message": "hi", "session_id": session}})
	require.NoError(t, err)
	require.True(t, refused.IsError)
	require.Equal(t, "not_found: There is no such thing here.", refused.Content[0].(*mcp.TextContent).Text)
}
