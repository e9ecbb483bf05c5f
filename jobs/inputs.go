package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/registry"
)

// applyInputs commits the user's changes and mentions once, before any model sees the turn. A rerun finds it done.
func (r *Runner) applyInputs(ctx context.Context, d delivery) error {
	q := db.New()

	return pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error {
		applied, err := q.TurnHold(ctx, tx, &db.TurnHoldParams{ID: d.TurnID, Position: int32(d.Position)})
		if errors.Is(err, pgx.ErrNoRows) {
			return errStale
		}
		if err != nil || applied != nil {
			return err
		}
		turn, err := q.TurnGet(ctx, tx, d.TurnID)
		if err != nil {
			return fmt.Errorf("load turn: %w", err)
		}
		scope := registry.Scope{
			SessionID: turn.SessionID, UserID: turn.UserID, TurnID: turn.ID, Turn: int(turn.Number), Actor: registry.ActorUser,
		}
		if err := r.Tools.ApplyInputs(ctx, tx, scope, turn.Message, turn.UiChanges, turn.MentionedEntities); err != nil {
			return fmt.Errorf("apply inputs: %w", err)
		}
		if err := q.TurnInputsApplied(ctx, tx, turn.ID); err != nil {
			return fmt.Errorf("mark inputs applied: %w", err)
		}

		return nil
	})
}
