package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
)

// CallLine is one model call, including failed and repaired ones. It is exported because LLMCall embeds it.
type CallLine struct {
	ID           uuid.UUID  `json:"id"`
	SessionID    uuid.UUID  `json:"session_id"`
	TurnID       *uuid.UUID `doc:"None for compressions, which belong to no turn." json:"turn_id"`
	Node         string     `enum:"understand,think,act,reply,summarize,compress" json:"node"`
	Step         *int32     `doc:"Of the plan; none outside act." json:"step"`
	Call         int32      `doc:"Which decision of the node, or of act's step." json:"call"`
	Attempt      int32      `doc:"Which request of that decision; above 1 it mends the one before." json:"attempt"`
	Provider     string     `json:"provider"`
	Model        string     `json:"model"`
	InputTokens  int32      `doc:"Cached ones included." json:"input_tokens"`
	OutputTokens int32      `json:"output_tokens"`
	CachedTokens int32      `json:"cached_tokens"`
	CostUsd      float64    `json:"cost_usd"`
	LatencyMs    int32      `json:"latency_ms"`
	ErrorCode    *string    `json:"error_code"`
	TraceID      *string    `json:"trace_id"`
	CreatedAt    time.Time  `doc:"When the answer arrived." json:"created_at"`
}

// LLMCall is a model call with its full content, and why each item was in the prompt.
type LLMCall struct {
	CallLine

	Request  stored[llm.Request] `json:"request"`
	Response *stored[llmAnswer]  `doc:"None when nothing was answered." json:"response,omitempty"`
	Context  []contextItem       `json:"context"`
}

// llmAnswer describes what llm_calls.response holds.
type llmAnswer struct {
	Text      string         `json:"text"`
	ToolCalls []llm.ToolCall `json:"tool_calls" nullable:"true"`
}

type callPath struct {
	ID pathID `doc:"Id of the call." path:"id"`
}

func (a *api) callList() list[*uuid.UUID, *db.LlmCallPageTurnRow, CallLine] {
	return list[*uuid.UUID, *db.LlmCallPageTurnRow, CallLine]{
		parse: parseIDCursor,
		rows: func(ctx context.Context, tx pgx.Tx, turn uuid.UUID, after *uuid.UUID, size int32) ([]*db.LlmCallPageTurnRow, error) {
			return a.q.LlmCallPageTurn(ctx, tx, &db.LlmCallPageTurnParams{TurnID: &turn, AfterID: after, PageSize: size})
		},
		item:   func(r *db.LlmCallPageTurnRow) CallLine { return CallLine(*r) },
		cursor: func(r *db.LlmCallPageTurnRow) string { return r.ID.String() },
	}
}

func (a *api) callGet(ctx context.Context, in *callPath) (LLMCall, error) {
	return pg.Value(ctx, a.read, func(tx pgx.Tx) (LLMCall, error) {
		row, err := a.q.LlmCallGet(ctx, tx, in.ID.UUID)
		if err != nil {
			return LLMCall{}, fmt.Errorf("get call: %w", err)
		}
		items, err := a.q.ContextItemListCall(ctx, tx, in.ID.UUID)
		if err != nil {
			return LLMCall{}, fmt.Errorf("list its context: %w", err)
		}

		return callOf(row, items), nil
	})
}

func callOf(r *db.LlmCallGetRow, items []*db.ContextItemListCallRow) LLMCall {
	call := LLMCall{
		CallLine: CallLine{
			ID: r.ID, SessionID: r.SessionID, TurnID: r.TurnID, Node: r.Node, Step: r.Step, Call: r.Call, Attempt: r.Attempt,
			Provider: r.Provider, Model: r.Model, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CachedTokens: r.CachedTokens,
			CostUsd: r.CostUsd, LatencyMs: r.LatencyMs, ErrorCode: r.ErrorCode, TraceID: r.TraceID, CreatedAt: r.CreatedAt,
		},
		Request: stored[llm.Request]{r.Request},
		Context: mapped(items, func(i *db.ContextItemListCallRow) contextItem {
			return contextItem{Section: i.Section, Ref: i.Ref, TurnNumber: int(i.TurnNumber), Reason: i.Reason, Tokens: int(i.Tokens)}
		}),
	}
	if r.Response != nil {
		call.Response = &stored[llmAnswer]{r.Response}
	}

	return call
}
