package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/nodes"
)

// entity is one ref of the registry.
type entity struct {
	Ref         string      `json:"ref"`
	EntityType  string      `json:"type"`
	Label       string      `json:"label"`
	Action      string      `json:"action"`
	State       db.RefState `enum:"stored,pending,promoted,dropped,deleted" json:"state"`
	Tier        string      `enum:"generated,recent,retained,excluded,background" json:"tier"`
	Reason      *string     `json:"reason"`
	TurnCreated int32       `json:"turn_created"`
	TurnLastRef int32       `json:"turn_last_ref"`
}

// entityPage is the registry, a page of it.
type entityPage struct {
	Page[entity]

	CurrentTurn int32 `doc:"Turn from which tiers are counted." json:"current_turn"`
}

type entitiesOut struct {
	Body entityPage
}

type entitiesIn struct {
	SessionPath

	Turn   int32  `doc:"As it was when that turn ended; now if left out." minimum:"1" query:"turn"`
	Limit  int    `default:"1000" doc:"Items per page." maximum:"1000" minimum:"1" query:"limit"`
	Cursor string `doc:"next_cursor of the page before." query:"cursor"`
}

type contextIn struct {
	SessionPath

	Node string `default:"think" enum:"understand,think,act,reply" query:"node"`
}

// contextItem says why one thing is in a prompt.
type contextItem struct {
	Section    string `json:"section"`
	Ref        string `json:"ref,omitempty"`
	TurnNumber int    `json:"turn_number,omitempty"`
	Reason     string `json:"reason"`
	Tokens     int    `json:"tokens"`
}

// contextPreview is what a node would see now.
type contextPreview struct {
	Node  string        `json:"node"`
	Turn  int           `doc:"The coming turn." json:"turn"`
	Text  string        `doc:"What the node would see, as it would see it." json:"text"`
	Items []contextItem `json:"items"`
}

type contextOut struct {
	Body contextPreview
}

// summary is what is remembered of a turn.
type summary struct {
	TurnNumber          int32           `json:"turn_number"`
	UserMessage         string          `json:"user_message"`
	Goal                string          `json:"goal"`
	Steps               json.RawMessage `json:"steps"`
	CurationSummary     string          `json:"curation_summary"`
	RetainedRefs        []string        `json:"retained_refs"`
	DemotedRefs         []string        `json:"demoted_refs"`
	ExcludedRefs        []string        `json:"excluded_refs"`
	AnalysisConclusions string          `json:"analysis_conclusions"`
	ResponseSummary     string          `json:"response_summary"`
	ConversationPhase   string          `json:"conversation_phase"`
	Tone                string          `json:"tone"`
	WhatUserExpressed   string          `json:"what_user_expressed"`
	WhatWeAcknowledged  string          `json:"what_we_acknowledged"`
	NaturalNext         string          `json:"natural_next"`
	Model               string          `json:"model"`
}

type summariesOut struct {
	Body Page[summary]
}

func (a *api) registerEntities() {
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/entities", "list-entities", "What the session knows, by tier", http.StatusOK), a.entityList)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/context", "preview-context", "What a node would see now, and why", http.StatusOK), a.contextPreview)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/summaries", "list-summaries", "What is remembered of each turn", http.StatusOK), a.summaryList)
}

func (a *api) entityList(ctx context.Context, in *entitiesIn) (*entitiesOut, error) {
	skip, err := parseNumberCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &entitiesOut{}
	var refs []*db.EntityListRow
	err = a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error {
		out.Body.CurrentTurn = row.LastTurn
		if in.Turn == 0 {
			refs, err = a.q.EntityList(ctx, tx, &db.EntityListParams{SessionID: row.ID, Skip: skip, PageSize: int32(in.Limit)})

			return err
		}
		if in.Turn > row.LastTurn {
			return newCode(http.StatusNotFound, "not_found", "The conversation has no such turn yet.")
		}
		out.Body.CurrentTurn = in.Turn
		refs, err = a.entitiesAt(ctx, tx, &db.EntityListAtParams{SessionID: row.ID, TurnNumber: in.Turn, Skip: skip, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list entities: %w", err))
	}
	out.Body.Page = pageOf(refs, in.Limit,
		func(r *db.EntityListRow) entity { return entity(*r) },
		func(*db.EntityListRow) string { return strconv.Itoa(int(skip) + len(refs)) })

	return out, nil
}

func (a *api) entitiesAt(ctx context.Context, tx pgx.Tx, params *db.EntityListAtParams) ([]*db.EntityListRow, error) {
	rows, err := a.q.EntityListAt(ctx, tx, params)
	refs := make([]*db.EntityListRow, len(rows))
	for i, row := range rows {
		refs[i] = (*db.EntityListRow)(row)
	}

	return refs, err
}

func (a *api) contextPreview(ctx context.Context, in *contextIn) (*contextOut, error) {
	row, err := a.session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var frame nodes.Frame
	err = a.read(ctx, func(tx pgx.Tx) error {
		frame, err = a.Memory.Preview(ctx, tx, row.ID, in.Node)

		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("preview context: %w", err))
	}
	out := &contextOut{}
	out.Body.Node, out.Body.Turn, out.Body.Text = in.Node, int(row.LastTurn)+1, nodes.RenderBlocks(frame.Blocks)
	out.Body.Items = make([]contextItem, 0, len(frame.Items))
	for _, i := range frame.Items {
		out.Body.Items = append(out.Body.Items, contextItem{Section: i.Section, Ref: i.Ref, TurnNumber: i.Turn, Reason: i.Reason, Tokens: i.Tokens})
	}

	return out, nil
}

func (a *api) summaryList(ctx context.Context, in *sessionPageIn) (*summariesOut, error) {
	after, err := parseNumberCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []*db.TurnSummaryPageRow
	err = a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error {
		rows, err = a.q.TurnSummaryPage(ctx, tx, &db.TurnSummaryPageParams{SessionID: row.ID, AfterNumber: after, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list summaries: %w", err))
	}

	return &summariesOut{Body: pageOf(rows, in.Limit,
		func(r *db.TurnSummaryPageRow) summary { return summary(*r) },
		func(r *db.TurnSummaryPageRow) string { return strconv.Itoa(int(r.TurnNumber)) })}, nil
}
