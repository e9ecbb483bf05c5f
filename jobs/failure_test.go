package jobs_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/registry"
)

func TestCancelStopsTheRunAndStartsTheNext(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	asked, stopped := make(chan struct{}), make(chan struct{})
	var once, last sync.Once
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node == "think" && req.Turn == 1 {
			once.Do(func() { close(asked) })
			<-ctx.Done()
			last.Do(func() { close(stopped) })

			return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
		}

		return nil
	}
	h.start()
	first := h.enqueue(jobs.EnqueueParams{})
	second := h.enqueue(jobs.EnqueueParams{})
	<-asked
	require.True(t, h.cancel(first.TurnID))
	require.False(t, h.cancel(first.TurnID))
	<-stopped
	h.summarized(second.TurnID)

	turn := h.turn(first.TurnID)
	require.Equal(t, db.TurnStatusCancelled, turn.Status)
	require.Equal(t, "cancelled", *turn.ErrorCode)
	require.Equal(t, []string{"turn.started", "node.started", "node.finished", "node.started", "turn.cancelled"}, h.events(first.TurnID))
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM river_job WHERE state = 'cancelled' AND args @> jsonb_build_object('turn_id', $1::uuid)`, first.TurnID)[0] == 1
	}, dbtest.Patience, tick)
}

// Once the reply is committed, cancelling changes nothing and the turn never becomes failed.
func TestCancelAfterTheReplyIsNothing(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	h.ended(turn.TurnID)
	require.False(t, h.cancel(turn.TurnID))
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

func TestPermanentErrorFailsTheTurn(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {error: {kind: auth}}}, {understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}]`)
	h.start()
	first := h.enqueue(jobs.EnqueueParams{})
	second := h.enqueue(jobs.EnqueueParams{})
	turn := h.ended(first.TurnID)

	require.Equal(t, db.TurnStatusFailed, turn.Status)
	require.Equal(t, "model_auth", *turn.ErrorCode)
	require.NotEmpty(t, *turn.ErrorMessage)
	require.Equal(t, []string{"turn.started", "node.started", "turn.failed"}, h.events(turn.ID))
	require.Equal(t, []string{"auth"}, column[string](h, `SELECT error_code FROM llm_calls WHERE turn_id = $1`, turn.ID))
	require.Equal(t, db.TurnStatusSucceeded, h.ended(second.TurnID).Status)
	require.Eventually(t, func() bool {
		return column[string](h, `SELECT state::text FROM river_job WHERE kind = 'understand' AND args @> jsonb_build_object('turn_id', $1::uuid)`, turn.ID)[0] == "cancelled"
	}, dbtest.Patience, tick)
}

func TestScriptWithoutAnEntryFailsTheTurn(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: []`)
	h.start()
	turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, "script_exhausted", *turn.ErrorCode)
}

func TestTransientErrorIsTriedAgain(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat, error: {kind: overloaded, times: 1}}, think: {goal: g, decision: plan, steps: [], error: {kind: rate_limit, retry_after: 200ms, times: 1}}, reply: hello}]`)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	require.Equal(t, []int64{2}, column[int64](h, `SELECT count(*) FROM llm_calls WHERE node = 'understand'`))
	require.Equal(t, []int16{2}, column[int16](h, `SELECT attempt FROM river_job WHERE kind = 'understand'`))
	require.Equal(t, []int16{1}, column[int16](h, `SELECT attempt FROM river_job WHERE kind = 'think'`), "a pause that the provider asked for is no attempt")
}

// If the reply's model is unreachable, only the wording is lost, not the turn.
func TestReplyWithoutAModelIsMadeFromFacts(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: {text: never, error: {kind: refusal}}, summarize: {error: {kind: overloaded}}}]`)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	require.Equal(t, "reply from facts", *turn.Reply)
	require.Equal(t, []string{"none"}, column[string](h, `SELECT model FROM turn_summaries WHERE turn_id = $1`, turn.ID))
	require.Equal(t, []string{"summary from facts"}, column[string](h, `SELECT response_summary FROM turn_summaries WHERE turn_id = $1`, turn.ID))
}

func TestPanicFailsTheTurnAndNotTheWorker(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	h.prompts.panics = true
	h.start()
	turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, "internal", *turn.ErrorCode)

	h.prompts.mu.Lock()
	h.prompts.panics = false
	h.prompts.mu.Unlock()
	require.Equal(t, db.TurnStatusSucceeded, h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
}

// The next turn waits for the last summary, but not longer than 3 s; the late summary still improves on the facts.
func TestNextTurnWaitsThreeSecondsForASummary(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	h := setup(t, chat(2))
	release := make(chan struct{})
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node == "summarize" && req.Turn == 1 {
			<-release
		}

		return nil
	}
	h.start()
	first := h.enqueue(jobs.EnqueueParams{})
	second := h.enqueue(jobs.EnqueueParams{})
	replied := h.ended(first.TurnID)
	next := h.ended(second.TurnID)
	waited := next.StartedAt.Sub(*replied.RepliedAt)
	require.GreaterOrEqual(t, waited, 3*time.Second)
	require.Less(t, waited, 6*time.Second)
	require.Equal(t, []string{"none"}, column[string](h, `SELECT model FROM turn_summaries WHERE turn_id = $1`, first.TurnID))

	close(release)
	h.summarized(first.TurnID)
	require.Equal(t, []string{"greeted"}, column[string](h, `SELECT response_summary FROM turn_summaries WHERE turn_id = $1`, first.TurnID))
}

// K06: a worker whose machine is an hour ahead reports it, and jobs are due by the database's clock.
func TestK06SkewIsRecorded(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {error: {kind: overloaded}}}]`)
	h.config.Wall = func() time.Time { return time.Now().Add(time.Hour) }
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	require.Eventually(t, func() bool {
		return len(column[int64](h, `SELECT id FROM river_job WHERE args @> jsonb_build_object('turn_id', $1::uuid) AND attempt >= 1
			AND scheduled_at BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute'`, turn.TurnID)) == 1
	}, dbtest.Patience, tick)
	skew := column[float64](h, `SELECT extract(epoch FROM clock_skew)::float8 FROM workers`)
	require.InDelta(t, time.Hour.Seconds(), skew[0], time.Minute.Seconds())
}

// Cancelling a turn stops only its own run.
func TestCancelLeavesOtherTurnsAlone(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	both, release := make(chan struct{}, 2), make(chan struct{})
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node != "think" {
			return nil
		}
		both <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h.start()
	first, other := h.enqueue(jobs.EnqueueParams{}), h.enqueue(jobs.EnqueueParams{SessionID: h.newSession()})
	<-both
	<-both
	require.True(t, h.cancel(first.TurnID))
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM river_job WHERE state = 'cancelled'`)[0] == 1
	}, dbtest.Patience, tick)
	close(release)
	require.Equal(t, db.TurnStatusSucceeded, h.ended(other.TurnID).Status)
	require.Equal(t, []int16{1}, column[int16](h, `SELECT attempt FROM river_job WHERE kind = 'think' AND args @> jsonb_build_object('turn_id', $1::uuid)`, other.TurnID))
}

// A turn that is cancelled while its decision is being written ends like one that was being asked for.
func TestCancelDuringACommit(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planRead, readCall, completed))
	writing := make(chan struct{})
	h.tools.execute = func(ctx context.Context, _ pgx.Tx, _ registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		close(writing)
		<-ctx.Done()

		return crud.Outcome{}, ctx.Err()
	}
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	<-writing
	h.exec(`SELECT pg_notify('alfred_cancel', $1)`, turn.TurnID.String()) // the commit holds the turn, and cancelling would wait for it
	require.Eventually(t, func() bool {
		return slices.Contains(h.jobs(), "act 3 cancelled 1")
	}, dbtest.Patience, tick)
}

// The failure of a decision that somebody else has made does not fail the turn.
func TestLateFailureIsNotTheTurns(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	failed := make(chan struct{})
	var first atomic.Bool
	h.model.before = func(_ context.Context, req *llm.Request) error {
		switch {
		case req.Node == "think" && !first.Swap(true):
			h.exec(`SELECT jobs_supersede(attempted_by[1], 'declared dead') FROM river_job WHERE kind = 'think' AND state = 'running'`)
			h.await(`SELECT count(*) FROM node_runs WHERE node = 'think'`)
			defer time.AfterFunc(200*time.Millisecond, func() { close(failed) })

			return &llm.Error{Kind: llm.KindAuth, Provider: "script"}
		case req.Node == "reply":
			<-failed
		}

		return nil
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
}

// Whoever ends a turn locks its session first: while it waits for that, it does not hold the turn.
func TestEndingATurnWaitsForTheSessionFirst(t *testing.T) {
	t.Parallel()

	for node, ends := range map[string]error{"understand": &llm.Error{Kind: llm.KindAuth, Provider: "script"}, "summarize": nil} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			h := setup(t, chat(1))
			tx, err := h.pool.Begin(t.Context())
			require.NoError(t, err)
			defer tx.Rollback(t.Context())
			h.once(node, func(context.Context) error {
				_, err := tx.Exec(t.Context(), `SELECT FROM sessions WHERE id = $1 FOR NO KEY UPDATE`, h.session)

				return cmp.Or(err, ends)
			})
			turn := h.enqueue(jobs.EnqueueParams{})
			h.start()
			h.await(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
			_, err = tx.Exec(t.Context(), `SELECT FROM turns WHERE id = $1 FOR NO KEY UPDATE NOWAIT`, turn.TurnID)
			require.NoError(t, err)
			require.NoError(t, tx.Rollback(t.Context()))
			h.ended(turn.TurnID)
		})
	}
}

// failOnce makes the first change of a table that meets the condition fail with this SQLSTATE.
func (h *harness) failOnce(table, on, when, code string) {
	h.t.Helper()

	h.exec(`CREATE SEQUENCE public.failures`)
	h.exec(`CREATE FUNCTION public.fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('public.failures') = 1 THEN RAISE 'not now' USING ERRCODE = '` + code + `'; END IF; RETURN NEW; END $$`)
	h.exec(`CREATE CONSTRAINT TRIGGER fail_once AFTER ` + on + ` ON ` + table + ` DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (` + when + `) EXECUTE FUNCTION public.fail_once()`)
}

// A turn that cannot be failed at the moment fails later, with what was wrong.
func TestFailureThatIsNotWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {error: {kind: auth}}}]`)
	h.failOnce("turns", "UPDATE", "NEW.status = 'failed'", "P0001")
	h.start()
	require.Equal(t, "model_auth", *h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).ErrorCode)
	require.Equal(t, []int64{2}, column[int64](h, `SELECT last_value FROM public.failures`))
}

// A summary that can never be made is replaced by one from facts at once.
func TestImpossibleSummaryIsMadeFromFacts(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.prompts.unsummed.Store(true)
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	require.Eventually(t, func() bool { return slices.Contains(h.jobs(), "summarize 4 cancelled 3") }, dbtest.Patience, tick)
	require.NotNil(t, h.turn(turn.TurnID).SummarizedAt)
}

// hears returns the notifications of a channel.
func (h *harness) hears(channel string) func(text string) {
	h.t.Helper()

	conn, err := pgx.ConnectConfig(h.t.Context(), h.pool.Config().ConnConfig)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, conn.Close(context.Background())) })
	_, err = conn.Exec(h.t.Context(), "LISTEN "+pgx.Identifier{channel}.Sanitize())
	require.NoError(h.t, err)

	return func(text string) {
		h.t.Helper()
		ctx, cancel := context.WithTimeout(h.t.Context(), dbtest.Patience)
		defer cancel()
		for {
			heard, err := conn.WaitForNotification(ctx)
			require.NoError(h.t, err)
			if strings.Contains(heard.Payload, text) {
				return
			}
		}
	}
}

// However a turn goes on or ends, those who follow it are told.
func TestFollowersAreTold(t *testing.T) {
	t.Parallel()

	for name, begin := range map[string]func(h *harness, turn *jobs.Enqueued){
		"Committed": func(*harness, *jobs.Enqueued) {},
		"Failed": func(h *harness, _ *jobs.Enqueued) {
			h.once("understand", func(context.Context) error { return &llm.Error{Kind: llm.KindAuth, Provider: "script"} })
		},
		"Abandoned": func(h *harness, _ *jobs.Enqueued) { h.exec(`DELETE FROM river_job`) },
		"SummarizedLate": func(h *harness, turn *jobs.Enqueued) {
			h.exec(`UPDATE turns SET status = 'succeeded', reply = 'r', replied_at = clock_timestamp() - interval '1 minute', finished_at = now() WHERE id = $1`, turn.TurnID)
			h.exec(`DELETE FROM river_job`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, chat(1))
			turn := h.enqueue(jobs.EnqueueParams{})
			begin(h, turn)
			told := h.hears(pg.Channel)
			h.start()
			told(turn.TurnID.String())
		})
	}
}

// A call that could not be recorded because of the database's state is recorded a moment later.
func TestCallIsRecordedInTheEnd(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.failOnce("llm_calls", "INSERT", "NEW.error_code = 'overloaded'", "40001")
	h.once("think", func(context.Context) error { return &llm.Error{Kind: llm.KindOverloaded, Provider: "script"} })
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"overloaded", "none"}, column[string](h, `SELECT coalesce(error_code, 'none') FROM llm_calls WHERE node = 'think' ORDER BY id`))
	require.Equal(t, []int64{2}, column[int64](h, `SELECT last_value FROM public.failures`))
}

// While a turn is tried again and again, v_queue tells the operator who tries and what is wrong, and its user neither.
func TestWhyATurnIsTriedAgain(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "think" {
			return &llm.Error{Kind: llm.KindOverloaded, Provider: "script"}
		}

		return nil
	}
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	const why = `SELECT concat_ws(' ', attempt > 0, attempted_at IS NOT NULL, worker IN (SELECT id FROM workers), error) FROM v_queue WHERE turn_id = $1 AND kind = 'think'`
	require.Eventually(t, func() bool {
		got := column[string](h, why+` AND state <> 'running'`, turn.TurnID)

		return len(got) == 1 && strings.HasPrefix(got[0], "t t t ") && strings.Contains(got[0], "overloaded")
	}, dbtest.Patience, tick)

	tx, err := h.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SELECT set_config('alfred.user_id', user_id::text, true), set_config('role', 'alfred_tenant', true) FROM turns WHERE id = $1`, turn.TurnID)
	require.NoError(t, err)
	var told string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT concat_ws(' ', attempted_at IS NOT NULL, worker, error) FROM v_queue WHERE turn_id = $1`, turn.TurnID).Scan(&told))
	require.Equal(t, "t", told)
}
