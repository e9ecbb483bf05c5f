package nodes

import (
	"context"
	"strings"

	"alfred/llm"
)

// Reply words the answer, streaming it. A model that refuses or answers nothing
// is replaced by the reply made from facts; only errors worth a retry, and a
// script's end, are returned.
func Reply(ctx context.Context, model llm.Model, in ReplyInput) (*ReplyOutput, error) {
	out, err := ask(ctx, streaming(model, in.OnDelta), question[ReplyOutput]{
		node: "reply", frame: in.Frame, input: in, read: readReply,
	})
	switch kind := llm.KindOf(err); {
	case err == nil:
		return out, nil
	case ctx.Err() != nil, kind == "", kind == llm.KindOverloaded, kind == llm.KindRateLimit, kind == llm.KindScriptExhausted:
		return nil, err
	default:
		return &ReplyOutput{Text: in.Fallback, Fallback: true}, nil
	}
}

func readReply(resp *llm.Response) (*ReplyOutput, error) {
	text := strings.TrimSpace(resp.Text)
	if text == "" {
		return nil, complainf("the answer is empty; write the reply")
	}
	return &ReplyOutput{Text: text}, nil
}

// modelFunc lets a function be a model.
type modelFunc func(context.Context, *llm.Request) (*llm.Response, error)

func (f modelFunc) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return f(ctx, req)
}

func streaming(model llm.Model, onDelta func(string)) llm.Model {
	return modelFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		req.OnDelta = nil
		if onDelta != nil {
			req.OnDelta = func(text string) { onDelta(cleanText(text)) }
		}
		return model.Generate(ctx, req)
	})
}
