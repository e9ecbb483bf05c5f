package anthropic

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

const (
	provider = "anthropic"

	// defaultMaxTokens is sent if the request has no limit, because the API requires one. Every current model supports
	// it.
	defaultMaxTokens = 8192
)

// The causes of invalid configurations.
var (
	errNoKey   = errors.New("no API key is set")
	errNoModel = errors.New("no model is named")
)

// Config says which model to use.
type Config struct {
	APIKey string
	// BaseURL has no path; "" is DefaultBaseURL.
	BaseURL string
	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
	// Limits bound each call.
	Limits wire.Limits
	Model  string
}

// Model is one of Anthropic's models.
type Model struct {
	config  Config
	dropped wire.Dropped
	service anthropic.MessageService
}

var _ llm.Model = (*Model)(nil)

// New returns a Model. It makes no connection. The service is built from options only, so that the SDK does not read
// the environment.
func New(config *Config) (*Model, error) {
	filled := *config
	filled.BaseURL = cmp.Or(config.BaseURL, DefaultBaseURL)
	if filled.Model == "" {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: errNoModel}
	}
	if filled.APIKey == "" {
		return nil, &llm.Error{Kind: llm.KindAuth, Provider: provider, Err: errNoKey}
	}
	client, err := wire.Client(filled.BaseURL, config.HTTPClient, config.Limits)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
	}
	service := anthropic.NewMessageService(
		option.WithAPIKey(filled.APIKey), option.WithBaseURL(filled.BaseURL),
		option.WithHTTPClient(client), option.WithMaxRetries(0),
	)

	return &Model{config: filled, service: service}, nil
}

// Generate asks once, and again for each optional part that the model rejects.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return m.dropped.Generate(ctx, provider, m.config.APIKey, req, func(ctx context.Context) (*llm.Response, error) { return m.ask(ctx, req) })
}

func (m *Model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.OnDelta != nil {
		return m.stream(ctx, req)
	}
	message, err := m.service.New(ctx, m.params(req))
	if err != nil {
		return nil, err
	}
	if message == nil { // the server said null
		return nil, wire.ErrForm
	}

	return m.answer(req, message)
}
