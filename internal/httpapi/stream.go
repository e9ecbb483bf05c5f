package httpapi

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"alfred/internal/auth"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
)

// subscribe subscribes to the listener's signals about topics until stop is called.
type subscribe func(topics ...uuid.UUID) (signal <-chan struct{}, stop func())

// stream responds with the source's events, waiting for the listener's signal between reads. No transaction is open
// while it waits.
func (a *api) stream(to subscribe, next source, topics ...uuid.UUID) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		r, w := humago.Unwrap(hctx)
		if r.Method == http.MethodHead {
			sse.Open(w)

			return
		}
		closed, err := a.gate.OpenStream(auth.CallerOf(hctx.Context()))
		if err != nil {
			a.fail(hctx, err)

			return
		}
		defer closed()
		signal, stop := to(topics...)
		defer stop()
		asked := hctx.Context()
		waiting, cancel := a.door.UntilStopping(asked)
		defer cancel()
		// What is there already is sent, also by a server that is being stopped.
		read := func(context.Context) ([]event, bool, error) { return a.readWhileGood(asked, next) }
		if err := pump(sse.Open(w), follow.Watch(waiting, signal, sse.PingEvery, read)); waiting.Err() == nil {
			problem.Note(waiting, err)
		}
	}}
}

// readWhileGood ends a source when the request's key is revoked or its token expires: it may not see what happens
// afterwards. It also ends when the user moves: the stream resumes at the new database after the last event that its
// reader has seen.
func (a *api) readWhileGood(ctx context.Context, next source) ([]event, bool, error) {
	events, over, err := next(ctx)
	if err != nil {
		return nil, false, err
	}
	err = a.stillGood(ctx) // checked after reading: nothing read is newer than the check
	if isAccessLost(err) {
		return nil, true, nil
	}

	return events, over, err
}

// isAccessLost reports whether a caller has lost access, here at least.
func isAccessLost(err error) bool {
	return errors.Is(err, auth.ErrUnauthorized) || errors.Is(err, auth.ErrElsewhere)
}

// pump moves events to one client, until there are no more or it has gone.
func pump(out *sse.Writer, all iter.Seq2[[]event, error]) error {
	out.Comment("stream open")
	for events, err := range all {
		if err != nil {
			return err
		}
		if len(events) == 0 {
			out.Comment("ping")
		}
		for _, ev := range events {
			out.Event(ev.id, ev.name, ev.data)
		}
		out.Flush()
		if out.Err() != nil {
			break
		}
	}

	return out.Err()
}
