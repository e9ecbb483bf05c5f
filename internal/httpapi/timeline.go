package httpapi

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
)

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

func (a *api) turnTimeline() list[int32, *db.TurnTimelineRow, timelineLine] {
	return list[int32, *db.TurnTimelineRow, timelineLine]{
		parse: parseNumberCursor,
		rows: func(ctx context.Context, tx pgx.Tx, turn uuid.UUID, after, size int32) ([]*db.TurnTimelineRow, error) {
			return a.q.TurnTimeline(ctx, tx, &db.TurnTimelineParams{TurnID: turn, AfterSeq: after, PageSize: size})
		},
		item:   timelineLineOf,
		cursor: func(r *db.TurnTimelineRow) string { return strconv.Itoa(int(r.Seq)) },
	}
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

// resultCursor is where a page of results ends.
type resultCursor struct{ step, call int32 }

func (a *api) turnResults() list[resultCursor, *db.TurnStepResultPageRow, toolResult] {
	return list[resultCursor, *db.TurnStepResultPageRow, toolResult]{
		parse: parseResultCursor,
		rows: func(ctx context.Context, tx pgx.Tx, turn uuid.UUID, after resultCursor, size int32) ([]*db.TurnStepResultPageRow, error) {
			return a.q.TurnStepResultPage(ctx, tx, &db.TurnStepResultPageParams{TurnID: turn, AfterStep: after.step, AfterCall: after.call, PageSize: size})
		},
		item: func(r *db.TurnStepResultPageRow) toolResult {
			return toolResult{
				Step: r.Step, Call: r.Call, Tool: r.Tool, EntityType: r.EntityType, Params: stored[map[string]any]{r.Params}, Rows: stored[[]map[string]any]{r.Rows}, RowCount: r.RowCount,
				Refs: r.Refs, Error: turnErrorOf(r.ErrorCode, r.ErrorMessage), CreatedAt: r.CreatedAt,
			}
		},
		cursor: func(r *db.TurnStepResultPageRow) string {
			return strconv.Itoa(int(r.Step)) + "." + strconv.Itoa(int(r.Call))
		},
	}
}

// parseResultCursor parses step.call; an empty one precedes all of them.
func parseResultCursor(cursor string) (c resultCursor, err error) {
	if cursor == "" {
		return resultCursor{step: -1}, nil
	}
	before, after, found := strings.Cut(cursor, ".")
	if !found || before == "" || after == "" {
		return c, errCursor
	}
	if c.step, err = parseNumberCursor(before); err != nil {
		return c, err
	}
	c.call, err = parseNumberCursor(after)

	return c, err
}
