package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
)

type turnPageIn struct {
	TurnPath
	PageQuery
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

type timelineOut struct {
	Body Page[timelineLine]
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

type resultsOut struct {
	Body Page[toolResult]
}

func (a *api) registerTimeline() {
	huma.Register(a.huma, operation(http.MethodGet, "/v1/turns/{id}/timeline", "get-timeline", "What happened in a turn, in order", http.StatusOK), a.turnTimeline)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/turns/{id}/results", "list-results", "What a turn's tools were asked and returned", http.StatusOK), a.turnResults)
}

func (a *api) turnTimeline(ctx context.Context, in *turnPageIn) (*timelineOut, error) {
	after, err := parseNumberCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []*db.TurnTimelineRow
	err = a.readTurn(ctx, in.ID, func(tx pgx.Tx, id uuid.UUID) error {
		rows, err = a.q.TurnTimeline(ctx, tx, &db.TurnTimelineParams{TurnID: id, AfterSeq: after, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &timelineOut{Body: pageOf(rows, in.Limit, timelineLineOf, func(r *db.TurnTimelineRow) string { return strconv.Itoa(int(r.Seq)) })}, nil
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

func (a *api) turnResults(ctx context.Context, in *turnPageIn) (*resultsOut, error) {
	step, call, err := parseResultCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []*db.TurnStepResultPageRow
	err = a.readTurn(ctx, in.ID, func(tx pgx.Tx, id uuid.UUID) error {
		rows, err = a.q.TurnStepResultPage(ctx, tx, &db.TurnStepResultPageParams{TurnID: id, AfterStep: step, AfterCall: call, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &resultsOut{Body: pageOf(rows, in.Limit, func(r *db.TurnStepResultPageRow) toolResult {
		return toolResult{
			Step: r.Step, Call: r.Call, Tool: r.Tool, EntityType: r.EntityType, Params: stored[map[string]any]{r.Params}, Rows: stored[[]map[string]any]{r.Rows}, RowCount: r.RowCount,
			Refs: r.Refs, Error: errorOf(r.ErrorCode, r.ErrorMessage), CreatedAt: r.CreatedAt,
		}
	}, func(r *db.TurnStepResultPageRow) string {
		return strconv.Itoa(int(r.Step)) + "." + strconv.Itoa(int(r.Call))
	})}, nil
}

// parseResultCursor parses step.call; an empty one precedes all of them.
func parseResultCursor(cursor string) (step, call int32, err error) {
	if cursor == "" {
		return -1, 0, nil
	}
	before, after, found := strings.Cut(cursor, ".")
	if !found || before == "" || after == "" {
		return 0, 0, errCursor
	}
	if step, err = parseNumberCursor(before); err != nil {
		return 0, 0, err
	}
	call, err = parseNumberCursor(after)

	return step, call, err
}
