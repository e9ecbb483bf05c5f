package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/llm"
	"alfred/internal/pg"
)

// CallLine is one model call, including failed and repaired ones. It is exported because LLMCall embeds it.
type CallLine struct {
	ID           uuid.UUID  `json:"id"`
	SessionID    uuid.UUID  `json:"session_id"`
	TurnID       *uuid.UUID `doc:"None for compressions, which belong to no turn." json:"turn_id" nullable:"true"`
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

func (a *api) callList(ctx context.Context, in *turnPageIn) (Page[CallLine], error) {
	return paged(ctx, a.ofTurn(in.ID), in.PageQuery, func(tx pgx.Tx, after *uuid.UUID, size int32) ([]*db.LlmCallPageTurnRow, error) {
		return a.q.LlmCallPageTurn(ctx, tx, &db.LlmCallPageTurnParams{TurnID: &in.ID.UUID, AfterID: after, PageSize: size})
	}, func(r *db.LlmCallPageTurnRow) CallLine { return CallLine(*r) }, func(r *db.LlmCallPageTurnRow) *uuid.UUID { return &r.ID })
}

func (a *api) callGet(ctx context.Context, in *callPath) (LLMCall, error) {
	return pg.Value(ctx, a.door.Read, func(tx pgx.Tx) (LLMCall, error) {
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
			return contextItem{Section: i.Section, Ref: i.Ref, Turn: int(i.TurnNumber), Reason: i.Reason, Tokens: int(i.Tokens)}
		}),
	}
	if r.Response != nil {
		call.Response = &stored[llmAnswer]{r.Response}
	}

	return call
}

// timelineLine is one thing that happened in a turn.
type timelineLine struct {
	Seq        int32         `doc:"Order in the turn. While the turn runs, what is committed late may still move up." json:"seq"`
	At         time.Time     `json:"at"`
	Kind       string        `enum:"message,node,tool,entity,decision,question,reply,failed,cancelled" json:"kind"`
	Node       *string       `json:"node"`
	Step       *int32        `json:"step"`
	Call       *int32        `json:"call"`
	Ref        *string       `json:"ref"`
	Text       string        `json:"text"`
	DurationMS *int32        `json:"duration_ms"`
	Usage      *follow.Usage `doc:"Of a node's line: what its calls of models used." json:"usage,omitempty"`
}

// toolResult is one call of a data tool and what it returned, as models see it.
type toolResult struct {
	Step       int32                    `doc:"0 for what changes and mentions by the user brought in." json:"step"`
	Call       int32                    `json:"call"`
	Tool       string                   `json:"tool"`
	EntityType *string                  `json:"entity_type"`
	Params     stored[map[string]any]   `json:"params"`
	Rows       stored[[]map[string]any] `json:"rows"`
	RowCount   int32                    `doc:"Rows that matched, which may be more than rows holds." json:"row_count"`
	Refs       []string                 `json:"refs"`
	Error      *turnError               `json:"error,omitempty"`
	CreatedAt  time.Time                `json:"created_at"`
}

func (a *api) turnTimeline(ctx context.Context, in *turnPageIn) (Page[timelineLine], error) {
	return paged(ctx, a.ofTurn(in.ID), in.PageQuery, func(tx pgx.Tx, after, size int32) ([]*db.TurnTimelineRow, error) {
		return a.q.TurnTimeline(ctx, tx, &db.TurnTimelineParams{TurnID: in.ID.UUID, AfterSeq: after, PageSize: size})
	}, timelineLineOf, func(r *db.TurnTimelineRow) int32 { return r.Seq })
}

func timelineLineOf(r *db.TurnTimelineRow) timelineLine {
	line := timelineLine{
		Seq: r.Seq, At: r.At, Kind: r.Kind, Node: r.Node, Step: r.Step, Call: r.Call, Ref: r.Ref, Text: r.Text, DurationMS: r.DurationMs,
	}
	if r.Kind == "node" {
		line.Usage = &follow.Usage{Calls: r.Calls, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CachedTokens: r.CachedTokens, CostUSD: r.CostUsd}
	}

	return line
}

func (a *api) turnResults(ctx context.Context, in *turnPageIn) (Page[toolResult], error) {
	type place struct{ Step, Call int32 } // calls count from 1

	return paged(ctx, a.ofTurn(in.ID), in.PageQuery, func(tx pgx.Tx, after place, size int32) ([]*db.TurnStepResultPageRow, error) {
		return a.q.TurnStepResultPage(ctx, tx, &db.TurnStepResultPageParams{TurnID: in.ID.UUID, AfterStep: after.Step, AfterCall: after.Call, PageSize: size})
	}, toolResultOf, func(r *db.TurnStepResultPageRow) place { return place{r.Step, r.Call} })
}

func toolResultOf(r *db.TurnStepResultPageRow) toolResult {
	return toolResult{
		Step: r.Step, Call: r.Call, Tool: r.Tool, EntityType: r.EntityType, Params: stored[map[string]any]{r.Params}, Rows: stored[[]map[string]any]{r.Rows}, RowCount: r.RowCount,
		Refs: r.Refs, Error: turnErrorOf(r.ErrorCode, r.ErrorMessage), CreatedAt: r.CreatedAt,
	}
}
