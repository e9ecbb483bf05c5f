package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

// A server gets back its reasoning and the signatures of its calls; no other server does.
func TestModel_GivesBackWhatIsWantedBack(t *testing.T) {
	t.Parallel()

	const (
		call     = `{"index":0,"id":"x","type":"function","extra_content":{"google":{"thought_signature":"abc"}},"function":{"name":"db_read","arguments":"{}"}}`
		whole    = `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"let me see","content":null,"tool_calls":[` + call + `]},"finish_reason":"tool_calls"}]}`
		streamed = `data: {"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"let me "}}]}` + "\n\n" +
			`data: {"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"see"}}]}` + "\n\n" +
			`data: {"model":"m","choices":[{"index":0,"delta":{"tool_calls":[` + call + `]}}]}` + "\n\n" + finish + done
	)
	for name, answer := range map[string]string{"Whole": whole, "Streamed": streamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[name == "Streamed"])
				_, _ = w.Write([]byte(answer))
			}))
			t.Cleanup(server.Close)
			model := func(provider string) llm.Model {
				opened, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m", Provider: provider})
				require.NoError(t, err)

				return opened
			}
			req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}
			if name == "Streamed" {
				req.OnDelta = func(string) {}
			}
			response, err := model("mine").Generate(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, "let me see", response.Reasoning)
			req.Messages = append(req.Messages,
				llm.Message{Role: llm.RoleAssistant, ToolCalls: response.ToolCalls, Reasoning: response.Reasoning, Provider: response.Provider},
				llm.Message{Role: llm.RoleTool, Content: "nothing"})
			for _, provider := range []string{"mine", "another"} {
				_, err = model(provider).Generate(t.Context(), req)
				require.NoError(t, err)
			}
			require.Contains(t, bodies[1], `"reasoning_content":"let me see"`)
			require.Contains(t, bodies[1], `"extra_content":{"google":{"thought_signature":"abc"}}`)
			require.NotContains(t, bodies[2], "reasoning_content")
			require.NotContains(t, bodies[2], "extra_content")
		})
	}
}
