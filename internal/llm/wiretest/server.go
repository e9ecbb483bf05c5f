package wiretest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"alfred/internal/llm"
)

// Key is the API key that the servers accept.
const Key = "sk-test-0123456789abcdef"

// Protocol is the wire protocol that a server speaks.
type Protocol string

// The protocols.
const (
	Anthropic Protocol = "anthropic"
	Gemini    Protocol = "gemini"
	OpenAI    Protocol = "openai"
)

// End says how an answer ends.
type End string

// The ends; the zero value is a complete answer.
const (
	EndCutOff     End = "cut_off"
	EndDisconnect End = "disconnect" // the connection breaks in the middle
	EndRefused    End = "refused"
	EndSilent     End = "silent" // the stream closes cleanly but too early
)

// Call is a request as it arrived.
type Call struct {
	llm.Request
	Body   []byte
	Header http.Header
	Model  string
	Stream bool
}

// Reply is the server's answer. With a Status it is a failure.
type Reply struct {
	Text      string
	ToolCalls []llm.ToolCall
	Usage     llm.Usage
	Delay     time.Duration // before the first byte
	End       End

	Status     int
	Code       string
	Message    string
	Param      string
	RetryAfter time.Duration
}

// Handler decides what to answer. ctx is done when the client disconnects.
type Handler func(ctx context.Context, call *Call) Reply

// Server is a running server; it stops when its test ends.
type Server struct {
	// BaseURL is what to configure a provider with.
	BaseURL string

	handler  Handler
	http     *httptest.Server
	mux      *http.ServeMux
	mu       sync.Mutex
	calls    []*Call
	refused  []string
	protocol Protocol
}

// Start starts a server.
func Start(t testing.TB, protocol Protocol, handler Handler) *Server {
	t.Helper()
	s := newServer(protocol, handler)
	s.http = httptest.NewServer(s.mux)
	s.BaseURL = s.http.URL
	if protocol == OpenAI {
		s.BaseURL += "/v1"
	}
	t.Cleanup(s.http.Close)

	return s
}

func newServer(protocol Protocol, handler Handler) *Server {
	s := &Server{handler: handler, protocol: protocol, mux: http.NewServeMux()}
	switch protocol {
	case Anthropic:
		s.mux.HandleFunc("POST /v1/messages", s.messages)
	case Gemini:
		s.mux.HandleFunc("POST /v1beta/models/{call}", s.generate)
	case OpenAI:
		s.mux.HandleFunc("POST /v1/chat/completions", s.chatCompletions)
		s.mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	}

	return s
}

// Calls returns the requests so far.
func (s *Server) Calls() []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.calls)
}

// Refusals are the requests rejected by the provider's rules.
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.refused)
}

// Client returns a client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// serve is common to all protocols: check the key, call the handler, wait, fail. It returns false if it has already
// responded.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, key string, call *Call) (*Reply, bool) {
	call.Header = r.Header.Clone()
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	if key != Key {
		// Real servers repeat parts of the key like this; searching for the key does not find them.
		parts := key[:min(len(key), 6)] + "********" + key[max(len(key)-4, 0):]
		s.fail(w, &Reply{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "Incorrect API key provided: " + parts})

		return nil, false
	}
	reply := s.handler(r.Context(), call)
	timer := time.NewTimer(reply.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, false
	}
	if reply.Status != 0 {
		s.fail(w, &reply)
		return nil, false
	}

	return &reply, true
}

// fail writes a failure in the protocol's format.
func (s *Server) fail(w http.ResponseWriter, reply *Reply) {
	if reply.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(reply.RetryAfter.Seconds())))
	}
	detail := map[string]any{"message": reply.Message, "type": reply.Code, "code": reply.Code, "param": reply.Param}
	var body any = map[string]any{"error": detail}
	switch s.protocol {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": reply.Code, "message": reply.Message}}
	case Gemini:
		body = []any{map[string]any{"error": map[string]any{"code": reply.Status, "message": reply.Message, "status": reply.Code}}}
	case OpenAI:
	}
	writeJSON(w, reply.Status, body)
}

// read decodes the body into request and keeps it in call. It rejects and counts what the provider's rules forbid.
func (s *Server) read(w http.ResponseWriter, r *http.Request, request any, call *Call) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		call.Body = body
		err = json.Unmarshal(body, request)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("read request: %v", err), http.StatusBadRequest)
		return false
	}
	if strings.Contains(strings.ToLower(r.URL.Path), "embed") {
		return true
	}
	if says := refusal(s.protocol, call.Body); says != "" {
		s.mu.Lock()
		s.refused = append(s.refused, says)
		s.mu.Unlock()
		s.fail(w, &Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: says})

		return false
	}

	return true
}

// whole writes an answer in one piece, or half of it before the connection breaks.
func whole(w http.ResponseWriter, reply *Reply, body any) {
	if reply.End != EndDisconnect {
		writeJSON(w, http.StatusOK, body)
		return
	}
	text, _ := json.Marshal(body) //nolint:errchkjson // made of maps and texts
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text[:len(text)/2])
	flush(w)
	panic(http.ErrAbortHandler)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // a client that went away is the test's concern
}

// events writes server-sent events, named or not.
type events struct{ w http.ResponseWriter }

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)

	return events{w}
}

func (e events) send(name string, data any) {
	text, isText := data.(string)
	if !isText {
		encoded, _ := json.Marshal(data) //nolint:errchkjson // made of maps and texts
		text = string(encoded)
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", text)
	flush(e.w)
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// pieces splits text into deltas of a few runes.
func pieces(text string) []string {
	const size = 7
	var list []string
	for part := range slices.Chunk([]rune(text), size) {
		list = append(list, string(part))
	}

	return list
}

// args returns a model's arguments; none means no arguments.
func args(call llm.ToolCall) string {
	if len(call.Args) == 0 {
		return "{}"
	}

	return string(call.Args)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
