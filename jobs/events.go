package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/exact"
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

// appendAlone writes the events in their own transaction while the decision is being made; errStale if the turn no
// longer waits for it.
func (e events) appendAlone(ctx context.Context, pool db.DBTX, turnID uuid.UUID, position int) error {
	encoded, err := e.encoded()
	if err != nil {
		return err
	}
	n, err := db.New().TurnEventsAppendBeside(ctx, pool, &db.TurnEventsAppendBesideParams{Events: encoded, TurnID: turnID, Position: int32(position)})
	if err == nil && n == 0 {
		err = errStale
	}

	return err
}
