package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"alfred/internal/llm"
)

// Optional is a part of a request that some servers or models reject and that an answer does not depend on.
type Optional int

// The optional parts, in the order in which an ambiguous complaint is tried: the most dispensable first.
const (
	Temperature Optional = iota
	StreamOptions
	TokenLimit     // the usual name of the limit; the other name replaces it
	SystemRole     // instructions then go into the first message
	Exchanges      // calls and results as messages; their text is then sent
	Promise        // strict: the server enforces the schema; the schema is still sent
	ResponseFormat // the schema is then only in the prompt
	optionals
)

// complaints are the words by which servers name a part, in lower case. Anthropic's about a grammar and Gemini's about
// a schema name no parameter at all.
var complaints = [optionals][]string{
	Temperature:   {"temperature"},
	StreamOptions: {"stream_options"},
	TokenLimit:    {"max_tokens", "max_completion_tokens"},
	SystemRole:    {"system role", "role 'system'", "does not support 'system'", "system message", "developer instruction"},
	Exchanges: {
		"tool_call_id", "tool_calls", "tool_result", "role 'tool'", "tool role", "role tool", "role: tool", "must alternate", "function response part", "functionresponse",
		"function call turn", "thought_signature", "thought signature", "reasoning_content",
	},
	Promise: {
		"strict", "grammar", "too complex", "union type", "optional parameters", "invalid schema", "function_calling_config", "functioncallingconfig", "validated",
	},
	ResponseFormat: {"response_format", "response_schema", "response_json_schema", "responsejsonschema", "json_schema", "the specified schema", "structured output"},
}

// Model is a model behind a provider's protocol. It remembers which optional parts the server rejected, so that only the
// first request pays for finding out.
type Model struct {
	Config *Config
	// Ask asks once.
	Ask func(ctx context.Context, req *llm.Request) (*llm.Response, error)

	dropped [optionals]atomic.Bool
}

var _ llm.Model = (*Model)(nil)

// Generate asks once, and again for every optional part that the server rejects. It returns typed errors.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	for {
		asked := *req
		asked.OnDelta = withoutReasoning(beforeCalls(req.OnDelta, req.Tools))
		response, raw, err := call(ctx, m.Config, func(ctx context.Context) (*llm.Response, error) { return m.Ask(ctx, &asked) })
		again := raw != nil && m.learn(raw, req)
		if llm.KindOf(err) == llm.KindTooLarge && response != nil {
			response.Text, response.ToolCalls = "", nil // keep its cost, not its text
		}
		if !again {
			return response, err
		}
		req.Failed(response, err)
	}
}

// call asks once, within the limits of the client that ask uses. It returns the original error and the typed one.
func call[T any](ctx context.Context, config *Config, ask func(context.Context) (T, error)) (answer T, raw, typed error) {
	within, stop := stoppable(ctx)
	defer stop(nil)
	answer, raw = unbroken(within, ask)
	if raw != nil && ctx.Err() != nil {
		raw = ctx.Err() // however the SDK saw it
	}
	broken, isBroken := errors.AsType[*limitError](context.Cause(within))
	switch {
	case raw == nil:
		return answer, nil, nil
	case isBroken && ctx.Err() == nil:
		return answer, raw, config.Fail(broken.kind, broken)
	case llm.KindOf(raw) != "":
		return answer, raw, raw
	}

	return answer, raw, config.Typed(ctx, raw)
}

// unbroken recovers if an SDK panics on a malformed answer.
func unbroken[T any](ctx context.Context, ask func(context.Context) (T, error)) (answer T, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: %v", ErrForm, value)
		}
	}()

	return ask(ctx)
}

// Drops reports whether a part is left out.
func (m *Model) Drops(part Optional) bool { return m.dropped[part].Load() }

// learn inspects a request's error. It returns true if the server complains about an optional part that was still being
// sent, so that the request is worth repeating without it.
func (m *Model) learn(err error, req *llm.Request) bool {
	failed, ok := errors.AsType[*statusError](err)
	if !ok || failed.status != http.StatusBadRequest && failed.status != http.StatusUnprocessableEntity {
		return false
	}
	complaint := parse(failed.body)
	if complaint.overflow() {
		return false // it may mention the limit, which is not what is wrong
	}
	text := strings.ToLower(fmt.Sprint(complaint.Param, " ", complaint.Message))
	for part, words := range complaints {
		named := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
		if named && (Optional(part) != Exchanges || exchanges(req)) && m.dropped[part].CompareAndSwap(false, true) {
			return true
		}
	}

	return false
}
