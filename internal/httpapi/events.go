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
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
)

type eventsIn struct {
	ID          string `doc:"Id of the turn or session." path:"id"`
	LastEventID string `doc:"Resume after this event."   header:"Last-Event-ID"` //nolint:tagliatelle // its name
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
	turnEvents := operation(http.MethodGet, "/v1/turns/{id}/events", "turn-events", "A turn's events as server-sent events; ends with the turn", http.StatusOK)
	sessionEvents := operation(http.MethodGet, "/v1/sessions/{id}/events", "session-events", "All events of a session as server-sent events", http.StatusOK)
	for _, op := range []*huma.Operation{&turnEvents, &sessionEvents} {
		op.Responses = map[string]*huma.Response{
			"200": a.streamed("Events; id is where to resume from."),
			"204": {Description: "Nothing follows that event, now or ever."},
		}
	}
	huma.Register(a.huma, turnEvents, a.turnEvents)
	huma.Register(a.huma, sessionEvents, a.sessionEvents)
}

func (a *api) turnEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	after, err := parseSeq(in.resumeAfter())
	if err != nil {
		return nil, failed(ctx, err)
	}
	ended, err := a.turnEnded(ctx, id, false)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if ended && after > 0 {
		left, _, err := a.turnSource(id, after)(ctx)
		if err != nil {
			return nil, failed(ctx, err)
		}
		if len(left) == 0 {
			return noMoreEvents(), nil
		}
	}

	return a.stream(id, a.Listener.Subscribe, a.turnSource(id, after)), nil //nolint:contextcheck // the stream has the request's own
}

// noMoreEvents tells a browser's EventSource, which reconnects whenever a stream ends, not to come back.
func noMoreEvents() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) { ctx.SetStatus(http.StatusNoContent) }}
}

func (a *api) sessionEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	number, after, err := parseNumberSeq(in.resumeAfter())
	if err != nil {
		return nil, failed(ctx, err)
	}
	row, err := a.door.Session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}

	return a.stream(row.ID, a.Listener.SubscribeSession, a.sessionSource(row.ID, number, after)), nil //nolint:contextcheck // the stream has the request's own
}

func (in *eventsIn) resumeAfter() string {
	return cmp.Or(in.LastEventID, in.After)
}

// parseSeq parses an event id of a turn's stream.
func parseSeq(id string) (int32, error) {
	if id == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(id, 10, 32)
	if err != nil || seq < 0 {
		return 0, problem.Invalid("Last-Event-ID is not an id of this stream.")
	}

	return int32(seq), nil
}

// parseNumberSeq parses an event id of a session's stream.
func parseNumberSeq(id string) (number, seq int32, err error) {
	if id == "" {
		return 0, 0, nil
	}
	before, after, _ := strings.Cut(id, ".")
	if before == "" || after == "" {
		return 0, 0, problem.Invalid("Last-Event-ID is not an id of this stream.")
	}
	if number, err = parseSeq(before); err != nil {
		return 0, 0, err
	}
	seq, err = parseSeq(after)

	return number, seq, err
}

func (a *api) turnSource(id uuid.UUID, after int32) source {
	return func(ctx context.Context) ([]event, bool, error) {
		var (
			rows []*db.TurnEventListTurnRow
			over bool
		)
		err := a.read(ctx, func(tx pgx.Tx) error {
			var err error
			rows, err = a.q.TurnEventListTurn(ctx, tx, &db.TurnEventListTurnParams{TurnID: id, AfterSeq: after, PageSize: eventBatch})
			if err != nil || len(rows) > 0 {
				return err
			}
			over, err = a.over(ctx, tx, id)

			return err
		})
		if err != nil {
			return nil, false, fmt.Errorf("read events: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			after, over = r.Seq, follow.Terminal(r.Type)
			events = append(events, event{id: strconv.Itoa(int(r.Seq)), name: r.Type, data: r.Data})
		}

		return events, over, nil
	}
}

// over reports whether a turn without further events has ended, or is gone because its session was forgotten.
func (a *api) over(ctx context.Context, tx pgx.Tx, id uuid.UUID) (bool, error) {
	turn, err := a.q.TurnStatusGet(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}

	return turn.Status != db.TurnStatusQueued && turn.Status != db.TurnStatusRunning, nil
}

func (a *api) sessionSource(id uuid.UUID, number, after int32) source {
	return func(ctx context.Context) ([]event, bool, error) {
		var rows []*db.TurnEventListSessionRow
		gone := false
		err := a.read(ctx, func(tx pgx.Tx) error {
			var err error
			rows, err = a.q.TurnEventListSession(ctx, tx, &db.TurnEventListSessionParams{
				SessionID: id, AfterNumber: number, AfterSeq: after, PageSize: eventBatch,
			})
			if err != nil || len(rows) > 0 {
				return err
			}
			_, err = a.q.SessionGet(ctx, tx, id)
			gone = errors.Is(err, pgx.ErrNoRows)
			if gone {
				return nil
			}

			return err
		})
		if err != nil {
			return nil, false, fmt.Errorf("read events: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			number, after = r.Number, r.Seq
			events = append(events, event{id: fmt.Sprintf("%d.%d", r.Number, r.Seq), name: r.Type, data: r.Data})
		}

		return events, gone, nil
	}
}
