package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/nodes"
)

const (
	provider  = "offline"
	modelName = "offline-rules-2"
)

type model struct{ lex *lexicon }

// New returns the rule-based model for a domain. It is safe for concurrent use, gives the same answer to the same
// request and fails only if ctx is done or the request does not come from one of our nodes.
func New(d *domain.Domain) llm.Model { return &model{lex: newLexicon(d)} }

// Generate answers like a provider: tool calls in act, JSON if a schema is given, else text.
func (m *model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &llm.Error{Kind: llm.KindOverloaded, Provider: provider, Err: err}
	}
	resp, err := m.answer(req)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
	}
	resp.Model, resp.Provider = modelName, provider
	resp.Usage = llm.Usage{Input: req.EstimateTokens(), Output: llm.EstimateTokens(resp.Text + flat(resp.ToolCalls))}
	if req.OnDelta != nil { // word by word, like a provider's tokens
		for _, piece := range strings.SplitAfter(resp.Text, " ") {
			req.OnDelta(piece)
		}
	}

	return resp, nil
}

func (m *model) answer(req *llm.Request) (*llm.Response, error) {
	switch in := req.Input.(type) {
	case nodes.UnderstandInput:
		return m.understood(&in)
	case nodes.ThinkInput:
		return encoded(m.scene(in.Facts()).think(in.MaxSteps))
	case nodes.ActInput:
		words, calls := m.scene(in.Facts()).act(&in)
		return &llm.Response{Text: words, ToolCalls: calls}, nil
	case nodes.ReplyInput:
		return &llm.Response{Text: m.scene(in.Facts()).reply(&in)}, nil
	case nodes.SummarizeInput:
		return encoded(in.Fallback)
	case nodes.CompressInput:
		return encoded(in.Fallback)
	default:
		return nil, fmt.Errorf("the offline model decides from the inputs of Alfred's own nodes, and got %T", req.Input)
	}
}

// understood is Understand's answer, including the plan if that is allowed and already decidable: what the message
// removes from view or brings back becomes visible only later.
func (m *model) understood(in *nodes.UnderstandInput) (*llm.Response, error) {
	facts := in.Facts()
	out := m.scene(facts).understand()
	cur := out.Curation
	settled := !cur.ClearAll && len(cur.Forget)+len(cur.Demote)+len(cur.Exclude)+len(cur.Retain)+len(out.Constraints) == 0
	if in.Plan != nil && settled && out.Disambiguation == nil && out.Clarification == nil {
		facts.Understood = *out
		s := m.scene(facts)
		out.Think = s.think(in.Plan.MaxSteps)
		if c := s.read(); c.verb == verbThanks || c.verb == verbGreet || c.verb == verbIdentity {
			out.Say = s.talk(c)
		}
	}

	return encoded(out)
}

func encoded(v any) (*llm.Response, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}

	return &llm.Response{Text: string(text)}, nil
}
