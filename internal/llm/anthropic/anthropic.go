package anthropic

import (
	"cmp"
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// ownURL is Anthropic's own address; it has no path.
const ownURL = "https://api.anthropic.com"

// defaultMaxTokens is sent if the request has no limit, because the API requires one. Every current model supports it.
const defaultMaxTokens = 8192

// model is one of Anthropic's models.
type model struct {
	*wire.Model

	service anthropic.MessageService
}

// New returns the model that config names. It makes no connection. The service is built from options only, so that the
// SDK does not read the environment.
func New(config *wire.Config) (*wire.Model, error) {
	filled, client, err := config.Open("anthropic", ownURL, wire.Always)
	if err != nil {
		return nil, err
	}
	m := &model{service: anthropic.NewMessageService(
		option.WithAPIKey(filled.APIKey), option.WithBaseURL(filled.BaseURL),
		option.WithHTTPClient(client), option.WithMaxRetries(0),
	)}
	m.Model = &wire.Model{Config: filled, Ask: m.ask}

	return m.Model, nil
}

func (m *model) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
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

	return wire.Finish(req, m.response(req, message), end(cmp.Or(message.StopReason, anthropic.StopReasonEndTurn)))
}
