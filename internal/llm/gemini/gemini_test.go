package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestNew_Rejects(t *testing.T) {
	t.Parallel()

	_, err := gemini.New(&wire.Config{Model: "m", HTTPClient: &http.Client{}})
	require.Equal(t, llm.KindAuth, llm.KindOf(err))
	_, err = gemini.New(&wire.Config{APIKey: "k", HTTPClient: &http.Client{}})
	require.Equal(t, llm.KindInvalidRequest, llm.KindOf(err))
	_, err = gemini.New(&wire.Config{APIKey: "k", Model: "m"})
	require.ErrorContains(t, err, "a test must not call a real provider")
}

// Some schemas have more branches than the server is willing to enforce. The prompt contains them as well.
func TestModel_SchemaTooComplex(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.Gemini, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if call.SchemaName != "" {
			return wiretest.Reply{Status: http.StatusBadRequest, Message: "The specified schema produces a constraint that has too many states for serving."}
		}

		return wiretest.Reply{Text: `{"text": "short"}`}
	})
	model := server.Model(wiretest.Key)
	for range 2 {
		response, err := model.Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, SchemaName: "compress", Schema: json.RawMessage(`{"type":"object"}`)})
		require.NoError(t, err)
		require.JSONEq(t, `{"text": "short"}`, response.Text)
	}
	require.Len(t, server.Calls(), 3, "only the first request pays for finding out")
	require.Contains(t, server.Calls()[2].System, `"compress"`)
}

func TestModel_Answers(t *testing.T) {
	t.Parallel()

	const usage = `"modelVersion": "gemini-2.5-flash-001", "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 5, "thoughtsTokenCount": 40, "cachedContentTokenCount": 30}`
	for name, tt := range map[string]struct {
		body string
		text string
		kind llm.Kind
	}{
		"Broken":        {`{"candidates": [{"content": {"parts": [{"text": "a`, "", llm.KindOverloaded},
		"OtherReason":   {`{"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}], ` + usage + `}`, "", llm.KindInvalidOutput},
		"PromptBlocked": {`{"promptFeedback": {"blockReason": "SAFETY"}, ` + usage + `}`, "", llm.KindRefusal},
		"Thoughts":      {`{"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "yes"}]}, "finishReason": "STOP"}], ` + usage + `}`, "yes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, err := raw(t, "application/json", tt.body, nil)
			require.Equal(t, tt.kind, llm.KindOf(err), "%v", err)
			if name == "Broken" {
				return
			}
			require.Equal(t, tt.text, response.Text)
			require.Equal(t, llm.Usage{Input: 50, Output: 45, Cached: 30}, response.Usage, "thoughts are billed")
			require.Equal(t, "gemini-2.5-flash-001", response.Model)
		})
	}
}

func TestModel_ErrorWithinStream(t *testing.T) {
	t.Parallel()

	response, err := raw(t, "text/event-stream", `data: {"candidates": [{"content": {"parts": [{"text": "Once "}]}}]}`+"\n\n"+
		`data: {"error": {"code": 429, "message": "slow down, `+wiretest.Key+`", "status": "RESOURCE_EXHAUSTED"}}`+"\n\n", func(string) {})
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "slow down, [secret]")
	require.Equal(t, "Once ", response.Text)
}

// raw is the response of a server that sends nothing else.
func raw(t *testing.T, contentType, body string, onDelta func(string)) (*llm.Response, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	model, err := gemini.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)

	return model.Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, OnDelta: onDelta})
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.Gemini, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{} })
	embedder, err := gemini.NewEmbedder(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "embed"}, 256)
	require.NoError(t, err)
	texts := make([]string, 250)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d", i)
	}
	vectors, err := embedder.Embed(t.Context(), texts)
	require.NoError(t, err)
	want, err := lexical.Embedder{}.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Equal(t, want, vectors, "each text has its own vector, in order, over several requests")
	require.Len(t, server.Calls(), 3)
	require.Equal(t, "embed", server.Calls()[0].Model)
}

func TestEmbedder_Fails(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.Gemini, func(context.Context, *wiretest.Call) wiretest.Reply {
		return wiretest.Reply{Status: http.StatusTooManyRequests, RetryAfter: 3 * time.Second}
	})
	embedder, err := gemini.NewEmbedder(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "embed"}, 256)
	require.NoError(t, err)
	_, err = embedder.Embed(t.Context(), []string{"egg"})
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err))
	require.Len(t, server.Calls(), 1, "a provider does not retry")
}

// Schemas are enforced if all tools' are closed; a server that does not support the mode is called without it.
func TestModel_Strict(t *testing.T) {
	t.Parallel()

	const closed = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	server := wiretest.Start(t, wiretest.Gemini, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if strings.Contains(string(call.Body), "VALIDATED") {
			return wiretest.Reply{Status: http.StatusBadRequest, Message: "Invalid value at 'tool_config.function_calling_config.mode'"}
		}

		return wiretest.Reply{Text: "hello"}
	})
	model := server.Model(wiretest.Key)
	for _, schema := range []string{closed, closed, `{"type":"object"}`} {
		_, err := model.Generate(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(schema)}},
		})
		require.NoError(t, err)
	}
	require.Len(t, server.Calls(), 4, "only the first request pays for finding out")
	require.Contains(t, string(server.Calls()[0].Body), "VALIDATED")
}
