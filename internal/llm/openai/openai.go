package openai

import (
	"context"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// DefaultBaseURL is OpenAI's own address; most servers' ends in /v1.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says which server and model to use.
type Config = wire.Config

// Model is one model of a server.
type Model struct {
	wire.Model

	service openai.ChatCompletionService
}

// New returns a Model. It makes no connection.
func New(config *Config) (*Model, error) {
	filled, options, err := setup(config)
	if err != nil {
		return nil, err
	}

	m := &Model{service: openai.NewChatCompletionService(options...)}
	m.Model = wire.Model{Config: filled, Ask: m.ask}

	return m, nil
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
	filled, client, err := config.Open("openai", DefaultBaseURL, official)
	if err != nil {
		return nil, nil, err
	}
	options := []option.RequestOption{option.WithBaseURL(filled.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if filled.APIKey != "" {
		options = append(options, option.WithAPIKey(filled.APIKey))
	}

	return filled, options, nil
}

// official reports whether a server is OpenAI's or Google's own, which require a key.
func official(baseURL string) bool {
	parsed, err := url.Parse(baseURL)
	return err == nil && (strings.HasSuffix(parsed.Hostname(), ".openai.com") || strings.HasSuffix(parsed.Hostname(), ".googleapis.com"))
}
