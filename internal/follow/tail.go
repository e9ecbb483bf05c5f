package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/pg"
)

// batch is how many events are read at a time.
const batch = 200

// recheck is how often readers waiting in silence are checked for permission.
const recheck = 15 * time.Second

// Reader reads the turns of one user. The listener must be running.
type Reader struct {
	Pool     *pgxpool.Pool
	Listener *pg.Listener
	UserID   uuid.UUID
	// StillGood, if not nil, is called after each read of a turn's events, before they are shown: the reader may have
	// lost permission meanwhile. Its error ends the wait.
	StillGood func(context.Context) error
	// Patience is how long one read may take, after which the database counts as one that does not answer; 0 means as long as
	// it takes.
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

// Tail is one reader's position in a turn's stream.
type Tail struct {
	reader *Reader
	turnID uuid.UUID
	after  int32
	over   bool
	signal <-chan struct{}
	stop   func()
}

// Tail starts after the given seq, 0 for the beginning. Close it when done.
func (r *Reader) Tail(turnID uuid.UUID, after int32) *Tail {
	t := &Tail{reader: r, turnID: turnID, after: after}
	t.signal, t.stop = r.Listener.Subscribe(turnID)

	return t
}

// Close ends the subscription.
func (t *Tail) Close() { t.stop() }

// Next returns the events after the last ones. If there are none it waits, at most for the given time, after which it
// returns none and no error. It returns io.EOF when no event will follow, because the turn has ended or its session was
// forgotten.
func (t *Tail) Next(ctx context.Context, patience time.Duration) ([]Event, error) {
	if t.over {
		return nil, io.EOF
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		events, err := t.read(ctx)
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return events, nil
		}
		if t.over {
			return nil, io.EOF
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for events: %w", context.Cause(ctx))
		case <-enough.C:
			return nil, nil
		case <-t.signal:
		}
	}
}

func (t *Tail) read(ctx context.Context) ([]Event, error) {
	events, over, err := EventsAfter(ctx, t.reader.Read, t.turnID, t.after)
	if err != nil {
		return nil, err
	}
	t.over = over
	if len(events) > 0 {
		t.after = events[len(events)-1].Seq
	}

	return events, nil
}

// EventsAfter reads a turn's next events in a transaction of run's. over reports that none will follow them: the turn has
// ended, or is gone with its session.
func EventsAfter(ctx context.Context, run pg.Run, turnID uuid.UUID, seq int32) (events []Event, over bool, err error) {
	err = run(ctx, func(tx pgx.Tx) error {
		events, over = nil, false
		rows, err := db.New().TurnEventListTurn(ctx, tx, &db.TurnEventListTurnParams{TurnID: turnID, AfterSeq: seq, PageSize: batch})
		if err != nil {
			return err
		}
		for _, row := range rows {
			events, over = append(events, Event{Seq: row.Seq, Type: row.Type, Data: row.Data}), terminal(row.Type)
		}
		if len(rows) > 0 {
			return nil
		}
		turn, err := db.New().TurnStatusGet(ctx, tx, turnID)
		if errors.Is(err, pgx.ErrNoRows) {
			over = true

			return nil
		}
		over = err == nil && turn.Status != db.TurnStatusQueued && turn.Status != db.TurnStatusRunning

		return err
	})
	if err != nil { // what was read may be nothing that the reader may see any more
		return nil, false, fmt.Errorf("read events: %w", err)
	}

	return events, over, nil
}

// terminal reports whether an event is the last of its turn.
func terminal(eventType string) bool {
	return eventType == "turn.finished" || eventType == "turn.failed" || eventType == "turn.cancelled"
}

// Wait returns when the turn has ended.
func (r *Reader) Wait(ctx context.Context, turnID uuid.UUID) error {
	tail := r.Tail(turnID, 0)
	defer tail.Close()
	for {
		if _, err := tail.Next(ctx, recheck); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Read reads as the user, and may run work several times: while the database is away, and if their turns have moved.
func (r *Reader) Read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.Patiently(ctx, func() error { return r.readThere(ctx, work) })
}

// readThere reads where the user's turns are, which may be another place than the last time: then it runs work again.
func (r *Reader) readThere(ctx context.Context, work func(tx pgx.Tx) error) error {
	for at := cmp.Or(r.found.Load(), r); ; {
		err := at.readOnce(ctx, work)
		if at.StillGood == nil {
			return err
		}
		bad := at.StillGood(ctx)
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

func (r *Reader) readOnce(ctx context.Context, work func(tx pgx.Tx) error) error {
	if r.Patience > 0 {
		patient, cancel := context.WithTimeout(ctx, r.Patience)
		defer cancel()
		ctx = patient
	}

	return pg.InReadTx(ctx, r.Pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, r.UserID, work) })
}
