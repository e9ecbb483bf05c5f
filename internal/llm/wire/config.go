package wire

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"alfred/internal/llm"
)

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
