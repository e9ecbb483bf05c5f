package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alfred/domain"
	"alfred/llm"
	"alfred/nodes"
)

const (
	provider  = "offline"
	modelName = "offline-rules-2"
	// bytesPerToken is the usual estimate for English text.
	bytesPerToken = 4
)

type model struct {
	lex *lexicon
}

// New returns the rule-based model for a domain. It is safe for concurrent use,
// gives the same answer for the same request and fails only when ctx is done or
// the request does not come from one of our nodes.
func New(d *domain.Domain) llm.Model {
	return &model{lex: newLexicon(d)}
}

// Generate answers like a provider would: tool calls in act, JSON where a schema
// is named, else text.
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
	switch in := req.Input.(type) {
	case nodes.UnderstandInput:
		return encoded(m.scene(&in.Facts, in.At.Turn).understand())
	case nodes.ThinkInput:
		return encoded(m.scene(&in.Facts, in.At.Turn).think(in.MaxSteps))
	case nodes.ActInput:
		return &llm.Response{ToolCalls: m.scene(&in.Facts, in.At.Turn).act(&in)}, nil
	case nodes.ReplyInput:
		return &llm.Response{Text: m.scene(&in.Facts, in.At.Turn).reply(&in)}, nil
	case nodes.SummarizeInput:
		return encoded(in.Fallback)
	case nodes.CompressInput:
		return encoded(nodes.CompressOutput{Text: in.Fallback})
	default:
		return nil, fmt.Errorf("the offline model decides from the inputs of Alfred's own nodes, and got %T", req.Input)
	}
}

func encoded(v any) (*llm.Response, error) {
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
