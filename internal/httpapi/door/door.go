package door

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/domain"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
	"alfred/internal/pg"
	"alfred/jobs"
)

// Where an answer says which session and turn it is of.
const (
	SessionHeader = "X-Session-Id"
	TurnHeader    = "X-Turn-Id"
)

const maxTitle = 200 // characters

// Door is what the protocols share.
type Door struct {
	Pool     *pgxpool.Pool
	Listener *pg.Listener
	Gate     *auth.Gate
	// Domain is the domain of new sessions.
	Domain *domain.Domain
	Limits jobs.Limits
	// Stopping, if not nil, is closed before the server shuts down.
	Stopping <-chan struct{}
}

// Handler answers requests, or says why it does not.
type Handler func(ctx context.Context, w http.ResponseWriter, r *http.Request) error

// Admit authenticates requests and lets those pass who may use the method. Errors that occur before the answer begins are refused
// in the protocol's own words.
func (d *Door) Admit(method string, handle Handler, refuse func(http.ResponseWriter, *problem.Problem)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := d.Gate.Admit(r.Context(), r.Header.Get("Authorization"), method)
		if err == nil {
			err = handle(auth.With(r.Context(), who), w, r)
		}
		if err != nil {
			problem.Note(r.Context(), err)
			refuse(w, problem.Of(err))
		}
	}
}

// Converse handles requests that send a message and wait for what becomes of it, as [Door.Hold] lets them.
func Converse[In any](d *Door, handle func(ctx context.Context, w http.ResponseWriter, r *http.Request, in *In) error) Handler {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
		ctx, done, err := d.Hold(ctx)
		if err != nil {
			return err
		}
		defer done()
		in := new(In)
		if err := readBody(w, r, in); err != nil {
			return err
		}

		return handle(ctx, w, r, in)
	}
}

var errStopping = problem.Unavailable("This server is being stopped; ask another for the turn.", 0)

// Hold lets a request wait: until done is called it counts as one of its caller's streams, whether its answer is one or not. The
// context ends also when the server is about to stop.
func (d *Door) Hold(ctx context.Context) (waiting context.Context, done func(), err error) {
	closed, err := d.Gate.OpenStream(auth.CallerOf(ctx))
	if err != nil {
		return nil, nil, err
	}
	waiting, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-d.Stopping:
			cancel(errStopping)
		case <-waiting.Done():
		}
	}()

	return waiting, func() { cancel(context.Canceled); closed() }, nil
}

// Session is the caller's session of that id. [problem.Of] calls an error about one that does not exist
// [problem.ErrNotFound].
func (d *Door) Session(ctx context.Context, id uuid.UUID) (*db.SessionGetRow, error) {
	row, err := pg.Value(ctx, d.Read, func(tx pgx.Tx) (*db.SessionGetRow, error) { return db.New().SessionGet(ctx, tx, id) })
	if err != nil {
		return nil, fmt.Errorf("get session: %w", err)
	}

	return row, nil
}

// SessionID checks that text is the id of a session of the caller's. A malformed one gets the same answer as one that does
// not exist.
func (d *Door) SessionID(ctx context.Context, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, problem.ErrNotFound
	}
	_, err = d.Session(ctx, id)

	return id, err
}

// Named is the id of the caller's session of that name. It is derived from user and name, so that two concurrent first
// messages, or one resent after its answer was lost, share one session.
func Named(ctx context.Context, name string) uuid.UUID {
	return uuid.NewSHA1(auth.CallerOf(ctx).User, []byte(name))
}

// MakeSession makes a session of the caller's, or ensures that the one under an id of [Named] exists. It belongs in the
// transaction of its first message, within [Door.Write]: if that is refused, no session is left behind.
func (d *Door) MakeSession(ctx context.Context, tx pgx.Tx, named *uuid.UUID, title string) (id uuid.UUID, err error) {
	title = problem.OneLine(title)
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	err = pg.AsEngine(ctx, tx, func(tx pgx.Tx) (err error) {
		id, err = db.New().SessionMake(ctx, tx, &db.SessionMakeParams{ID: named, UserID: auth.CallerOf(ctx).User, Domain: d.Domain.Name, Title: title, Mode: "plan"})

		return err
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("make session: %w", err)
	}

	return id, nil
}

// Read runs work in one read-only transaction that sees only the caller's rows.
func (d *Door) Read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, d.Pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, auth.CallerOf(ctx).User, work)
	})
}

// Write runs work in one transaction under the tenant's role: it may only call the SQL functions granted to it.
func (d *Door) Write(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InTx(ctx, d.Pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, auth.CallerOf(ctx).User, work)
	})
}

// Reader reads the caller's turns, even if the caller moves to another database meanwhile: the message is stored, so the
// request cannot be sent again there.
func (d *Door) Reader(ctx context.Context) *follow.Reader {
	return d.readerAt(d.Gate, auth.CallerOf(ctx), auth.PlaceOf(ctx))
}

// Watcher is a Reader for requests that store nothing: it ends where the caller moves, and the request is answered anew there.
func (d *Door) Watcher(ctx context.Context) *follow.Reader {
	reader := d.Reader(ctx)
	reader.Moved = nil

	return reader
}

const (
	// movePause is the pause between two attempts to find a user who is being moved, movePatience how long they are made.
	movePause    = 100 * time.Millisecond
	movePatience = 20 * time.Second
	readPatience = 10 * time.Second
)

var errMoving = problem.Unavailable("The message is kept, and its user is being moved to another database: ask for the turn in a moment.", 0)

func (d *Door) readerAt(gate *auth.Gate, who auth.Caller, place auth.Place) *follow.Reader {
	r := &follow.Reader{
		Pool: gate.Pool, Listener: d.Listener, UserID: who.User,
		StillGood: func(ctx context.Context) error { return gate.StillGood(ctx, who) },
		Moved: func(ctx context.Context, cause error) (*follow.Reader, error) {
			return d.readerAfterMove(ctx, gate, who, place, cause)
		},
	}
	if place != nil { // a database that falls silent may be one that the caller has left
		r.Patience = readPatience
	}

	return r
}

// readerAfterMove returns a reader for the database that the caller has moved to, and waits during the move. A database that does
// not answer may be the one that they have left.
func (d *Door) readerAfterMove(ctx context.Context, gate *auth.Gate, who auth.Caller, place auth.Place, cause error) (*follow.Reader, error) {
	for until := time.Now().Add(movePatience); ; {
		elsewhere := errors.Is(cause, auth.ErrElsewhere)
		switch {
		case errors.Is(cause, auth.ErrUnauthorized), ctx.Err() != nil, place == nil && !elsewhere:
			return nil, cause
		case place == nil, time.Now().After(until):
			return nil, errMoving
		}
		pool, err := place(ctx)
		switch {
		case !elsewhere && (err != nil || pool == gate.Pool):
			return nil, cause
		case err != nil:
			return nil, errors.Join(errMoving, err)
		case pool != gate.Pool:
			gate = gate.At(pool)
		case pg.Pause(ctx, movePause) != nil:
			return nil, fmt.Errorf("wait for the end of a move: %w", context.Cause(ctx))
		}
		cause = gate.StillGood(ctx, who)
		if cause == nil {
			return d.readerAt(gate, who, place), nil
		}
	}
}

// Relay passes a turn's events to one client as they occur, with comments during long silences, and returns the turn when it
// has ended. One without a reply is the problem that says why.
func (d *Door) Relay(ctx context.Context, out *sse.Writer, turn uuid.UUID, pass func(follow.Event) error) (*follow.Turn, error) {
	for events, err := range d.Reader(ctx).Events(ctx, turn, 0, sse.PingEvery) {
		if err == nil && len(events) == 0 {
			out.Comment("ping")
			err = out.Err()
		}
		for i := 0; i < len(events) && err == nil; i++ {
			err = pass(events[i])
		}
		if err != nil {
			return nil, err
		}
	}

	return d.ended(ctx, turn)
}

// Wait is Relay for clients that receive nothing before the end.
func (d *Door) Wait(ctx context.Context, turn uuid.UUID) (*follow.Turn, error) {
	if err := d.Reader(ctx).Wait(ctx, turn); err != nil {
		return nil, fmt.Errorf("wait for turn: %w", err)
	}

	return d.ended(ctx, turn)
}

func (d *Door) ended(ctx context.Context, id uuid.UUID) (*follow.Turn, error) {
	turn, err := d.Reader(ctx).Turn(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read turn: %w", err)
	}
	if p := problemOf(turn); p != nil {
		return nil, p
	}

	return turn, nil
}

// problemOf says as an HTTP error why a turn has no reply; nil if it has one.
func problemOf(turn *follow.Turn) *problem.Problem {
	if turn.Status == db.TurnStatusSucceeded {
		return nil
	}
	p := problem.New(http.StatusInternalServerError, string(turn.Status), "The turn has no reply.")
	if turn.Error == nil {
		return p
	}
	p.Code, p.Detail = turn.Error.Code, turn.Error.Message
	switch turn.Error.Code {
	case "cancelled":
		p.Status = http.StatusConflict
	case "context_overflow", "model_refused":
		p.Status = http.StatusBadRequest
	case "limit_exceeded":
		p.Status = http.StatusTooManyRequests
	case "model_unavailable":
		p.Status = http.StatusServiceUnavailable
	case "timed_out":
		p.Status = http.StatusGatewayTimeout
	}

	return p
}
