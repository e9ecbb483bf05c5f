package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/prompt"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/registry"
)

// planned holds a plan whose only step is written out.
const planned = `turns:
  - understand: {intent: explore}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes, calls: [{tool: db_read, table: recipes}]}]}
    act: [{calls: [{tool: step_complete, args: {summary: read}}]}]
    reply: There.
`

// together lists the decisions of each transaction, recognized by the one that completed their jobs.
func (h *harness) together() []string {
	return column[string](h, `SELECT string_agg(n.node, ' ' ORDER BY n.position) FROM node_runs AS n JOIN river_job AS j ON j.id = n.river_job_id
		GROUP BY j.xmin::text ORDER BY min(n.position)`)
}

// withPrompts uses the prompts that ask Understand and Think in one call.
func (h *harness) withPrompts() {
	h.config.Prompts = prompt.New(h.config.Domain, prompt.DefaultConfig())
}

// The decisions of one answer, and those that code makes from it, are one transaction; each has its own job, row,
// position and events.
func TestDecisionsOfOneAnswerCommitTogether(t *testing.T) {
	t.Parallel()

	h := setup(t, planned)
	h.withPrompts()
	runner := h.startRunner()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, []string{"understand think act", "reply summarize"}, h.together())
	require.Equal(t, []string{"understand 1 completed 1", "think 2 completed 1", "act 3 completed 1", "reply 4 completed 1", "summarize 5 completed 1"}, h.jobs())
	require.Equal(t, []string{runner.ID()}, column[string](h, `SELECT DISTINCT unnest(attempted_by) FROM river_job WHERE queue = 'turns'`))
	require.Equal(t, []int64{5}, column[int64](h, `SELECT count(*) FROM node_runs AS n JOIN river_job AS j ON j.id = n.river_job_id AND j.kind = n.node WHERE n.turn_id = $1`, turn.ID))
	require.Equal(t, []string{
		"turn.started", "node.started", "node.finished", "node.started", "plan", "node.finished", "step.started", "node.started", "tool.called", "step.finished",
		"node.finished", "node.started", "node.finished", "reply", "turn.finished",
	}, sortedOut(h.events(turn.ID)))
	require.Equal(t, 1, h.model.count("understand"))
	require.Zero(t, h.model.count("think")+h.model.count("act"))
}

// sortedOut leaves out the pieces of the reply.
func sortedOut(types []string) []string {
	var kept []string
	for _, one := range types {
		if one != "reply.delta" {
			kept = append(kept, one)
		}
	}

	return kept
}

// A call that fails ends what is committed together: Act has to decide.
func TestFailedCallEndsTheBundle(t *testing.T) {
	t.Parallel()

	h := setup(t, planned)
	h.withPrompts()
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, ErrorCode: crud.CodeNotFound, ErrorMessage: "no such table"}}}, nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand think act", "act", "reply summarize"}, h.together())
	require.Equal(t, 1, h.model.count("act"))
}

// Nothing is committed if a later decision cannot be written. The retry buys no second answer and commits the first
// decision alone.
func TestBundleIsCommittedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()

	h := setup(t, planned)
	h.withPrompts()
	var runs [][]string
	h.tools.execute = func(ctx context.Context, _ pgx.Tx, _ registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		rows, err := h.pool.Query(ctx, `SELECT node FROM node_runs ORDER BY position`) // by another connection
		if err != nil {
			return crud.Outcome{}, err
		}
		seen, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if runs = append(runs, seen); err != nil || len(runs) == 1 {
			return crud.Outcome{}, errors.New("the connection broke")
		}

		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, EntityType: "recipe", RowCount: 2, Told: "found 2 recipes"}}}, nil
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, [][]string{{}, {"understand"}}, runs)
	require.Equal(t, []string{"understand", "think act", "reply summarize"}, h.together())
	require.Contains(t, h.jobs(), "understand 1 completed 2")
	require.Equal(t, 1, h.model.count("understand"))
}

// A question needs no model to be asked: it is committed with the decision that raises it.
func TestQuestionIsCommittedWithItsDecision(t *testing.T) {
	t.Parallel()

	h := setup(t, "turns: [{understand: {intent: explore, clarification: {questions: [Which one?]}}}]")
	h.withPrompts()
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, "Which one?", *turn.Reply)
	require.Equal(t, []string{"understand reply summarize"}, h.together())
}

// A reply ends the turn and must lock the session, which comes before the turn in the order of locks: while somebody
// else holds it, the reply is left to a transaction of its own.
func TestBundleDoesNotWaitForTheSession(t *testing.T) {
	t.Parallel()

	h := setup(t, "turns: [{understand: {intent: explore, clarification: {questions: [Which one?]}}}]")
	h.withPrompts()
	var holding atomic.Pointer[pgx.Tx]
	h.once("understand", func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx) // it goes on when the answer is there
		tx, err := h.pool.Begin(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, `SELECT FROM sessions WHERE id = $1 FOR NO KEY UPDATE`, h.session)
			holding.Store(&tx)
		}

		return err
	})
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	require.Eventually(t, func() bool { return h.turn(turn.TurnID).Position == 2 }, dbtest.Patience, tick/5)
	require.NoError(t, (*holding.Load()).Rollback(t.Context()))
	h.summarized(turn.TurnID)
	require.Equal(t, []string{"understand", "reply summarize"}, h.together())
}

// A pause that a bundle caused is no reason to make the same one again: the first decision is committed alone.
func TestBundleThatPausedIsTakenApart(t *testing.T) {
	t.Parallel()

	h := setup(t, planned)
	h.withPrompts()
	failed := false
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		if !failed {
			failed = true

			return crud.Outcome{}, &pgconn.PgError{Code: "40P01"}
		}

		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, EntityType: "recipe", RowCount: 2, Told: "found 2 recipes"}}}, nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand", "think act", "reply summarize"}, h.together())
	require.Contains(t, h.jobs(), "understand 1 completed 1")
}

// If somebody else has written what the view shows, the next decision loads it, which takes a transaction of its own.
func TestBundleEndsWhereOthersHaveWritten(t *testing.T) {
	t.Parallel()

	h := setup(t, planned)
	h.withPrompts()
	h.once("understand", func(context.Context) error {
		h.exec(`UPDATE sessions SET version = version + 1 WHERE id = $1`, h.session)

		return nil
	})
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand", "think act", "reply summarize"}, h.together())
	require.Contains(t, h.jobs(), "understand 1 completed 1")
}

// A search waits for an embedder, and no transaction waits for that.
func TestBundleEndsBeforeASearch(t *testing.T) {
	t.Parallel()

	h := setup(t, strings.Replace(planned, "table: recipes}]", "table: recipes, filters: [{field: _semantic, op: similar, value: a soup}]}]", 1))
	h.withPrompts()
	h.tools.prepare = func(context.Context) error { return nil }
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"understand think", "act", "reply summarize"}, h.together())
}

// The next message's turn is started with the summary, and idle workers hear of it.
func TestTheNextTurnsWorkersAreWoken(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	woken, second := h.hears("alfred.river_insert"), make(chan struct{})
	h.once("summarize", func(context.Context) error {
		<-second

		return nil
	})
	h.enqueue(jobs.EnqueueParams{})
	woken("turns")
	h.start()
	next := h.enqueue(jobs.EnqueueParams{})
	close(second)
	woken("turns")
	h.ended(next.TurnID)
}
