package httpapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

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
	ReplacedBy *uuid.UUID      `json:"replaced_by"`
	CreatedAt  time.Time       `json:"created_at"`
	InForce    bool            `json:"in_force"`
}

func (a *api) decisionList() list[*uuid.UUID, *db.DecisionPageRow, decision] {
	return list[*uuid.UUID, *db.DecisionPageRow, decision]{
		parse: parseIDCursor,
		rows: func(ctx context.Context, tx pgx.Tx, session uuid.UUID, after *uuid.UUID, size int32) ([]*db.DecisionPageRow, error) {
			return a.q.DecisionPage(ctx, tx, &db.DecisionPageParams{SessionID: session, AfterID: after, PageSize: size})
		},
		item: func(r *db.DecisionPageRow) decision {
			return decision{TurnNumber: r.TurnNumber, Action: r.Action, Ref: r.Ref, Reason: r.Reason, Actor: r.Actor, CreatedAt: r.CreatedAt}
		},
		cursor: func(r *db.DecisionPageRow) string { return r.ID.String() },
	}
}

func (a *api) constraintList() list[*uuid.UUID, *db.ConstraintPageRow, constraint] {
	return list[*uuid.UUID, *db.ConstraintPageRow, constraint]{
		parse: parseIDCursor,
		rows: func(ctx context.Context, tx pgx.Tx, session uuid.UUID, after *uuid.UUID, size int32) ([]*db.ConstraintPageRow, error) {
			return a.q.ConstraintPage(ctx, tx, &db.ConstraintPageParams{SessionID: session, UserID: userOf(ctx), AfterID: after, PageSize: size})
		},
		item:   func(r *db.ConstraintPageRow) constraint { return constraint(*r) },
		cursor: func(r *db.ConstraintPageRow) string { return r.ID.String() },
	}
}
