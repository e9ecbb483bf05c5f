package pg_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

var errWork = errors.New("work failed")

func TestInTx(t *testing.T) {
	t.Parallel()

	insert := func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO users (name) VALUES ('in tx')`)

		return err
	}
	count := func(t *testing.T, tx pgx.Tx) int {
		t.Helper()
		var n int
		require.NoError(t, tx.QueryRow(context.WithoutCancel(t.Context()), `SELECT count(*) FROM users WHERE name = 'in tx'`).Scan(&n))

		return n
	}

	t.Run("Commits", func(t *testing.T) {
		t.Parallel()

		outer := dbtest.Tx(t)
		require.NoError(t, pg.InTx(t.Context(), outer, func(tx pgx.Tx) error { return insert(t.Context(), tx) }))
		require.Equal(t, 1, count(t, outer))
	})

	t.Run("RollsBackOnError", func(t *testing.T) {
		t.Parallel()

		outer := dbtest.Tx(t)
		err := pg.InTx(t.Context(), outer, func(tx pgx.Tx) error {
			require.NoError(t, insert(t.Context(), tx))

			return errWork
		})
		require.Equal(t, errWork, err, "the caller's own error, unwrapped")
		require.Zero(t, count(t, outer))
	})

	t.Run("RollsBackOnPanic", func(t *testing.T) {
		t.Parallel()

		outer := dbtest.Tx(t)
		require.Panics(t, func() {
			_ = pg.InTx(t.Context(), outer, func(tx pgx.Tx) error {
				require.NoError(t, insert(t.Context(), tx))
				panic("at work")
			})
		})
		require.Zero(t, count(t, outer))
	})

	// Without a separate context the rollback would not be sent, and the outer transaction would keep the row.
	t.Run("RollsBackWhenTheContextIsOver", func(t *testing.T) {
		t.Parallel()

		outer := dbtest.Tx(t)
		ctx, cancel := context.WithCancel(t.Context())
		err := pg.InTx(ctx, outer, func(tx pgx.Tx) error {
			require.NoError(t, insert(ctx, tx))
			cancel()

			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, count(t, outer))
	})
}

func TestInReadTx(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	ctx := t.Context()
	err := pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		var before, after int
		require.NoError(t, tx.QueryRow(ctx, `SELECT count(*) FROM users`).Scan(&before))
		_, err := pool.Exec(ctx, `INSERT INTO users (name) VALUES ('meanwhile')`)
		require.NoError(t, err)
		require.NoError(t, tx.QueryRow(ctx, `SELECT count(*) FROM users`).Scan(&after))
		require.Equal(t, before, after, "one moment for all statements")

		_, err = tx.Exec(ctx, `INSERT INTO users (name) VALUES ('read only')`)

		return err
	})
	require.Equal(t, "25006", pg.Code(err)) // read_only_sql_transaction
}

func TestAsTenant(t *testing.T) {
	t.Parallel()

	who := func(t *testing.T, tx pgx.Tx) (role, user string) {
		t.Helper()
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_user, coalesce(current_setting('alfred.user_id', true), '')`).Scan(&role, &user))

		return role, user
	}

	t.Run("ActsAndReturns", func(t *testing.T) {
		t.Parallel()

		tx := dbtest.Tx(t)
		owner, _ := who(t, tx)
		id := uuid.New()
		require.NoError(t, pg.AsTenant(t.Context(), tx, id, func(tx pgx.Tx) error {
			role, user := who(t, tx)
			require.Equal(t, pg.TenantRole, role)
			require.Equal(t, id.String(), user)

			return nil
		}))
		role, user := who(t, tx)
		require.Equal(t, owner, role)
		require.Empty(t, user)
	})

	t.Run("AFailedStatementLeavesTheTransactionUsable", func(t *testing.T) {
		t.Parallel()

		tx := dbtest.Tx(t)
		owner, _ := who(t, tx)
		err := pg.AsTenant(t.Context(), tx, uuid.New(), func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT 1/0`)

			return err
		})
		require.Equal(t, "22012", pg.Code(err)) // division_by_zero
		role, user := who(t, tx)
		require.Equal(t, owner, role)
		require.Empty(t, user)
	})

	t.Run("AnErrorWithoutAFailedStatementToo", func(t *testing.T) {
		t.Parallel()

		tx := dbtest.Tx(t)
		owner, _ := who(t, tx)
		require.ErrorIs(t, pg.AsTenant(t.Context(), tx, uuid.New(), func(pgx.Tx) error { return errWork }), errWork)
		role, user := who(t, tx)
		require.Equal(t, owner, role)
		require.Empty(t, user)
	})

	t.Run("Nests", func(t *testing.T) {
		t.Parallel()

		tx := dbtest.Tx(t)
		outer, inner := uuid.New(), uuid.New()
		require.NoError(t, pg.AsTenant(t.Context(), tx, outer, func(tx pgx.Tx) error {
			require.NoError(t, pg.AsTenant(t.Context(), tx, inner, func(tx pgx.Tx) error {
				_, user := who(t, tx)
				require.Equal(t, inner.String(), user)

				return nil
			}))
			role, user := who(t, tx)
			require.Equal(t, pg.TenantRole, role)
			require.Equal(t, outer.String(), user)

			return nil
		}))
	})
}

func TestConstraintErrors(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	add := func(name string) error {
		return pg.InTx(t.Context(), tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO users (name) VALUES ($1)`, name)

			return err
		})
	}
	require.NoError(t, add("twice"))
	err := add("twice")
	require.True(t, pg.Violates(err, "users_name_key"))
	require.False(t, pg.Violates(err, "users_name_length"))
	require.True(t, pg.Violates(add(""), "users_name_length"))
	require.Empty(t, pg.Code(errWork))
	require.False(t, pg.Violates(nil, "users_name_key"))
}
