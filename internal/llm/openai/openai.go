package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// The causes of invalid configurations.
var (
	errNoKey   = errors.New("no API key is set")
	errNoModel = errors.New("no model is named")
)

// Config says which server and model to use.
type Config struct {
	// APIKey may be empty for servers other than OpenAI's.
	APIKey string
	// BaseURL ends in /v1 for most servers; "" is DefaultBaseURL.
	BaseURL string
	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
	// Limits bound each call.
	Limits wire.Limits
	// Model is the model's name on the server.
	Model string
	// Provider is the name used in answers, errors and records; "" is "openai".
	Provider string
}

// Model is one model of a server.
type Model struct {
	config  Config
	dropped wire.Dropped
	service openai.ChatCompletionService
}

var _ llm.Model = (*Model)(nil)

// New returns a Model. It makes no connection.
func New(config *Config) (*Model, error) {
	filled, options, err := setup(config)
	if err != nil {
		return nil, err
	}

	return &Model{config: *filled, service: openai.NewChatCompletionService(options...)}, nil
}

// Generate asks once, and again for each optional part that the server rejects.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return m.dropped.Generate(ctx, m.config.Provider, m.config.APIKey, req, func(ctx context.Context) (*llm.Response, error) { return m.ask(ctx, req) })
}

func (m *Model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.OnDelta != nil {
		return m.stream(ctx, req)
	}
	completion, err := m.service.New(ctx, m.params(req))
	if err != nil {
		return nil, err
	}
	if completion == nil { // the server said null
		return nil, wire.ErrForm
	}

	return m.answer(req, completion)
}

// setup checks and completes a configuration. The services are built from options only, so that the SDK does not read
// the environment.
func setup(config *Config) (*Config, []option.RequestOption, error) {
	filled := *config
	filled.BaseURL = cmp.Or(config.BaseURL, DefaultBaseURL)
	filled.Provider = cmp.Or(config.Provider, "openai")
	if filled.Model == "" {
		return nil, nil, invalid(filled.Provider, errNoModel)
	}
	client, err := wire.Client(filled.BaseURL, config.HTTPClient, config.Limits)
	if err != nil {
		return nil, nil, invalid(filled.Provider, err)
	}
	options := []option.RequestOption{
		option.WithBaseURL(filled.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	if filled.APIKey != "" {
		options = append(options, option.WithAPIKey(filled.APIKey))
	} else if filled.official() {
		return nil, nil, &llm.Error{Kind: llm.KindAuth, Provider: filled.Provider, Err: errNoKey}
	}

	return &filled, options, nil
}

func invalid(provider string, err error) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
}

// official reports whether the server is OpenAI's own, which requires a key.
func (c *Config) official() bool {
	parsed, err := url.Parse(c.BaseURL)
	return err == nil && (strings.HasSuffix(parsed.Hostname(), ".openai.com") || strings.HasSuffix(parsed.Hostname(), ".googleapis.com"))
}
