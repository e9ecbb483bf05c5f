package nodes

import (
	"cmp"
	"context"

	"alfred/internal/answer"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

var (
	phases = []string{"exploring", "narrowing", "confirming", "executing", "reflecting"}
	tones  = []string{"collaborative", "informative", "clarifying"}
)

// Summarize words what happened in a turn.
func Summarize(ctx context.Context, model llm.Model, in SummarizeInput) (*SummarizeOutput, error) {
	return ask(ctx, model, question[SummarizeOutput]{
		node: vocab.NodeSummarize, frame: in.Frame, input: in,
		schema: schemaOf[SummarizeOutput](in.Prompts, map[string][]string{"conversation_phase": phases, "tone": tones}),
		read:   func(resp *llm.Response) (*SummarizeOutput, error) { return readSummarize(resp, in.Fallback) },
	})
}

func readSummarize(resp *llm.Response, fallback SummarizeOutput) (*SummarizeOutput, error) {
	out := &SummarizeOutput{}
	if err := answer.Decode([]byte(resp.Text), out); err != nil {
		return nil, err
	}
	out.ResponseSummary = cmp.Or(out.ResponseSummary, fallback.ResponseSummary)
	if err := oneOf("conversation_phase", &out.ConversationPhase, phases[0], phases...); err != nil {
		return nil, err
	}

	return out, oneOf("tone", &out.Tone, tones[0], tones...)
}
