package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

type sessionPageIn struct {
	SessionPath
	PageQuery
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

type decisionsOut struct {
	Body Page[decision]
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
	ReplacedBy *uuid.UUID      `json:"replaced_by"`
	CreatedAt  time.Time       `json:"created_at"`
	InForce    bool            `json:"in_force"`
}

type constraintsOut struct {
	Body Page[constraint]
}

func (a *api) registerDecisions() {
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/decisions", "list-decisions", "What was kept in view or taken out of it, and why", http.StatusOK), a.decisionList)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/constraints", "list-constraints", "What the user asked to hold, here and lastingly", http.StatusOK), a.constraintList)
}

func (a *api) decisionList(ctx context.Context, in *sessionPageIn) (*decisionsOut, error) {
	after, err := parseIDCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []*db.DecisionPageRow
	err = a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error {
		rows, err = a.q.DecisionPage(ctx, tx, &db.DecisionPageParams{SessionID: row.ID, AfterID: after, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &decisionsOut{Body: pageOf(rows, in.Limit, func(r *db.DecisionPageRow) decision {
		return decision{TurnNumber: r.TurnNumber, Action: r.Action, Ref: r.Ref, Reason: r.Reason, Actor: r.Actor, CreatedAt: r.CreatedAt}
	}, func(r *db.DecisionPageRow) string { return r.ID.String() })}, nil
}

func (a *api) constraintList(ctx context.Context, in *sessionPageIn) (*constraintsOut, error) {
	after, err := parseIDCursor(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []*db.ConstraintPageRow
	err = a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error {
		rows, err = a.q.ConstraintPage(ctx, tx, &db.ConstraintPageParams{SessionID: row.ID, UserID: userOf(ctx), AfterID: after, PageSize: int32(in.Limit)})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &constraintsOut{Body: pageOf(rows, in.Limit,
		func(r *db.ConstraintPageRow) constraint { return constraint(*r) },
		func(r *db.ConstraintPageRow) string { return r.ID.String() })}, nil
}
