package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// place sets whether the database serves the user of a session, and reports whether it did.
func place(t *testing.T, pool *pgxpool.Pool, session string, epoch, attempt int, state string) bool {
	t.Helper()

	var done bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_place_set(user_id, $2, $3, $4) FROM sessions WHERE id = $1`, session, epoch, attempt, state).Scan(&done))

	return done
}

func text(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) string {
	t.Helper()

	var value string
	require.NoError(t, pool.QueryRow(t.Context(), sql, args...).Scan(&value), sql)

	return value
}

// A database refuses, with its own SQLSTATE, what is written for a user whom it does not serve, and nothing else.
func TestUserElsewhereIsRefused(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	ada, bob := text(t, pool, `SELECT start_session('ada')::text`), text(t, pool, `SELECT start_session('bob')::text`)
	turn := text(t, pool, `SELECT enqueue_turn($1, 'one')::text`, ada)
	waits := text(t, pool, `SELECT enqueue_turn($1, 'two')::text`, ada)
	refused := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(t.Context(), sql, args...)
		require.True(t, pg.IsElsewhere(err), "%s: %v", sql, err)
	}
	works := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}

	require.True(t, place(t, pool, ada, 1, 1, "leaving"))
	refused(`SELECT enqueue_turn($1, 'three')`, ada)
	works(`SELECT enqueue_turn($1, 'one')`, bob)
	works(`UPDATE turns SET position = position + 1 WHERE id = $1`, turn) // a decision of the turn that runs
	works(`UPDATE turns SET status = 'succeeded', reply = 'done', replied_at = now(), finished_at = now() WHERE id = $1`, turn)
	works(`SELECT turn_summary_finish($1)`, turn)
	require.Equal(t, "queued", text(t, pool, `SELECT status::text FROM turns WHERE id = $1`, waits), "nothing new starts")
	require.Equal(t, "0", text(t, pool, `SELECT count(*)::text FROM sessions_to_start() AS s WHERE s = $1`, ada))

	require.True(t, place(t, pool, ada, 1, 1, "away"))
	for _, sql := range []string{
		`SELECT enqueue_turn($1, 'three')`, `SELECT cancel_turn(id) FROM turns WHERE session_id = $1 AND number = 2`, `SELECT forget_session($1)`,
		`SELECT fork_session($1, 0)`, `UPDATE sessions SET title = 'x' WHERE id = $1`, `UPDATE users SET version = version + 1 WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`,
		`UPDATE turns SET position = position + 1 WHERE session_id = $1`, `INSERT INTO sessions (user_id) SELECT user_id FROM sessions WHERE id = $1`,
		`INSERT INTO api_keys (user_id, key_hash, scopes) SELECT user_id, 'x', '{chat}' FROM sessions WHERE id = $1`, `SELECT turn_end(id, 'failed', 'internal', 'x') FROM turns WHERE session_id = $1 AND status = 'queued'`,
		`INSERT INTO feedback (turn_id, session_id, user_id, rating) SELECT id, session_id, user_id, 'up' FROM turns WHERE session_id = $1 AND number = 1`,
	} {
		refused(sql, ada)
	}
	works(`SELECT enqueue_turn($1, 'two')`, bob)

	require.True(t, place(t, pool, ada, 1, 2, "here"))
	works(`SELECT enqueue_turn($1, 'three')`, ada)
	require.Equal(t, "running", text(t, pool, `SELECT status::text FROM turns WHERE id = $1`, waits), "what waited has started")
	require.False(t, place(t, pool, ada, 1, 1, "away"), "a mover that was taken for dead changes nothing")
	works(`SELECT enqueue_turn($1, 'four')`, ada)
	require.True(t, place(t, pool, ada, 2, 1, "away"), "another epoch counts its attempts anew")
}

// When a place is set, all that was written before is committed, and what comes after finds it set.
func TestPlaceWaitsForWriters(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	session := text(t, pool, `SELECT start_session('ada')::text`)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT enqueue_turn($1, 'in flight')`, session)
	require.NoError(t, err)
	set := make(chan error, 1)
	go func() {
		_, err := pool.Exec(context.WithoutCancel(t.Context()), `SELECT user_place_set(user_id, 1, 1, 'away') FROM sessions WHERE id = $1`, session)
		set <- err
	}()
	select {
	case err := <-set:
		require.Fail(t, "it did not wait for a writer", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-set)
	_, err = pool.Exec(t.Context(), `SELECT enqueue_turn($1, 'too late')`, session)
	require.True(t, pg.IsElsewhere(err), "%v", err)
	require.Equal(t, "1", text(t, pool, `SELECT count(*)::text FROM turns`))
}

// A transaction asks once for each user, and again after it has set a place itself.
func TestPlaceIsAskedForEachUser(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	ada, bob := text(t, pool, `SELECT start_session('ada')::text`), text(t, pool, `SELECT start_session('bob')::text`)
	require.True(t, place(t, pool, bob, 1, 1, "away"))
	const touch, leave = `UPDATE sessions SET title = 'x' WHERE id = $1`, `SELECT user_place_set(user_id, 1, 1, 'away') FROM sessions WHERE id = $1`
	for _, last := range [][][2]string{{{touch, bob}}, {{leave, ada}, {touch, ada}}} {
		err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) (err error) {
			for _, one := range append([][2]string{{touch, ada}, {touch, ada}}, last...) {
				require.NoError(t, err)
				_, err = tx.Exec(t.Context(), one[0], one[1])
			}

			return err
		})
		require.True(t, pg.IsElsewhere(err), "%v: %v", last, err)
	}
}

// A place costs a decision no round trip, and the look-ups behind it read one row.
func TestPlaceIsLookedUpByKey(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), `INSERT INTO user_places (user_id, epoch, state) SELECT uuid_v7(), 1, 'here' FROM generate_series(1, 5000); ANALYZE user_places`)
	require.NoError(t, err)
	rows, err := tx.Query(t.Context(), `EXPLAIN SELECT p.state FROM user_places AS p WHERE p.user_id = uuid_v7_floor(now())`)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, plan[0], "Index", "%v", plan)
}
