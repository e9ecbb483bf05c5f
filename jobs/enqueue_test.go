package jobs_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/jobs"
)

func TestEnqueueErrors(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	running := h.enqueue(jobs.EnqueueParams{})
	require.Equal(t, 1, running.Number)
	require.Equal(t, db.TurnStatusRunning, running.Status)

	_, err := h.tryEnqueue(jobs.EnqueueParams{SessionID: uuid.New()})
	require.ErrorIs(t, err, jobs.ErrSessionNotFound)

	_, err = h.tryEnqueue(jobs.EnqueueParams{IfBusy: jobs.IfBusyReject})
	var busy *jobs.TurnRunningError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, running.TurnID, busy.TurnID)

	_, err = h.tryEnqueue(jobs.EnqueueParams{Message: strings.Repeat("a", 32*1024+1)})
	require.ErrorIs(t, err, jobs.ErrMessageTooLarge)

	for _, params := range []jobs.EnqueueParams{
		{Message: " \n"}, {Mode: "turbo"}, {IfBusy: "wait"}, {IdempotencyKey: strings.Repeat("k", 256)},
		{Message: "a\x00b"}, {MentionedEntities: []jobs.MentionedEntity{{Label: "a\x00b"}}},
	} {
		_, err = h.tryEnqueue(params)
		var invalid *jobs.InvalidError
		require.ErrorAs(t, err, &invalid)
	}

	h.exec(`UPDATE sessions SET archived_at = now() WHERE id = $1`, h.session)
	_, err = h.tryEnqueue(jobs.EnqueueParams{})
	require.ErrorIs(t, err, jobs.ErrSessionArchived)

	err = pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
		_, err := jobs.CancelTurn(t.Context(), tx, uuid.New())

		return err
	})
	require.ErrorIs(t, err, jobs.ErrTurnNotFound)
}

func TestStartingASessionIsRefusedInWords(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	for _, name := range [][2]string{{"", "title"}, {strings.Repeat("n", 201), "title"}, {"ada", strings.Repeat("t", 201)}, {"a\x00b", "title"}} {
		err := pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
			_, err := jobs.StartSession(t.Context(), tx, name[0], name[1])

			return err
		})
		var invalid *jobs.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.NotContains(t, invalid.Message, "constraint")
	}
}

// A decision that commits while somebody cancels its turn is among what stays.
func TestCancellingTellsOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	tx, err := h.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `UPDATE turns SET position = position + 1 WHERE id = $1`, turn.TurnID)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, entity_type, row_count)
		SELECT id, user_id, 1, call, tool, 'recipe', 2 FROM turns, (VALUES (1, 'db_create'), (2, 'undo')) AS did (call, tool) WHERE id = $1`, turn.TurnID)
	require.NoError(t, err)
	cancelled := make(chan bool)
	go func() { cancelled <- h.cancel(turn.TurnID) }()
	h.awaitLockWait()
	require.NoError(t, tx.Commit(t.Context()))
	require.True(t, <-cancelled)
	require.Equal(t, "You cancelled this request. Done before that, and it stays: saved 2 rows; undid changes to 2 rows.", *h.turn(turn.TurnID).ErrorMessage)
}

func TestEnqueueLimitsWhatWaits(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	for range 21 {
		h.enqueue(jobs.EnqueueParams{})
	}
	_, err := h.tryEnqueue(jobs.EnqueueParams{})
	require.ErrorIs(t, err, jobs.ErrLimit)
}

func TestEnqueueTwiceWithOneKey(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	first := h.enqueue(jobs.EnqueueParams{IdempotencyKey: "k"})
	second := h.enqueue(jobs.EnqueueParams{IdempotencyKey: "k", Message: "other", IfBusy: jobs.IfBusyReject})
	require.False(t, first.Existing)
	require.True(t, second.Existing)
	require.Equal(t, first.TurnID, second.TurnID)
	require.Equal(t, []int64{1}, column[int64](h, `SELECT count(*) FROM turns`))
}

func TestEnqueueInARolledBackTransactionNeverWas(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	undo := errors.New("undo")
	err := pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
		_, err := jobs.EnqueueTurn(t.Context(), tx, jobs.EnqueueParams{SessionID: h.session, Message: "hello"})
		require.NoError(t, err)

		return undo
	})
	require.ErrorIs(t, err, undo)
	require.Equal(t, 1, h.enqueue(jobs.EnqueueParams{}).Number)
}

// Concurrent messages in several sessions get gapless numbers, and no session ever runs two turns.
func TestParallelEnqueuesRunInOrder(t *testing.T) {
	t.Parallel()

	const sessions, messages = 4, 5
	h := setup(t, chat(messages))
	h.start()
	var all sync.WaitGroup
	for range sessions {
		session := h.newSession()
		for range messages {
			all.Go(func() {
				_, err := h.tryEnqueue(jobs.EnqueueParams{SessionID: session})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM turns WHERE summarized_at IS NOT NULL`)[0] == sessions*messages
	}, dbtest.Patience, tick)
	require.Empty(t, column[int32](h, `SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY session_id ORDER BY number) AS n FROM turns) AS x WHERE n <> number`))
	require.Empty(t, column[int32](h, `SELECT a.number FROM turns AS a JOIN turns AS b ON b.session_id = a.session_id AND b.number = a.number + 1 WHERE b.started_at < a.finished_at`))
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM turns WHERE status <> 'succeeded'`))
}

func TestInterruptGoesFirst(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(3))
	running := h.enqueue(jobs.EnqueueParams{})
	waiting := h.enqueue(jobs.EnqueueParams{})
	urgent := h.enqueue(jobs.EnqueueParams{IfBusy: jobs.IfBusyInterrupt})

	require.Equal(t, db.TurnStatusRunning, urgent.Status)
	require.Equal(t, db.TurnStatusCancelled, h.turn(running.TurnID).Status)
	require.Equal(t, db.TurnStatusQueued, h.turn(waiting.TurnID).Status)
	h.start()
	h.summarized(urgent.TurnID)
	h.summarized(waiting.TurnID)
	require.Equal(t, []string{"turn.started", "node.started", "turn.cancelled"}, h.events(running.TurnID))
	require.Equal(t, []int32{3, 2}, column[int32](h, `SELECT number FROM turns WHERE status = 'succeeded' ORDER BY started_at`))
}

// Under a tenant's role, another user's session and turns do not exist.
func TestEnqueueAsTenant(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	owner := column[uuid.UUID](h, `SELECT user_id FROM sessions WHERE id = $1`, h.session)[0]
	stranger := column[uuid.UUID](h, `INSERT INTO users (name) VALUES ('stranger') RETURNING id`)[0]
	as := func(user uuid.UUID, work func(tx pgx.Tx) error) error {
		return pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error { return pg.AsTenant(t.Context(), tx, user, work) })
	}
	params := jobs.EnqueueParams{SessionID: h.session, Message: "hello"}
	enqueue := func(tx pgx.Tx) error {
		_, err := jobs.EnqueueTurn(t.Context(), tx, params)

		return err
	}
	cancel := func(tx pgx.Tx) error {
		_, err := jobs.CancelTurn(t.Context(), tx, turn.TurnID)

		return err
	}
	require.ErrorIs(t, as(stranger, enqueue), jobs.ErrSessionNotFound)
	require.ErrorIs(t, as(stranger, cancel), jobs.ErrTurnNotFound)
	require.NoError(t, as(owner, enqueue))
	require.NoError(t, as(owner, cancel))
}
