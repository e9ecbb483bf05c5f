package anthropic_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/anthropic"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// Without the marks, every call pays for tools and instructions in full.
func TestModel_CacheMarks(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.Anthropic, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: "hello"} })
	_, err := server.Model(wiretest.Key).Generate(t.Context(), &llm.Request{
		System: "You are Alfred.", Messages: []llm.Message{{Role: llm.RoleUser, Content: "what was said\nand what is asked", Stable: len("what was said")}},
		Tools: []llm.Tool{{Name: "a"}, {Name: "b"}},
	})
	require.NoError(t, err)
	type marked struct {
		CacheControl *struct {
			Type string `json:"type"`
		} `json:"cache_control"`
	}
	var body struct {
		MaxTokens int      `json:"max_tokens"`
		System    []marked `json:"system"`
		Tools     []marked `json:"tools"`
		Messages  []struct {
			Content []struct {
				marked

				Text string `json:"text"`
			} `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(server.Calls()[0].Body, &body))
	require.Equal(t, "ephemeral", body.System[0].CacheControl.Type)
	require.Nil(t, body.Tools[0].CacheControl)
	require.Equal(t, "ephemeral", body.Tools[1].CacheControl.Type)
	require.Len(t, body.Messages[0].Content, 2)
	require.Equal(t, "ephemeral", body.Messages[0].Content[0].CacheControl.Type)
	require.Nil(t, body.Messages[0].Content[1].CacheControl)
	require.Equal(t, "what was said\nand what is asked", body.Messages[0].Content[0].Text+body.Messages[0].Content[1].Text)
	require.Positive(t, body.MaxTokens)
}

func TestModel_ErrorWithinStream(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}\n\n"))
	}))
	t.Cleanup(server.Close)
	model, err := anthropic.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)
	_, err = model.Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, OnDelta: func(string) {}})
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "slow down")
}

func TestNew_Rejects(t *testing.T) {
	t.Parallel()

	_, err := anthropic.New(&wire.Config{Model: "m"})
	require.Equal(t, llm.KindAuth, llm.KindOf(err))
	_, err = anthropic.New(&wire.Config{APIKey: "k"})
	require.Equal(t, llm.KindInvalidRequest, llm.KindOf(err))
}

// Tools are declared strict; if the combined grammar is too large for a model, strict is dropped after one rejection.
func TestModel_Strict(t *testing.T) {
	t.Parallel()

	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	server := wiretest.Start(t, wiretest.Anthropic, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if strings.Contains(string(call.Body), `"strict":true`) {
			return wiretest.Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: "The compiled grammar is too large, which would cause performance issues."}
		}

		return wiretest.Reply{Text: "hello"}
	})
	model := server.Model(wiretest.Key)
	for range 2 {
		_, err := model.Generate(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, Tools: []llm.Tool{{Name: "a", Schema: schema}},
		})
		require.NoError(t, err)
	}
	require.Len(t, server.Calls(), 3, "only the first request pays for finding out")
	require.Contains(t, string(server.Calls()[0].Body), `"strict":true`)
	require.Contains(t, string(server.Calls()[2].Body), `"additionalProperties":false`, "the schema is still sent")
}
