package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/internal/vocab"
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
		notices, err := r.Tools.ApplyInputs(ctx, tx, scope, turn.Message, turn.UiChanges, turn.MentionedEntities)
		if err != nil {
			return fmt.Errorf("apply inputs: %w", err)
		}
		if err := keepNotices(ctx, tx, turn.ID, notices); err != nil {
			return err
		}
		if err := q.TurnInputsApplied(ctx, tx, turn.ID); err != nil {
			return fmt.Errorf("mark inputs applied: %w", err)
		}

		return nil
	})
}

// keepNotices stores what could not be applied as failed results of step 0: this turn's nodes see them, and the reply can
// mention them.
func keepNotices(ctx context.Context, tx pgx.Tx, turnID uuid.UUID, notices []string) error {
	if len(notices) == 0 {
		return nil
	}
	q := db.New()
	last, err := q.TurnStepResultLastCall(ctx, tx, &db.TurnStepResultLastCallParams{TurnID: turnID})
	if err != nil {
		return fmt.Errorf("number notices: %w", err)
	}
	for i, text := range notices {
		err := q.TurnStepResultInsert(ctx, tx, &db.TurnStepResultInsertParams{
			TurnID: turnID, Call: last + int32(i) + 1, Tool: vocab.ToolMention, Params: json.RawMessage(`{}`), Rows: json.RawMessage(`[]`),
			Refs: []string{}, ErrorCode: pg.OrNil(string(crud.CodeNotFound)), ErrorMessage: &text,
		})
		if err != nil {
			return fmt.Errorf("keep notice: %w", err)
		}
	}

	return nil
}
