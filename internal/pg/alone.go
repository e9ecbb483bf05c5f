package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Alone runs work with a connection that holds an advisory lock. If somebody else in this database holds it, Alone does
// nothing and returns nil.
func Alone(ctx context.Context, pool *pgxpool.Pool, key int64, work func(conn *pgxpool.Conn) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&got); err != nil {
		return fmt.Errorf("take an advisory lock: %w", err)
	}
	if !got {
		return nil
	}
	err = work(conn)
	if _, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key); unlockErr != nil {
		err = errors.Join(err, fmt.Errorf("give up an advisory lock: %w", unlockErr), conn.Conn().Close(context.WithoutCancel(ctx)))
	}

	return err
}
