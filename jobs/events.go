package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// event is one entry of a turn's stream; the database adds seq, turn, number and time.
type event struct {
	Type string `json:"type"`
	Data any    `json:"data,omitempty"`
}

// events are appended together.
type events []event

func (e *events) add(kind string, data any) { *e = append(*e, event{Type: kind, Data: data}) }

// append writes them. The caller holds the turn's row lock.
func (e events) append(ctx context.Context, tx pgx.Tx, turnID uuid.UUID) error {
	if len(e) == 0 {
		return nil
	}
	encoded, err := storable(e)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}
	if err := db.New().TurnEventsAppend(ctx, tx, &db.TurnEventsAppendParams{TurnID: turnID, Events: encoded}); err != nil {
		return fmt.Errorf("append events: %w", err)
	}

	return nil
}
