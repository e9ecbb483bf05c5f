package jobs_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/registry"
)

// once makes something happen at a node's first request.
func (h *harness) once(node string, what func(ctx context.Context) error) {
	var met atomic.Bool
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node != node || met.Swap(true) {
			return nil
		}

		return what(ctx)
	}
}

// jobs returns the rows of river_job for the turn's nodes, in order.
func (h *harness) jobs() []string {
	return column[string](h, `SELECT concat_ws(' ', kind, args ->> 'position', state, attempt) FROM river_job WHERE queue = 'turns' ORDER BY id`)
}

// One row per node, all by one worker, without waiting in between.
func TestTurnIsHandedOn(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	runner := h.startRunner()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand 1 completed 1", "think 2 completed 1", "reply 3 completed 1", "summarize 4 completed 1"}, h.jobs())
	require.Equal(t, []string{runner.ID()}, column[string](h, `SELECT DISTINCT unnest(attempted_by) FROM river_job WHERE queue = 'turns'`))
	require.Equal(t, []int64{4}, column[int64](h, `SELECT count(*) FROM node_runs AS n JOIN river_job AS j ON j.id = n.river_job_id AND j.kind = n.node WHERE n.turn_id = $1`, turn.ID))
}

// A failing node goes back to the queue by itself: those before it are done.
func TestHandedOnJobIsRetried(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.once("think", func(context.Context) error { return &llm.Error{Kind: llm.KindOverloaded, Provider: "script"} })
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand 1 completed 1", "think 2 completed 2", "reply 3 completed 1", "summarize 4 completed 1"}, h.jobs())
	require.Equal(t, []int64{1}, column[int64](h, `SELECT cardinality(errors)::bigint FROM river_job WHERE kind = 'think'
		AND scheduled_at - (errors[1] ->> 'at')::timestamptz BETWEEN interval '0.4 s' AND interval '0.6 s'`))
}

// A provider's requested pause is a snooze, not an attempt.
func TestHandedOnJobIsSnoozed(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.once("think", func(context.Context) error {
		return &llm.Error{Kind: llm.KindRateLimit, Provider: "script", RetryAfter: 400 * time.Millisecond}
	})
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Contains(t, h.jobs(), "think 2 completed 1")
	require.Equal(t, []string{"1"}, column[string](h, `SELECT metadata ->> 'snoozes' FROM river_job WHERE kind = 'think' AND scheduled_at - created_at > interval '0.4 s'`))
}

func TestHandedOnJobPanics(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.once("think", func(context.Context) error { panic("boom") })
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Contains(t, h.jobs(), "think 2 completed 2")
}

// On SIGTERM the worker stops after the current decision; another worker continues.
func TestStopBetweenTwoDecisions(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	asked, stopping := make(chan struct{}), make(chan struct{})
	h.once("understand", func(context.Context) error {
		close(asked)
		<-stopping

		return nil
	})
	runner, err := jobs.NewRunner(h.config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	turn := h.enqueue(jobs.EnqueueParams{})
	<-asked
	woken := h.hears("alfred.river_insert")
	stopped := make(chan error, 1)
	go func() { stopped <- runner.Stop(context.WithoutCancel(t.Context())) }()
	require.Eventually(t, runner.Stopping, dbtest.Patience, tick)
	close(stopping)
	require.NoError(t, <-stopped)
	require.Equal(t, []string{"understand 1 completed 1", "think 2 available 0"}, h.jobs())
	woken("turns")

	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// A later node that outlives the grace period is handed back without losing an attempt.
func TestStopHandsBackAHandedOnJob(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.Grace = 100 * time.Millisecond
	asked := make(chan struct{})
	h.once("think", func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()

		return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
	})
	runner, err := jobs.NewRunner(h.config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	turn := h.enqueue(jobs.EnqueueParams{})
	<-asked
	require.NoError(t, runner.Stop(t.Context()))
	require.Equal(t, []string{"understand 1 completed 1", "think 2 available 0"}, h.jobs())

	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// The user's other turns hear of what a worker writes while it stops.
func TestStoppingWorkerTellsOfItsChanges(t *testing.T) {
	t.Parallel()

	h := setup(t, readOnce)
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		changed := crud.Result{Call: 1, Tool: vocab.ToolUpdate, EntityType: "recipe", RowCount: 1, Changes: []crud.Change{{}}}

		return crud.Outcome{Results: []crud.Result{changed}}, nil
	}
	runner, err := jobs.NewRunner(h.config)
	require.NoError(t, err)
	asked := make(chan struct{})
	h.once("act", func(context.Context) error {
		close(asked)
		for !runner.Stopping() {
			runtime.Gosched()
		}

		return nil
	})
	require.NoError(t, runner.Start(t.Context()))
	h.enqueue(jobs.EnqueueParams{})
	<-asked
	require.NoError(t, runner.Stop(t.Context()))

	require.Equal(t, []int64{1}, column[int64](h, `SELECT u.version FROM users AS u JOIN sessions AS s ON s.user_id = u.id WHERE s.id = $1`, h.session))
}

// A worker whose job was taken over commits nothing of it, even if the fence would let it.
func TestTakenOverJobIsRefused(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.once("think", func(context.Context) error {
		h.exec(`SELECT jobs_supersede(attempted_by[1], 'declared dead') FROM river_job WHERE kind = 'think' AND state = 'running'`)

		return nil
	})
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, []string{"understand 1 completed 1", "think 2 discarded 1", "think 2 completed 1", "reply 3 completed 1", "summarize 4 completed 1"}, h.jobs())
}

// Somebody cancels a job unknown to River by hand: its decision is not made, and the turn ends.
func TestHandedOnJobIsCancelledByHand(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.once("think", func(context.Context) error {
		h.exec(`UPDATE river_job SET metadata = metadata || '{"cancel_attempted_at": "now"}' WHERE kind = 'think'`)

		return nil
	})
	h.start()
	require.Equal(t, db.TurnStatusFailed, h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, []string{"understand 1 completed 1", "think 2 cancelled 1"}, h.jobs())
}

// A commit that waits for a lock does not prevent its answer from being stored.
func TestAnswerIsStoredWhileTheCommitWaits(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	locked := make(chan pgx.Tx, 1)
	h.once("think", func(ctx context.Context) error {
		tx, err := h.pool.Begin(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, `SELECT FROM turns FOR NO KEY UPDATE`)
			locked <- tx
		}

		return err
	})
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	blocker := <-locked
	require.Eventually(t, func() bool { return column[int64](h, `SELECT count(*) FROM llm_calls WHERE node = 'think'`)[0] == 1 }, dbtest.Patience, tick)
	require.Empty(t, column[int64](h, `SELECT position::bigint FROM node_runs WHERE node = 'think'`))
	require.NoError(t, blocker.Rollback(t.Context()))
	h.summarized(turn.TurnID)
	require.Equal(t, []int64{1, 1, 1, 1}, column[int64](h, `SELECT count(*) FROM llm_calls GROUP BY node`))
	require.Equal(t, []int64{4}, column[int64](h, `SELECT count(*) FROM context_items`))
}

// A failing commit leaves the answer for the next attempt.
func TestAnswerOutlivesAFailedCommit(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: read}, think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: d}]},
		act: [{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: s}}]}], reply: Done.}]`)
	failed := false
	h.tools.execute = func(ctx context.Context, tx pgx.Tx, _ registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		if !failed {
			failed = true
			_, err := tx.Exec(ctx, `SELECT 1 / 0`)

			return crud.Outcome{}, err
		}

		return crud.Outcome{}, nil
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, 1, h.model.count("act"))
	require.Contains(t, h.jobs(), "act 3 completed 2")
}

// A commit that fails once its answer was sent with it leaves the answer too.
func TestAnswerOutlivesAFailedHandOver(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.failOnce("node_runs", "INSERT", "NEW.node = 'think'", "P0001")
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, 1, h.model.count("think"))
	require.Contains(t, h.jobs(), "think 2 completed 2")
}

// Instructions that a commit has stored are not sent again with the next answer.
func TestSharedPartsAreSentWithTheFirstAnswer(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	h.exec(`CREATE SEQUENCE public.sent`)
	h.exec(`CREATE FUNCTION public.count_sent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('public.sent'); RETURN NEW; END $$`)
	h.exec(`CREATE TRIGGER sent BEFORE INSERT ON prompt_parts_shared FOR EACH ROW EXECUTE FUNCTION public.count_sent()`)
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	first := column[int64](h, `SELECT last_value FROM public.sent`)
	require.Greater(t, first[0], int64(4), "the instructions of each node")
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, first, column[int64](h, `SELECT last_value FROM public.sent`))
}
