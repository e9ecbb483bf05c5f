package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

// Newer models reject a conversation without the signatures of their calls.
func TestModel_GivesSignaturesBack(t *testing.T) {
	t.Parallel()

	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"db_read","args":{}},"thoughtSignature":"c2lnbmVk"}]},"finishReason":"STOP"}]}`))
	}))
	t.Cleanup(server.Close)
	model, err := gemini.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}
	response, err := model.Generate(t.Context(), req)
	require.NoError(t, err)
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, ToolCalls: response.ToolCalls, Provider: response.Provider}, llm.Message{Role: llm.RoleTool, Content: "nothing"})
	_, err = model.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, bodies[1], `"thoughtSignature":"c2lnbmVk"`)
}
