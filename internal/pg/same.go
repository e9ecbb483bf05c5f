package pg

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Same reports whether two pools are of one database, whatever their addresses: an advisory lock that one holds is then
// not to be had by the other.
func Same(ctx context.Context, one, other *pgxpool.Pool) (same bool, err error) {
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
