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

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
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
	s.BaseURL = s.http.URL + dialects[protocol].prefix
	t.Cleanup(s.http.Close)

	return s
}

func newServer(protocol Protocol, handler Handler) *Server {
	s := &Server{handler: handler, protocol: protocol, mux: http.NewServeMux(), BaseURL: "http://stand-in" + dialects[protocol].prefix}
	for _, path := range dialects[protocol].paths {
		s.mux.HandleFunc("POST "+path, s.serve)
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

// Model is the provider's model test-model for the server.
func (s *Server) Model(key string) llm.Model { return s.open(s.Client(), key) }

func (s *Server) open(client *http.Client, key string) llm.Model {
	model, err := dialects[s.protocol].open(&wire.Config{APIKey: key, BaseURL: s.BaseURL, HTTPClient: client, Model: "test-model"})
	if err != nil {
		panic(err) // the configuration is complete
	}

	return model
}

// Client returns a client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	d, call := dialects[s.protocol], &Call{Header: r.Header.Clone()}
	method := r.URL.Path[strings.LastIndexAny(r.URL.Path, "/:")+1:]
	embeds := strings.Contains(strings.ToLower(method), "embed")
	if s.protocol == Gemini && !slices.Contains([]string{"generateContent", "streamGenerateContent", "batchEmbedContents"}, method) {
		http.NotFound(w, r)
		return
	}
	if !s.read(w, r, call, embeds) {
		return
	}
	reply, ok := s.decide(w, r, call)
	switch {
	case !ok:
	case embeds:
		writeJSON(w, http.StatusOK, d.embed(gjson.ParseBytes(call.Body)))
	case call.Stream:
		stream(w, call, reply, d)
	default:
		whole(w, reply, d.whole(call, reply))
	}
}

// read reads the request into call. It rejects and counts what the provider's rules forbid.
func (s *Server) read(w http.ResponseWriter, r *http.Request, call *Call, embeds bool) bool {
	var err error
	if call.Body, err = io.ReadAll(r.Body); err != nil || !json.Valid(call.Body) {
		http.Error(w, "the body is not JSON", http.StatusBadRequest)
		return false
	}
	says := ""
	if !embeds {
		says = refusal(s.protocol, call.Body)
	} else if err := json.Unmarshal(call.Body, &embedding{}); err != nil {
		says = err.Error()
	}
	if says == "" && s.protocol == Anthropic && r.Header.Get("Anthropic-Version") == "" {
		says = "anthropic-version: header is required"
	}
	if says != "" {
		s.mu.Lock()
		s.refused = append(s.refused, says)
		s.mu.Unlock()
		s.fail(w, &Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: says})

		return false
	}
	dialects[s.protocol].read(r, gjson.ParseBytes(call.Body), call)

	return true
}

// decide checks the key, calls the handler, and waits or fails as it says. It returns false if it has already responded.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, call *Call) (*Reply, bool) {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	d := dialects[s.protocol]
	if key := strings.TrimPrefix(r.Header.Get(d.key), d.scheme); key != Key {
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

// whole writes an answer in one piece, or half of it before the connection breaks.
func whole(w http.ResponseWriter, reply *Reply, body any) {
	if reply.End != EndDisconnect {
		writeJSON(w, http.StatusOK, body)
		return
	}
	text, _ := json.Marshal(body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text[:len(text)/2])
	flush(w)
	panic(http.ErrAbortHandler)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// event is a server-sent event, named or not. Its data is encoded as JSON unless it is a string.
type event struct {
	name string
	data any
}

// stream sends an answer's events, or half of the middle before it breaks off.
func stream(w http.ResponseWriter, call *Call, reply *Reply, d *dialect) {
	start, middle, end := d.stream(call, reply)
	if reply.End == EndDisconnect || reply.End == EndSilent {
		middle, end = middle[:len(middle)/2], nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for _, e := range slices.Concat(start, middle, end) {
		text, isText := e.data.(string)
		if !isText {
			encoded, _ := json.Marshal(e.data)
			text = string(encoded)
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
		flush(w)
	}
	if reply.End == EndDisconnect {
		panic(http.ErrAbortHandler)
	}
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}
