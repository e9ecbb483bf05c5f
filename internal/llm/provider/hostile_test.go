package provider_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
)

const (
	firstByte = 150 * time.Millisecond
	silence   = 150 * time.Millisecond
	wholeCall = 600 * time.Millisecond
	maxBytes  = 64 << 10

	// slack is for a busy machine; unbounded behaviour takes forever.
	slack = 60 * time.Second

	// maxMemory is what a call and the server in this process may allocate, for as much as 300 MB that are sent.
	maxMemory = 64 << 20
)

// behaviour is what a server does instead of answering properly.
type behaviour struct {
	serve func(w http.ResponseWriter, r *http.Request)
	kind  llm.Kind            // "" for an answer
	other map[string]llm.Kind // where a provider's library sees it differently: "openai streamed"
	says  string
	after time.Duration // RetryAfter
	limit limit         // the one that ends it
}

// kindFor is the outcome for a provider: the behaviour's own, unless its library reads such an answer differently. Two
// libraries find an answer without text in JSON of another shape; one takes its last event for the end of the stream.
func (b *behaviour) kindFor(provider string, streamed bool) llm.Kind {
	way := map[bool]string{false: " whole", true: " streamed"}[streamed]
	if kind, ok := b.other[provider+way]; ok {
		return kind
	}

	return b.kind
}

var nothingSaid = map[string]llm.Kind{"anthropic whole": llm.KindInvalidOutput, "openai whole": llm.KindInvalidOutput}

// limit is the only short limit of a call: on a busy machine, another one could otherwise end the call first.
type limit string

const (
	none    limit = ""
	first   limit = "first"
	silent  limit = "silent"
	overall limit = "overall"
)

func write(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
	w.(http.Flusher).Flush()
}

// until the client disconnects.
func hangUp(r *http.Request) { <-r.Context().Done() }

func status(code int, header, value, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(code)
		write(w, body)
	}
}

func ok(kind, body string) func(http.ResponseWriter, *http.Request) {
	return status(http.StatusOK, "Content-Type", kind, body)
}

const (
	asJSON   = "application/json"
	asStream = "text/event-stream"
)

// good is a valid answer of each provider, whole and streamed.
var good = map[string][2]string{
	provider.Anthropic: {
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	provider.Gemini: {
		`{"modelVersion":"m","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`,
		"data: {\"modelVersion\":\"m\",\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hel\"}]}}]}\n\n" +
			"data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"lo\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":2}}\n\n",
	},
	provider.OpenAI: {
		`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hello\"}}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\n" +
			"data: [DONE]\n\n",
	},
}

// behaviours are slow and hostile servers, for both whole and streamed answers.
func behaviours(streamed bool, answer string) map[string]behaviour {
	kind := asJSON
	if streamed {
		kind = asStream
	}
	drip := func(piece string, pause time.Duration) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				write(w, piece)
				select {
				case <-r.Context().Done():
				case <-time.After(pause):
				}
			}
		}
	}
	after := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			write(w, text)
			hangUp(r)
		}
	}
	flood := func(piece string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for sent := 0; sent < 300<<20 && r.Context().Err() == nil; sent += len(piece) {
				if _, err := w.Write([]byte(piece)); err != nil {
					return
				}
			}
		}
	}

	return map[string]behaviour{
		"HangsBeforeHeaders":  {serve: func(_ http.ResponseWriter, r *http.Request) { hangUp(r) }, kind: llm.KindOverloaded, says: "no answer began within", limit: first},
		"HangsAfterHeaders":   {serve: after(""), kind: llm.KindOverloaded, says: "stopped for", limit: silent},
		"SilentInTheMiddle":   {serve: after(answer[:len(answer)/2]), kind: llm.KindOverloaded, says: "stopped for", limit: silent},
		"DripsForEver":        {serve: drip(" ", 20*time.Millisecond), kind: llm.KindOverloaded, says: "not complete after", limit: overall},
		"DripsComments":       {serve: drip(": ping\n\n", 20*time.Millisecond), kind: llm.KindOverloaded, limit: overall},
		"DripsLines":          {serve: drip("\n", 20*time.Millisecond), kind: llm.KindOverloaded, says: "not complete after", limit: overall},
		"300MB":               {serve: flood(strings.Repeat("x", 1<<16)), kind: llm.KindTooLarge, says: "longer than"},
		"300MBOfLines":        {serve: flood(strings.Repeat("data: \n\n", 1<<13)), kind: llm.KindTooLarge, other: map[string]llm.Kind{"gemini streamed": llm.KindOverloaded, "openai streamed": llm.KindOverloaded}},
		"300MBOfSpaces":       {serve: flood(strings.Repeat(" ", 1<<16)), kind: llm.KindTooLarge, says: "longer than"},
		"GzipBomb":            {serve: bomb(kind), kind: llm.KindTooLarge, says: "longer than"},
		"HTMLWith200":         {serve: ok("text/html", "<html>Please log in</html>"), kind: llm.KindOverloaded},
		"HTMLWith502":         {serve: status(502, "Content-Type", "text/html", "<html>Bad Gateway</html>"), kind: llm.KindOverloaded},
		"Empty":               {serve: ok(kind, ""), kind: llm.KindOverloaded},
		"NoContent":           {serve: status(204, "", "", ""), kind: llm.KindOverloaded},
		"HalfJSON":            {serve: ok(kind, answer[:len(answer)/2]), kind: llm.KindOverloaded},
		"Null":                {serve: ok(kind, "null"), kind: llm.KindOverloaded},
		"NullEvent":           {serve: ok(kind, "data: null\n\n"), kind: llm.KindOverloaded},
		"Number":              {serve: ok(kind, "42"), kind: llm.KindOverloaded, other: map[string]llm.Kind{"anthropic whole": llm.KindInvalidOutput}},
		"List":                {serve: ok(kind, "[]"), kind: llm.KindOverloaded, other: map[string]llm.Kind{"anthropic whole": llm.KindInvalidOutput}},
		"EmptyObject":         {serve: ok(kind, "{}"), kind: llm.KindOverloaded, other: nothingSaid},
		"NullParts":           {serve: ok(kind, `{"choices":[null],"candidates":[null],"content":[null]}`), kind: llm.KindOverloaded, other: nothingSaid},
		"NullPartsInEvent":    {serve: ok(kind, `data: {"choices":[null],"candidates":[null],"content":[null]}`+"\n\n"), kind: llm.KindOverloaded},
		"WrongTypes":          {serve: ok(kind, `{"choices":"a","candidates":3,"content":{"a":1}}`), kind: llm.KindOverloaded, other: nothingSaid},
		"DeepNesting":         {serve: ok(kind, strings.Repeat("[", 20_000)), kind: llm.KindOverloaded},
		"DeepNestingInEvent":  {serve: ok(kind, "data: "+strings.Repeat(`{"a":`, 5_000)+"\n\n"), kind: llm.KindOverloaded},
		"BinaryGarbage":       {serve: ok(kind, "\x00\xff\xfe\x01\x02"), kind: llm.KindOverloaded},
		"WrongLength":         {serve: status(200, "Content-Length", "999999", answer), kind: llm.KindOverloaded, other: map[string]llm.Kind{"openai streamed": ""}},
		"BadGzip":             {serve: status(200, "Content-Encoding", "gzip", "not gzip"), kind: llm.KindOverloaded},
		"Redirect":            {serve: redirect, kind: llm.KindInvalidRequest, says: "302"},
		"RedirectToItself":    {serve: status(307, "Location", "/", ""), kind: llm.KindInvalidRequest, says: "307"},
		"NotModified":         {serve: status(304, "", "", ""), kind: llm.KindInvalidRequest},
		"RateLimitForAnHour":  {serve: status(429, "Retry-After", "3600", "{}"), kind: llm.KindRateLimit, after: time.Hour},
		"RateLimitForever":    {serve: status(429, "Retry-After", "1e300", "{}"), kind: llm.KindRateLimit, says: "429"},
		"RateLimitUnreadable": {serve: status(429, "Retry-After", "soon", "<html>"), kind: llm.KindRateLimit},
		"ErrorWithoutBody":    {serve: status(500, "", "", ""), kind: llm.KindOverloaded},
		"ErrorOf300MB": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			flood(strings.Repeat("x", 1<<16))(w, r)
		}, kind: llm.KindOverloaded},
		"ErrorThatHangs": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			write(w, "{")
			hangUp(r)
		}, kind: llm.KindOverloaded, limit: silent},
		"ErrorWithNUL": {serve: status(400, "", "", "{\"error\":{\"message\":\"a\\u0000b\"}}"), kind: llm.KindInvalidRequest},
		"Unauthorized": {serve: status(401, "", "", "{}"), kind: llm.KindAuth},
		"ClosesAtOnce": {serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, kind: llm.KindOverloaded},
		"ClosesInTheMiddle": {serve: func(w http.ResponseWriter, _ *http.Request) {
			write(w, answer[:len(answer)/3])
			panic(http.ErrAbortHandler)
		}, kind: llm.KindOverloaded},
		"HeadersWithoutEnd":    {serve: manyHeaders, kind: llm.KindOverloaded},
		"AnswersWellButSlowly": {serve: slowly(kind, answer), kind: ""},
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "http://127.0.0.1:1/stolen", http.StatusFound)
}

func manyHeaders(w http.ResponseWriter, _ *http.Request) {
	for i := range 20_000 {
		w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
	}
	write(w, "{}")
}

func bomb(kind string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		piece := make([]byte, 1<<16)
		for sent := 0; sent < 300<<20 && r.Context().Err() == nil; sent += len(piece) {
			if _, err := zipped.Write(piece); err != nil || zipped.Flush() != nil {
				return
			}
			write(w, "")
		}
	}
}

// slowly sends a good answer in pieces, each in time.
func slowly(kind, answer string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for len(answer) > 0 {
			n := min(len(answer), 200)
			write(w, answer[:n])
			answer = answer[n:]
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func opened(t *testing.T, name, url string, client *http.Client, short limit) llm.Model {
	t.Helper()
	of := func(l limit, length time.Duration) map[string]time.Duration {
		if l != short {
			length = slack
		}

		return map[string]time.Duration{"reply": length}
	}
	reach := provider.Server{APIKey: "k", BaseURL: url}
	models, err := provider.New(&provider.Config{
		Name: name, Model: "m", Anthropic: reach, Gemini: reach, OpenAI: reach, HTTPClient: client, MaxBytes: maxBytes,
		FirstByte: of(first, firstByte), Silence: of(silent, silence), Whole: of(overall, wholeCall),
	})
	require.NoError(t, err)

	return models["reply"]
}

func asking(streamed bool) *llm.Request {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}
	if streamed {
		req.OnDelta = func(string) {}
	}

	return req
}

// K02, K05, K07: whatever a server does, a call ends in time, in bounded memory and with an error that says what
// happened. The cases run one after the other, so that the memory of each can be measured.
func TestK05HostileServers(t *testing.T) { //nolint:paralleltest // memory is measured one case at a time
	dbtest.Whole(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	t.Run("Behaviours", func(t *testing.T) { //nolint:paralleltest // the same
		for name, answers := range good {
			for streamed, answer := range map[bool]string{false: answers[0], true: answers[1]} {
				for what, b := range behaviours(streamed, answer) {
					t.Run(fmt.Sprintf("%s/%s/streamed_%t", what, name, streamed), func(t *testing.T) { //nolint:paralleltest // the same
						checkBehaviour(t, name, streamed, &b)
					})
				}
			}
		}
	})
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapSys-min(before.HeapSys, after.HeapSys), uint64(128<<20), "24 answers of 300 MB leave the heap as it was")
}

func checkBehaviour(t *testing.T, name string, streamed bool, b *behaviour) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server never notices that the client has disconnected
		b.serve(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), slack)
	defer cancel()
	model, ends := opened(t, name, server.URL, server.Client(), b.limit), map[limit]time.Duration{first: firstByte, silent: silence, overall: wholeCall}[b.limit]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	response, err := model.Generate(ctx, asking(streamed))
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	require.NoError(t, ctx.Err(), "the call did not end by itself")
	if b.says != "" { // otherwise a client may notice before the limit that no answer is coming
		require.GreaterOrEqual(t, took, ends, "it was given the time that it has")
	}
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(maxMemory))
	kind := b.kindFor(name, streamed)
	if kind == "" {
		require.NoError(t, err)
		require.Equal(t, "hello", response.Text)

		return
	}
	var failure *llm.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Kind, "%v", err)
	require.ErrorContains(t, err, cmp.Or(b.says, string(failure.Kind)))
	require.Less(t, len(err.Error()), 2000)
	if b.after > 0 {
		require.Equal(t, b.after, failure.RetryAfter)
	}
	require.GreaterOrEqual(t, failure.RetryAfter, time.Duration(0))
	if failure.Kind == llm.KindTooLarge && response != nil {
		require.Empty(t, response.Text)
		require.Empty(t, response.ToolCalls)
	}
}

// A connection may close at each byte of a valid answer: an incomplete one is never taken for complete.
func TestClosingAtEachByte(t *testing.T) {
	t.Parallel()
	for name, answers := range good {
		for streamed, answer := range map[bool]string{false: answers[0], true: answers[1]} {
			t.Run(fmt.Sprintf("%s/streamed_%t", name, streamed), func(t *testing.T) {
				t.Parallel()
				var at int
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					kind := asJSON
					if streamed {
						kind = asStream
					}
					ok(kind, answer[:at])(w, nil)
					panic(http.ErrAbortHandler)
				}))
				defer server.Close()
				model := opened(t, name, server.URL, server.Client(), none)
				for at = range len(answer) {
					response, err := model.Generate(t.Context(), asking(streamed))
					if err == nil {
						require.Equal(t, "hello", response.Text, "at byte %d", at)
						require.Positive(t, at)

						continue
					}
					require.NotEmpty(t, llm.KindOf(err), "at byte %d: %v", at, err)
				}
			})
		}
	}
}
