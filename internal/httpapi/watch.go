package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
)

type watchIn struct {
	Session []string `doc:"Session to tell of: ID, or ID.number.seq to go on after that event. One may stand there several times." maxItems:"100" minItems:"1" query:"session,explode" required:"true"`
}

// watched are the readers of one stream: each has a session and the last event it received.
type watched struct {
	sessions      []uuid.UUID
	numbers, seqs []int32
	gone          []bool
	left          int // readers whose session still exists
}

func (a *api) registerWatch() {
	op := operation(http.MethodGet, "/v1/events", "watch-events", "The events of several sessions in one stream", http.StatusOK)
	op.Responses = map[string]*huma.Response{"200": a.streamed("Events as on a session's own stream; id is n.number.seq, where n says which of the given sessions it is of, counted from 1. " +
		"session.deleted, with id n and nothing but its type, ends what is told of one; it may never have been.")}
	huma.Register(a.huma, op, a.watch)
}

// watch lets a browser with many tabs use a single connection.
func (a *api) watch(ctx context.Context, in *watchIn) (*huma.StreamResponse, error) {
	w := &watched{left: len(in.Session), gone: make([]bool, len(in.Session))}
	for _, text := range in.Session {
		if err := w.add(text); err != nil {
			return nil, failed(ctx, err)
		}
	}
	subscribe := func(uuid.UUID) (<-chan struct{}, func()) { return a.Listener.SubscribeSessions(w.sessions) }

	return a.stream(uuid.Nil, subscribe, a.watchSource(w)), nil //nolint:contextcheck // the stream has the request's own
}

func (w *watched) add(text string) error {
	idText, after, _ := strings.Cut(text, ".")
	id, err := uuid.Parse(idText)
	if err != nil {
		return problem.Invalid("session is an id, or ID.number.seq.")
	}
	number, seq, err := parseNumberSeq(after)
	if err != nil {
		return problem.Invalid("session is an id, or ID.number.seq.")
	}
	w.sessions, w.numbers, w.seqs = append(w.sessions, id), append(w.numbers, number), append(w.seqs, seq)

	return nil
}

func (a *api) watchSource(w *watched) source {
	return func(ctx context.Context) ([]event, bool, error) {
		var rows []*db.TurnEventListSessionsRow
		err := a.read(ctx, func(tx pgx.Tx) (err error) {
			rows, err = a.q.TurnEventListSessions(ctx, tx, &db.TurnEventListSessionsParams{
				SessionIds: w.sessions, AfterNumbers: w.numbers, AfterSeqs: w.seqs, PageSize: eventBatch,
			})

			return err
		})
		if err != nil {
			return nil, false, fmt.Errorf("read events of sessions: %w", err)
		}
		events := make([]event, 0, len(rows))
		for _, r := range rows {
			if told := w.tell(r); told != nil {
				events = append(events, *told)
			}
		}

		return events, w.left == 0, nil
	}
}

// tell is a row's event, or nil if its reader already knows that the session is gone.
func (w *watched) tell(r *db.TurnEventListSessionsRow) *event {
	i := r.N - 1
	if !r.Gone {
		w.numbers[i], w.seqs[i] = r.Number, r.Seq

		return &event{id: fmt.Sprintf("%d.%d.%d", r.N, r.Number, r.Seq), name: r.Type, data: r.Data}
	}
	if w.gone[i] {
		return nil
	}
	w.gone[i] = true
	w.left--

	return &event{id: strconv.Itoa(int(r.N)), name: "session.deleted", data: []byte(`{"type":"session.deleted"}`)}
}
