package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"alfred/internal/auth"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
)

const eventBatch = 200

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
		ping := time.NewTicker(sse.PingEvery)
		defer ping.Stop()
		p := &pump{out: sse.Open(w), next: a.whileGood(next), signal: signal, ping: ping.C, stopping: a.Stopping}
		if err := p.run(hctx.Context()); err != nil {
			problem.Note(hctx.Context(), err)
		}
	}}
}

// whileGood ends a source when the request's key is revoked or its token expires: it may not see what happens
// afterwards. It also ends when the user moves: the stream resumes at the new database after the last event that its
// reader has seen.
func (a *api) whileGood(next source) source {
	return func(ctx context.Context) ([]event, bool, error) {
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
}

// isAccessLost reports whether a caller has lost access, here at least.
func isAccessLost(err error) bool {
	return errors.Is(err, auth.ErrUnauthorized) || errors.Is(err, auth.ErrElsewhere)
}

// pump moves events from a source to one client.
type pump struct {
	out      *sse.Writer
	next     source
	signal   <-chan struct{}
	ping     <-chan time.Time
	stopping <-chan struct{}
}

func (p *pump) run(ctx context.Context) error {
	p.out.Comment("stream open")
	for {
		over, err := p.drain(ctx)
		if err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.stopping:
			return nil
		case <-p.signal:
		case <-p.ping:
			p.out.Comment("ping")
		}
	}
}

// drain sends all available events and reports whether the stream is over.
func (p *pump) drain(ctx context.Context) (bool, error) {
	for p.out.Err() == nil {
		events, over, err := p.next(ctx)
		if err != nil {
			return false, err
		}
		for _, ev := range events {
			p.out.Event(ev.id, ev.name, ev.data)
		}
		if len(events) > 0 {
			p.out.Flush()
		}
		if over || len(events) < eventBatch {
			return over, p.out.Err()
		}
	}

	return false, p.out.Err()
}
