package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"alfred/llm"
)

// Optional names a part of a request that some servers or models do not accept
// and that an answer can do without.
type Optional string

// The optional parts.
const (
	ResponseFormat Optional = "response_format"
	StreamOptions  Optional = "stream_options"
	Temperature    Optional = "temperature"
)

// Dropped remembers which optional parts a server rejected, so that only the first
// request pays for finding out. The zero value drops nothing.
type Dropped struct {
	responseFormat, streamOptions, temperature atomic.Bool
}

// Generate asks once, and again for every optional part that the server rejects.
// Errors become typed ones.
func (d *Dropped) Generate(
	ctx context.Context, provider, key string, req *llm.Request, ask func(context.Context) (*llm.Response, error),
) (*llm.Response, error) {
	for {
		started := time.Now()
		response, raw, err := call(ctx, provider, key, ask)
		again := raw != nil && d.Learn(raw)
		if llm.KindOf(err) == llm.KindTooLarge && response != nil {
			response.Text, response.ToolCalls = "", nil // what it cost is kept, not what it said
		}
		if !again {
			return response, err
		}
		req.Failed(response, err, started)
	}
}

// Call asks once, within the limits of the client that ask uses. Errors become typed ones.
func Call[T any](ctx context.Context, provider, key string, ask func(context.Context) (T, error)) (T, error) {
	answer, _, err := call(ctx, provider, key, ask)
	return answer, err
}

// call returns the error as it came, too.
func call[T any](ctx context.Context, provider, key string, ask func(context.Context) (T, error)) (answer T, raw, typed error) {
	within, watch := watched(ctx)
	answer, raw = unbroken(within, ask)
	broken, isBroken := errors.AsType[*limitError](watch.broke())
	switch {
	case raw == nil:
		return answer, nil, nil
	case isBroken && ctx.Err() == nil:
		return answer, raw, &llm.Error{Kind: broken.kind, Provider: provider, Err: broken}
	case llm.KindOf(raw) != "":
		return answer, raw, raw
	}
	return answer, raw, Fail(ctx, provider, raw, key)
}

// unbroken survives an SDK that panics over an answer which is not in its form.
func unbroken[T any](ctx context.Context, ask func(context.Context) (T, error)) (answer T, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: %v", ErrForm, value)
		}
	}()
	return ask(ctx)
}

// Has reports whether part is to be left out.
func (d *Dropped) Has(part Optional) bool { return d.flag(part).Load() }

// Learn reads the error of a request. It returns true when the server complains
// about an optional part that was still being sent, so that the request is worth
// repeating without it.
func (d *Dropped) Learn(err error) bool {
	failed, ok := errors.AsType[*statusError](err)
	if !ok || failed.status != http.StatusBadRequest && failed.status != http.StatusUnprocessableEntity {
		return false
	}
	complaint := parse(failed.body)
	text := strings.ToLower(fmt.Sprint(complaint.Param, " ", complaint.Message))
	for _, part := range []Optional{ResponseFormat, StreamOptions, Temperature} {
		if part.in(text) && d.flag(part).CompareAndSwap(false, true) {
			return true
		}
	}
	return false
}

// in says whether a complaint, in lower case, is about the part. Gemini has other
// names for the response's format, and complains about a schema with too many
// branches without any name.
func (o Optional) in(complaint string) bool {
	names := []string{string(o)}
	if o == ResponseFormat {
		names = append(names, "response_schema", "response_json_schema", "responsejsonschema", "the specified schema")
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(complaint, name) })
}

func (d *Dropped) flag(part Optional) *atomic.Bool {
	switch part {
	case ResponseFormat:
		return &d.responseFormat
	case StreamOptions:
		return &d.streamOptions
	case Temperature:
		return &d.temperature
	}
	panic("no such optional part: " + string(part))
}
