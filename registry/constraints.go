package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"alfred/db"
)

// AddConstraint stores a constraint stated in the scope's turn and returns its id. replaces, if not nil, ends that
// constraint and the exclusions that came with it.
func (r *Registry) AddConstraint(ctx context.Context, c db.ConstraintInsertParams, replaces *uuid.UUID) (uuid.UUID, error) {
	if len(c.Value) == 0 {
		c.Value = json.RawMessage("null")
	}
	c.UserID, c.SessionID, c.SourceTurn, c.Text = r.scope.UserID, r.scope.SessionID, r.turn(), CleanText(c.Text, maxReason)
	id, err := r.q.ConstraintInsert(ctx, r.tx, &c)
	if err != nil {
		return uuid.Nil, fmt.Errorf("store constraint: %w", err)
	}
	if replaces != nil {
		err = r.endConstraints(ctx, []uuid.UUID{*replaces}, &id)
	}

	return id, err
}

// Constraints returns those in force, oldest first: this session's and the user's lasting ones. Call ExpireConstraints
// first.
func (r *Registry) Constraints(ctx context.Context) ([]*db.Constraints, error) {
	rows, err := r.q.ConstraintListLive(ctx, r.tx, &db.ConstraintListLiveParams{UserID: r.scope.UserID, SessionID: r.scope.SessionID})
	if err != nil {
		return nil, fmt.Errorf("list constraints: %w", err)
	}

	return rows, nil
}

// ExpireConstraints ends the expired ones of [Registry.Constraints], as the system, and the exclusions that came with
// them.
func (r *Registry) ExpireConstraints(ctx context.Context, now time.Time) error {
	return r.as(ActorSystem).endWhere(ctx, func(c *db.Constraints) bool { return c.ExpiresAt != nil && !c.ExpiresAt.After(now) })
}

// endWhere ends some of the constraints in force.
func (r *Registry) endWhere(ctx context.Context, which func(*db.Constraints) bool) error {
	live, err := r.Constraints(ctx)
	if err != nil {
		return err
	}
	var ids []uuid.UUID
	for _, c := range live {
		if which(c) {
			ids = append(ids, c.ID)
		}
	}

	return r.endConstraints(ctx, ids, nil)
}

func (r *Registry) endConstraints(ctx context.Context, ids []uuid.UUID, replacedBy *uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	ended, err := r.q.ConstraintEnd(ctx, r.tx, &db.ConstraintEndParams{
		TurnNumber: r.turn(), ReplacedBy: replacedBy, UserID: r.scope.UserID, Ids: ids,
	})
	if err != nil {
		return fmt.Errorf("end constraints: %w", err)
	}
	if _, err := r.q.EntityRefEndExclusions(ctx, r.tx, &db.EntityRefEndExclusionsParams{
		ConstraintIds: ended, SessionID: r.scope.SessionID, TurnNumber: r.turn(), Actor: string(r.scope.Actor), TurnID: r.turnID(),
	}); err != nil {
		return fmt.Errorf("end exclusions: %w", err)
	}

	return nil
}
