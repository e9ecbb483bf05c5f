package jobs_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/jobs"
)

// K08: however many conversations a user has, so many of their turns run at a time; others' turns start at once, and
// what waits is started as soon as one ends.
func TestK08OneUserKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(7))
	h.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET alfred.user_turns = 2', current_database()); END $$`)
	h.pool.Reset()
	var turns []uuid.UUID
	for range 5 {
		var session uuid.UUID
		require.NoError(t, h.pool.QueryRow(t.Context(), `SELECT start_session('busy')`).Scan(&session))
		turns = append(turns, h.enqueue(jobs.EnqueueParams{SessionID: session}).TurnID)
	}
	other := h.enqueue(jobs.EnqueueParams{})

	require.Equal(t, db.TurnStatusRunning, other.Status, "another user's turn starts")
	running := `SELECT count(*) FROM turns AS t JOIN users AS u ON u.id = t.user_id WHERE u.name = 'busy' AND t.status = 'running'`
	require.Equal(t, []int64{2}, column[int64](h, running))
	require.Equal(t, []int64{3}, column[int64](h, `SELECT count(*) FROM v_queue WHERE state = 'queued' AND job_id IS NULL`))
	require.Empty(t, column[uuid.UUID](h, `SELECT sessions_to_start()`), "nobody starts them meanwhile")

	h.start()
	for _, turn := range append(turns, other.TurnID) {
		require.Equal(t, db.TurnStatusSucceeded, h.ended(turn).Status)
	}
}

// Of two users who wait, each gets a turn before one gets a second.
func TestK08UsersTakeTurns(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	for _, name := range []string{"first", "first", "second"} {
		var session uuid.UUID
		require.NoError(t, h.pool.QueryRow(t.Context(), `SELECT start_session($1)`, name).Scan(&session))
		h.enqueue(jobs.EnqueueParams{SessionID: session})
	}
	h.exec(`UPDATE turns SET status = 'queued', started_at = NULL`)
	require.Equal(t, []string{"first", "second", "first"}, column[string](h, `SELECT u.name FROM sessions_to_start() WITH ORDINALITY AS s (id, n)
		JOIN sessions ON sessions.id = s.id JOIN users AS u ON u.id = sessions.user_id ORDER BY s.n`))
}
