package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
	"alfred/internal/pg"
)

const maxWait = 5 * time.Minute

// waitForTurn returns when the turn has ended or the timeout expires; until then it counts as a stream. It subscribes
// before it looks, so that an end in between is not missed.
func (a *api) waitForTurn(ctx context.Context, id uuid.UUID, wait string, summarized bool) error {
	atMost, err := time.ParseDuration(wait)
	if err != nil || atMost < 0 || atMost > maxWait {
		return problem.Invalid("wait is a duration up to 5m, such as 30s")
	}
	if atMost == 0 {
		return nil
	}
	closed, err := a.gate.OpenStream(auth.CallerOf(ctx))
	if err != nil {
		return err
	}
	defer closed()
	running, stopped := a.door.UntilStopping(ctx)
	defer stopped()
	ctx, cancel := context.WithTimeout(running, max(0, atMost-auth.Waited(ctx)))
	defer cancel()
	signal, stop := a.Listener.Subscribe(id)
	defer stop()
	look := func(ctx context.Context) (none []struct{}, ended bool, err error) {
		ended, err = a.endedByNow(ctx, id, summarized)

		return nil, ended, err
	}
	for _, err := range follow.Watch(ctx, signal, sse.PingEvery, look) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.stillGood(ctx); isAccessLost(err) {
			return err
		}
	}

	return nil
}

// endedByNow is turnEnded for a database that may be away: it has half a minute to come back, as its user may be served elsewhere by then.
func (a *api) endedByNow(ctx context.Context, id uuid.UUID, summarized bool) (ended bool, err error) {
	err = pg.Patiently(ctx, func() (err error) {
		if ended, err = a.turnEnded(ctx, id, summarized); err != nil {
			err = a.unlessAccessLost(ctx, err)
		}

		return err
	})

	return ended, err
}

// unlessAccessLost is err, unless the caller has lost access meanwhile: what is missing here may be where the user is now.
func (a *api) unlessAccessLost(ctx context.Context, err error) error {
	return cmp.Or(a.stillGood(ctx), err)
}

func (a *api) turnEnded(ctx context.Context, id uuid.UUID, summarized bool) (bool, error) {
	turn, err := pg.Value(ctx, a.door.Read, func(tx pgx.Tx) (*db.TurnStatusGetRow, error) { return a.q.TurnStatusGet(ctx, tx, id) })
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
