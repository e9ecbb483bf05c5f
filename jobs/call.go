package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"alfred/internal/exact"
	"alfred/internal/llm"
	"alfred/nodes"
)

// codeRefused is the code of an answer that the node could not use. Other codes of calls are kinds of [llm.Error],
// codeInternal, and codeCancelled, which also says that the worker stopped.
const codeRefused = "rejected"

// madeCall is a call of a model as llm_call_keep takes it.
type madeCall struct {
	ID           uuid.UUID      `json:"id"`
	SessionID    uuid.UUID      `json:"session_id"`
	TurnID       *uuid.UUID     `json:"turn_id,omitempty"`
	Position     int            `json:"position,omitempty"`
	Node         string         `json:"node"`
	Step         int            `json:"step,omitempty"`
	Call         int            `json:"call"`
	Attempt      int            `json:"attempt"`
	Provider     string         `json:"provider"`
	Model        string         `json:"model"`
	Outline      string         `json:"outline"`
	Parts        []uuid.UUID    `json:"parts"`
	OwnParts     []piece        `json:"own_parts,omitempty"`
	SharedParts  []piece        `json:"shared_parts,omitempty"`
	Response     map[string]any `json:"response,omitempty"`
	Context      [][3]string    `json:"context"`
	InputTokens  int            `json:"input_tokens"`
	OutputTokens int            `json:"output_tokens"`
	CachedTokens int            `json:"cached_tokens"`
	CostUSD      float64        `json:"cost_usd"`
	LatencyMs    int64          `json:"latency_ms"`
	ErrorCode    string         `json:"error_code,omitempty"`
	TraceID      *string        `json:"trace_id,omitempty"`
}

func (c *madeCall) encode() (json.RawMessage, error) {
	encoded, err := exact.Storable(c)
	if err != nil {
		return nil, fmt.Errorf("encode the model's call: %w", err)
	}

	return encoded, nil
}

// call describes what was asked and answered, and counts what it used.
func (r *recorder) call(req *llm.Request, resp *llm.Response, failure error, took time.Duration) (*madeCall, error) {
	var said func(string) bool
	if r.turn != nil {
		said = r.runner.repeated.before(r.session, *r.turn)
	}
	request, err := cut(req, said)
	if err != nil {
		return nil, err
	}
	call := &madeCall{
		ID: r.runner.clock.newID(), SessionID: r.session, TurnID: r.turn, Position: r.position, Node: req.Node, Step: req.Step,
		Call: max(req.Call, 1), Attempt: max(req.Attempt, 1), LatencyMs: took.Milliseconds(), Outline: string(request.outline), Parts: request.parts,
		OwnParts: request.own.list, Context: reasons(r.items), ErrorCode: errorCode(failure), Provider: "unknown", Model: "unknown",
	}
	call.SharedParts = r.runner.shared.missing(call.ID, request.shared.list)
	if failed, ok := errors.AsType[*llm.Error](failure); ok && failed.Provider != "" {
		call.Provider = failed.Provider
	}
	if resp == nil {
		return call, nil
	}
	call.Provider, call.Model = resp.Provider, resp.Model
	call.Response = map[string]any{"text": resp.Text, "tool_calls": resp.ToolCalls}
	if resp.Reasoning != "" {
		call.Response["reasoning"] = resp.Reasoning
	}
	usage := resp.Usage
	if usage == (llm.Usage{}) && call.ErrorCode == codeCancelled {
		// Providers report usage at the end of a stream, but bill what was written before it broke off.
		usage = llm.Usage{Input: req.EstimateTokens(), Output: resp.EstimateTokens()}
	}
	call.CostUSD, _ = r.runner.Prices.Cost(resp.Model, usage)
	call.InputTokens, call.OutputTokens, call.CachedTokens = usage.Input, usage.Output, usage.Cached
	r.usage.Input += usage.Input
	r.usage.Output += usage.Output
	r.usage.Cached += usage.Cached

	return call, nil
}

// reasons encodes a prompt's items for llm_calls.context, as [section, reason, text]. Consecutive items with the same
// section and reason share one entry, whose text lists turn, tokens and ref of each.
func reasons(items []nodes.Item) [][3]string {
	groups := [][3]string{}
	for _, item := range items {
		text := ":" + strconv.Itoa(item.Tokens)
		if item.Turn != 0 {
			text = strconv.Itoa(item.Turn) + text
		}
		if item.Ref != "" {
			text += ":" + item.Ref
		}
		if last := len(groups) - 1; last >= 0 && groups[last][0] == item.Section && groups[last][1] == item.Reason {
			groups[last][2] += ", " + text
		} else {
			groups = append(groups, [3]string{item.Section, item.Reason, text})
		}
	}

	return groups
}

func errorCode(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errCancelled), errors.Is(err, errLeaseLost), errors.Is(err, context.Canceled):
		return codeCancelled // whatever the provider made of the closed connection
	default:
		return cmp.Or(string(llm.KindOf(err)), codeInternal)
	}
}
