package nodes_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/llm"
	"alfred/nodes"
)

// Anthropic answers with blanks before a call and refuses to take them back.
func TestRoundHasNoBlankText(t *testing.T) {
	t.Parallel()
	asked := []llm.Message{{Role: llm.RoleUser, Content: "hi"}}
	calls := []llm.ToolCall{{Name: "db_read", Args: json.RawMessage(`{"table":"recipes"}`)}}
	round, err := nodes.NewRound(asked, &llm.Response{Text: "\n\n ", ToolCalls: calls})
	require.NoError(t, err)
	require.Empty(t, round.Answer.Content)
	stored, err := nodes.StoredRound("", json.RawMessage(`{"messages":[{"role":"user","content":"hi"}]}`),
		json.RawMessage(`{"text":"\n\n ","tool_calls":[{"name":"db_read","args":{"table":"recipes"}}]}`))
	require.NoError(t, err)
	require.Equal(t, round, stored)
	require.Greater(t, round.Tokens(), 5, "calls count")
}
