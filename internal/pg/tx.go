package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rollbackTimeout bounds a rollback, which runs even if the caller's context is done.
const rollbackTimeout = 5 * time.Second

// Beginner is anything that starts a transaction: a pool, a connection, or a transaction (which starts a savepoint).
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs work in a new transaction and commits it; an error or panic in work rolls it back. Errors of work are
// returned unchanged.
func InTx(ctx context.Context, beginner Beginner, work func(tx pgx.Tx) error) error {
	if pool, ok := beginner.(*pgxpool.Pool); ok {
		return onPool(ctx, pool, beginWrite, work)
	}
	tx, err := beginner.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}

	return finish(ctx, tx, work)
}

// InReadTx runs work in a read-only transaction in which every statement sees the same moment (repeatable read).
func InReadTx(ctx context.Context, pool *pgxpool.Pool, work func(tx pgx.Tx) error) error {
	return onPool(ctx, pool, beginRead, work)
}

// Run runs work in a transaction, as [InTx] and [InReadTx] do on some pool.
type Run func(ctx context.Context, work func(tx pgx.Tx) error) error

// Value returns what work returns in a transaction of run's.
func Value[T any](ctx context.Context, run Run, work func(tx pgx.Tx) (T, error)) (value T, err error) {
	err = run(ctx, func(tx pgx.Tx) (err error) {
		value, err = work(tx)

		return err
	})

	return value, err
}

func onPool(ctx context.Context, pool *pgxpool.Pool, begin string, work func(tx pgx.Tx) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	t := &transaction{conn: conn}
	t.later.Exec("begin transaction", begin, nil)

	return finish(ctx, t, work)
}

// finish ends a transaction that this package began. Committing a transaction or releasing a savepoint that is already
// closed is an error, so work must not end it itself, except by [CommitWith].
func finish(ctx context.Context, tx pgx.Tx, work func(tx pgx.Tx) error) error {
	defer rollback(ctx, tx)

	if err := work(tx); err != nil {
		return err
	}
	if t, ok := tx.(*transaction); ok && t.closed {
		return nil // by CommitWith
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit transaction: %w", err)
	}

	return nil
}

// rollback does nothing after a commit. With a cancelled context, pgx would skip the statement and close the
// connection, or leave a savepoint open in the caller's transaction; hence a separate context. An error means that the
// connection is gone, which also ends the transaction.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()

	_ = tx.Rollback(ctx)
}
