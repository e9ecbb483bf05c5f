package wiretest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const conversation = `
turns:
  - understand: {intent: read, repairs: [{intent: explore}]}
    think: [{goal: first}, {goal: second}]
    act:
      - calls: [{tool: db_read, args: {table: recipes}}]
      - calls: [{tool: step_complete}]
    reply: Two recipes.
    summarize: {response_summary: listed}
  - understand: {intent: chat}
    reply: {text: "", error: {kind: rate_limit, retry_after: 2s}}
`

// The requests are those of two turns, as a provider would send them; the script must find its entries from what is on
// the wire alone.
func TestPlay(t *testing.T) {
	t.Parallel()

	played, err := script.Parse([]byte(conversation))
	require.NoError(t, err)
	server := wiretest.Start(t, wiretest.OpenAI, wiretest.Play(played))
	model, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)

	for _, tt := range []struct {
		name, schema, prompt string
		tools                bool
		repair               bool
		want                 string
	}{
		{"Understand", "understand", "turn 1", false, false, `{"intent":"read"}`},
		{"UnderstandRetry", "understand", "turn 1", false, false, `{"intent":"read"}`},
		{"UnderstandRepair", "understand", "turn 1", false, true, `{"intent":"explore"}`},
		{"Think", "think", "plan", false, false, `{"goal":"first"}`},
		{"Replan", "think", "plan again", false, false, `{"goal":"second"}`},
		{"Act", "", "step 1", true, false, "db_read"},
		{"ActRetry", "", "step 1", true, false, "db_read"},
		{"ActNext", "", "step 1, result", true, false, "step_complete"},
		{"Reply", "", "say", false, false, "Two recipes."},
		{"Summarize", "summarize", "sum up", false, false, `{"response_summary":"listed"}`},
		{"NextTurn", "understand", "turn 2", false, false, `{"intent":"chat"}`},
	} {
		response, err := model.Generate(t.Context(), request(tt.schema, tt.prompt, tt.tools, tt.repair))
		require.NoError(t, err, tt.name)
		got := response.Text
		if len(response.ToolCalls) > 0 {
			got = response.ToolCalls[0].Name
		}
		require.Equal(t, tt.want, got, tt.name)
	}

	_, err = model.Generate(t.Context(), request("", "say again", false, false))
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err))
	_, err = model.Generate(t.Context(), request("think", "no such entry", false, false))
	require.ErrorContains(t, err, "script_exhausted")
}

func request(schema, prompt string, tools, repair bool) *llm.Request {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt}}}
	if schema != "" {
		req.SchemaName, req.Schema = schema, json.RawMessage(`{"type":"object"}`)
	}
	if tools {
		req.Tools = []llm.Tool{{Name: "db_read"}}
	}
	if repair {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: "?"}, llm.Message{Role: llm.RoleUser, Content: "mend it"})
	}

	return req
}
