package gemini_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/cassette"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/wire"
)

var record = flag.Bool("record", false, "ask the real server and overwrite the cassettes; needs GEMINI_API_KEY")

func TestModel_Cassettes(t *testing.T) {
	t.Parallel()

	t.Run("Stream", func(t *testing.T) {
		t.Parallel()
		var pieces []string
		response, err := played(t, "stream").Generate(t.Context(), &llm.Request{
			System: "Answer in one short sentence.", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Say hello."}},
			OnDelta: func(text string) { pieces = append(pieces, text) },
		})
		require.NoError(t, err)
		require.NotEmpty(t, response.Text)
		require.Equal(t, response.Text, strings.Join(pieces, ""))
		require.Greater(t, len(pieces), 1)
		require.Positive(t, response.Usage.Input)
		require.Positive(t, response.Usage.Output)
	})

	t.Run("ToolCalls", func(t *testing.T) {
		t.Parallel()
		response, err := played(t, "tool_calls").Generate(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "Read the tables recipes and tasks, both at once."}},
			Tools: []llm.Tool{{
				Name: "db_read", Description: "Read a table.",
				Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"}},"required":["table"],"additionalProperties":false}`),
			}},
		})
		require.NoError(t, err)
		require.Len(t, response.ToolCalls, 2)
		require.JSONEq(t, `{"table":"recipes"}`, string(response.ToolCalls[0].Args))
		require.JSONEq(t, `{"table":"tasks"}`, string(response.ToolCalls[1].Args))
	})
}

func played(t *testing.T, name string) *wire.Model {
	t.Helper()
	key := "none"
	if *record {
		key = cmp.Or(os.Getenv("GEMINI_API_KEY"), key)
	}
	client := cassette.Open(t, "testdata/"+name+".json", cassette.Options{Record: *record, Secrets: []string{key}})
	model, err := gemini.New(&wire.Config{APIKey: key, HTTPClient: client, Model: "gemini-2.5-flash"})
	require.NoError(t, err)

	return model
}
