package pg_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// roundTrips counts how often a pool's connections wait.
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

const insertUser = `INSERT INTO users (name) VALUES ($1)`

func userNames(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()

	rows, err := pool.Query(t.Context(), `SELECT name FROM users WHERE name LIKE 'queue %' ORDER BY 1`)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return list
}

// Related statements, the begin before them and the commit after them take one round trip, and each returns its result.
func TestQueuesTravelTogether(t *testing.T) {
	t.Parallel()

	pool, trips := counted(t)
	var (
		touched int64
		name    string
	)
	first, last := &pg.Batch{}, &pg.Batch{}
	first.Exec("insert", insertUser, []any{"queue 1"})
	first.Count("count", `UPDATE users SET timezone = 'UTC' WHERE name = $1`, "queue 1", &touched)
	last.Scan("insert", insertUser+` RETURNING name`, "queue 2", &name)
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, first.Send(t.Context(), tx))
		require.EqualValues(t, 1, touched)
		require.Equal(t, 1, trips.n)
		require.NoError(t, pg.CommitWith(t.Context(), tx, last))
		_, err := tx.Exec(t.Context(), insertUser, "queue 3")
		require.ErrorIs(t, err, pgx.ErrTxClosed)

		return nil
	}))
	require.Equal(t, 2, trips.n)
	require.Equal(t, "queue 2", name)
	alone := &pg.Batch{}
	alone.Exec("insert", insertUser, "queue 4")
	require.NoError(t, alone.InTx(t.Context(), pool))
	require.Equal(t, 3, trips.n)
	require.Equal(t, []string{"queue 1", "queue 2", "queue 4"}, userNames(t, pool))
}

// What nobody waits for is sent before what comes next: with it if that is a batch, by itself before any other statement,
// whose text may be wrong.
func TestLaterTravelsWithTheNext(t *testing.T) {
	t.Parallel()

	pool, trips := counted(t)
	later := func(tx pgx.Tx, name string) {
		q := &pg.Batch{}
		q.Exec("insert", insertUser, name)
		require.NoError(t, q.Defer(t.Context(), tx))
	}
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		later(tx, "queue 1")
		require.Zero(t, trips.n)
		require.ErrorIs(t, pg.InTx(t.Context(), tx, func(tx pgx.Tx) error {
			later(tx, "queue dropped")

			return pgx.ErrNoRows
		}), pgx.ErrNoRows)
		require.Zero(t, trips.n, "a savepoint that was never sent")
		require.NoError(t, pg.AsTenant(t.Context(), tx, uuid.New(), func(pgx.Tx) error { return nil }))
		require.Equal(t, 1, trips.n)
		require.Equal(t, "42601", pg.Code(pg.InTx(t.Context(), tx, func(tx pgx.Tx) error {
			later(tx, "queue undone")
			_, err := tx.Exec(t.Context(), `no statement`)

			return err
		})))
		require.Equal(t, 4, trips.n, "the savepoint and what was waiting, the statement, the rollback")
		later(tx, "queue 2")

		return nil
	}))
	require.Equal(t, 5, trips.n)
	require.Equal(t, []string{"queue 1", "queue 2"}, userNames(t, pool))
	require.ErrorContains(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		later(tx, "queue 1")
		_, err := tx.Exec(t.Context(), `SELECT 1`)

		return err
	}), "insert: ")
}

// The connection of a transaction, used directly, is in the transaction.
func TestConnIsInTheTransaction(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	require.ErrorIs(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Conn().Exec(t.Context(), insertUser, "queue 1")
		require.NoError(t, err)

		return pgx.ErrNoRows
	}), pgx.ErrNoRows)
	require.Empty(t, userNames(t, pool))
}

// A failing statement is reported by name, and its transaction leaves nothing.
func TestQueuesFailByName(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	twice := func() *pg.Batch {
		q := &pg.Batch{}
		q.Exec("insert one", insertUser, "queue 1")
		q.Exec("insert another", insertUser, "queue 1")
		q.Exec("insert a third", insertUser, "queue 3")

		return q
	}
	for name, err := range map[string]error{
		"last":  pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { return pg.CommitWith(t.Context(), tx, twice()) }),
		"later": pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { return twice().Defer(t.Context(), tx) }),
		"alone": twice().InTx(t.Context(), pool),
		"sent":  pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { return twice().Send(t.Context(), tx) }),
		"of another's": pg.InTx(t.Context(), dbtest.Tx(t), func(tx pgx.Tx) error {
			return pg.CommitWith(t.Context(), tx, twice())
		}),
	} {
		require.Equal(t, "23505", pg.Code(err), name)
		require.ErrorContains(t, err, "insert another: ", name)
	}
	require.Empty(t, userNames(t, pool))
	unread := &pg.Batch{}
	unread.Exec("insert", insertUser, "queue 5")
	unread.Exec("misspell", `INSERT INTO users (nam) VALUES ($1)`, "queue 6")
	require.ErrorContains(t, unread.InTx(t.Context(), pool), "misspell: ")
	require.Empty(t, userNames(t, pool))
}

// K01: a statement that cannot even be parsed fails within its savepoint, whatever was sent before it.
func TestK01ParseErrorsStayInTheirSavepoint(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := uuid.New()
	broken := func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT no_such_column FROM users`)

		return err
	}
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), insertUser, "queue 1")
		require.NoError(t, err)
		require.Equal(t, "42703", pg.Code(pg.InTx(t.Context(), tx, broken)))
		require.Equal(t, "42703", pg.Code(pg.AsTenant(t.Context(), tx, user, broken)))
		_, err = tx.Exec(t.Context(), insertUser, "queue 2")

		return err
	}))
	require.Equal(t, []string{"queue 1", "queue 2"}, userNames(t, pool))
}

// A savepoint in which an error was ignored cannot be released.
func TestSwallowedErrorsEndTheirSavepoint(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		require.Error(t, pg.AsTenant(t.Context(), tx, uuid.New(), func(tx pgx.Tx) error {
			_, _ = tx.Exec(t.Context(), `SELECT no_such_column FROM users`)

			return nil
		}))
		var role string
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_setting('role')`).Scan(&role))
		require.Equal(t, "none", role)
		_, err := tx.Exec(t.Context(), insertUser, "queue 1")

		return err
	}))
	require.Equal(t, []string{"queue 1"}, userNames(t, pool))
}

// A transaction in which a statement failed and was ignored does not succeed.
func TestSwallowedErrorsEndTheirTransaction(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, _ = tx.Exec(t.Context(), `SELECT no_such_column FROM users`)

		return nil
	})
	require.ErrorIs(t, err, pgx.ErrTxCommitRollback)
	require.NoError(t, pg.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
}

// After a batch that acts for a user within a transaction, the transaction acts as before: otherwise, reads of the API
// would go on with all the rights of the program.
// Whoever reads rows looks at the error when they are read, as with pgx.
func TestRowsSayWhyTheyWereNotAskedFor(t *testing.T) {
	t.Parallel()

	err := pg.InTx(t.Context(), dbtest.Pool(t), func(tx pgx.Tx) error {
		broken := &pg.Batch{}
		broken.Exec("divide", "SELECT 1 / 0", nil)
		require.NoError(t, broken.Defer(t.Context(), tx))
		_, err := pg.Collect(t.Context(), tx, pgx.RowTo[int], "count", "SELECT 1")

		return err
	})
	require.ErrorContains(t, err, "divide: ")
	require.ErrorContains(t, err, "division by zero")
}

func TestBatchAsTenantLeavesAsItCame(t *testing.T) {
	t.Parallel()

	outer, inner := uuid.New(), uuid.New()
	const acts = `SELECT concat_ws(' ', current_setting('role'), coalesce(current_setting('alfred.user_id', true), ''), current_setting('TimeZone'))`
	within := func(tx pgx.Tx) (before, during, after string) {
		require.NoError(t, tx.QueryRow(t.Context(), acts).Scan(&before))
		b := &pg.Batch{}
		b.AsTenant(inner, func() { b.Scan("who acts", acts, nil, &during) })
		require.NoError(t, b.Send(t.Context(), tx))
		require.NoError(t, tx.QueryRow(t.Context(), acts).Scan(&after))

		return before, during, after
	}
	pool := dbtest.Pool(t)
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO users (id, name, timezone) VALUES ($1, 'inner', 'Asia/Tokyo')`, inner)
		require.NoError(t, err)
		before, during, after := within(tx)
		require.Equal(t, before, after)
		require.Equal(t, "alfred_tenant "+inner.String()+" Asia/Tokyo", during)

		return pg.AsTenant(t.Context(), tx, outer, func(tx pgx.Tx) error {
			before, _, after := within(tx)
			require.Contains(t, before, "alfred_tenant "+outer.String())
			require.Equal(t, before, after)

			return nil
		})
	}))
}
