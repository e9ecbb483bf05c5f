package jobs

import (
	"context"
	"fmt"
	"math"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
)

// Fork is a session that begins where another one stood.
type Fork struct {
	ID           uuid.UUID    `json:"id"`
	ParentID     *uuid.UUID   `json:"parent_id" doc:"The conversation that had the turn: of a turn that a fork has from its parent, the parent. Null once that is forgotten." nullable:"true"`
	ForkedAtTurn int          `json:"forked_at_turn"`
	Changed      []crud.Since `json:"changed" doc:"Rows that are not as the conversation knew them at that turn, since rows are what they are now."`
}

// turnNumber keeps what is no turn's number from becoming one: 4294967297 has the last 32 bits of 1.
func turnNumber(n int) int32 { return int32(max(-1, min(n, math.MaxInt32))) }

// ForkSession creates a session that begins where another stood at the end of one of its turns (0: at its beginning),
// inside the caller's transaction, and returns its id. Errors: [ErrSessionNotFound], [InvalidError], and
// [CannotUndoError] for a turn that has not ended or is no longer kept.
func ForkSession(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, turn int) (uuid.UUID, error) {
	fork, err := db.New().SessionFork(ctx, tx, &db.SessionForkParams{SessionID: sessionID, Turn: turnNumber(turn)})
	if err != nil {
		return uuid.Nil, fmt.Errorf("fork session: %w", packageError(err))
	}

	return fork, nil
}

// DescribeFork says where a fork came from and which rows have changed since. It reads as the engine, the only role
// that sees what turns did to rows, so the caller must have checked that the fork is the user's. Errors:
// [ErrSessionNotFound] for a session that is not a fork.
func DescribeFork(ctx context.Context, tx pgx.Tx, tools *crud.Tools, id uuid.UUID) (*Fork, error) {
	origin, err := db.New().SessionOrigin(ctx, tx, id)
	if err == nil && origin.ForkedAtTurn == nil {
		err = ErrSessionNotFound // it is no fork
	}
	if err != nil {
		return nil, fmt.Errorf("describe fork: %w", err)
	}
	changed, err := tools.Since(ctx, tx, origin.UserID, id)
	if err != nil {
		return nil, fmt.Errorf("describe fork: %w", err)
	}

	return &Fork{ID: id, ParentID: origin.ParentID, ForkedAtTurn: int(*origin.ForkedAtTurn), Changed: changed}, nil
}
