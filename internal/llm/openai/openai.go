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

// ownURL is OpenAI's own address; most servers' ends in /v1.
const ownURL = "https://api.openai.com/v1"

// model is one model of a server.
type model struct {
	*wire.Model

	service openai.ChatCompletionService
}

// New returns the model that config names. It makes no connection.
func New(config *wire.Config) (*wire.Model, error) {
	filled, options, err := setup(config)
	if err != nil {
		return nil, err
	}
	m := &model{service: openai.NewChatCompletionService(options...)}
	m.Model = &wire.Model{Config: filled, Ask: m.ask}

	return m.Model, nil
}

func (m *model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
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
func setup(config *wire.Config) (*wire.Config, []option.RequestOption, error) {
	filled, client, err := config.Open("openai", ownURL, official)
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
