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

// Compress writes two short texts for a range of older turns, in one answer. Retryable errors are returned, since
// nobody waits, and so is a prompt that is too long, which may fit when cut; any other failure yields the fallback.
func Compress(ctx context.Context, model llm.Model, in CompressInput) (*CompressOutput, error) {
	out, err := ask(ctx, model, question[CompressOutput]{
		node: vocab.NodeCompress, frame: in.Frame, input: in, schema: schemaOf[CompressOutput](in.Prompts, nil), read: readCompress,
	})
	switch kind := llm.KindOf(err); {
	case err == nil:
		return out, nil
	case ctx.Err() != nil, kind == "", kind == llm.KindOverloaded, kind == llm.KindRateLimit, kind == llm.KindContextOverflow:
		return nil, err
	default:
		in.Fallback.Fallback = true

		return &in.Fallback, nil
	}
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
