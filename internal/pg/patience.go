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
		if !IsTransient(err) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
