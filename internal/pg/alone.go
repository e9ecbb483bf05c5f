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
