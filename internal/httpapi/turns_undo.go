package httpapi

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/httpapi/door"
	"alfred/jobs"
)

// undo says whether what a turn wrote can be undone.
type undo struct {
	Status string     `doc:"possible, as far as is known before it is tried." enum:"possible,impossible,done" json:"status"`
	Reason string     `doc:"Why it is impossible." json:"reason,omitempty"`
	TurnID *uuid.UUID `doc:"The turn that took it back." json:"turn_id,omitempty"`
}

func undoOf(status, reason *string, by *uuid.UUID) *undo {
	if status == nil {
		return nil
	}
	u := &undo{Status: *status, TurnID: by}
	if reason != nil {
		u.Reason = *reason
	}

	return u
}

type undoIn struct {
	TurnPath

	IdempotencyKey string `doc:"A second request with the same key gives the first one's turn." header:"Idempotency-Key"`
	IfBusy         string `doc:"What happens if a turn runs: enqueue (default), reject or interrupt." query:"if_busy"`
}

// turnUndo enqueues a turn that undoes another one. What prevents it is said in that turn's reply.
func (a *api) turnUndo(ctx context.Context, in *undoIn) (*enqueueOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var made *jobs.Undo
	err = a.write(ctx, func(tx pgx.Tx) error {
		made, err = jobs.UndoTurn(ctx, tx, jobs.UndoParams{TurnID: id, IdempotencyKey: in.IdempotencyKey, IfBusy: in.IfBusy})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return enqueued(ctx, made.SessionID, &made.Enqueued), nil
}
