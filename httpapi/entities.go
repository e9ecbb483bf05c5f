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
	Type        string      `json:"type"`
	Label       string      `json:"label"`
	Action      string      `json:"action"`
	State       db.RefState `enum:"stored,pending,promoted,dropped,deleted" json:"state"`
	Tier        string      `enum:"generated,recent,retained,excluded,background" json:"tier"`
	Reason      *string     `json:"reason"`
	TurnCreated int32       `json:"turn_created"`
	TurnLastRef int32       `json:"turn_last_ref"`
}

type entitiesOut struct {
	Body struct {
		CurrentTurn int32    `json:"current_turn"`
		Items       []entity `json:"items"`
	}
}

// maxEntities bounds what one answer shows; background refs give way first.
const maxEntities = 1000

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

type contextOut struct {
	Body struct {
		Node  string        `json:"node"`
		Turn  int           `doc:"The coming turn." json:"turn"`
		Text  string        `doc:"What the node would see, as it would see it." json:"text"`
		Items []contextItem `json:"items"`
	}
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

func (a *api) entityList(ctx context.Context, in *SessionPath) (*entitiesOut, error) {
	row, err := a.session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &entitiesOut{}
	out.Body.CurrentTurn, out.Body.Items = row.LastTurn, []entity{}
	err = a.read(ctx, func(tx pgx.Tx) error {
		refs, err := a.q.EntityList(ctx, tx, &db.EntityListParams{SessionID: row.ID, PageSize: maxEntities})
		for _, r := range refs {
			out.Body.Items = append(out.Body.Items, entity{
				Ref: r.Ref, Type: r.EntityType, Label: r.Label, Action: r.Action, State: r.State, Tier: r.Tier, Reason: r.Reason,
				TurnCreated: r.TurnCreated, TurnLastRef: r.TurnLastRef,
			})
		}

		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list entities: %w", err))
	}

	return out, nil
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

func (a *api) summaryList(ctx context.Context, in *turnListIn) (*summariesOut, error) {
	after, err := parseNumberCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	row, err := a.session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &summariesOut{Body: Page[summary]{Items: []summary{}}}
	err = a.read(ctx, func(tx pgx.Tx) error {
		rows, err := a.q.TurnSummaryPage(ctx, tx, &db.TurnSummaryPageParams{SessionID: row.ID, AfterNumber: after, PageSize: int32(in.Limit)})
		for _, r := range rows {
			out.Body.Items = append(out.Body.Items, summary(*r))
		}

		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list summaries: %w", err))
	}
	if n := len(out.Body.Items); n == in.Limit {
		out.Body.NextCursor = strconv.Itoa(int(out.Body.Items[n-1].TurnNumber))
	}

	return out, nil
}
