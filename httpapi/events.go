package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

const (
	pingEvery    = 15 * time.Second
	eventBatch   = 200
	writeTimeout = 10 * time.Second
)

type eventsIn struct {
	ID          string `doc:"Id of the turn or session." path:"id"`
	LastEventID string `doc:"Resume after this event."   header:"Last-Event-ID"`
	After       string `doc:"The same as Last-Event-ID, for clients that cannot set a header." query:"after"`
}

// event is one server-sent event.
type event struct {
	id   string
	name string
	data []byte
	last bool // the stream ends with it
}

// source reads the events after the last one it returned, in order.
type source func(ctx context.Context) ([]event, error)

func (a *api) registerEvents() {
	turnEvents := operation(http.MethodGet, "/v1/turns/{id}/events", "turn-events", "A turn's events as server-sent events; ends with the turn", http.StatusOK)
	sessionEvents := operation(http.MethodGet, "/v1/sessions/{id}/events", "session-events", "All events of a session as server-sent events", http.StatusOK)
	for _, op := range []*huma.Operation{&turnEvents, &sessionEvents} {
		op.Responses = map[string]*huma.Response{"200": {
			Description: "Events; id is the sequence to resume from.",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
		}}
	}
	huma.Register(a.huma, turnEvents, a.turnEvents)
	huma.Register(a.huma, sessionEvents, a.sessionEvents)
}

func (a *api) turnEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	id, err := parseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	_, after, err := parseEventID(in.resumeAfter())
	if err != nil {
		return nil, failed(ctx, err)
	}
	if _, err := a.turnEnded(ctx, id, false); err != nil {
		return nil, failed(ctx, err)
	}

	return a.stream(id, a.turnSource(id, after)), nil
}

func (a *api) sessionEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	number, after, err := parseEventID(in.resumeAfter())
	if err != nil {
		return nil, failed(ctx, err)
	}
	row, err := a.session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}

	return a.stream(uuid.Nil, a.sessionSource(row.ID, number, after)), nil
}

func (in *eventsIn) resumeAfter() string {
	if in.LastEventID != "" {
		return in.LastEventID
	}

	return in.After
}

// parseEventID reads "seq" of a turn's stream or "number.seq" of a session's.
func parseEventID(id string) (number, seq int32, err error) {
	if id == "" {
		return 0, 0, nil
	}
	before, after, both := strings.Cut(id, ".")
	if !both {
		before, after = "0", id
	}
	n, numberErr := strconv.ParseInt(before, 10, 32)
	s, seqErr := strconv.ParseInt(after, 10, 32)
	if numberErr != nil || seqErr != nil || n < 0 || s < 0 {
		return 0, 0, invalid("Last-Event-ID is not an id of this stream.")
	}

	return int32(n), int32(s), nil
}

func (a *api) turnSource(id uuid.UUID, after int32) source {
	return func(ctx context.Context) ([]event, error) {
		var rows []*db.TurnEventListTurnRow
		err := a.read(ctx, func(tx pgx.Tx) error {
			var err error
			rows, err = a.q.TurnEventListTurn(ctx, tx, &db.TurnEventListTurnParams{TurnID: id, AfterSeq: after, PageSize: eventBatch})

			return err //nolint:wrapcheck // wrapped below
		})
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			after = r.Seq
			events = append(events, event{id: strconv.Itoa(int(r.Seq)), name: r.Type, data: r.Data, last: terminal(r.Type)})
		}

		return events, nil
	}
}

func (a *api) sessionSource(id uuid.UUID, number, after int32) source {
	return func(ctx context.Context) ([]event, error) {
		var rows []*db.TurnEventListSessionRow
		err := a.read(ctx, func(tx pgx.Tx) error {
			var err error
			rows, err = a.q.TurnEventListSession(ctx, tx, &db.TurnEventListSessionParams{
				SessionID: id, AfterNumber: number, AfterSeq: after, PageSize: eventBatch,
			})

			return err //nolint:wrapcheck // wrapped below
		})
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			number, after = r.Number, r.Seq
			events = append(events, event{id: fmt.Sprintf("%d.%d", r.Number, r.Seq), name: r.Type, data: r.Data})
		}

		return events, nil
	}
}

func terminal(eventType string) bool {
	return eventType == "turn.finished" || eventType == "turn.failed" || eventType == "turn.cancelled"
}

// stream answers with the source's events, waiting for the listener's signal
// between reads. No transaction is open while it waits.
func (a *api) stream(topic uuid.UUID, next source) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		_, w := humago.Unwrap(hctx)
		signal, stop := a.Listener.Subscribe(topic)
		defer stop()
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		if err := a.pump(hctx.Context(), &eventWriter{w: w, control: http.NewResponseController(w)}, next, signal); err != nil {
			noteCause(hctx.Context(), err)
		}
	}}
}

func (a *api) pump(ctx context.Context, out *eventWriter, next source, signal <-chan struct{}) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	if err := out.comment("stream open"); err != nil {
		return err
	}
	for {
		done, err := out.drain(ctx, next)
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-signal:
		case <-ping.C:
			if err := out.comment("ping"); err != nil {
				return err
			}
		}
	}
}

// eventWriter writes to one client. A client that does not read runs into the
// write timeout and loses its connection; it resumes by Last-Event-ID.
type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// drain writes all events there are and reports whether the last one ends the stream.
func (e *eventWriter) drain(ctx context.Context, next source) (bool, error) {
	for {
		events, err := next(ctx)
		if err != nil {
			return false, err
		}
		for _, ev := range events {
			if err := e.write(ev); err != nil {
				return false, err
			}
			if ev.last {
				return true, e.flush()
			}
		}
		if len(events) > 0 {
			if err := e.flush(); err != nil {
				return false, err
			}
		}
		if len(events) < eventBatch {
			return false, nil
		}
	}
}

func (e *eventWriter) write(ev event) error {
	if err := e.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "id: %s\nevent: %s\ndata: %s\n\n", ev.id, ev.name, ev.data); err != nil {
		return fmt.Errorf("write event: %w", err)
	}

	return nil
}

func (e *eventWriter) comment(text string) error {
	if err := e.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, ": %s\n\n", text); err != nil {
		return fmt.Errorf("write comment: %w", err)
	}

	return e.flush()
}

func (e *eventWriter) extend() error {
	if err := e.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return fmt.Errorf("set write deadline: %w", err)
	}

	return nil
}

func (e *eventWriter) flush() error {
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("flush events: %w", err)
	}

	return nil
}
