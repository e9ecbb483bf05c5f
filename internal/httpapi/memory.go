package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/nodes"
)

type contextIn struct {
	SessionPath

	Node string `default:"think" enum:"understand,think,act,reply,summarize" query:"node"`
}

// contextItem says why something is in a prompt.
type contextItem struct {
	Section string `json:"section"`
	Ref     string `json:"ref,omitempty"`
	Turn    int    `json:"turn_number,omitempty"`
	Reason  string `json:"reason"`
	Tokens  int    `json:"tokens"`
}

// contextPreview is what a node would see now.
type contextPreview struct {
	Node  string        `json:"node"`
	Turn  int           `doc:"The coming turn." json:"turn"`
	Text  string        `doc:"What the node would see, as it would see it." json:"text"`
	Items []contextItem `json:"items"`
}

// summary is what is remembered about a turn.
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

func (a *api) contextPreview(ctx context.Context, in *contextIn) (contextPreview, error) {
	return inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (contextPreview, error) {
		frame, err := a.Preview.Frame(ctx, tx, row.ID, in.Node)
		if err != nil {
			return contextPreview{}, fmt.Errorf("preview context: %w", err)
		}

		return contextPreview{
			Node: in.Node, Turn: int(row.LastTurn) + 1, Text: nodes.RenderBlocks(frame.Blocks),
			Items: mapped(frame.Items, func(i nodes.Item) contextItem { return contextItem(i) }),
		}, nil
	})
}

func (a *api) summaryList(ctx context.Context, in *sessionPageIn) (Page[summary], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, func(tx pgx.Tx, after, size int32) ([]*db.TurnSummaryPageRow, error) {
		return a.q.TurnSummaryPage(ctx, tx, &db.TurnSummaryPageParams{SessionID: in.ID.UUID, AfterNumber: after, PageSize: size})
	}, func(r *db.TurnSummaryPageRow) summary { return summary(*r) }, func(r *db.TurnSummaryPageRow) int32 { return r.TurnNumber })
}

// decision is one line of the log of what was kept in view or removed from it.
type decision struct {
	TurnNumber int32     `json:"turn_number"`
	Action     string    `enum:"retain,demote,forget,exclude,clear_all,expire" json:"action"`
	Ref        *string   `doc:"None for clear_all." json:"ref"`
	Reason     string    `json:"reason"`
	Actor      string    `enum:"assistant,user,system" json:"actor"`
	CreatedAt  time.Time `json:"created_at"`
}

// constraint is something the user wants observed.
type constraint struct {
	ID         uuid.UUID       `json:"id"`
	SessionID  uuid.UUID       `doc:"Where it was asked for." json:"session_id"`
	Text       string          `json:"text"`
	Kind       string          `enum:"count,date_range,exclude,require,budget,other" json:"kind"`
	Value      json.RawMessage `json:"value"`
	Scope      string          `enum:"session,lasting" json:"scope"`
	SourceTurn int32           `json:"source_turn"`
	ExpiresAt  *time.Time      `json:"expires_at"`
	EndedTurn  *int32          `json:"ended_turn"`
	ReplacedBy *uuid.UUID      `json:"replaced_by" nullable:"true"`
	CreatedAt  time.Time       `json:"created_at"`
	InForce    bool            `json:"in_force"`
}

func (a *api) decisionList(ctx context.Context, in *sessionPageIn) (Page[decision], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, func(tx pgx.Tx, after *uuid.UUID, size int32) ([]*db.DecisionPageRow, error) {
		return a.q.DecisionPage(ctx, tx, &db.DecisionPageParams{SessionID: in.ID.UUID, AfterID: after, PageSize: size})
	}, decisionOf, func(r *db.DecisionPageRow) *uuid.UUID { return &r.ID })
}

func decisionOf(r *db.DecisionPageRow) decision {
	return decision{TurnNumber: r.TurnNumber, Action: r.Action, Ref: r.Ref, Reason: r.Reason, Actor: r.Actor, CreatedAt: r.CreatedAt}
}

func (a *api) constraintList(ctx context.Context, in *sessionPageIn) (Page[constraint], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, func(tx pgx.Tx, after *uuid.UUID, size int32) ([]*db.ConstraintPageRow, error) {
		return a.q.ConstraintPage(ctx, tx, &db.ConstraintPageParams{SessionID: in.ID.UUID, UserID: userOf(ctx), AfterID: after, PageSize: size})
	}, func(r *db.ConstraintPageRow) constraint { return constraint(*r) }, func(r *db.ConstraintPageRow) *uuid.UUID { return &r.ID })
}
