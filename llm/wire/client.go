package wire

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
)

// maxBody bounds what is read of a failure, in bytes.
const maxBody = 64 << 10

// errRealCall is the cause of a client that a test asked for by mistake.
var errRealCall = errors.New("a test must not call a real provider; give an HTTP client")

// errNoHost does not repeat the URL, which may hold a password.
var errNoHost = errors.New("the base URL has no host")

// Client returns a copy of given, or a client of its own, whose requests fail with
// an error that Fail understands when the server answers with a failure or breaks a
// limit. A redirect is a failure: it would carry the key to another server.
//
// In a test binary it makes no client of its own for any address but a loopback
// one, so that a key in the environment is never spent by a test.
func Client(baseURL string, given *http.Client, limits Limits) (*http.Client, error) {
	client := http.Client{}
	if given != nil {
		client = *given
	}
	client.Transport = failing{limited{cmp.Or(client.Transport, http.DefaultTransport), limits.filled()}}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if given != nil {
		return &client, nil
	}
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Host == "" {
		return nil, errNoHost
	}
	ip := net.ParseIP(parsed.Hostname())
	if testing.Testing() && parsed.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errRealCall
	}
	return &client, nil
}

// statusError is an answer with a status that means failure.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// failing reads failures itself: what the SDKs make of them loses the status when
// the body is not the JSON they expect, as from a proxy.
type failing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f failing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := f.next.RoundTrip(request)
	if err != nil || response.StatusCode < http.StatusMultipleChoices {
		return response, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("read answer with status %d: %w", response.StatusCode, err)
	}
	return nil, &statusError{status: response.StatusCode, header: response.Header, body: body}
}
