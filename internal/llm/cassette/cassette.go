package cassette

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"alfred/internal/llm/wire"

	"github.com/stretchr/testify/require"
)

var errMismatch = errors.New("the request is not the recorded one; record again with -record if it should change")

// keptHeaders are the headers of an answer that a provider may act on.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms"}

// Options say how to open a cassette.
type Options struct {
	// Record calls the real server.
	Record bool
	// Secrets are replaced wherever they occur.
	Secrets []string
	// Transport reaches the real server; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

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

// Open returns a client that plays the cassette at path, or records it.
func Open(t testing.TB, path string, options Options) *http.Client {
	t.Helper()
	if options.Record {
		r := &recorder{options: options}
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
	got, err := newRequest(r, nil)
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
	mu      sync.Mutex
	options Options
	tape    tape
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(given *http.Request) (*http.Response, error) {
	asked, err := newRequest(given, r.options.Secrets)
	if err != nil {
		return nil, err
	}
	answer, err := cmp.Or(r.options.Transport, http.DefaultTransport).RoundTrip(given)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	said, err := newResponse(answer, r.options.Secrets)
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

// newRequest reads a request and leaves its body readable.
func newRequest(r *http.Request, secrets []string) (*request, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	read, text := &request{Method: r.Method, Path: r.URL.Path}, wire.Scrub(string(body), secrets...)
	if json.Unmarshal([]byte(text), &read.Body) != nil {
		read.Body = text
	}

	return read, nil
}

func newResponse(r *http.Response, secrets []string) (*response, error) {
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

	return &response{Status: r.StatusCode, Header: header, Lines: strings.SplitAfter(wire.Scrub(string(body), secrets...), "\n")}, nil
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
