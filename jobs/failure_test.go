package jobs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/jobs"
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
	}, wait, wait/200)
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
	}, wait, wait/200)
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
	}, wait, wait/200)
	skew := column[float64](h, `SELECT extract(epoch FROM clock_skew)::float8 FROM workers`)
	require.InDelta(t, time.Hour.Seconds(), skew[0], time.Minute.Seconds())
}
