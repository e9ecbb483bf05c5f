package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
)

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
