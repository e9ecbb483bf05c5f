package pg_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/pg"
)

// roundTrips counts what a pool's connections wait for.
type roundTrips struct{ n int }

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.n++

	return ctx
}

func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.n++

	return ctx
}

func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func counted(t *testing.T) (*pgxpool.Pool, *roundTrips) {
	t.Helper()

	config := dbtest.Pool(t).Config()
	trips := &roundTrips{}
	config.ConnConfig.Tracer = trips
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool, trips
}

// insert is a :exec query as sqlc writes one: nobody waits for its answer.
const insert = "-- name: Insert :exec\nINSERT INTO users (name) VALUES ($1)"

func names(t *testing.T, conn pg.Querier) []string {
	t.Helper()

	rows, err := conn.Query(t.Context(), `SELECT name FROM users WHERE name LIKE 'pipe %' ORDER BY 1`)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return list
}

func exec(t *testing.T, tx pgx.Tx, name string) {
	t.Helper()

	_, err := tx.Exec(t.Context(), insert, name)
	require.NoError(t, err)
}

// What nobody waits for travels with the next statement, in its order.
func TestTransactionsTravelTogether(t *testing.T) {
	t.Parallel()

	pool, trips := counted(t)
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		exec(t, tx, "pipe 1")
		require.NoError(t, pg.AsTenant(t.Context(), tx, uuid.New(), func(tx pgx.Tx) error {
			var role string
			require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_user`).Scan(&role))
			require.Equal(t, pg.TenantRole, role)

			return nil
		}))
		exec(t, tx, "pipe 2")

		return nil
	}))
	require.Equal(t, 2, trips.n)
	require.Equal(t, []string{"pipe 1", "pipe 2"}, names(t, pool))
}

// Nothing of a transaction that did nothing reaches the server.
func TestEmptyTransactionsCostNothing(t *testing.T) {
	t.Parallel()

	pool, trips := counted(t)
	require.NoError(t, pg.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
	require.ErrorIs(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { exec(t, tx, "pipe 1"); return errWork }), errWork)
	require.Zero(t, trips.n)
	require.Empty(t, names(t, pool))
}

// The error of a statement that waited ends the transaction with the one that it travelled with.
func TestWaitingStatementsFailTheirTransaction(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { exec(t, tx, "pipe 1"); exec(t, tx, "pipe 1"); return nil })
	require.Equal(t, "23505", pg.Code(err))
	require.ErrorContains(t, err, "Insert :exec")
	err = pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		exec(t, tx, "pipe 1")
		exec(t, tx, "pipe 1")
		_, err := tx.Exec(t.Context(), `SELECT 1`)

		return err
	})
	require.Equal(t, "23505", pg.Code(err))
	require.Empty(t, names(t, pool))
}

// A savepoint holds what waited within it, and nothing of what waited before.
func TestSavepointsOfAPipe(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	for _, sent := range []bool{false, true} {
		require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			exec(t, tx, "pipe kept")
			require.ErrorIs(t, pg.InTx(t.Context(), tx, func(tx pgx.Tx) error {
				exec(t, tx, "pipe undone")
				if sent {
					require.Equal(t, []string{"pipe kept", "pipe undone"}, names(t, tx))
				}

				return errWork
			}), errWork)
			require.Equal(t, "23505", pg.Code(pg.InTx(t.Context(), tx, func(tx pgx.Tx) error { exec(t, tx, "pipe kept"); return nil })))
			require.NoError(t, pg.InTx(t.Context(), tx, func(tx pgx.Tx) error { exec(t, tx, "pipe nested"); return nil }))
			require.Equal(t, []string{"pipe kept", "pipe nested"}, names(t, tx))

			return nil
		}))
		require.Equal(t, []string{"pipe kept", "pipe nested"}, names(t, pool))
		_, err := pool.Exec(t.Context(), `DELETE FROM users WHERE name LIKE 'pipe %'`)
		require.NoError(t, err)
	}
}

// The tenant's writes are judged as the tenant's, and its role ends with its savepoint, whatever happened.
func TestTenantOfAPipe(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	who := func(tx pgx.Tx) (role, user string) {
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_user, coalesce(current_setting('alfred.user_id', true), '')`).Scan(&role, &user))

		return role, user
	}
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		owner, _ := who(tx)
		require.Equal(t, "42501", pg.Code(pg.AsTenant(t.Context(), tx, uuid.New(), func(tx pgx.Tx) error { exec(t, tx, "pipe"); return nil })))
		role, user := who(tx)
		require.Equal(t, []string{owner, ""}, []string{role, user})
		outer, inner := uuid.New(), uuid.New()
		require.NoError(t, pg.AsTenant(t.Context(), tx, outer, func(tx pgx.Tx) error {
			require.ErrorIs(t, pg.AsTenant(t.Context(), tx, inner, func(pgx.Tx) error { return errWork }), errWork)
			require.NoError(t, pg.AsTenant(t.Context(), tx, inner, func(tx pgx.Tx) error {
				_, user := who(tx)
				require.Equal(t, inner.String(), user)

				return nil
			}))
			_, user := who(tx)
			require.Equal(t, outer.String(), user)

			return nil
		}))
		role, user = who(tx)
		require.Equal(t, []string{owner, ""}, []string{role, user})

		return nil
	}))
}
