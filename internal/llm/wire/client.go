package wire

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"alfred/internal/llm"
)

// maxBody bounds how much of a failed response is read, in bytes.
const maxBody = 64 << 10

// errRealCall is the cause if a test would call a real provider.
var errRealCall = errors.New("a test must not call a real provider; give an HTTP client")

// errNoHost does not repeat the URL, which may contain a password.
var errNoHost = errors.New("the base URL has no host")

// Client returns a copy of given, or its own client, whose requests fail with an
// error that Fail understands if the server responds with a failure or exceeds a
// limit. A redirect is a failure: it would carry the key to another server.
//
// In a test binary it creates clients only for loopback addresses, so that a test
// never spends a key from the environment.
func Client(baseURL string, given *http.Client, limits Limits) (*http.Client, error) {
	client := http.Client{}
	if given != nil {
		client = *given
	}
	client.Transport = transport{cmp.Or(client.Transport, http.DefaultTransport), limits.filled()}
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

// statusError is a response with a failure status.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// failed is the error of a response with a failure status.
func failed(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read answer with status %d: %w", response.StatusCode, err)
	}

	return &statusError{status: response.StatusCode, header: response.Header, body: body}
}

// The causes of invalid configurations.
var (
	errNoKey   = errors.New("no API key is set")
	errNoModel = errors.New("no model is named")
)

// Config says which server and model to use. It is the same for every provider.
type Config struct {
	// APIKey may be empty for servers that do not ask for one.
	APIKey string
	// BaseURL is "" for the provider's own address.
	BaseURL string
	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
	// Limits bound each call.
	Limits Limits
	// Model is the model's name on the server.
	Model string
	// Provider is the name used in answers, errors and records; "" is the protocol's.
	Provider string
}

// Open returns a completed copy of the configuration and a client within its limits. needsKey says whether the server
// at an address asks for a key. Nothing is connected.
func (c Config) Open(provider, baseURL string, needsKey func(baseURL string) bool) (*Config, *http.Client, error) {
	c.Provider, c.BaseURL = cmp.Or(c.Provider, provider), cmp.Or(c.BaseURL, baseURL)
	if c.Model == "" {
		return nil, nil, c.Fail(llm.KindInvalidRequest, errNoModel)
	}
	if c.APIKey == "" && needsKey(c.BaseURL) {
		return nil, nil, c.Fail(llm.KindAuth, fmt.Errorf("%w: %s_API_KEY", errNoKey, strings.ToUpper(c.Provider)))
	}
	client, err := Client(c.BaseURL, c.HTTPClient, c.Limits)
	if err != nil {
		return nil, nil, c.Fail(llm.KindInvalidRequest, err)
	}

	return &c, client, nil
}

// Always is for servers that always ask for a key.
func Always(string) bool { return true }

// Fail is an error of this provider.
func (c *Config) Fail(kind llm.Kind, cause error) *llm.Error {
	return &llm.Error{Kind: kind, Provider: c.Provider, Err: cause}
}
