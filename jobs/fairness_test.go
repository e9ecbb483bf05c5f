package jobs_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/jobs"
)

// K08: however many conversations a user has, a limited number of their turns run concurrently; other users' turns
// start at once, and a waiting one starts as soon as one ends.
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

// Of two waiting users, each gets a turn before one gets a second.
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

// K08: with fewer workers than the turns that one user may run, another user's turn still waits for at most one of them
// per worker: the one that the worker is running when the turn comes.
func TestK08OneTurnOfEachWorker(t *testing.T) {
	t.Parallel()

	const workers, waiting = 2, 12
	h := setup(t, chat(waiting+1))
	h.config.TurnWorkers = workers
	begun, goOn := make(chan struct{}, waiting+1), make(chan struct{})
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node == "understand" {
			begun <- struct{}{}
			select {
			case <-goOn:
			case <-ctx.Done():
			}
		}

		return nil
	}
	for range waiting {
		var session uuid.UUID
		require.NoError(t, h.pool.QueryRow(t.Context(), `SELECT start_session('busy')`).Scan(&session))
		h.enqueue(jobs.EnqueueParams{SessionID: session})
	}
	h.start()
	for range workers {
		<-begun
	}
	other := h.enqueue(jobs.EnqueueParams{})
	require.Equal(t, db.TurnStatusRunning, other.Status)
	close(goOn)

	require.Equal(t, db.TurnStatusSucceeded, h.ended(other.TurnID).Status)
	before := column[int64](h, `SELECT count(*) FROM turns AS t WHERE t.id <> $1 AND t.replied_at <
		(SELECT j.attempted_at FROM river_job AS j WHERE j.kind = 'understand' AND j.args ->> 'turn_id' = $1::text)`, other.TurnID)
	require.LessOrEqual(t, before[0], int64(workers), "turns of the busy user that were over before the other's began")
}
