package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

type eventsIn struct {
	ID          pathID `doc:"Id of the turn or session." path:"id"`
	LastEventID string `doc:"Resume after this event. An id that the stream has not reached, as after a restored backup, starts it over." header:"Last-Event-ID"` //nolint:tagliatelle // its name
	After       string `doc:"The same as Last-Event-ID, for clients that cannot set a header." query:"after"`
}

// event is one server-sent event.
type event struct {
	id   string
	name string
	data []byte
}

// source reads the events after the last one it returned, in order. over says that no more will follow.
type source func(ctx context.Context) (events []event, over bool, err error)

func (a *api) registerEvents() {
	turnEvents := operation("GET /v1/turns/{id}/events", "turn-events", "A turn's events as server-sent events; ends with the turn", http.StatusOK)
	turnEvents.Responses = map[string]*huma.Response{
		"200": a.streamed("Events; id is where to resume from."),
		"204": {Description: "Nothing follows that event, now or ever."},
	}
	serve(a, turnEvents, a.turnEvents)
	sessionEvents := operation("GET /v1/sessions/{id}/events", "session-events", "All events of a session as server-sent events", http.StatusOK)
	sessionEvents.Responses = map[string]*huma.Response{"200": turnEvents.Responses["200"]}
	serve(a, sessionEvents, a.sessionEvents)
	watch := operation("GET /v1/events", "watch-events", "The events of several sessions in one stream", http.StatusOK)
	watch.Responses = map[string]*huma.Response{"200": a.streamed("Events as on a session's own stream; id is n.number.seq, where n says which of the given sessions it is of, counted from 1. " +
		"session.deleted, with id n and nothing but its type, ends what is told of one; it may never have been.")}
	serve(a, watch, a.watch)
}

func (a *api) turnEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	after, err := a.turnPosition(ctx, in)
	if err != nil {
		return nil, err
	}
	ended, err := a.turnEnded(ctx, a.door.Read, in.ID.UUID, false)
	if err != nil {
		return nil, err
	}
	if ended && after > 0 {
		left, _, err := turnSource(a.door.Read, in.ID.UUID, after)(ctx)
		if err != nil {
			return nil, err
		}
		if len(left) == 0 {
			// Tell a browser's EventSource, which reconnects whenever a stream ends, not to come back.
			return &huma.StreamResponse{Body: func(ctx huma.Context) { ctx.SetStatus(http.StatusNoContent) }}, nil
		}
	}

	return a.stream(a.Listener.Subscribe, turnSource(a.door.Watcher(ctx).Read, in.ID.UUID, after), in.ID.UUID), nil //nolint:contextcheck // the stream has the request's own
}

// turnPosition is the event after which a turn's stream goes on: 0, its beginning, if it has not come as far as the one
// asked for, since whoever waited for that would miss all before it.
func (a *api) turnPosition(ctx context.Context, in *eventsIn) (int32, error) {
	after, err := parseNumber(cmp.Or(in.resumeAfter(), "0"))
	if err != nil || after == 0 {
		return after, err
	}
	reached, err := pg.Value(ctx, a.door.Read, func(tx pgx.Tx) (bool, error) {
		return a.q.TurnEventReached(ctx, tx, &db.TurnEventReachedParams{TurnID: in.ID.UUID, Seq: after})
	})
	if err != nil {
		return 0, fmt.Errorf("find an event: %w", err)
	}
	if !reached {
		after = 0
	}

	return after, nil
}

func (a *api) sessionEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	after, err := parsePosition(in.resumeAfter())
	if err != nil {
		return nil, err
	}
	row, err := a.door.Session(ctx, in.ID.UUID)
	if err != nil {
		return nil, err
	}
	w := &watched{alone: true}
	w.add(row.ID, after)

	return a.stream(a.Listener.SubscribeSessions, a.watchSource(a.door.Watcher(ctx).Read, w), w.sessions...), nil //nolint:contextcheck // the stream has the request's own
}

func (in *eventsIn) resumeAfter() string {
	return cmp.Or(in.LastEventID, in.After)
}

var errEventID = problem.Invalid("Last-Event-ID is not an id of this stream.")

// parseNumber parses a number of an event id.
func parseNumber(text string) (int32, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, errEventID
	}

	return int32(n), nil
}

// position is an event's in a session's stream: its turn's number, and its seq.
type position struct{ number, seq int32 }

// parsePosition parses an event id of a session's stream; none is its beginning.
func parsePosition(id string) (p position, err error) {
	number, seq, _ := strings.Cut(cmp.Or(id, "0.0"), ".")
	if p.number, err = parseNumber(number); err == nil {
		p.seq, err = parseNumber(seq)
	}

	return p, err
}

// turnSource reads a turn's events.
func turnSource(run pg.Run, id uuid.UUID, after int32) source {
	read := follow.Source(run, id, after)

	return func(ctx context.Context) ([]event, bool, error) {
		rows, over, err := read(ctx)

		return mapped(rows, func(e follow.Event) event { return event{id: strconv.Itoa(int(e.Seq)), name: e.Type, data: e.Data} }), over, err
	}
}

type watchIn struct {
	Session []string `doc:"Session to tell of: ID, or ID.number.seq to go on after that event. One may stand there several times." maxItems:"100" minItems:"1" query:"session,explode" required:"true"`
}

// watched are the readers of one stream: each has a session and the last event it received.
type watched struct {
	sessions      []uuid.UUID
	numbers, seqs []int32
	gone          []bool
	left          int  // readers whose session still exists
	alone         bool // one reader, whose events are counted without it, and who is not told of the end
}

// watch lets a browser with many tabs use a single connection.
func (a *api) watch(ctx context.Context, in *watchIn) (*huma.StreamResponse, error) {
	w := &watched{}
	for _, text := range in.Session {
		idText, after, _ := strings.Cut(text, ".")
		id, idErr := uuid.Parse(idText)
		last, err := parsePosition(after)
		if errors.Join(idErr, err) != nil {
			return nil, problem.Invalid("session is an id, or ID.number.seq.")
		}
		w.add(id, last)
	}

	return a.stream(a.Listener.SubscribeSessions, a.watchSource(a.door.Watcher(ctx).Read, w), w.sessions...), nil //nolint:contextcheck // the stream has the request's own
}

func (w *watched) add(id uuid.UUID, last position) {
	w.sessions, w.numbers, w.seqs = append(w.sessions, id), append(w.numbers, last.number), append(w.seqs, last.seq)
	w.gone, w.left = append(w.gone, false), w.left+1
}

// watchSource reads the events of sessions.
func (a *api) watchSource(read pg.Run, w *watched) source {
	return func(ctx context.Context) ([]event, bool, error) {
		rows, err := pg.Value(ctx, read, func(tx pgx.Tx) ([]*db.TurnEventListSessionsRow, error) {
			return a.q.TurnEventListSessions(ctx, tx, &db.TurnEventListSessionsParams{
				SessionIds: w.sessions, AfterNumbers: w.numbers, AfterSeqs: w.seqs, PageSize: follow.Batch,
			})
		})
		if err != nil {
			return nil, false, fmt.Errorf("read events of sessions: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			if e := w.advance(r); e != nil {
				events = append(events, *e)
			}
		}

		return events, w.left == 0, nil
	}
}

// advance moves a reader past a row, and returns what to send: nothing once it is known that the session is gone.
func (w *watched) advance(r *db.TurnEventListSessionsRow) *event {
	i := r.N - 1
	switch {
	case !r.Gone:
		w.numbers[i], w.seqs[i] = r.Number, r.Seq
		id := fmt.Sprintf("%d.%d", r.Number, r.Seq)
		if !w.alone {
			id = fmt.Sprintf("%d.%s", r.N, id)
		}

		return &event{id: id, name: r.Type, data: r.Data}
	case w.gone[i]:
		return nil
	}
	w.gone[i] = true
	w.left--
	if w.alone {
		return nil
	}

	return &event{id: strconv.Itoa(int(r.N)), name: "session.deleted", data: []byte(`{"type":"session.deleted"}`)}
}
