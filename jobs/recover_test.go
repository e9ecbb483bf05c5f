package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/jobs"
)

// died makes the turn's job look as if a worker had fetched it and vanished.
func (h *harness) died(turnID uuid.UUID, worker string, beat time.Duration, attempt int) {
	h.t.Helper()

	h.exec(`INSERT INTO workers (id, version, host, beat_at) VALUES ($1, 'v', 'h', clock_timestamp() - $2::interval) ON CONFLICT DO NOTHING`, worker, beat)
	h.exec(`UPDATE river_job SET state = 'running', attempt = $3, attempted_at = now(), attempted_by = ARRAY[$2]
		WHERE args @> jsonb_build_object('turn_id', $1::uuid)`, turnID, worker, attempt)
}

// The killed process had stored its answer but not committed it. The answer is reused, not bought again.
func TestKilledBetweenAnswerAndCommit(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	h.died(turn.TurnID, "alfred-dead", 0, 1)
	h.exec(`INSERT INTO llm_calls (session_id, turn_id, position, node, provider, model, request, response)
		VALUES ($1, $2, 1, 'understand', 'script', 'm', '{}', '{"text": "{\"intent\": \"chat\"}"}')`, h.session, turn.TurnID)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
	require.Equal(t, 0, h.model.count("understand"))
	require.Equal(t, []int64{1}, column[int64](h, `SELECT count(*) FROM llm_calls WHERE node = 'understand'`))
	require.Equal(t, []int64{1}, column[int64](h, `SELECT attempt::bigint FROM llm_calls WHERE node = 'think'`), "it is the answer to no other request")
	require.Equal(t, []string{"discarded", "completed"}, column[string](h, `SELECT state::text FROM river_job WHERE kind = 'understand' ORDER BY id`))
	require.Equal(t, []int64{1}, column[int64](h, `SELECT count(*) FROM node_runs AS n JOIN llm_calls AS c ON c.id = n.llm_call_id WHERE n.node = 'understand'`))
}

// A stopped host keeps its lock, but its lease expires.
func TestStoppedWorkerIsDeadByItsLease(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	conn, err := pgx.ConnectConfig(t.Context(), h.pool.Config().ConnConfig)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended('alfred.worker:alfred-stopped', 0))`)
	require.NoError(t, err)
	turn := h.enqueue(jobs.EnqueueParams{})
	h.died(turn.TurnID, "alfred-stopped", 1500*time.Millisecond, 1)
	h.start()
	time.Sleep(time.Second)
	require.Empty(t, column[int64](h, `SELECT position::bigint FROM node_runs`), "the lease is not over yet")
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// Neither dead workers without jobs, however many, nor a deleted lease delays the takeover of a dead worker's job.
func TestManyDeadWorkers(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	h.exec(`INSERT INTO workers (id, version, host, beat_at) SELECT 'alfred-' || n, 'v', 'h', clock_timestamp() - interval '9 minutes' FROM generate_series(1000, 1300) AS n`)
	first := h.enqueue(jobs.EnqueueParams{})
	h.died(first.TurnID, "alfred-dead", time.Minute, 1)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(first.TurnID).Status)

	second := h.enqueue(jobs.EnqueueParams{})
	h.exec(`UPDATE river_job SET state = 'running', attempted_at = now(), attempted_by = '{alfred-forgotten}' WHERE args @> jsonb_build_object('turn_id', $1::uuid) AND state = 'available'`, second.TurnID)
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(second.TurnID).Status)
}

// A worker's beat deletes workers that died long ago, but never its own row: a host may sleep for longer.
func TestBeatDeletesWorkersDeadForLong(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(0))
	beat := func() []string {
		_, err := db.New().WorkerBeat(t.Context(), h.pool, &db.WorkerBeatParams{ID: "alfred-asleep", Version: "v", Host: "h", HostTime: time.Now()})
		require.NoError(t, err)

		return column[string](h, `SELECT id FROM workers ORDER BY id`)
	}
	beat()
	h.exec(`INSERT INTO workers (id, version, host, beat_at) SELECT 'alfred-' || n, 'v', 'h', clock_timestamp() - make_interval(mins => n) FROM unnest(ARRAY[9, 11]) AS n`)
	h.exec(`UPDATE workers SET beat_at = clock_timestamp() - interval '1 hour' WHERE id = 'alfred-asleep'`)
	require.Equal(t, []string{"alfred-9", "alfred-asleep"}, beat())
}

// A takeover is not the job's fault: a turn survives more of them than its jobs have attempts.
func TestTakeoversSpendNoAttempts(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	h.died(turn.TurnID, "alfred-dead", time.Minute, 6)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
	require.Contains(t, column[string](h, `SELECT concat_ws(' ', attempt, metadata ->> 'takeovers') FROM river_job WHERE kind = 'understand' AND state = 'completed'`), "6 1")
}

// While every worker loses its lease repeatedly, a job waits longer and longer instead of using up its takeovers.
func TestTakeoversPause(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	for takeovers, pause := range []int{0, 0, 0, 1, 2, 4, 8, 16, 30, 30} {
		h.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{dead}' WHERE state = 'available' AND args @> jsonb_build_object('turn_id', $1::uuid)`, turn.TurnID)
		h.exec(`SELECT jobs_supersede('dead', 'declared dead')`)
		require.Equal(t, []int64{int64(pause)}, column[int64](h, `SELECT ceil(extract(epoch FROM greatest(scheduled_at - clock_timestamp(), '0')))::bigint FROM river_job ORDER BY id DESC LIMIT 1`), "takeover %d", takeovers+1)
	}
}

// A job that kills every worker ends its turn, and the next one starts.
func TestSpentTakeoversFailTheTurn(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	first := h.enqueue(jobs.EnqueueParams{})
	second := h.enqueue(jobs.EnqueueParams{})
	h.died(first.TurnID, "alfred-dead", time.Minute, 1)
	h.exec(`UPDATE river_job SET metadata = '{"takeovers": 10}' WHERE args @> jsonb_build_object('turn_id', $1::uuid)`, first.TurnID)
	h.start()
	turn := h.ended(first.TurnID)
	require.Equal(t, db.TurnStatusFailed, turn.Status)
	require.Equal(t, "internal", *turn.ErrorCode)
	require.Equal(t, db.TurnStatusSucceeded, h.ended(second.TurnID).Status)
}

// A turn whose job somebody cancelled by hand fails: otherwise it would never end.
func TestTurnWithoutAJobFails(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	h.exec(`DELETE FROM river_job`)
	h.start()
	require.Equal(t, db.TurnStatusFailed, h.ended(turn.TurnID).Status)
}

// A late report of River completes a job whose decision was not made: the turn goes on, as long as attempts are left.
func TestJobCompletedWithoutItsDecision(t *testing.T) {
	t.Parallel()

	for attempt, want := range map[int]db.TurnStatus{1: db.TurnStatusSucceeded, 6: db.TurnStatusFailed} {
		h := setup(t, chat(1))
		turn := h.enqueue(jobs.EnqueueParams{})
		h.exec(`UPDATE river_job SET state = 'completed', finalized_at = clock_timestamp(), attempt = $1`, attempt)
		h.exec(`UPDATE turns SET started_at = clock_timestamp() - interval '1 minute'`)
		h.start()
		require.Equal(t, want, h.ended(turn.TurnID).Status)
	}
}

func TestSummaryWithoutAJobIsFinished(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	h.exec(`UPDATE turns SET status = 'succeeded', reply = 'r', replied_at = clock_timestamp() - interval '1 minute', finished_at = now() WHERE id = $1`, turn.TurnID)
	h.exec(`DELETE FROM river_job`)
	h.start()
	h.summarized(turn.TurnID)
	require.Equal(t, []string{"r"}, column[string](h, `SELECT response_summary FROM turn_summaries`))
}

// Two deliveries of one decision: one commits, the other changes nothing.
func TestDoubleDelivery(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{Message: "what of @[Soup](recipe:1)?"})
	for range 5 {
		h.exec(`SELECT job_insert('understand', jsonb_build_object('turn_id', $1::uuid, 'position', 1, 'version', 1))`, turn.TurnID)
	}
	h.start()
	h.summarized(turn.TurnID)
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM river_job WHERE state <> 'completed' AND queue = 'turns'`)[0] == 0
	}, dbtest.Patience, tick)
	require.Equal(t, []string{"understand", "think", "reply", "summarize"}, column[string](h, `SELECT node FROM node_runs ORDER BY position`))
	require.Equal(t, 1, h.tools.inputs)
	require.Equal(t, []int64{4}, column[int64](h, `SELECT count(*) FROM river_job WHERE queue = 'turns' AND kind <> 'understand' OR id = 1`))
}

// Load checks the fence: a stale job buys nothing.
func TestStaleJobAsksNoModel(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.exec(`SELECT job_insert('think', jsonb_build_object('turn_id', $1::uuid, 'position', 2, 'version', 1))`, turn.ID)
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM river_job WHERE kind = 'think' AND state = 'completed'`)[0] == 2
	}, dbtest.Patience, tick)
	require.Equal(t, 1, h.model.count("think"))
}

// SIGTERM: what does not finish within the grace period is handed back without losing an attempt.
func TestStopHandsBack(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.Grace = 100 * time.Millisecond
	asked := make(chan struct{})
	var once sync.Once
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		first := false
		once.Do(func() { first = true; close(asked) })
		if first {
			<-ctx.Done()

			return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
		}

		return nil
	}
	runner, err := jobs.NewRunner(h.config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	turn := h.enqueue(jobs.EnqueueParams{})
	<-asked
	require.NoError(t, runner.Stop(t.Context()))
	require.Equal(t, []string{"available 0"}, column[string](h, `SELECT state || ' ' || attempt FROM river_job WHERE queue = 'turns'`))
	require.Empty(t, column[string](h, `SELECT id FROM workers`))

	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
}

// await waits until a count is above zero.
func (h *harness) await(sql string) {
	for began := time.Now(); column[int64](h, sql)[0] == 0; time.Sleep(5 * time.Millisecond) {
		require.Less(h.t, time.Since(began), dbtest.Patience, sql)
	}
}

func TestDeltasAreStreamedAndPruned(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	seen := make(chan int32, 1) // the highest seq while the reply is being written
	failed := false
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node != "reply" {
			return nil
		}
		req.OnDelta("Hello, ")
		h.await(`SELECT count(*) FROM turn_events WHERE type = 'reply.delta'`)
		if !failed {
			failed = true

			return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: context.DeadlineExceeded}
		}
		h.await(`SELECT count(*) FROM turn_events WHERE type = 'reply.reset'`)
		seen <- column[int32](h, `SELECT max(seq) FROM turn_events`)[0]

		return nil
	}
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	last := <-seen
	h.summarized(turn.TurnID)
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM turn_events WHERE type IN ('reply.delta', 'reply.reset')`))
	require.Greater(t, column[int32](h, `SELECT seq FROM turn_events WHERE type = 'reply'`)[0], last, "a pruned event's number is not given again: its readers are past it")
}

// The words of a step's first decision are taken back when the second one begins to speak.
func TestLaterDecisionTakesEarlierWordsBack(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(`think: {goal: draft, decision: plan, steps: [{type: generate, subdomain: recipes, description: draft it}]}`, readCall, completed))
	h.prompts.introduces = true
	var resets []int64
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "act" {
			req.OnDelta("Let me look. ")
			h.await(fmt.Sprintf(`SELECT greatest(count(*) - %d, 0) FROM turn_events WHERE type = 'reply.delta'`, len(resets)))
			resets = append(resets, column[int64](h, `SELECT count(*) FROM turn_events WHERE type = 'reply.reset'`)...)
		}

		return nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []int64{0, 1}, resets)
}

// What a stopped reply had said stays with its turn, without what was taken back before.
func TestAStoppedReplyKeepsWhatItSaid(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	failed, said := false, make(chan struct{})
	h.model.before = func(ctx context.Context, req *llm.Request) error {
		if req.Node != "reply" {
			return nil
		}
		if !failed {
			failed = true
			req.OnDelta("Forget this. ")
			h.await(`SELECT count(*) FROM turn_events WHERE type = 'reply.delta'`)

			return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: context.DeadlineExceeded}
		}
		req.OnDelta("Hello, ")
		req.OnDelta("Ada. ")
		close(said)
		<-ctx.Done()

		return ctx.Err()
	}
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{}).TurnID
	<-said
	h.await(`SELECT count(*) FROM turn_events WHERE type = 'reply.delta' AND data ->> 'text' LIKE '%Ada.%'`)
	require.True(t, h.cancel(turn))
	h.ended(turn)
	require.Equal(t, []string{"Hello, Ada."}, column[string](h, `SELECT trim(said) FROM turns`))
}

func TestOlderTurnsAreCompressed(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(8))
	h.start()
	for range 8 {
		h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	}
	h.exec(`SELECT job_insert('compress', jsonb_build_object('session_id', $1::uuid, 'from_turn', 1, 'to_turn', 5), 'background') FROM generate_series(1, 3)`, h.session)
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM river_job WHERE kind = 'compress' AND state <> 'completed'`)[0] == 0
	}, dbtest.Patience, tick)
	require.Equal(t, []string{"conversation 1-4", "conversation 1-5", "narrative 1-4", "narrative 1-5"},
		column[string](h, `SELECT kind || ' ' || from_turn || '-' || to_turn FROM history_summaries ORDER BY 1`))
}

// A job makes no decision but the one the turn waits for, and none of a turn that has ended.
func TestJobThatTheTurnDoesNotWaitForAsksNoModel(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]string{
		"Cancelled": `UPDATE turns SET status = 'cancelled', finished_at = now() WHERE id = $1`,
		"MovedOn":   `UPDATE turns SET position = 7 WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, chat(1))
			turn := h.enqueue(jobs.EnqueueParams{})
			h.exec(change, turn.TurnID)
			h.start()
			require.Eventually(t, func() bool { return slices.Contains(h.jobs(), "understand 1 completed 1") }, dbtest.Patience, tick)
			require.Zero(t, h.model.count("understand"))
		})
	}
}

// A job of another version waits for a worker that knows it.
func TestJobOfAnotherVersionWaits(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{})
	h.exec(`UPDATE river_job SET args = args || '{"version": 2}'`)
	h.start()
	h.await(`SELECT count(*) FROM river_job WHERE kind = 'understand' AND (metadata ->> 'snoozes')::int > 0`)
	require.Zero(t, h.model.count("understand"))
	h.exec(`UPDATE river_job SET args = args || '{"version": 1}'`)
	require.Equal(t, db.TurnStatusSucceeded, h.ended(turn.TurnID).Status)
}

// The process died before a repair: an answer is played for the request that it answered, and for no other.
func TestKilledBeforeARepair(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {raw: "Sure!", repairs: [{intent: chat}]}, think: {goal: g, decision: plan, steps: []}, reply: hello}]`)
	turn := h.enqueue(jobs.EnqueueParams{})
	h.died(turn.TurnID, "alfred-dead", time.Minute, 1)
	h.exec(`INSERT INTO llm_calls (session_id, turn_id, position, node, provider, model, request, response)
		VALUES ($1, $2, 1, 'understand', 'script', 'm', '{}', '{"text": "Sure!"}')`, h.session, turn.TurnID)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(turn.TurnID).Status)
	require.Equal(t, 1, h.model.count("understand"))
}

// A compression whose worker was declared dead plays what that one bought.
func TestCompressionIsBoughtOnce(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	const insert = `INSERT INTO river_job (kind, args, queue, max_attempts, priority, metadata) VALUES ('compress', jsonb_build_object('session_id', $1::uuid, 'from_turn', 1, 'to_turn', 1), 'background', 6, 1, $2::jsonb)`
	h.exec(insert, h.session, `{}`)
	h.await(`SELECT count(*) FROM history_summaries`)
	h.exec(insert, h.session, `{"takeovers": 1}`)
	h.await(`SELECT count(*) FROM river_job WHERE kind = 'compress' AND state = 'completed' AND metadata ? 'takeovers'`)
	require.Equal(t, 1, h.model.count("compress"))
}
