package gemini

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"google.golang.org/genai"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// DefaultBaseURL is Google's own address; the SDK adds version and path.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/"

const provider = "gemini"

// The causes of invalid configurations.
var (
	errNoKey   = errors.New("no API key is set")
	errNoModel = errors.New("no model is named")
)

// Config says which model to use.
type Config struct {
	APIKey string
	// BaseURL is "" for DefaultBaseURL.
	BaseURL string
	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
	// Limits bound each call.
	Limits wire.Limits
	Model  string
}

// Model is one Gemini model.
type Model struct {
	config  Config
	dropped wire.Dropped
	models  *genai.Models
}

var _ llm.Model = (*Model)(nil)

// New returns a Model. It makes no connection.
func New(config *Config) (*Model, error) {
	models, err := open(config)
	if err != nil {
		return nil, err
	}

	return &Model{config: *config, models: models}, nil
}

// open creates the SDK's client. Everything it would take from the environment is set explicitly.
func open(config *Config) (*genai.Models, error) {
	base := cmp.Or(config.BaseURL, DefaultBaseURL)
	client, err := wire.Client(base, config.HTTPClient, config.Limits)
	switch {
	case err != nil:
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
	case config.Model == "":
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: errNoModel}
	case config.APIKey == "":
		return nil, &llm.Error{Kind: llm.KindAuth, Provider: provider, Err: errNoKey}
	}
	opened, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: config.APIKey, Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil { // its text may contain the whole configuration
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: errors.New(wire.Scrub(err.Error(), config.APIKey))}
	}

	return opened.Models, nil
}

// Generate asks once, and again for each optional part that the server rejects.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return m.dropped.Generate(ctx, provider, m.config.APIKey, req, func(ctx context.Context) (*llm.Response, error) { return m.ask(ctx, req) })
}

// ask reads an answer whole or piece by piece. A stream that closes without a finish reason broke off, although reading
// it yields no error.
func (m *Model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	contents, config := m.params(req)
	parts := answer{response: llm.Response{Model: m.config.Model, Provider: provider}}
	if req.OnDelta == nil {
		whole, err := m.models.GenerateContent(ctx, m.config.Model, contents, config)
		if err != nil {
			return nil, err
		}
		parts.add(whole, func(string) {})

		return parts.finish(req)
	}
	for piece, err := range m.models.GenerateContentStream(ctx, m.config.Model, contents, config) {
		if failed, ok := errors.AsType[genai.APIError](err); ok {
			return &parts.response, wire.Event(provider, failure(&failed), m.config.APIKey)
		}
		if err != nil {
			return &parts.response, err
		}
		parts.add(piece, req.OnDelta)
	}
	if ctx.Err() != nil {
		return &parts.response, ctx.Err()
	}

	return parts.finish(req)
}
