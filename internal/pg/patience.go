package pg

import (
	"context"
	"time"
)

const (
	patience = 30 * time.Second
	pause    = 100 * time.Millisecond
)

// Patiently repeats work while the database is away, for half a minute at most: turns wait for it, too. What work writes must
// be recognized if it was written before.
func Patiently(ctx context.Context, work func() error) error {
	for until := time.Now().Add(patience); ; {
		err := work()
		if !IsTransient(err) || time.Now().After(until) || Pause(ctx, pause) != nil {
			return err
		}
	}
}

// Pause waits. It returns the error of a context that ends before.
func Pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

// Every calls work at an interval until ctx ends.
func Every(ctx context.Context, interval time.Duration, work func(ctx context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			work(ctx)
		}
	}
}
