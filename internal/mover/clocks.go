package mover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// apartAtMost is how far the clocks of two databases may be apart. A conversation's memory and the order of its events go by its
// database's clock: at one that is an hour late, the last hour would be forgotten.
const apartAtMost = time.Second

// ErrClocks says that the clocks came apart while the user was being moved. They are served where they were.
var ErrClocks = errors.New("the target's clock is behind the source's: set the clocks of both servers, and try again")

// checkClocks: both databases have about the same time. The mover's own is compared with nothing. Errors: [*RefusedError].
func (u *move) checkClocks(ctx context.Context) error {
	var read [3]time.Time
	for i, pool := range []*pgxpool.Pool{u.source, u.target, u.source} {
		if err := pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&read[i]); err != nil {
			return fmt.Errorf("ask both databases for the time: %w", err)
		}
	}
	if by := apart(read[0], read[1], read[2]); by.Abs() > apartAtMost {
		return refused("the clock of %s is %s off that of %s, and a conversation's memory and order go by them: set the clocks of both servers first", u.Target.Name, by.Round(time.Second/10), u.Source.Name)
	}

	return nil
}

// apart is by how much, at least, a clock is ahead of another one that was read before and after it; below 0, behind.
func apart(before, there, after time.Time) time.Duration {
	switch {
	case there.Before(before):
		return there.Sub(before)
	case there.After(after):
		return there.Sub(after)
	default:
		return 0
	}
}

// awaitClock waits until the target's clock is past the moment in which the source's refused: what is written from then on
// is later than all that was. Errors: [ErrClocks].
func (u *move) awaitClock(ctx context.Context) error {
	var closed time.Time
	if err := u.source.QueryRow(ctx, `SELECT changed_at FROM user_places WHERE user_id = $1`, u.User.ID).Scan(&closed); err != nil {
		return fmt.Errorf("ask when the source closed: %w", err)
	}
	var now time.Time
	if err := u.target.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return fmt.Errorf("ask the target for the time: %w", err)
	}
	behind := closed.Sub(now)
	if behind > apartAtMost {
		return ErrClocks
	}
	if err := pg.Pause(ctx, behind); err != nil {
		return fmt.Errorf("wait for the target's clock: %w", err)
	}

	return nil
}
