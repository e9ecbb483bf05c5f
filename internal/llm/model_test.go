package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
)

// Every answer is stored before it is judged; one that cannot be stored would be bought repeatedly.
func TestToolCall_MarshalJSON(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		`{"table":"recipes"}`: `{"name":"db_read","args":{"table":"recipes"}}`,
		`{"table":"rec`:       `{"name":"db_read","args":"{\"table\":\"rec"}`,
		``:                    `{"name":"db_read","args":""}`,
	} {
		got, err := json.Marshal(llm.ToolCall{Name: "db_read", Args: json.RawMessage(args)})
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

func TestEstimateTokens(t *testing.T) {
	t.Parallel()

	require.Zero(t, llm.EstimateTokens(""))
	require.Equal(t, 1, llm.EstimateTokens("egg"))
	require.Equal(t, 2, llm.EstimateTokens("crème"))
	request := llm.Request{System: "abcd", Messages: []llm.Message{{Content: "abcd"}}, Tools: []llm.Tool{{Name: "abcd"}}}
	require.Equal(t, 3, request.EstimateTokens())
}
