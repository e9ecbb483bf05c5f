package pg

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tablePause is how long others may use the tables that a migration could not get.
const tablePause = time.Second

// migrating are the settings of connections that migrate, whatever the role's.
var migrating = map[string]string{
	// Everybody who comes after a waiting migration waits as well, for as long as a backup runs. Shorter than
	// deadlock_timeout, so that in a deadlock the migration gives way, not a turn.
	"lock_timeout": "500ms",
	// An index or a constraint of a large table takes its time, and the connection with the lock is idle meanwhile.
	"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "statement_timeout": "0",
}

// ownPool opens a pool like another, for migrating.
func ownPool(ctx context.Context, like *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := like.Config()
	for name, value := range migrating {
		Set(config.ConnConfig, name, value)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open connections to migrate on: %w", err)
	}

	return pool, nil
}

// givingWay runs work until it gets the tables that it needs, and returns the steps of all attempts.
func (m *Migrator) givingWay(ctx context.Context, work func() ([]Step, error)) ([]Step, error) {
	var steps []Step
	for attempt := 1; ; attempt++ {
		done, err := work()
		steps = append(steps, done...)
		if code := Code(err); code != pgerrcode.LockNotAvailable && code != pgerrcode.DeadlockDetected {
			return steps, err
		}
		if attempt == 1 {
			m.logger.WarnContext(ctx, "waiting until older transactions, such as a backup's, have ended: they use a table that is to be changed", slog.Any("error", err))
		}
		if Pause(ctx, tablePause) != nil {
			return steps, fmt.Errorf("wait for tables in use: %w", err)
		}
	}
}
