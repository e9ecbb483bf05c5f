package nodes

import (
	"context"
	"strings"

	"alfred/llm"
)

// Compress writes one short text for a range of older turns. Errors worth a
// retry are returned, since nobody waits, and a text too long for the model, which
// may fit when it is cut; any other failure gives the fallback.
func Compress(ctx context.Context, model llm.Model, in CompressInput) (*CompressOutput, error) {
	s, err := schemaOf[CompressOutput]("compress", nil)
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx, model, question[CompressOutput]{
		node: "compress", frame: in.Frame, input: in, schema: s, read: readCompress,
	})
	switch kind := llm.KindOf(err); {
	case err == nil:
		return out, nil
	case ctx.Err() != nil, kind == "", kind == llm.KindOverloaded, kind == llm.KindRateLimit, kind == llm.KindContextOverflow:
		return nil, err
	default:
		return &CompressOutput{Text: in.Fallback, Fallback: true}, nil
	}
}

func readCompress(resp *llm.Response) (*CompressOutput, error) {
	out := &CompressOutput{}
	if err := decode([]byte(resp.Text), out); err != nil {
		return nil, err
	}
	if out.Text = strings.TrimSpace(out.Text); out.Text == "" {
		return nil, complainf("the text is empty")
	}
	return out, nil
}
