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
	"alfred/jobs"
)

// K06: when a database's clock is set back, times in the future are left: of due jobs, leases, turns that began.
// Nothing waits until the clock reaches them again.
func TestK06DatabaseSetBackWhileNothingRuns(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name, left := range map[string]func(h *harness, turn *jobs.Enqueued){
		"AJobThatIsDue": func(*harness, *jobs.Enqueued) {},
		"AJobThatWaits": func(h *harness, _ *jobs.Enqueued) {
			h.exec(`UPDATE river_job SET state = 'retryable', attempt = 1, attempted_at = now(), scheduled_at = now() + interval '8 seconds'`)
		},
		"AJobOfAStoppedWorker": func(h *harness, turn *jobs.Enqueued) {
			h.locked("alfred-stopped")
			h.died(turn.TurnID, "alfred-stopped", 0, 1)
		},
		"ALeader": func(h *harness, _ *jobs.Enqueued) {
			h.exec(`UPDATE river_job SET state = 'retryable', attempt = 1, attempted_at = now() - interval '2 hours', created_at = now() - interval '2 hours', scheduled_at = now() - interval '2 hours'`)
			h.exec(`INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (now(), now() + interval '15 seconds', 'gone')`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := setup(t, chat(1))
			dbtest.SetClock(t, h.pool, 0)
			turn := h.enqueue(jobs.EnqueueParams{})
			left(h, turn)
			dbtest.SetClock(t, h.pool, -time.Hour)
			h.start()
			// River elects a leader, who makes jobs available, every five seconds.
			require.Eventually(t, func() bool { return h.turn(turn.TurnID).SummarizedAt != nil }, dbtest.Patience, tick)
			require.Equal(t, db.TurnStatusSucceeded, h.turn(turn.TurnID).Status)
		})
	}
}

// locked holds a worker's lock, as one that is stopped does.
func (h *harness) locked(worker string) {
	h.t.Helper()

	conn, err := pgx.ConnectConfig(h.t.Context(), h.pool.Config().ConnConfig)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, conn.Close(context.Background())) })
	_, err = conn.Exec(h.t.Context(), `SELECT pg_advisory_lock(hashtextextended('alfred.worker:' || $1, 0))`, worker)
	require.NoError(h.t, err)
}

// K06: the same while workers run, between a model's failure and its retry: the turn neither waits nor ends at its
// deadline.
func TestK06DatabaseSetWhileARetryWaits(t *testing.T) {
	t.Parallel()

	for name, by := range map[string]time.Duration{"Back": -time.Hour, "Ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := setup(t, chat(1))
			h.config.Deadline = 5 * time.Minute
			dbtest.SetClock(t, h.pool, 0)
			failed := false
			h.model.before = func(_ context.Context, req *llm.Request) error {
				if req.Node != "think" || failed {
					return nil
				}
				failed = true

				return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", RetryAfter: 2 * time.Second, Err: context.DeadlineExceeded}
			}
			h.start()
			turn := h.enqueue(jobs.EnqueueParams{})
			h.await(`SELECT count(*) FROM river_job WHERE metadata ? 'snoozes' AND state = 'available'`)
			dbtest.SetClock(t, h.pool, by)
			require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
			require.Equal(t, 2, h.model.count("think"))
		})
	}
}

// K06: a message waits no longer than usual for the summary before it.
func TestK06DatabaseSetBackBeforeASummary(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	dbtest.SetClock(t, h.pool, 0)
	release := make(chan struct{})
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "summarize" && req.Turn == 1 {
			<-release
		}

		return nil
	}
	h.start()
	first := h.enqueue(jobs.EnqueueParams{})
	require.Equal(t, db.TurnStatusSucceeded, h.ended(first.TurnID).Status)
	dbtest.SetClock(t, h.pool, -time.Hour)
	second := h.enqueue(jobs.EnqueueParams{})
	require.Equal(t, db.TurnStatusSucceeded, h.ended(second.TurnID).Status)
	close(release)
	h.summarized(first.TurnID)
}

// K06: turns and summaries whose jobs are gone are found, though they began at a time that has yet to come.
func TestK06AbandonedBeforeTheClockWasSetBack(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	session := h.newSession()
	turn, replied := h.enqueue(jobs.EnqueueParams{}), h.enqueue(jobs.EnqueueParams{SessionID: session})
	h.exec(`UPDATE turns SET status = 'succeeded', reply = 'r', replied_at = clock_timestamp(), finished_at = clock_timestamp() WHERE id = $1`, replied.TurnID)
	waiting := h.enqueue(jobs.EnqueueParams{SessionID: session})
	h.exec(`DELETE FROM river_job`)
	dbtest.SetClock(t, h.pool, -time.Hour)
	h.start()
	require.Equal(t, db.TurnStatusFailed, h.ended(turn.TurnID).Status)
	h.summarized(replied.TurnID)
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(waiting.TurnID).Status)
}

// K06: a conversation goes on: the next turn begins when the last one has ended, so that it has a past and readers who
// follow in order miss nothing.
func TestK06ConversationsGoOnAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(3))
	dbtest.SetClock(t, h.pool, 0)
	h.start()
	for range 2 {
		h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
		dbtest.SetClock(t, h.pool, -time.Hour)
	}
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []bool{true, true}, column[bool](h, `SELECT t.started_at >= greatest(p.finished_at, p.summarized_at) AND t.finished_at >= t.started_at
		FROM turns AS t JOIN turns AS p ON p.session_id = t.session_id AND p.number = t.number - 1 ORDER BY t.number`))
}

// K06: turns begin after each other also while the clock is behind, in the order in which they run: readers follow by
// the time, and then by the number, which is lower for one that was overtaken.
func TestK06InterruptedAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(3))
	dbtest.SetClock(t, h.pool, 0)
	h.enqueue(jobs.EnqueueParams{})
	dbtest.SetClock(t, h.pool, -time.Hour)
	overtaken := h.enqueue(jobs.EnqueueParams{})
	urgent := h.enqueue(jobs.EnqueueParams{IfBusy: jobs.IfBusyInterrupt})
	require.True(t, h.cancel(urgent.TurnID))
	require.Equal(t, db.TurnStatusRunning, h.turn(overtaken.TurnID).Status)
	require.Equal(t, []int32{1, 3, 2}, column[int32](h, `SELECT number FROM turns ORDER BY started_at, number`))
}

// K06: turns cancelled while they wait end after the running one has begun, in the order in which they were cancelled,
// and before the next one begins.
func TestK06CancelledInTheQueueAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(5))
	dbtest.SetClock(t, h.pool, 0)
	running := h.enqueue(jobs.EnqueueParams{})
	dbtest.SetClock(t, h.pool, -time.Hour)
	next, second, first := h.enqueue(jobs.EnqueueParams{}), h.enqueue(jobs.EnqueueParams{}), h.enqueue(jobs.EnqueueParams{})
	for _, turn := range []*jobs.Enqueued{first, second, running} {
		require.True(t, h.cancel(turn.TurnID))
	}
	require.Equal(t, db.TurnStatusRunning, h.turn(next.TurnID).Status)
	require.Equal(t, []int32{1, 4, 3, 2}, column[int32](h, `SELECT number FROM turns ORDER BY coalesce(started_at, finished_at), number`))
}
