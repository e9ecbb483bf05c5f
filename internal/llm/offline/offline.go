package offline

import (
	"context"
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
	resp := &llm.Response{Model: modelName, Provider: provider}
	switch in := req.Input.(type) {
	case nodes.UnderstandInput:
		resp.Text = flat(m.understood(&in))
	case nodes.ThinkInput:
		resp.Text = flat(m.scene(in.Facts()).think(in.MaxSteps))
	case nodes.ActInput:
		resp.Text, resp.ToolCalls = m.scene(in.Facts()).act(&in)
	case nodes.ReplyInput:
		resp.Text = m.scene(in.Facts()).reply(&in)
	case nodes.SummarizeInput:
		resp.Text = flat(in.Fallback)
	case nodes.CompressInput:
		resp.Text = flat(in.Fallback)
	default:
		err := fmt.Errorf("the offline model decides from the inputs of Alfred's own nodes, and got %T", req.Input)
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Provider: provider, Err: err}
	}
	resp.Usage = llm.Usage{Input: req.EstimateTokens(), Output: llm.EstimateTokens(resp.Text + flat(resp.ToolCalls))}
	if req.OnDelta != nil { // word by word, like a provider's tokens
		for _, piece := range strings.SplitAfter(resp.Text, " ") {
			req.OnDelta(piece)
		}
	}

	return resp, nil
}

// understood is Understand's answer, including the plan if that is allowed and already decidable: what the message
// removes from view or brings back becomes visible only later.
func (m *model) understood(in *nodes.UnderstandInput) *nodes.UnderstandOutput {
	facts := in.Facts()
	out := m.scene(facts).understand()
	cur := out.Curation
	settled := !cur.ClearAll && len(cur.Forget)+len(cur.Demote)+len(cur.Exclude)+len(cur.Retain)+len(out.Constraints) == 0
	if in.Plan != nil && settled && out.Disambiguation == nil && out.Clarification == nil {
		facts.Understood = *out
		s := m.scene(facts)
		out.Think = s.think(in.Plan.MaxSteps)
		if c := s.read(); c.is(verbThanks, verbGreet, verbIdentity) {
			out.Say = s.talk(c)
		}
	}

	return out
}
