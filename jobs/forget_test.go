package jobs_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/jobs"
)

// forget deletes the session in the background; the channel receives its error.
func (h *harness) forget() <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := h.pool.Exec(h.t.Context(), `SELECT forget_session($1)`, h.session)
		done <- err
	}()

	return done
}

// awaitLockWait waits until another connection waits for a lock in this test's database.
func (h *harness) awaitLockWait() {
	h.await(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

// A decision holds its turn and then writes rows that reference the session; an answer being stored references both.
func TestForgettingWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()

	for name, statements := range map[string][2]string{
		"decision": {
			`UPDATE turns SET position = position + 1 WHERE id = $1`,
			`INSERT INTO questions (session_id, turn_id, kind, payload) SELECT session_id, id, 'clarify', '{"text": "which?"}' FROM turns WHERE id = $1`,
		},
		"answer": {
			`SELECT FROM sessions WHERE id = (SELECT session_id FROM turns WHERE id = $1) FOR KEY SHARE`,
			`INSERT INTO llm_calls (session_id, turn_id, node, provider, model, request, response)
				SELECT session_id, id, 'think', 'p', 'm', '{}', '{}' FROM turns WHERE id = $1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := setup(t, chat(1))
			turn := h.enqueue(jobs.EnqueueParams{})
			tx, err := h.pool.Begin(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // already done, unless the test failed
			_, err = tx.Exec(t.Context(), statements[0], turn.TurnID)
			require.NoError(t, err)
			forgotten := h.forget()
			h.awaitLockWait()
			_, err = tx.Exec(t.Context(), statements[1], turn.TurnID)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(t.Context()))
			require.NoError(t, <-forgotten)
			require.Equal(t, []int64{0}, column[int64](h, `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM river_job)`))
		})
	}
}

// The model answers after its session is gone: the worker changes nothing and reports no error.
func TestForgottenWhileAModelThinks(t *testing.T) {
	t.Parallel()

	for _, node := range []string{"think", "reply", "summarize"} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()

			h := setup(t, chat(1))
			var log bytes.Buffer // read when the worker has stopped
			h.config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			asked, stopped := make(chan struct{}), make(chan struct{})
			h.model.before = func(ctx context.Context, req *llm.Request) error {
				if req.Node == node {
					close(asked)
					<-ctx.Done()
					close(stopped)
				}

				return nil
			}
			runner, err := jobs.NewRunner(h.config)
			require.NoError(t, err)
			require.NoError(t, runner.Start(t.Context()))
			h.enqueue(jobs.EnqueueParams{})
			<-asked
			require.NoError(t, <-h.forget())
			<-stopped
			require.NoError(t, runner.Stop(t.Context()))
			require.Empty(t, log.String())
		})
	}
}

// A turn that takes back an earlier one holds itself first: whoever forgets the conversation must not wait for it with the other
// in hand.
func TestForgettingWaitsForAnUndo(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	earlier := h.enqueue(jobs.EnqueueParams{})
	require.True(t, h.cancel(earlier.TurnID))
	undo := h.enqueue(jobs.EnqueueParams{})
	tx, err := h.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `UPDATE turns SET position = position + 1 WHERE id = $1`, undo.TurnID)
	require.NoError(t, err)
	forgotten := h.forget()
	h.awaitLockWait()
	_, err = tx.Exec(t.Context(), `UPDATE turns SET undo = 'done' WHERE id = $1`, earlier.TurnID)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-forgotten)
}

// The forks of a conversation lose their parent: whoever deletes it waits for a turn of theirs before it holds anything else.
func TestForgettingWaitsForForks(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	require.True(t, h.cancel(turn.TurnID))
	fork := column[uuid.UUID](h, `SELECT fork_session($1, 1)`, h.session)[0]
	tx, err := h.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SELECT FROM sessions WHERE id = $1 FOR NO KEY UPDATE`, fork)
	require.NoError(t, err)
	forgotten := h.forget()
	h.awaitLockWait()
	_, err = tx.Exec(t.Context(), `SELECT FROM turns WHERE id = $1 FOR NO KEY UPDATE NOWAIT`, turn.TurnID)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-forgotten)
}
