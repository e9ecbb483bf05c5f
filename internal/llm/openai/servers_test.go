package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

const (
	done    = "data: [DONE]\n\n"
	finish  = `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	hello   = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"hello"}}]}` + "\n\n"
	strictT = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
)

// peculiarity is a known behaviour of a self-hosted server, as docs/models.md lists it.
type peculiarity struct {
	answer func(body string) (status int, kind, text string)
	kind   llm.Kind // "" for an answer
	calls  int      // how many requests it takes
	says   string
	stream bool
}

func refuses(word, says string) func(string) (int, string, string) {
	return func(body string) (int, string, string) {
		if strings.Contains(body, word) {
			return http.StatusBadRequest, "application/json", says
		}

		return well(body)
	}
}

func well(string) (int, string, string) {
	return http.StatusOK, "application/json", `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{\"a\":\"b\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
}

func always(status int, text string) func(string) (int, string, string) {
	return func(string) (int, string, string) { return status, "application/json", text }
}

func streams(text string) func(string) (int, string, string) {
	return func(string) (int, string, string) { return http.StatusOK, "text/event-stream", text }
}

func oldStream(body string) (int, string, string) {
	if strings.Contains(body, "stream_options") {
		return http.StatusBadRequest, "application/json", `{"object":"error","message":"stream_options: Extra inputs are not permitted","code":400}`
	}

	return streams(hello + finish + done)(body)
}

var peculiarities = map[string]peculiarity{
	"Azure/ContentFilter":      {answer: always(400, `{"error":{"code":"content_filter","message":"The response was filtered","status":400}}`), kind: llm.KindRefusal, calls: 1},
	"Azure/FilteredAnswer":     {answer: always(200, `{"model":"m","choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant"}}]}`), kind: llm.KindRefusal, calls: 1},
	"Azure/FirstChunkEmpty":    {answer: streams(`data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}` + "\n\n" + hello + finish + done), stream: true, calls: 1, says: "hello"},
	"Azure/NewLimitName":       {answer: refuses(`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`), calls: 2, says: "b"},
	"LMStudio/ErrorAsText":     {answer: refuses("response_format", `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`), calls: 2, says: "b"},
	"LMStudio/ErrorEvent":      {answer: streams("event: error\ndata: {\"error\":{\"message\":\"Model unloaded.\"}}\n\n"), stream: true, kind: llm.KindOverloaded, calls: 1, says: "Model unloaded"},
	"LMStudio/Overflow":        {answer: streams("event: error\ndata: {\"error\":{\"message\":\"Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.\"}}\n\n"), stream: true, kind: llm.KindContextOverflow, calls: 1},
	"LMStudio/OverflowAsText":  {answer: always(400, `{"error":"Cannot truncate prompt with n_keep (11378) >= n_ctx (4096)"}`), kind: llm.KindContextOverflow, calls: 1},
	"LiteLLM/Temperature":      {answer: refuses("temperature", `{"error":{"message":"litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.2. Only temperature=1 is supported.","type":"None","param":"None","code":"400"}}`), calls: 2, says: "b"},
	"LiteLLM/Overflow":         {answer: always(400, `{"error":{"message":"litellm.ContextWindowExceededError: This model's maximum context length is 8192 tokens","code":"400"}}`), kind: llm.KindContextOverflow, calls: 1},
	"LlamaCPP/NoJinja":         {answer: always(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`), kind: llm.KindInvalidRequest, calls: 1, says: "--jinja"},
	"LlamaCPP/Overflow":        {answer: always(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`), kind: llm.KindContextOverflow, calls: 1},
	"LlamaCPP/Loading":         {answer: always(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), kind: llm.KindOverloaded, calls: 1, says: "Loading"},
	"LlamaCPP/FormatIgnored":   {answer: always(200, `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Sure!\n`+"```json"+`\n{\"a\":\"b\"}\n`+"```"+`"},"finish_reason":"stop"}]}`), calls: 1, says: "b"},
	"Ollama/NoTools":           {answer: always(400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`), kind: llm.KindInvalidRequest, calls: 1, says: "does not support tools"},
	"Ollama/NoModel":           {answer: always(404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`), kind: llm.KindInvalidRequest, calls: 1, says: "pulling"},
	"Ollama/Thinking":          {answer: always(200, `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{\"a\":\"b\"}","reasoning":"hm"},"finish_reason":"stop"}]}`), calls: 1, says: "b"},
	"Ollama/NoUsage":           {answer: streams(hello + finish + done), stream: true, calls: 1, says: "hello"},
	"OpenRouter/NoToolModel":   {answer: always(404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit the documents","code":404}}`), kind: llm.KindInvalidRequest, calls: 1, says: "support tool use"},
	"OpenRouter/ErrorWith200":  {answer: always(200, `{"error":{"code":502,"message":"Provider returned error"},"user_id":"u"}`), kind: llm.KindOverloaded, calls: 1, says: "Provider returned"},
	"OpenRouter/ErrorInStream": {answer: streams(hello + `data: {"error":{"code":429,"message":"slow down"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"), stream: true, kind: llm.KindRateLimit, calls: 1},
	"OpenRouter/Comments":      {answer: streams(": OPENROUTER PROCESSING\n\n" + hello + ": OPENROUTER PROCESSING\n\n" + finish + done), stream: true, calls: 1, says: "hello"},
	"OpenRouter/NoCredit":      {answer: always(402, `{"error":{"code":402,"message":"Insufficient credits"}}`), kind: llm.KindAuth, calls: 1},
	"SGLang/Overflow":          {answer: always(400, `{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`), kind: llm.KindContextOverflow, calls: 1},
	"VLLM/OldOverflow":         {answer: always(400, `{"object":"error","message":"The decoder prompt (length 10127) is longer than the maximum model length of 8192.","type":"BadRequestError","param":null,"code":400}`), kind: llm.KindContextOverflow, calls: 1},
	"VLLM/NoToolParser":        {answer: always(400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`), kind: llm.KindInvalidRequest, calls: 1, says: "--enable-auto-tool-choice"},
	"VLLM/NoReasoningParser":   {answer: streams(`data: {"model":"m","choices":[{"index":0,"delta":{"content":"<think>hm</think>"}}]}` + "\n\n" + hello + finish + done), stream: true, calls: 1, says: "^hello"},
	"VLLM/NoSystemRole":        {answer: refuses(`"system"`, `{"object":"error","message":"System role not supported","type":"BadRequestError","code":400}`), calls: 2, says: "b"},
	"VLLM/Grammar":             {answer: refuses(`"strict":true`, `{"object":"error","message":"The provided JSON schema contains features not supported by the grammar backend","type":"BadRequestError","code":400}`), calls: 2, says: "b"},
	"VLLM/Overflow":            {answer: always(400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce max_tokens","type":"BadRequestError","code":400}`), kind: llm.KindContextOverflow, calls: 1},
	"VLLM/ReasoningContent":    {answer: streams(`data: {"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}` + "\n\n" + hello + finish + done), stream: true, calls: 1, says: "hello"},
	"VLLM/OldStream":           {answer: oldStream, stream: true, calls: 2, says: "hello"},
}

// Each server is handled as docs/models.md says.
func TestServersPeopleRun(t *testing.T) {
	t.Parallel()

	documented, err := os.ReadFile("../../../docs/models.md")
	require.NoError(t, err)
	for name, p := range peculiarities {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, string(documented), "`"+name+"`", "the table in docs/models.md names its tests")
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				var body json.RawMessage
				_ = json.NewDecoder(r.Body).Decode(&body)
				status, kind, text := p.answer(string(body))
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(status)
				_, _ = w.Write([]byte(text))
			}))
			t.Cleanup(server.Close)
			model, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.URL, HTTPClient: server.Client(), Model: "m"})
			require.NoError(t, err)
			response, err := model.Generate(context.Background(), usual(p.stream))
			require.Equal(t, p.calls, calls)
			require.Equal(t, p.kind, llm.KindOf(err), "%v", err)
			if p.kind != "" {
				require.ErrorContains(t, err, p.says)
				return
			}
			require.Regexp(t, p.says, response.Text)
		})
	}
}

// usual is a typical request of a node: streamed for the reply, with a schema otherwise.
func usual(streamed bool) *llm.Request {
	temperature := 0.2
	req := &llm.Request{
		System: "You help.", Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}, Temperature: &temperature, MaxTokens: 100,
	}
	if streamed {
		req.OnDelta = func(string) {}
		return req
	}
	req.SchemaName, req.Schema = "think", json.RawMessage(strictT)

	return req
}

// Answers in every form that the description allows.
func TestModel_AnswerForms(t *testing.T) {
	t.Parallel()

	piece := func(delta string) string {
		return `data: {"model":"m","choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
	}
	end := func(reason string) string {
		return `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
	}
	const usage = `data: {"model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}` + "\n\n"
	for name, tt := range map[string]struct {
		text string
		kind llm.Kind
		want *llm.Response
	}{
		"UsageOnlyAtTheEnd": {hello + finish + usage + done, "", &llm.Response{Text: "hello", Usage: llm.Usage{Input: 7, Output: 5, Cached: 4}}},
		"UsageAndNoMarker":  {hello + finish + usage, "", &llm.Response{Text: "hello", Usage: llm.Usage{Input: 7, Output: 5, Cached: 4}}},
		"RefusalInPieces":   {piece(`{"refusal":"I can"}`) + piece(`{"refusal":"not"}`) + end("stop") + done, llm.KindRefusal, nil},
		"Length":            {hello + end("length") + usage + done, llm.KindInvalidOutput, &llm.Response{Text: "hello", Usage: llm.Usage{Input: 7, Output: 5, Cached: 4}}},
		"Filtered":          {hello + end("content_filter") + done, llm.KindRefusal, nil},
		"EmptyContent":      {piece(`{"role":"assistant","content":""}`) + end("stop") + done, llm.KindInvalidOutput, nil},
		"NullContent":       {piece(`{"role":"assistant","content":null}`) + end("stop") + done, llm.KindInvalidOutput, nil},
		"TwoCallsInterleaved": {piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":""}},{"index":1,"id":"b","function":{"name":"y","arguments":""}}]}`) +
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}},{"index":1,"function":{"arguments":"{\"b\""}}]}`) +
			piece(`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":":1}"}}]}`) + end("tool_calls") + done,
			"", &llm.Response{ToolCalls: []llm.ToolCall{{Name: "x", Args: json.RawMessage(`{"a":1}`)}, {Name: "y", Args: json.RawMessage(`{"b":2}`)}}}},
		"CallsEndWithStop":    {piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`) + end("stop") + done, "", &llm.Response{ToolCalls: []llm.ToolCall{{Name: "x", Args: json.RawMessage(`{}`)}}}},
		"ErrorInTheMiddle":    {hello + `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n", llm.KindOverloaded, nil},
		"NothingAfterContent": {hello, llm.KindOverloaded, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, err := raw(t, tt.text)
			require.Equal(t, tt.kind, llm.KindOf(err), "%v", err)
			if tt.want != nil {
				tt.want.Model, tt.want.Provider = "m", "openai"
				require.Equal(t, tt.want, response)
			}
		})
	}
}
