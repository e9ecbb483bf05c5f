package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/jobs"
)

// stray creates a turn whose job a worker fetched this long ago without receiving it: the connection broke between the
// fetch's commit and its response.
func (h *harness) stray(worker string, since time.Duration) *jobs.Enqueued {
	h.t.Helper()

	var turn *jobs.Enqueued
	require.NoError(h.t, pg.InTx(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		var err error
		if turn, err = jobs.EnqueueTurn(h.t.Context(), tx, jobs.EnqueueParams{SessionID: h.newSession(), Message: "hello"}); err != nil {
			return err
		}
		_, err = tx.Exec(h.t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = clock_timestamp() - $3::interval, attempted_by = ARRAY[$2]
			WHERE args @> jsonb_build_object('turn_id', $1::uuid)`, turn.TurnID, worker, since)

		return err
	}))

	return turn
}

// A job that its worker never received does not stay with that worker, although it lives.
func TestFetchedButNotDelivered(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	runner := h.startRunner()
	turn := h.stray(runner.ID(), time.Minute)
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// A long decision is not a stray.
func TestLongRunsAreNotStrays(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	scans := make(chan struct{})
	h.model.before = func(context.Context, *llm.Request) error {
		<-scans

		return nil
	}
	runner := h.startRunner()
	turn := h.enqueue(jobs.EnqueueParams{})
	require.Eventually(t, func() bool { return h.model.count("understand") == 1 }, dbtest.Patience, tick)
	h.exec(`UPDATE river_job SET attempted_at = clock_timestamp() - interval '1 minute'`)
	stray := h.stray(runner.ID(), time.Minute) // found by a scan that skips the other
	require.Eventually(t, func() bool { return h.model.count("understand") == 2 }, dbtest.Patience, tick)
	close(scans)
	h.summarized(turn.TurnID)
	h.summarized(stray.TurnID)
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM river_job WHERE state = 'discarded' AND args @> jsonb_build_object('turn_id', $1::uuid)`, turn.TurnID))
}

// A stopping worker leaves no job behind: its lease ends, and nobody would recover it.
func TestStopLeavesNoStray(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	runner, err := jobs.NewRunner(h.config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	turn := h.stray(runner.ID(), 0)
	require.NoError(t, runner.Stop(t.Context()))
	require.Empty(t, column[string](h, `SELECT id FROM workers`))
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// While the database is slow, an answer waits to be stored: it has been paid for, and a summary's is not replaced.
func TestAnswersAreStoredLate(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	h := setup(t, chat(1))
	locked := make(chan pgx.Tx, 1)
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node != "summarize" {
			return nil
		}
		tx, err := h.pool.Begin(ctx)
		if err != nil {
			return err
		}
		locked <- tx
		_, err = tx.Exec(ctx, `LOCK TABLE llm_calls IN EXCLUSIVE MODE`)

		return err
	}
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	blocker := <-locked
	time.Sleep(6 * time.Second)
	require.NoError(t, blocker.Rollback(t.Context()))
	h.summarized(turn.TurnID)
	require.Equal(t, []string{"greeted"}, column[string](h, `SELECT response_summary FROM turn_summaries`))
	require.Equal(t, 1, h.model.count("summarize"))
}
