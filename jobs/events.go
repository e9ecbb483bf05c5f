package jobs

import (
	"context"
	"encoding/json"
	"fmt"

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

// publish sends events in their own transaction while the decision is being made; errStale if the turn no longer waits for
// it.
func (r *Runner) publish(ctx context.Context, d delivery, e events) error {
	encoded, err := e.encoded()
	if err != nil {
		return err
	}
	n, err := db.New().TurnEventsAppendBeside(ctx, r.Pool, &db.TurnEventsAppendBesideParams{Events: encoded, TurnID: d.TurnID, Position: int32(d.Position)})
	if err == nil && n == 0 {
		err = errStale
	}
	if err == nil {
		r.notifier.Notify(d.TurnID)
	}

	return err
}
