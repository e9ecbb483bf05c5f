package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/wire"
)

var errMismatch = errors.New("the request is not the recorded one; record again with -record if it should change")

// keptHeaders are the headers of an answer that a provider may act on.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms"}

// tape is the file.
type tape struct {
	// Source says where the exchanges come from.
	Source    string     `json:"source"`
	Exchanges []exchange `json:"exchanges"`
}

type exchange struct {
	Request  request  `json:"request"`
	Response response `json:"response"`
}

// request holds its body as JSON if it is JSON, for readable diffs: field order and whitespace do not matter.
type request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   any    `json:"body"`
}

type response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	// Lines is the body, split after line ends.
	Lines []string `json:"lines"`
}

// openTape returns a client that plays the cassette at path, so that tests see a real server's answers without a network or a key,
// or records it, without the secret. On replay, requests must equal the recorded ones in method, path, body and order, and all
// must be made.
func openTape(t testing.TB, path string, record bool, secret string) *http.Client {
	t.Helper()
	if record {
		r := &recorder{secret: secret}
		t.Cleanup(func() { r.save(t, path) })

		return &http.Client{Transport: r}
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	p := &player{}
	require.NoError(t, json.Unmarshal(text, &p.tape))
	t.Cleanup(func() {
		if !t.Failed() {
			require.Equal(t, len(p.tape.Exchanges), p.next, "the cassette %s holds requests that nobody made", path)
		}
	})

	return &http.Client{Transport: p}
}

// player answers from the tape.
type player struct {
	mu   sync.Mutex
	next int
	tape tape
}

// RoundTrip implements http.RoundTripper.
func (p *player) RoundTrip(r *http.Request) (*http.Response, error) {
	got, err := tapedRequest(r, "")
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.tape.Exchanges) {
		return nil, fmt.Errorf("%w: request %d: the tape has ended", errMismatch, p.next+1)
	}
	recorded := p.tape.Exchanges[p.next]
	if !reflect.DeepEqual(*got, recorded.Request) {
		return nil, fmt.Errorf("%w: request %d: got %s %s %v", errMismatch, p.next+1, got.Method, got.Path, got.Body)
	}
	p.next++

	return recorded.Response.http(r), nil
}

// recorder calls the real server and keeps its answers.
type recorder struct {
	mu     sync.Mutex
	secret string // replaced wherever it occurs
	tape   tape
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(given *http.Request) (*http.Response, error) {
	asked, err := tapedRequest(given, r.secret)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultTransport.RoundTrip(given)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	said, err := tapedResponse(answer, r.secret)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tape.Exchanges = append(r.tape.Exchanges, exchange{Request: *asked, Response: *said})

	return said.http(given), nil
}

func (r *recorder) save(t testing.TB, path string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tape.Source = "recorded"
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(r.tape))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
}

// tapedRequest reads a request and leaves its body readable.
func tapedRequest(r *http.Request, secret string) (*request, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	read, text := &request{Method: r.Method, Path: r.URL.Path}, wire.Scrub(string(body), secret)
	if json.Unmarshal([]byte(text), &read.Body) != nil {
		read.Body = text
	}

	return read, nil
}

func tapedResponse(r *http.Response, secret string) (*response, error) {
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	header := map[string]string{}
	for _, name := range keptHeaders {
		if value := r.Header.Get(name); value != "" {
			header[name] = value
		}
	}

	return &response{Status: r.StatusCode, Header: header, Lines: strings.SplitAfter(wire.Scrub(string(body), secret), "\n")}, nil
}

func (r *response) http(request *http.Request) *http.Response {
	header := http.Header{}
	for name, value := range r.Header {
		header.Set(name, value)
	}
	body := strings.Join(r.Lines, "")

	return &http.Response{
		Status: http.StatusText(r.Status), StatusCode: r.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}
}

const secret = "sk-very-secret"

func TestTapeIsRecordedAndPlayed(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Set-Cookie", "session="+secret)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte("data: " + secret + "\n\ndata: " + string(body) + "\n\n"))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "sub", "tape.json")

	recording := &ending{TB: t}
	recorder := openTape(recording, path, true, secret)
	recorded := ask(t, recorder, server.URL+"/v1/chat?key="+secret, `{"a": 1, "b": "`+secret+`"}`)
	recording.end()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), secret)

	client := openTape(t, path, false, "")
	require.Equal(t, recorded, ask(t, client, "http://elsewhere/v1/chat", `{"b": "[secret]", "a": 1}`))
	_, err = client.Post("http://elsewhere/v1/chat", "application/json", strings.NewReader(`{}`))
	require.ErrorContains(t, err, "the tape has ended")
}

func TestTapeRefusesAnotherRequest(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "tape.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"exchanges": [{"request": {"method": "POST", "path": "/a", "body": {"n": 1}}, "response": {"status": 200, "lines": ["ok"]}}]}`), 0o600))
	client := openTape(t, path, false, "")
	for target, body := range map[string]string{"http://x/a": `{"n": 2}`, "http://x/b": `{"n": 1}`} {
		_, err := client.Post(target, "application/json", strings.NewReader(body))
		require.ErrorContains(t, err, "not the recorded one")
	}
	require.Equal(t, "200  ok", ask(t, client, "http://x/a", `{"n":1}`))
}

// ending is a test whose end can be called.
type ending struct {
	testing.TB

	end func()
}

func (e *ending) Cleanup(end func()) { e.end = end }

func ask(t *testing.T, client *http.Client, target, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := client.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Retry-After"), " ", string(text))
}
