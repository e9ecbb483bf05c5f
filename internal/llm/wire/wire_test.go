package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

var somebody = &wire.Config{Provider: "somebody"}

func TestStatus(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		status int
		body   string
		kind   llm.Kind
		says   string
	}{
		"Filtered":     {400, `{"error":{"code":"content_filter","message":"filtered"}}`, llm.KindRefusal, "filtered"},
		"Gemini":       {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.KindAuth, "status 400"},
		"HTML":         {502, "<html>Bad Gateway</html>", llm.KindOverloaded, "<html>"},
		"LlamaCPP":     {400, `{"error":{"code":400,"message":"the request exceeds the available size","type":"exceed_context_size_error"}}`, llm.KindContextOverflow, "exceeds"},
		"NoCredit":     {429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, llm.KindAuth, "429"},
		"Nothing":      {500, "", llm.KindOverloaded, "500"},
		"Ollama":       {404, `{"error":"model 'x' not found"}`, llm.KindInvalidRequest, "model 'x' not found"},
		"OllamaObject": {400, `{"error":{"message":"llama2 does not support tools","type":"api_error"}}`, llm.KindInvalidRequest, "does not support tools"},
		"VLLM":         {400, `{"object":"error","message":"This model's maximum context length is 8192 tokens.","type":"BadRequestError","code":400}`, llm.KindContextOverflow, "8192"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := somebody.Status(tt.status, nil, []byte(tt.body))
			require.Equal(t, tt.kind, err.Kind)
			require.ErrorContains(t, err, tt.says)
		})
	}

	t.Run("LongMessageIsCut", func(t *testing.T) {
		t.Parallel()
		err := somebody.Status(400, nil, []byte(strings.Repeat("é", 5000)))
		require.Less(t, len(err.Error()), 600)
	})
}

func TestStatus_RetryAfter(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		header, value, body string
		want                time.Duration
	}{
		"Body":         {"X", "", `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay": "34s"}]}}`, 34 * time.Second},
		"Fraction":     {"Retry-After", "0.5", "", 500 * time.Millisecond},
		"Milliseconds": {"Retry-After-Ms", "250", "", 250 * time.Millisecond},
		"Negative":     {"Retry-After", "-3", "", 0},
		"Nonsense":     {"Retry-After", "soon", `"retryDelay`, 0},
		"Past":         {"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT", "", 0},
		"Seconds":      {"Retry-After", "12", "", 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set(tt.header, tt.value)
			require.Equal(t, tt.want, somebody.Status(429, header, []byte(tt.body)).RetryAfter)
		})
	}

	t.Run("Date", func(t *testing.T) {
		t.Parallel()
		header := http.Header{"Retry-After": {time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)}}
		require.InDelta(t, time.Minute, somebody.Status(429, header, nil).RetryAfter, float64(3*time.Second))
	})

	// K06: a worker whose clock is an hour behind would wait for an hour, one ahead not at all.
	t.Run("DateOfAnotherClock", func(t *testing.T) {
		t.Parallel()
		for _, off := range []time.Duration{-time.Hour, time.Hour} {
			now := time.Now().Add(off).UTC()
			header := http.Header{"Date": {now.Format(http.TimeFormat)}, "Retry-After": {now.Add(time.Minute).Format(http.TimeFormat)}}
			require.Equal(t, time.Minute, somebody.Status(429, header, nil).RetryAfter)
		}
	})
}

func TestTyped_HidesTheURL(t *testing.T) {
	t.Parallel()

	cause := &url.Error{Op: "Post", URL: "http://user:hunter2@host/", Err: errors.New("connection refused for sk-1")}
	err := (&wire.Config{Provider: "somebody", APIKey: "sk-1"}).Typed(context.Background(), cause)
	require.Equal(t, llm.KindOverloaded, err.Kind)
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "hunter2")
	require.NotContains(t, err.Error(), "sk-1")
}

func TestEvent(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]llm.Kind{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: llm.KindOverloaded,
		`{"error":{"type":"rate_limit_error","message":"slow down"}}`:                 llm.KindRateLimit,
		`{"error":{"code":429,"message":"slow down"}}`:                                llm.KindRateLimit,
		`{"error":{"message":"prompt is too long"}}`:                                  llm.KindContextOverflow,
		`what?`: llm.KindOverloaded,
	} {
		require.Equal(t, want, somebody.Event([]byte(body)).Kind, body)
	}
}

// What a model considers before it answers is no part of the answer.
func TestFinish(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ text, want string }{
		"Blanks":       {"\n<think>\n\n</think>\n\nHello", "Hello"},
		"Mark":         {"I <think> so", "I <think> so"},
		"Mistral":      {"[THINK]hm[/THINK]Hello", "Hello"},
		"InFence":      {"```json\n{\"say\": \"I close it with </think> and go on\"}\n```", "```json\n{\"say\": \"I close it with </think> and go on\"}\n```"},
		"Mentioned":    {"It writes <think> first, then </think>, then answers.", "It writes <think> first, then </think>, then answers."},
		"OnlyItsEnd":   {"Hm, so they want soup.</think>\n\nHello", "Hello"},
		"OnlyOneLine":  {"Hm, `soup`.</think>Hello", "Hello"},
		"Quoted":       {"It closes with `</think>` and goes on.", "It closes with `</think>` and goes on."},
		"Structured":   {"<think>Is it {\"intent\": \"write\"}? No.</think>\n{\"intent\": \"read\"}", `{"intent": "read"}`},
		"WithinObject": {`{"say": "</think>"}`, `{"say": "</think>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, err := wire.Finish(&llm.Request{}, &llm.Response{Text: tt.text}, wire.EndWhole)
			require.NoError(t, err)
			require.Equal(t, tt.want, response.Text)
		})
	}

	_, err := wire.Finish(&llm.Request{}, &llm.Response{Text: "<think>I do not come to an end"}, wire.EndWhole)
	require.Equal(t, llm.KindInvalidOutput, llm.KindOf(err))
}

// A user does not see a model think, however its words are cut into pieces.
func TestReasoningIsNotStreamed(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"<think>\nSoup, I say.\n</think>\n\nHello there": "Hello there",
		"Hello <b>there</b>":                             "Hello <b>there</b>",
		"<3 there":                                       "<3 there",
		"[Soup](/s) is hot":                              "[Soup](/s) is hot",
		"<think>for ever":                                "",
		"<think>" + strings.Repeat("so ", 60) + "</REASONING> \n Hello": "Hello",
		"\n\n \nHello\n": "Hello\n",
		"":               "",
	} {
		for size := range len(text) {
			var heard strings.Builder
			model := wire.Model{Config: &wire.Config{}, Ask: func(_ context.Context, req *llm.Request) (*llm.Response, error) {
				for piece := range slices.Chunk([]byte(text), size+1) {
					req.OnDelta(string(piece))
				}

				return &llm.Response{}, nil
			}}
			_, err := model.Generate(t.Context(), &llm.Request{OnDelta: func(piece string) { heard.WriteString(piece) }})
			require.NoError(t, err)
			require.Equal(t, want, heard.String(), "in pieces of %d", size+1)
		}
	}
}

// A model that comes to nothing but line breaks is heard to its end.
func TestLineBreaksWithoutEnd(t *testing.T) {
	t.Parallel()

	model := wire.Model{Config: &wire.Config{}, Ask: func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		for range 100_000 {
			req.OnDelta("\n")
		}
		req.OnDelta("Hello")

		return &llm.Response{}, nil
	}}
	began, heard := time.Now(), ""
	_, err := model.Generate(t.Context(), &llm.Request{OnDelta: func(piece string) { heard += piece }})
	require.NoError(t, err)
	require.Equal(t, "Hello", heard)
	require.Less(t, time.Since(began), 10*time.Second)
}

// With strict mode and a schema outside its subset, every request fails with 400.
func TestStrict(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		schema string
		want   bool
	}{
		"AnyValue":      {`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`, false},
		"Closed":        {`{"type":"object","properties":{"a":{"type":["null","array"],"items":{"type":"string"}}},"required":["a"],"additionalProperties":false}`, true},
		"Definition":    {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":"object"}}}`, false},
		"Empty":         {`{}`, false},
		"InArray":       {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}},"required":["a"],"additionalProperties":false}`, false},
		"NotClosed":     {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		"NotJSON":       {`{`, false},
		"OneOf":         {`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"],"additionalProperties":false}`, false},
		"OptionalField": {`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, wire.Strict(json.RawMessage(tt.schema)))
		})
	}
}

func TestClient_RefusesRealServersInTests(t *testing.T) {
	t.Parallel()

	for _, base := range []string{"https://api.openai.com/v1", "http://10.0.0.1:8080", "", "://"} {
		_, err := wire.Client(base, nil, wire.Limits{})
		require.Error(t, err, base)
	}
	for _, base := range []string{"http://127.0.0.1:11434/v1", "http://localhost:8080", "http://[::1]:1"} {
		_, err := wire.Client(base, nil, wire.Limits{})
		require.NoError(t, err, base)
	}
}
