package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"alfred/internal/llm"
)

// tuned fills in what a node left open.
type tuned struct {
	model       llm.Model
	temperature float64
	maxTokens   int
	hint        string
}

// Prepare implements what llm.Prepare looks for.
func (t *tuned) Prepare(req *llm.Request) {
	if req.Temperature == nil {
		temperature := t.temperature
		req.Temperature = &temperature
	}
	req.MaxTokens = cmp.Or(req.MaxTokens, t.maxTokens)
}

// Generate does not modify req: a request that changes while in flight would not match its record.
func (t *tuned) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	prepared := *req
	t.Prepare(&prepared)
	response, err := t.model.Generate(ctx, &prepared)
	if refused, ok := errors.AsType[*llm.Error](err); ok && refused.Kind == llm.KindInvalidRequest && t.hint != "" {
		hinted := *refused
		hinted.Err = fmt.Errorf("%w (%s)", refused.Err, t.hint)
		err = &hinted
	}

	return response, err
}

// fallback asks second if first is unavailable.
type fallback struct {
	first, second llm.Model
}

// Generate does not fall back once text was passed on: the reader would get the beginning of one answer and all of
// another.
func (f *fallback) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	handedOn := false
	watched := *req
	if req.OnDelta != nil {
		watched.OnDelta = func(text string) {
			handedOn = true
			req.OnDelta(text)
		}
	}
	response, err := f.first.Generate(ctx, &watched)
	if kind := llm.KindOf(err); kind != llm.KindOverloaded && kind != llm.KindRateLimit || handedOn || ctx.Err() != nil {
		return response, err
	}
	req.Failed(response, err)

	return f.second.Generate(ctx, req)
}
