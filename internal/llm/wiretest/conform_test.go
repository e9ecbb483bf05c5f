package wiretest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/wiretest"
)

// What callers rely on, whatever the protocol. Every case runs both streamed and not.
func TestEveryProviderConforms(t *testing.T) {
	t.Parallel()

	for _, protocol := range []wiretest.Protocol{wiretest.Anthropic, wiretest.Gemini, wiretest.OpenAI} {
		for name, streamed := range map[string]bool{"Streamed": true, "Whole": false} {
			t.Run(string(protocol)+"/"+name, func(t *testing.T) {
				t.Parallel()
				(&suite{protocol, streamed}).all(t)
			})
		}
	}
}

type suite struct {
	protocol wiretest.Protocol
	streamed bool
}

func (s *suite) all(t *testing.T) {
	t.Helper()
	t.Run("Answers", s.answers)
	t.Run("Cancel", s.cancel)
	t.Run("Exchanges", s.exchanges)
	t.Run("Failures", s.failures)
	t.Run("Request", s.request)
	t.Run("Secrets", s.secrets)
	t.Run("Statuses", s.statuses)
	t.Run("Timeout", s.timeout)
}

func (s *suite) ask(t *testing.T, req *llm.Request, reply wiretest.Reply) (*llm.Response, string, error) {
	t.Helper()
	server := wiretest.Start(t, s.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return reply })
	var deltas strings.Builder
	if s.streamed {
		req.OnDelta = func(text string) { deltas.WriteString(text) }
	}
	response, err := server.Model(wiretest.Key).Generate(t.Context(), req)
	require.Len(t, server.Calls(), 1, "a provider does not retry")
	require.Equal(t, s.streamed, server.Calls()[0].Stream)

	return response, deltas.String(), err
}

func (s *suite) answers(t *testing.T) {
	t.Parallel()

	const object = `{"goal":"list the recipes","steps":[]}`
	usage := llm.Usage{Input: 120, Output: 30, Cached: 100}
	calls := []llm.ToolCall{
		{Name: "db_read", Args: json.RawMessage(`{"table":"recipes","limit":5}`)},
		{Name: "no_such_tool", Args: json.RawMessage(`{}`)},
		{Name: "step_complete", Args: json.RawMessage(`{"summary":"crème brûlée"}`)},
	}
	for name, tt := range map[string]struct {
		req   *llm.Request
		reply wiretest.Reply
		text  string
		calls []llm.ToolCall
	}{
		"Malformed":      {structured(), wiretest.Reply{Text: `{"goal": "list`}, `{"goal": "list`, nil},
		"SchemaInProse":  {structured(), wiretest.Reply{Text: "Sure!\n```json\n" + object + "\n```"}, "Sure!\n```json\n" + object + "\n```", nil},
		"SchemaObeyed":   {structured(), wiretest.Reply{Text: object}, object, nil},
		"SchemaRejected": {structured(), wiretest.Reply{Text: "I would rather chat."}, "I would rather chat.", nil},
		"Text":           {plain(), wiretest.Reply{Text: "Crème brûlée needs 6 eggs."}, "Crème brûlée needs 6 eggs.", nil},
		"TextAndCall":    {acting(), wiretest.Reply{Text: "Let me look.", ToolCalls: calls[:1]}, "Let me look.", calls[:1]},
		"ToolCalls":      {acting(), wiretest.Reply{ToolCalls: calls}, "", calls},
		"ToolNoArgs":     {acting(), wiretest.Reply{ToolCalls: []llm.ToolCall{{Name: "step_complete"}}}, "", []llm.ToolCall{{Name: "step_complete", Args: json.RawMessage(`{}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.reply.Usage = usage
			response, deltas, err := s.ask(t, tt.req, tt.reply)
			require.NoError(t, err)
			require.Equal(t, tt.text, response.Text)
			requireCalls(t, tt.calls, response.ToolCalls)
			require.Equal(t, usage, response.Usage)
			require.Equal(t, string(s.protocol), response.Provider)
			require.Equal(t, "test-model", response.Model)
			if s.streamed {
				require.Equal(t, tt.reply.Text, deltas)
			}
		})
	}

	t.Run("MalformedArguments", func(t *testing.T) {
		t.Parallel()
		if !s.streamed && s.protocol == wiretest.Anthropic {
			return // without streaming, the protocol encodes arguments as JSON
		}
		if s.protocol == wiretest.Gemini { // the server itself reports the broken call
			_, _, err := s.ask(t, acting(), wiretest.Reply{ToolCalls: []llm.ToolCall{{Name: "db_read", Args: json.RawMessage(`{"table": "rec`)}}})
			require.Equal(t, llm.KindInvalidOutput, llm.KindOf(err), "%v", err)

			return
		}
		broken := []llm.ToolCall{{Name: "db_read", Args: json.RawMessage(`{"table": "rec`)}}
		response, _, err := s.ask(t, acting(), wiretest.Reply{ToolCalls: broken})
		require.NoError(t, err)
		require.Equal(t, broken, response.ToolCalls)
		_, err = json.Marshal(response)
		require.NoError(t, err, "an answer can always be stored")
	})
}

// requireCalls compares arguments by value: an SDK may have decoded them.
func requireCalls(t *testing.T, want, got []llm.ToolCall) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Name, got[i].Name)
		require.JSONEq(t, string(want[i].Args), string(got[i].Args))
	}
}

func (s *suite) failures(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		reply wiretest.Reply
		kind  llm.Kind
		usage bool
	}{
		"CutOff":     {wiretest.Reply{Text: "Once upon a", End: wiretest.EndCutOff}, llm.KindInvalidOutput, true},
		"Disconnect": {wiretest.Reply{Text: "Once upon a time there was", End: wiretest.EndDisconnect}, llm.KindOverloaded, false},
		"Empty":      {wiretest.Reply{}, llm.KindInvalidOutput, true},
		"Refused":    {wiretest.Reply{Text: "I can't help with that.", End: wiretest.EndRefused}, llm.KindRefusal, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.reply.Usage = llm.Usage{Input: 120, Output: 30}
			response, _, err := s.ask(t, plain(), tt.reply)
			require.Equal(t, tt.kind, llm.KindOf(err), "%v", err)
			if tt.usage {
				require.Equal(t, tt.reply.Usage, response.Usage, "a failed answer is billed all the same")
			}
		})
	}

	t.Run("EndsEarlyInOrder", func(t *testing.T) {
		t.Parallel()
		if !s.streamed {
			return // an answer that is not streamed has a length
		}
		_, _, err := s.ask(t, plain(), wiretest.Reply{Text: "Once upon a time there was", End: wiretest.EndSilent})
		require.Equal(t, llm.KindOverloaded, llm.KindOf(err), "%v", err)
	})
}

func (s *suite) statuses(t *testing.T) {
	t.Parallel()

	overflow := map[wiretest.Protocol]wiretest.Reply{
		wiretest.Anthropic: {Code: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"},
		wiretest.Gemini:    {Code: "INVALID_ARGUMENT", Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		wiretest.OpenAI:    {Code: "context_length_exceeded", Message: "Your input exceeds the limit of this model."},
	}[s.protocol]
	overflow.Status = http.StatusBadRequest
	for name, tt := range map[string]struct {
		reply wiretest.Reply
		kind  llm.Kind
	}{
		"Forbidden":     {wiretest.Reply{Status: http.StatusForbidden}, llm.KindAuth},
		"Internal":      {wiretest.Reply{Status: http.StatusInternalServerError, Message: "boom"}, llm.KindOverloaded},
		"Overflow":      {overflow, llm.KindContextOverflow},
		"Overloaded":    {wiretest.Reply{Status: 529, Code: "overloaded_error"}, llm.KindOverloaded},
		"RateLimit":     {wiretest.Reply{Status: http.StatusTooManyRequests, RetryAfter: 7 * time.Second}, llm.KindRateLimit},
		"TooLarge":      {wiretest.Reply{Status: http.StatusRequestEntityTooLarge}, llm.KindContextOverflow},
		"Unauthorized":  {wiretest.Reply{Status: http.StatusUnauthorized}, llm.KindAuth},
		"Unavailable":   {wiretest.Reply{Status: http.StatusServiceUnavailable, RetryAfter: 2 * time.Second}, llm.KindOverloaded},
		"UnknownModel":  {wiretest.Reply{Status: http.StatusNotFound, Code: "model_not_found", Message: "no such model"}, llm.KindInvalidRequest},
		"Unprocessable": {wiretest.Reply{Status: http.StatusUnprocessableEntity, Message: "does not support tools"}, llm.KindInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := s.ask(t, plain(), tt.reply)
			var failure *llm.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tt.kind, failure.Kind)
			require.Equal(t, tt.reply.RetryAfter, failure.RetryAfter)
			require.Equal(t, string(s.protocol), failure.Provider)
			if tt.kind == llm.KindInvalidRequest {
				require.ErrorContains(t, err, tt.reply.Message)
			}
		})
	}
	t.Run("TemperatureRejected", s.temperatureRejected)
}

func (s *suite) temperatureRejected(t *testing.T) {
	t.Parallel()
	server := wiretest.Start(t, s.protocol, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if call.Temperature != nil {
			return wiretest.Reply{Status: http.StatusBadRequest, Param: "temperature", Message: "temperature is not supported by this model"}
		}

		return wiretest.Reply{Text: "hello"}
	})
	model := server.Model(wiretest.Key)
	failed := 0
	for range 2 {
		req := s.prepared(plain())
		req.OnFailed = func(_ *llm.Response, err error) {
			require.Equal(t, llm.KindInvalidRequest, llm.KindOf(err))
			failed++
		}
		response, err := model.Generate(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "hello", response.Text)
	}
	require.Equal(t, 1, failed, "each call can be recorded")
	require.Len(t, server.Calls(), 3, "only the first request pays for finding out")
}

// request checks that the whole request arrives, and nothing that it must not contain.
func (s *suite) request(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, s.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: `{}`} })
	model := server.Model(wiretest.Key)
	for _, req := range []*llm.Request{structured(), acting()} {
		req.Node, req.Turn, req.Step, req.Call, req.Ordinal, req.Attempt, req.MaxTokens = "node-name", 777, 778, 779, 780, 781, 256
		_, err := model.Generate(t.Context(), s.prepared(req))
		require.NoError(t, err)
	}
	first, second := server.Calls()[0], server.Calls()[1]
	require.Equal(t, "test-model", first.Model)
	require.Equal(t, "think", first.SchemaName)
	require.JSONEq(t, string(structured().Schema), string(first.Schema))
	require.Equal(t, structured().Messages, first.Messages)
	require.Contains(t, first.System, structured().System)
	require.InDelta(t, 0.35, *first.Temperature, 1e-9)
	require.Equal(t, 256, first.MaxTokens)
	require.Empty(t, second.SchemaName)
	require.Len(t, second.Tools, 2)
	require.Equal(t, "db_read", second.Tools[0].Name)
	require.Equal(t, "Read rows.", second.Tools[0].Description)
	require.JSONEq(t, string(acting().Tools[0].Schema), string(second.Tools[0].Schema))
	for _, call := range server.Calls() {
		for _, internal := range []string{"node-name", "777", "778", "779", "780", "781"} {
			require.NotContains(t, string(call.Body), internal)
		}
	}
}

// exchanges: calls and their results arrive as messages, or as text at a server that does not accept them.
func (s *suite) exchanges(t *testing.T) {
	t.Parallel()

	asked := func() *llm.Request {
		req := acting()
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleAssistant, Content: "Let me look.", Provider: "another", Reasoning: "hm", ToolCalls: []llm.ToolCall{
				{Name: "db_read", Args: json.RawMessage(`{"table":"recipes"}`), Signature: "c2lnbmVk"}, {Name: "db_read", Args: json.RawMessage(`{}`)},
			}},
			llm.Message{Role: llm.RoleTool, Content: "1 row: recipe_1"}, llm.Message{Role: llm.RoleTool, Content: "error: no table"},
			llm.Message{Role: llm.RoleUser, Content: "That is not all."},
			llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{Name: "step_complete", Args: json.RawMessage(`{"summary":"done"}`)}}},
			llm.Message{Role: llm.RoleTool, Content: "The step goes on."})

		return req
	}
	server := wiretest.Start(t, s.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: "Well."} })
	_, err := server.Model(wiretest.Key).Generate(t.Context(), s.prepared(asked()))
	require.NoError(t, err)
	got, want := server.Calls()[0].Messages, asked().Messages
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Role, got[i].Role)
		require.Equal(t, want[i].Content, got[i].Content)
		requireCalls(t, want[i].ToolCalls, got[i].ToolCalls)
	}
	require.NotContains(t, string(server.Calls()[0].Body), "c2lnbmVk", "what another provider signed is not for this one")

	server = wiretest.Start(t, s.protocol, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		if len(call.Messages) != 3 {
			return wiretest.Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: "conversation roles must alternate user/assistant"}
		}

		return wiretest.Reply{Text: "Well."}
	})
	model := server.Model(wiretest.Key)
	for range 2 {
		_, err = model.Generate(t.Context(), s.prepared(asked()))
		require.NoError(t, err)
	}
	require.Len(t, server.Calls(), 3, "only the first request pays for finding out")
	flat := server.Calls()[2].Messages
	require.Contains(t, flat[2].Content, `1. db_read: {"table":"recipes"}`)
	require.Contains(t, flat[2].Content, "2. error: no table")
	require.Contains(t, flat[2].Content, "That is not all.")
	require.Contains(t, flat[2].Content, "1. The step goes on.")
}

// secrets: error texts are stored and shown, so none may contain a key, even if the server repeats it.
func (s *suite) secrets(t *testing.T) {
	t.Parallel()

	const wrong = "sk-wrong-9876543210"
	server := wiretest.Start(t, s.protocol, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		return wiretest.Reply{Status: http.StatusBadRequest, Message: "bad request with key " + wiretest.Key}
	})
	_, err := server.Model(wrong).Generate(t.Context(), s.prepared(plain()))
	require.Equal(t, llm.KindAuth, llm.KindOf(err))
	require.NotContains(t, err.Error(), "3210", "not even the parts that servers repeat")
	_, err = server.Model(wiretest.Key).Generate(t.Context(), s.prepared(plain()))
	require.ErrorContains(t, err, "bad request with key [secret]")
	require.NotContains(t, err.Error(), wiretest.Key)
}

// cancel: cancellation must reach the server, which otherwise continues and bills.
func (s *suite) cancel(t *testing.T) {
	t.Parallel()

	arrived, gone := make(chan struct{}), make(chan struct{})
	server := wiretest.Start(t, s.protocol, func(ctx context.Context, _ *wiretest.Call) wiretest.Reply {
		close(arrived)
		<-ctx.Done()
		close(gone)

		return wiretest.Reply{Text: "too late"}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := server.Model(wiretest.Key).Generate(ctx, s.prepared(plain()))
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, llm.KindOf(err))
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		require.Fail(t, "the server was not told")
	}
}

func (s *suite) timeout(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, s.protocol, func(context.Context, *wiretest.Call) wiretest.Reply {
		return wiretest.Reply{Text: "late", Delay: time.Minute}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := server.Model(wiretest.Key).Generate(ctx, s.prepared(plain()))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, llm.KindOverloaded, llm.KindOf(err))
}

func (s *suite) prepared(req *llm.Request) *llm.Request {
	if s.streamed {
		req.OnDelta = func(string) {}
	}

	return req
}

func plain() *llm.Request {
	temperature := 0.35
	return &llm.Request{
		System:      "You are Alfred.",
		Messages:    []llm.Message{{Role: llm.RoleUser, Content: "What do I need for <dessert>?"}},
		Temperature: &temperature,
	}
}

func structured() *llm.Request {
	req := plain()
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: "{}"}, llm.Message{Role: llm.RoleUser, Content: "goal is missing"})
	req.SchemaName = "think"
	req.Schema = json.RawMessage(`{"type":"object","properties":{"goal":{"type":"string"},"steps":{"type":"array","items":{"$ref":"#/$defs/step"}}},
		"required":["goal","steps"],"additionalProperties":false,
		"$defs":{"step":{"type":"object","properties":{"type":{"type":"string","enum":["read","write"]}},"required":["type"],"additionalProperties":false}}}`)

	return req
}

func acting() *llm.Request {
	req := plain()
	req.Tools = []llm.Tool{
		{Name: "db_read", Description: "Read rows.", Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"},"limit":{"type":"integer"}},"required":["table"]}`)},
		{Name: "step_complete", Description: "End the step.", Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"],"additionalProperties":false}`)},
	}

	return req
}
