package nodes

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// Compress writes two short texts for a range of older turns, in one answer.
func Compress(ctx context.Context, model llm.Model, in CompressInput) (*CompressOutput, error) {
	return ask(ctx, model, question[CompressOutput]{
		node: vocab.NodeCompress, frame: in.Frame, input: in, schema: schemaOf[CompressOutput](in.Prompts, nil), read: readCompress,
	})
}

func readCompress(resp *llm.Response) (*CompressOutput, error) {
	out, both := &CompressOutput{}, struct {
		Text string `json:"text"` // the same for both
	}{}
	if err := answer.Decode([]byte(resp.Text), out); err != nil && answer.Decode([]byte(resp.Text), &both) != nil {
		return nil, err
	}
	out.Conversation = strings.TrimSpace(cmp.Or(out.Conversation, both.Text))
	out.Narrative = strings.TrimSpace(cmp.Or(out.Narrative, both.Text))
	if out.Conversation == "" || out.Narrative == "" {
		return nil, errors.New("a text is empty")
	}

	return out, nil
}
