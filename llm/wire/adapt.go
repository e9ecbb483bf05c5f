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

// Optional is a part of a request that some servers or models do not accept and that
// an answer can do without.
type Optional int

// The optional parts, in the order in which a complaint that may mean several of them
// is tried: the least that can be left out first.
const (
	Temperature Optional = iota
	StreamOptions
	TokenLimit     // the usual name of the limit; the other name takes its place
	SystemRole     // instructions then stand in the first message
	Promise        // strict: a promise to hold to the schema; the schema is still sent
	ResponseFormat // the schema then stands in the prompt alone
	optionals
)

// complaints are the words by which servers name a part, in lower case. Those of
// Anthropic about a grammar and Gemini's about a schema name no parameter at all.
var complaints = [optionals][]string{
	Temperature:   {"temperature"},
	StreamOptions: {"stream_options"},
	TokenLimit:    {"max_tokens", "max_completion_tokens"},
	SystemRole:    {"system role", "role 'system'", "does not support 'system'", "system message", "developer instruction"},
	Promise: {
		"strict", "grammar", "too complex", "union type", "optional parameters", "invalid schema", "function_calling_config", "functioncallingconfig", "validated",
	},
	ResponseFormat: {"response_format", "response_schema", "response_json_schema", "responsejsonschema", "json_schema", "the specified schema", "structured output"},
}

// Dropped remembers which optional parts a server rejected, so that only the first
// request pays for finding out. The zero value drops nothing.
type Dropped struct {
	parts [optionals]atomic.Bool
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
func (d *Dropped) Has(part Optional) bool { return d.parts[part].Load() }

// Learn reads the error of a request. It returns true when the server complains
// about an optional part that was still being sent, so that the request is worth
// repeating without it.
func (d *Dropped) Learn(err error) bool {
	failed, ok := errors.AsType[*statusError](err)
	if !ok || failed.status != http.StatusBadRequest && failed.status != http.StatusUnprocessableEntity {
		return false
	}
	complaint := parse(failed.body)
	if complaint.overflow() {
		return false // it may name the limit, which is not what is wrong
	}
	text := strings.ToLower(fmt.Sprint(complaint.Param, " ", complaint.Message))
	for part, words := range complaints {
		named := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
		if named && d.parts[part].CompareAndSwap(false, true) {
			return true
		}
	}
	return false
}
