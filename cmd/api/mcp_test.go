package main

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

// startMCP runs `api mcp` on pipes, as a client would start it, and connects.
func startMCP(t *testing.T, e settings.Env, command *mcpCommand) *mcp.ClientSession {
	t.Helper()

	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- command.serve(context.WithoutCancel(t.Context()), e,
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
	e := settings.Env{"DATABASE_URL": url}
	exec(t, url, `SELECT enqueue_turn(start_session('ada', 'Dinner'), 'hello')`)
	ada := startMCP(t, e, &mcpCommand{User: "ada"})
	tools, err := ada.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 4, "without --send everything only reads")
	found, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_history"})
	require.NoError(t, err)
	require.False(t, found.IsError)
	items, _ := found.StructuredContent.(map[string]any)["turns"].([]any)
	require.Len(t, items, 1)
	session := items[0].(map[string]any)["session_id"]

	eve := startMCP(t, e, &mcpCommand{User: "eve", Send: true})
	tools, err = eve.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 5)
	refused, err := eve.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message", Arguments: map[string]any{"message": "hi", "session_id": session}})
	require.NoError(t, err)
	require.True(t, refused.IsError)
	require.Equal(t, "not_found: There is no such thing here.", refused.Content[0].(*mcp.TextContent).Text)
}

// A client that was started long ago finds its user, and gets what it waits for, where they are now.
func TestMCPFollowsItsUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name, ends := range map[string]func(*power){"the old database stays": nil, "it is switched off": (*power).switchOff, "it falls silent": (*power).fallSilent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			followsItsUser(t, ends)
		})
	}
}

func followsItsUser(t *testing.T, ends func(*power)) {
	t.Helper()

	w := openTown(t)
	one := w.message("one")
	ada := startMCP(t, w.env, &mcpCommand{User: "ada", Send: true})
	said := make(chan string, 1)
	go func() {
		result, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message", Arguments: map[string]any{"message": "two", "session_id": w.session}})
		said <- fmt.Sprint(result, err)
		if err == nil {
			said <- fmt.Sprint(result.StructuredContent)
		}
	}()
	two := ""
	require.Eventually(t, func() bool {
		two = w.text("a", `SELECT coalesce(max(id::text), '') FROM turns WHERE message = 'two'`)

		return two != ""
	}, dbtest.Patience, 10*time.Millisecond)
	w.move("b", func() { w.replies("a", one, "first") })
	if ends != nil {
		ends(w.powers["a"])
	}
	w.replies("b", two, "the second reply")
	require.NotEmpty(t, <-said)
	require.Contains(t, <-said, "the second reply")
	if ends == nil {
		w.move("a", nil)
		w.move("b", nil)
	}
	found, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_turn", Arguments: map[string]any{"turn_id": two}})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(found.StructuredContent), "the second reply")
}
