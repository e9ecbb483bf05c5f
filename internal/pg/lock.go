package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// WithLock runs work with a connection that holds an advisory lock. If somebody else in this database holds it, WithLock does
// nothing and returns nil.
func WithLock(ctx context.Context, pool *pgxpool.Pool, key int64, work func(conn *pgxpool.Conn) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	if got, err := tryLock(ctx, conn, key); !got {
		return err
	}

	return errors.Join(work(conn), unlock(ctx, conn, key))
}

func tryLock(ctx context.Context, conn *pgxpool.Conn, key int64) (got bool, err error) {
	if err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&got); err != nil {
		err = fmt.Errorf("take an advisory lock: %w", err)
	}

	return got, err
}

// unlock closes the connection if the statement fails: the lock ends with its session.
func unlock(ctx context.Context, conn *pgxpool.Conn, key int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, key); err != nil {
		return errors.Join(fmt.Errorf("give up an advisory lock: %w", err), conn.Conn().Close(ctx))
	}

	return nil
}

// SameDatabase reports whether two pools are of one database, whatever their addresses: an advisory lock that one holds is then
// not to be had by the other.
func SameDatabase(ctx context.Context, one, other *pgxpool.Pool) (same bool, err error) {
	const lock = `SELECT pg_try_advisory_xact_lock($1)`
	key := rand.Int64() //nolint:gosec // nobody gains by guessing it
	err = InTx(ctx, one, func(tx pgx.Tx) error {
		var here, there bool
		if err := tx.QueryRow(ctx, lock, key).Scan(&here); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if err := other.QueryRow(ctx, lock, key).Scan(&there); err != nil {
			return fmt.Errorf("lock at the other: %w", err)
		}
		same = here && !there

		return nil
	})

	return same, err
}
