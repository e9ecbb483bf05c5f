package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestNew_Rejects(t *testing.T) {
	t.Parallel()

	client := &http.Client{}
	for name, tt := range map[string]struct {
		config wire.Config
		kind   llm.Kind
	}{
		"KeyMissing":       {wire.Config{Model: "m", HTTPClient: client}, llm.KindAuth},
		"KeyMissingGoogle": {wire.Config{Model: "m", HTTPClient: client, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}, llm.KindAuth},
		"ModelMissing":     {wire.Config{APIKey: "k", HTTPClient: client}, llm.KindInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.New(&tt.config)
			require.Equal(t, tt.kind, llm.KindOf(err))
		})
	}

	t.Run("LocalServerNeedsNoKey", func(t *testing.T) {
		t.Parallel()
		_, err := openai.New(&wire.Config{Model: "llama3", BaseURL: "http://127.0.0.1:11434/v1"})
		require.NoError(t, err)
	})
}

// V26: OpenAI answers 400 to an empty list of tools.
func TestModel_NoEmptyTools(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: `{}`} })
	for _, given := range [][]llm.Tool{nil, {}} {
		for _, schema := range []json.RawMessage{nil, json.RawMessage(`{"type":"object"}`)} {
			_, err := server.Model(wiretest.Key).Generate(t.Context(), &llm.Request{
				Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, SchemaName: "compress", Schema: schema, Tools: given,
			})
			require.NoError(t, err)
		}
	}
	for _, call := range server.Calls() {
		require.NotContains(t, string(call.Body), `"tools"`)
	}
}

// Strict is set only if the schema allows it. Otherwise the server would reject it; the schema is sent without it.
func TestModel_Strict(t *testing.T) {
	t.Parallel()

	const closed = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
	const lax = `{"type":"object","properties":{"text":{"type":"string"}}}`
	for schema, want := range map[string]bool{closed: true, lax: false} {
		server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: `{}`} })
		_, err := server.Model(wiretest.Key).Generate(t.Context(), &llm.Request{
			SchemaName: "compress", Schema: json.RawMessage(schema), Tools: []llm.Tool{{Name: "db_read", Schema: json.RawMessage(schema)}},
		})
		require.NoError(t, err)
		var body struct {
			ResponseFormat struct {
				JSONSchema struct {
					Strict bool `json:"strict"`
				} `json:"json_schema"`
			} `json:"response_format"`
			Tools []struct {
				Function struct {
					Strict bool `json:"strict"`
				} `json:"function"`
			} `json:"tools"`
		}
		require.NoError(t, json.Unmarshal(server.Calls()[0].Body, &body))
		require.Equal(t, want, body.ResponseFormat.JSONSchema.Strict)
		require.Equal(t, want, body.Tools[0].Function.Strict)
		require.Contains(t, server.Calls()[0].System, `"text"`, "servers that ignore response_format read the schema in the prompt")
	}
}

func TestModel_ServerWithoutResponseFormat(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if call.SchemaName != "" {
			return wiretest.Reply{Status: http.StatusBadRequest, Message: "unknown field response_format"}
		}

		return wiretest.Reply{Text: "```json\n{\"text\": \"short\"}\n```"}
	})
	response, err := server.Model(wiretest.Key).Generate(t.Context(), &llm.Request{SchemaName: "compress", Schema: json.RawMessage(`{"type":"object"}`)})
	require.NoError(t, err)
	require.Contains(t, response.Text, `{"text": "short"}`)
}

// Some servers give every streamed call the index 0.
func TestModel_CallsWithOneIndex(t *testing.T) {
	t.Parallel()

	const call = `data: {"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"%s","type":"function","function":{"name":"db_read","arguments":"%s"}}]}}]}` + "\n\n"
	const more = `data: {"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}` + "\n\n"
	const finish = `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	response, err := raw(t, fmt.Sprintf(call, "a", "{")+more+fmt.Sprintf(call, "b", "{}")+finish)
	require.NoError(t, err)
	want := llm.ToolCall{Name: "db_read", Args: json.RawMessage(`{}`)}
	require.Equal(t, []llm.ToolCall{want, want}, response.ToolCalls)
}

func TestModel_ErrorWithinStream(t *testing.T) {
	t.Parallel()

	_, err := raw(t, `data: {"error":{"code":429,"message":"slow down, `+wiretest.Key+`"}}`+"\n\n")
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err))
	require.ErrorContains(t, err, "slow down, [secret]")
}

// raw streams text from a server that answers nothing else.
func raw(t *testing.T, text string) (*llm.Response, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	model, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)

	return model.Generate(t.Context(), &llm.Request{OnDelta: func(string) {}})
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{} })
	config := &wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "embed"}
	embedder, err := openai.NewEmbedder(config, 256)
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

	none, err := embedder.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
	require.Len(t, server.Calls(), 3)
}

func TestEmbedder_Fails(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply {
		return wiretest.Reply{Status: http.StatusTooManyRequests, RetryAfter: 3 * time.Second}
	})
	embedder, err := openai.NewEmbedder(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "embed"}, 256)
	require.NoError(t, err)
	_, err = embedder.Embed(t.Context(), []string{"egg"})
	var failure *llm.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, llm.KindRateLimit, failure.Kind)
	require.Equal(t, 3*time.Second, failure.RetryAfter)
}
