package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/pg"
)

// event is one entry of a turn's stream; the database adds seq, turn, number and time.
type event struct {
	Type string `json:"type"`
	Data any    `json:"data,omitempty"`
}

// events are appended together.
type events []event

func (e *events) add(kind string, data any) { *e = append(*e, event{Type: kind, Data: data}) }

// encoded returns the events as the database takes them, nil for none.
func (e events) encoded() (json.RawMessage, error) {
	if len(e) == 0 {
		return nil, nil
	}
	encoded, err := exact.Storable(e)
	if err != nil {
		return nil, fmt.Errorf("encode events: %w", err)
	}

	return encoded, nil
}

// append queues one statement that writes the events. The transaction must hold the turn's row lock.
func (e events) append(queue *pg.Batch, turnID uuid.UUID) error {
	encoded, err := e.encoded()
	if err != nil {
		return err
	}
	queue.Exec("append events", db.TurnEventsAppend, &db.TurnEventsAppendParams{TurnID: turnID, Events: encoded})

	return nil
}

// appendAlone writes the events in their own transaction while the decision is being made; errStale if the turn no
// longer waits for it. Losing them is harmless, so the commit does not wait for the disk.
func (e events) appendAlone(ctx context.Context, pool pg.Beginner, turnID uuid.UUID, position int) error {
	first, last, held := &pg.Batch{}, &pg.Batch{}, int64(0)
	commitAsync(first)
	first.Count("hold turn", db.TurnHold, &db.TurnHoldParams{ID: turnID, Position: int32(position)}, &held)
	if err := e.append(last, turnID); err != nil {
		return err
	}

	return pg.InTxWith(ctx, pool, first, func(tx pgx.Tx) error {
		if held == 0 {
			return errStale
		}

		return pg.CommitWith(ctx, tx, last)
	})
}
