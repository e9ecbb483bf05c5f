package httpapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
	"alfred/internal/pg"
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
		waiting, done, err := a.door.Hold(hctx.Context())
		if err != nil {
			a.fail(hctx, err)

			return
		}
		defer done()
		signal, stop := to(topics...)
		defer stop()
		first := hctx.Context() // what is there already is sent, also by a server that is being stopped
		read := func(ctx context.Context) ([]event, bool, error) {
			if first != nil {
				ctx, first = first, nil
			}

			return next(ctx)
		}
		err = pump(sse.Open(w), follow.Watch(waiting, signal, sse.PingEvery, read))
		// Who has lost access may not see what happens afterwards; who has moved goes on at the new database, after the last event seen.
		if waiting.Err() == nil && !errors.Is(err, auth.ErrUnauthorized) && !errors.Is(err, auth.ErrElsewhere) {
			problem.Note(waiting, err)
		}
	}}
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

const maxWait = 5 * time.Minute

// waitForTurn returns when the turn has ended or the timeout expires; until then it counts as a stream. It subscribes
// before it looks, so that an end in between is not missed.
func (a *api) waitForTurn(ctx context.Context, read pg.Run, id uuid.UUID, wait string, summarized bool) error {
	atMost, err := time.ParseDuration(wait)
	if err != nil || atMost < 0 || atMost > maxWait {
		return problem.Invalid("wait is a duration up to 5m, such as 30s")
	}
	if atMost == 0 {
		return nil
	}
	ctx, done, err := a.door.Hold(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, max(0, atMost-auth.WaitedFor(ctx)))
	defer cancel()
	signal, stop := a.Listener.Subscribe(id)
	defer stop()
	look := func(ctx context.Context) (none []struct{}, ended bool, err error) {
		ended, err = a.turnEnded(ctx, read, id, summarized)

		return nil, ended, err
	}
	for _, err := range follow.Watch(ctx, signal, sse.PingEvery, look) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}

	return nil
}

func (a *api) turnEnded(ctx context.Context, read pg.Run, id uuid.UUID, summarized bool) (bool, error) {
	turn, err := pg.Value(ctx, read, func(tx pgx.Tx) (*db.TurnStatusGetRow, error) { return a.q.TurnStatusGet(ctx, tx, id) })
	if err != nil {
		return false, fmt.Errorf("look at turn: %w", err)
	}
	switch turn.Status {
	case db.TurnStatusQueued, db.TurnStatusRunning:
		return false, nil
	case db.TurnStatusSucceeded:
		return !summarized || turn.SummarizedAt != nil, nil
	default:
		return true, nil
	}
}
