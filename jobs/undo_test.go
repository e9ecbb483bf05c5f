package jobs_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/registry"
)

// undo enqueues a turn that undoes another one.
func (h *harness) undo(turn uuid.UUID) uuid.UUID {
	h.t.Helper()

	var made *jobs.Undo
	require.NoError(h.t, pg.InTx(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		var err error
		made, err = jobs.UndoTurn(h.t.Context(), tx, jobs.UndoParams{TurnID: turn})

		return err
	}))

	return made.TurnID
}

// An undo that needs approval is asked about once; a yes carries it out, for the same turn, as agreed.
func TestUndoIsCarriedOutAsApproved(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}, {}, {understand: {intent: confirm, answers_question: true}}]`)
	var asked []crud.Undoing
	h.tools.undo = func(what crud.Undoing) crud.Outcome {
		if asked = append(asked, what); what.Agreed {
			return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolUndo, RowCount: 1}}}
		}

		return crud.Outcome{Approval: &crud.Approval{Text: "Shall I?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: vocab.ToolUndo}, Keys: []string{what.Turn.String()}}}}}
	}
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.exec(`UPDATE turns SET undo = 'possible' WHERE id = $1`, first.ID)
	require.Equal(t, "Shall I?", *h.summarized(h.undo(first.ID)).Reply)
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	require.Contains(t, *h.summarized(h.enqueue(jobs.EnqueueParams{Message: "yes"}).TurnID).Reply, "Took back “hello”")

	require.Equal(t, 1, h.model.count("summarize"), "the first turn's")
	require.Equal(t, []crud.Undoing{{Turn: first.ID, Number: 1, Asked: "“hello”"}, {Turn: first.ID, Number: 1, Asked: "“hello”", Agreed: true}}, asked)
}

// An undo that waits behind one that needs approval is carried out once that is given.
func TestAnUndoThatWaitedForAnApprovalFollowsIt(t *testing.T) {
	t.Parallel()

	hello := `{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}`
	h := setup(t, `turns: [`+hello+`, `+hello+`,
		{understand: {intent: write}, think: {goal: g, decision: plan, steps: [], calls: [{tool: undo}, {tool: undo, filters: [{field: turn, op: "=", value: 1}]}]}},
		{understand: {intent: confirm, answers_question: true}}]`)
	var undone []int
	h.tools.undo = func(what crud.Undoing) crud.Outcome {
		if what.Number == 1 || what.Agreed {
			undone = append(undone, what.Number)

			return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolUndo, RowCount: 1}}}
		}

		return crud.Outcome{Approval: &crud.Approval{Text: "Shall I?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: vocab.ToolUndo}, Keys: []string{what.Turn.String()}}}}}
	}
	h.start()
	for range 2 {
		h.exec(`UPDATE turns SET undo = 'possible' WHERE id = $1`, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).ID)
	}
	require.Equal(t, "Shall I?", *h.summarized(h.enqueue(jobs.EnqueueParams{Message: "undo both"}).TurnID).Reply)
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	got := *h.summarized(h.enqueue(jobs.EnqueueParams{Message: "yes"}).TurnID).Reply
	require.Equal(t, []int{2, 1}, undone)
	require.Contains(t, got, "Took back “hello”")
}

// A turn is taken back once, whatever number a model names. One that cannot be says so once.
func TestUndoneTurnIsNotUndoneAgain(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}, {understand: {intent: write}, think: {goal: g, decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: "1"}]}]}}, {understand: {intent: write}, think: {goal: g, decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: "1"}]}]}}]`)
	h.tools.undo = func(crud.Undoing) crud.Outcome { panic("it is not asked") }
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.exec(`UPDATE turns SET undo = 'done' WHERE id = $1`, first.ID)
	require.Equal(t, "What “hello” wrote has been taken back already.", *h.ended(h.enqueue(jobs.EnqueueParams{Message: "undo turn 1"}).TurnID).Reply)
	h.exec(`UPDATE turns SET undo = 'impossible', undo_reason = 'Cancel order cannot be taken back.' WHERE id = $1`, first.ID)
	require.Equal(t, "Cancel order cannot be taken back. Nothing was changed.", *h.ended(h.enqueue(jobs.EnqueueParams{Message: "undo turn 1"}).TurnID).Reply)
}

// Whoever answers a question that asks for approval by undoing something else has not approved it.
func TestAnUndoInsteadOfAnApprovalApprovesNothing(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello},
		{understand: {intent: write}, think: {goal: g, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete them}]}, act: [{calls: [{tool: db_delete, args: {table: recipes}}]}], reply: Shall I?},
		{understand: {intent: write, answers_question: true}, think: {goal: g, decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: "1"}]}]}}]`)
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		return crud.Outcome{Approval: &crud.Approval{Text: "Delete all?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: vocab.ToolDelete}, EntityType: "recipe", Keys: []string{"x"}}}}}, nil
	}
	var undone []crud.Undoing
	h.tools.undo = func(what crud.Undoing) crud.Outcome {
		undone = append(undone, what)

		return crud.Outcome{}
	}
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.exec(`UPDATE turns SET undo = 'possible' WHERE id = $1`, first.ID)
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"approve"}, column[string](h, `SELECT kind FROM questions WHERE status = 'open'`))
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	require.Contains(t, *h.summarized(h.enqueue(jobs.EnqueueParams{Message: "no, take back the first"}).TurnID).Reply, "Took back “hello”")
	require.Equal(t, []crud.Undoing{{Turn: first.ID, Number: 1, Asked: "“hello”"}}, undone)
}
