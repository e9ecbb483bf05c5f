package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"alfred/domain"
	"alfred/llm"
)

const (
	provider  = "offline"
	modelName = "offline-rules-1"
	// bytesPerToken is the usual estimate for English text.
	bytesPerToken = 4
)

type model struct {
	lex *lexicon
}

// New returns the rule-based model for a domain. It is safe for concurrent use,
// gives the same answer for the same request and fails only when ctx is done.
func New(d *domain.Domain) llm.Model {
	return &model{lex: newLexicon(d)}
}

// Generate answers like a provider would: tool calls where tools are offered,
// JSON where a schema is named, else text.
func (m *model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &llm.Error{Kind: llm.KindOverloaded, Provider: provider, Err: err}
	}
	resp, err := m.answer(req)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
	}
	resp.Model, resp.Provider = modelName, provider
	resp.Usage = usage(req, resp)
	stream(resp.Text, req.OnDelta)
	return resp, nil
}

func (m *model) answer(req *llm.Request) (*llm.Response, error) {
	f := readPrompt(m.lex, req)
	switch {
	case req.SchemaName == "understand":
		return jsonResponse(m.understand(f))
	case req.SchemaName == "think":
		return jsonResponse(m.think(f))
	case req.SchemaName == "summarize":
		return jsonResponse(m.summarize(f))
	case req.SchemaName == "compress":
		return jsonResponse(m.compress(f))
	case len(req.Tools) > 0:
		return &llm.Response{ToolCalls: m.act(f, req.Tools)}, nil
	case req.SchemaName != "":
		return nil, fmt.Errorf("schema %q is not one of the schemas this model knows", req.SchemaName)
	case len(req.Messages) == 0:
		return nil, errors.New("the request has no message")
	}
	return &llm.Response{Text: m.reply(f)}, nil
}

func jsonResponse(v any) (*llm.Response, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return &llm.Response{Text: string(text)}, nil
}

// stream hands the text over word by word, the way a provider's tokens arrive.
func stream(text string, onDelta func(string)) {
	if onDelta == nil {
		return
	}
	for _, piece := range strings.SplitAfter(text, " ") {
		if piece != "" {
			onDelta(piece)
		}
	}
}

func usage(req *llm.Request, resp *llm.Response) llm.Usage {
	in := len(req.System) + len(req.Schema)
	for _, m := range req.Messages {
		in += len(m.Content)
	}
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	out := len(resp.Text)
	for _, c := range resp.ToolCalls {
		out += len(c.Name) + len(c.Args)
	}
	return llm.Usage{Input: tokens(in), Output: tokens(out)}
}

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }
