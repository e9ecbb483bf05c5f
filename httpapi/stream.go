package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"alfred/auth"
)

const (
	pingEvery    = 15 * time.Second
	eventBatch   = 200
	writeTimeout = 10 * time.Second
)

// subscribe subscribes to the listener's signals until stop is called.
type subscribe func(id uuid.UUID) (signal <-chan struct{}, stop func())

// stream responds with the source's events, waiting for the listener's signal between reads. No transaction is open
// while it waits.
func (a *api) stream(topic uuid.UUID, to subscribe, next source) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		_, w := humago.Unwrap(hctx)
		closed, err := a.gate.OpenStream(callerOf(hctx.Context()))
		if err != nil {
			a.fail(hctx, err)

			return
		}
		defer closed()
		signal, stop := to(topic)
		defer stop()
		ping := time.NewTicker(pingEvery)
		defer ping.Stop()
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no")
		p := &pump{
			out:  &eventWriter{w: w, control: http.NewResponseController(w)},
			next: a.whileGood(next), signal: signal, ping: ping.C, stopping: a.Stopping,
		}
		if err := p.run(hctx.Context()); err != nil {
			noteCause(hctx.Context(), err)
		}
	}}
}

// whileGood ends a source when the request's key is revoked or its token expires: it may not see what happens
// afterwards.
func (a *api) whileGood(next source) source {
	return func(ctx context.Context) ([]event, bool, error) {
		events, over, err := next(ctx)
		if err != nil {
			return nil, false, err
		}
		err = a.stillGood(ctx) // checked after reading: nothing read is newer than the check
		if errors.Is(err, auth.ErrUnauthorized) {
			return nil, true, nil
		}

		return events, over, err
	}
}

// pump moves events from a source to one client.
type pump struct {
	out      *eventWriter
	next     source
	signal   <-chan struct{}
	ping     <-chan time.Time
	stopping <-chan struct{}
}

func (p *pump) run(ctx context.Context) error {
	if err := p.out.comment("stream open"); err != nil {
		return err
	}
	for {
		over, err := p.out.drain(ctx, p.next)
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
			if err := p.out.comment("ping"); err != nil {
				return err
			}
		}
	}
}

// eventWriter writes to one client. A client that does not read hits the write timeout and loses its connection; it
// resumes with Last-Event-ID.
type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// drain writes all available events and reports whether the stream is over.
func (e *eventWriter) drain(ctx context.Context, next source) (bool, error) {
	for {
		events, over, err := next(ctx)
		if err != nil {
			return false, err
		}
		for _, ev := range events {
			if err := e.write(ev); err != nil {
				return false, err
			}
		}
		if len(events) > 0 {
			if err := e.flush(); err != nil {
				return false, err
			}
		}
		if over || len(events) < eventBatch {
			return over, nil
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
