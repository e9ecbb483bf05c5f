package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/pg"
)

// Batch is how many events are read at a time.
const Batch = 200

// recheck is how often readers waiting in silence are checked for permission.
const recheck = 15 * time.Second

// Reader reads the turns of one user. The listener must be running.
type Reader struct {
	Pool     *pgxpool.Pool
	Listener *pg.Listener
	UserID   uuid.UUID
	// StillGood, if not nil, is called after each read, before anybody is shown what was read: the reader may have lost
	// permission meanwhile. Its error ends the wait.
	StillGood func(context.Context) error
	// Patience is how long a read, and StillGood, may take, after which the database counts as one that does not answer; 0
	// means as long as it takes.
	Patience time.Duration
	// Moved, if not nil, is asked what is to be done about an error of StillGood: it returns the reader of where the turns
	// are now, or the error.
	Moved func(context.Context, error) (*Reader, error)

	found atomic.Pointer[Reader] // where the turns were when they were last read, if Moved has said so
}

// Event is one entry of a turn's stream. Data has seq, turn_id, number, type and at in addition to the type's own
// fields.
type Event struct {
	Seq  int32
	Type string
	Data json.RawMessage
}

// Decode decodes Data into a struct. A mismatch is an error.
func (e *Event) Decode(into any) error {
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("decode event %s: %w", e.Type, err)
	}

	return nil
}

// Events yields the turn's events after the given seq, 0 for the beginning, until none will follow: the turn has ended, or
// its session was forgotten. When nothing has come for the length of patience it yields none, and goes on. An error is the
// last thing that it yields.
func (r *Reader) Events(ctx context.Context, turnID uuid.UUID, after int32, patience time.Duration) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		signal, stop := r.Listener.Subscribe(turnID)
		defer stop()
		Watch(ctx, signal, patience, Source(r.Read, turnID, after))(yield)
	}
}

// Watch yields what read finds, at first and whenever signal says that there may be more, until read says that it was all.
// What is longer than a [Batch] comes in several. When there was nothing for the length of patience it yields none. An error
// is the last thing that it yields.
func Watch[E any](ctx context.Context, signal <-chan struct{}, patience time.Duration, read func(context.Context) (events []E, over bool, err error)) iter.Seq2[[]E, error] {
	return func(yield func([]E, error) bool) {
		silence := time.NewTimer(patience)
		defer silence.Stop()
		for {
			events, over, err := read(ctx)
			if err != nil {
				yield(nil, err)

				return
			}
			if len(events) > 0 {
				silence.Reset(patience)
				if !yield(events, nil) {
					return
				}
			}
			if over {
				return
			}
			if len(events) >= Batch {
				continue
			}
			select {
			case <-ctx.Done():
				yield(nil, fmt.Errorf("wait for events: %w", context.Cause(ctx)))

				return
			case <-signal:
			case <-silence.C:
				silence.Reset(patience)
				if !yield(nil, nil) {
					return
				}
			}
		}
	}
}

// Source reads a turn's events after the given seq, each time those after the last ones, in a transaction of run's. over
// reports that none will follow them: the turn has ended, or is gone with its session.
func Source(run pg.Run, turnID uuid.UUID, after int32) func(context.Context) (events []Event, over bool, err error) {
	return func(ctx context.Context) (events []Event, over bool, err error) {
		err = run(ctx, func(tx pgx.Tx) (err error) {
			events, over, err = eventsAfter(ctx, tx, turnID, after)

			return err
		})
		if err != nil { // what was read may be nothing that the reader may see any more
			return nil, false, fmt.Errorf("read events: %w", err)
		}
		if len(events) > 0 {
			after = events[len(events)-1].Seq
		}

		return events, over, nil
	}
}

func eventsAfter(ctx context.Context, tx pgx.Tx, turnID uuid.UUID, seq int32) (events []Event, over bool, err error) {
	rows, err := db.New().TurnEventListTurn(ctx, tx, &db.TurnEventListTurnParams{TurnID: turnID, AfterSeq: seq, PageSize: Batch})
	for _, row := range rows {
		events, over = append(events, Event{Seq: row.Seq, Type: row.Type, Data: row.Data}), terminal(row.Type)
	}
	if err != nil || len(rows) > 0 {
		return events, over, err
	}
	turn, err := db.New().TurnStatusGet(ctx, tx, turnID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, true, nil
	}

	return nil, err == nil && turn.Status != db.TurnStatusQueued && turn.Status != db.TurnStatusRunning, err
}

// terminal reports whether an event is the last of its turn.
func terminal(eventType string) bool {
	return eventType == "turn.finished" || eventType == "turn.failed" || eventType == "turn.cancelled"
}

// Wait returns when the turn has ended.
func (r *Reader) Wait(ctx context.Context, turnID uuid.UUID) error {
	for _, err := range r.Events(ctx, turnID, 0, recheck) {
		if err != nil {
			return err
		}
	}

	return nil
}

// Read reads as the user, and may run work several times: while the database is away, and if their turns have moved.
func (r *Reader) Read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.Patiently(ctx, func() error { return r.readThere(ctx, work) })
}

// readThere reads where the user's turns are, which may be another place than the last time: then it runs work again.
func (r *Reader) readThere(ctx context.Context, work func(tx pgx.Tx) error) error {
	for at := cmp.Or(r.found.Load(), r); ; {
		err := at.patiently(ctx, func(ctx context.Context) error {
			return pg.InReadTx(ctx, at.Pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, at.UserID, work) })
		})
		if at.StillGood == nil {
			return err
		}
		bad := at.patiently(ctx, at.StillGood)
		if bad == nil {
			return err
		}
		if at.Moved == nil {
			return bad
		}
		if at, err = at.Moved(ctx, bad); err != nil {
			return err
		}
		r.found.Store(at)
	}
}

func (r *Reader) patiently(ctx context.Context, ask func(context.Context) error) error {
	if r.Patience > 0 {
		patient, cancel := context.WithTimeout(ctx, r.Patience)
		defer cancel()
		ctx = patient
	}

	return ask(ctx)
}
