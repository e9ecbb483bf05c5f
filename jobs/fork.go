package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// ForkSession begins a session as another stood when a turn of it had ended, 0 for its beginning, inside the caller's
// transaction, and returns its id. Errors: [ErrSessionNotFound], [InvalidError], [CannotUndoError] for a turn that has
// not ended.
func ForkSession(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, turn int) (uuid.UUID, error) {
	fork, err := db.New().SessionFork(ctx, tx, &db.SessionForkParams{SessionID: sessionID, Turn: int32(turn)})
	if err != nil {
		return uuid.Nil, fmt.Errorf("fork session: %w", typed(err))
	}

	return fork, nil
}
