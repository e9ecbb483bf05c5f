package gemini

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// ownURL is Google's own address; the SDK adds version and path.
const ownURL = "https://generativelanguage.googleapis.com/"

// model is one Gemini model.
type model struct {
	*wire.Model

	models *genai.Models
}

// New returns the model that config names. It makes no connection.
func New(config *wire.Config) (*wire.Model, error) {
	filled, models, err := open(config)
	if err != nil {
		return nil, err
	}
	m := &model{models: models}
	m.Model = &wire.Model{Config: filled, Ask: m.ask}

	return m.Model, nil
}

// open creates the SDK's client. Everything it would take from the environment is set explicitly.
func open(config *wire.Config) (*wire.Config, *genai.Models, error) {
	filled, client, err := config.Open("gemini", ownURL, wire.Always)
	if err != nil {
		return nil, nil, err
	}
	opened, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: filled.APIKey, Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: filled.BaseURL},
	})
	if err != nil { // its text may contain the whole configuration
		return nil, nil, filled.Fail(llm.KindInvalidRequest, errors.New(wire.Scrub(err.Error(), filled.APIKey)))
	}

	return filled, opened.Models, nil
}

// ask reads an answer whole or piece by piece. A stream that closes without a finish reason broke off, although reading
// it yields no error.
func (m *model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	contents, config := m.params(req)
	parts := answer{response: llm.Response{Model: m.Config.Model, Provider: m.Config.Provider}}
	if req.OnDelta == nil {
		whole, err := m.models.GenerateContent(ctx, m.Config.Model, contents, config)
		if err != nil {
			return nil, err
		}
		parts.add(whole, func(string) {})

		return parts.finish(req)
	}
	for piece, err := range m.models.GenerateContentStream(ctx, m.Config.Model, contents, config) {
		if failed, ok := errors.AsType[genai.APIError](err); ok {
			return &parts.response, m.Config.Event(failure(&failed))
		}
		if err != nil {
			return &parts.response, err
		}
		parts.add(piece, req.OnDelta)
	}

	return parts.finish(req)
}
