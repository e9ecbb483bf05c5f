package nodes_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
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

// Mistral refuses a user message after results, so a complaint about calls is joined to them.
func TestComplaintJoinsTheResults(t *testing.T) {
	t.Parallel()
	call := calls("db_read", `{"table":"vases"}`)
	in := nodes.ActInput{Frame: frame(), StepType: "read", Toolbox: nodes.Toolbox{Tables: []string{"vases"}}}
	in.Round = &nodes.Round{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, Answer: llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}}
	in.Results = []string{"2 rows"}
	m := &scripted{answers: []llm.Response{{ToolCalls: []llm.ToolCall{calls("ask_user", `{}`)}}, {ToolCalls: []llm.ToolCall{call}}}}
	_, err := nodes.Act(t.Context(), m, in)
	require.NoError(t, err)
	require.Equal(t, "2 rows", m.requests[0].Messages[2].Content)
	require.Len(t, m.requests[1].Messages, 3)
	require.Equal(t, llm.RoleTool, m.requests[1].Messages[2].Role)
	require.Contains(t, m.requests[1].Messages[2].Content, "2 rows\n\nThese were the tools you called")
}
