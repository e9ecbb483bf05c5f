package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/nodes"
	"alfred/registry"
)

const (
	planRead  = `think: {goal: find, decision: plan, steps: [{type: read, subdomain: recipes, description: find recipes}]}`
	readCall  = `{calls: [{tool: db_read, args: {table: recipes}}]}`
	completed = `{calls: [{tool: step_complete, args: {summary: done}}]}`
)

func actScript(think string, act ...string) string {
	return "turns: [{understand: {intent: write}, " + think + ", act: [" + strings.Join(act, ", ") + "], reply: done}]"
}

func readNumber(n int) string {
	return fmt.Sprintf(`{calls: [{tool: db_read, args: {table: recipes, limit: %d}}]}`, n)
}

func (h *harness) outcomes(turn *db.Turns) []string {
	return column[string](h, `SELECT step || ' ' || step_type || ' ' || outcome FROM turn_steps WHERE turn_id = $1 ORDER BY step`, turn.ID)
}

func TestStepReadsAndCompletes(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planRead, readCall, completed))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read ok"}, h.outcomes(turn))
	require.Equal(t, []string{
		"turn.started", "node.started", "node.finished", "node.started", "plan", "node.finished", "step.started", "node.started",
		"tool.called", "node.finished", "node.started", "step.finished", "node.finished", "node.started", "node.finished", "reply", "turn.finished",
	}, h.events(turn.ID))
	require.Equal(t, []string{"1.1", "1.2"}, column[string](h, `SELECT step || '.' || call FROM node_runs WHERE turn_id = $1 AND node = 'act' ORDER BY position`, turn.ID))
}

// What the database's rules refused is told, and the model's words, which may claim it, are not: the reply heard of
// neither, and said that both were saved.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()

	create := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}, {tool: step_complete, args: {summary: Saved ham and cod}}]}`
	h := setup(t, actScript(saveBoth, create, create))
	answers := []crud.Result{
		{Call: 1, Tool: vocab.ToolCreate, ErrorCode: crud.CodeViolation, ErrorMessage: "No cod before Friday."},
		{Call: 1, Tool: vocab.ToolCreate, EntityType: "recipe", RowCount: 1, Told: "created 1 recipe: Ham (recipe_1)"},
	}
	h.tools.execute = resulting(answers...)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write ok"}, h.outcomes(turn))
	require.Equal(t, []string{"Created 1 recipe: Ham (recipe_1). An earlier attempt was refused: No cod before Friday."}, column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1`, turn.ID))
}

// A column that nobody may write was left out after a refusal, and the reply told that all was done.
func TestWhatMayNotBeWrittenIsTold(t *testing.T) {
	t.Parallel()

	create := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}, {tool: step_complete, args: {summary: Saved}}]}`
	h := setup(t, actScript(saveBoth, create, create, create))
	h.tools.execute = resulting(
		crud.Result{Call: 1, Tool: vocab.ToolCreate, ErrorCode: crud.CodeWrongStep, ErrorMessage: "This step may read tasks, but write only recipes."},
		crud.Result{Call: 1, Tool: vocab.ToolCreate, ErrorCode: crud.CodeNotAllowed, ErrorMessage: "total is computed; write what it is made of, or leave it out."},
		crud.Result{Call: 1, Tool: vocab.ToolCreate, EntityType: "recipe", RowCount: 1, Told: "created 1 recipe: Ham (recipe_1)"},
	)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"Created 1 recipe: Ham (recipe_1). An earlier attempt was refused: total is computed; write what it is made of, or leave it out."},
		column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1`, turn.ID))
}

const saveBoth = `think: {goal: save, decision: plan, steps: [{type: write, subdomain: recipes, description: save both}]}`

// resulting carries out one call after the other with these results.
func resulting(results ...crud.Result) func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
	return func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		result := results[0]
		results = results[1:]

		return crud.Outcome{Results: []crud.Result{result}}, nil
	}
}

// What a write step did is told from its calls: a model that saved the ham noted that it had saved ham and cod, and every later turn
// read so.
func TestWhatWasWrittenIsToldByItsCalls(t *testing.T) {
	t.Parallel()

	create := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}, {tool: step_complete, args: {summary: Saved ham and cod}}]}`
	h := setup(t, actScript(saveBoth, create))
	h.tools.execute = resulting(crud.Result{Call: 1, Tool: vocab.ToolCreate, EntityType: "recipe", RowCount: 1, Told: "created 1 recipe: Ham (recipe_1)"})
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"Created 1 recipe: Ham (recipe_1)."}, column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1`, turn.ID))
}

// A model that finds no way on after a refusal leaves behind what it had done and what was refused: the reply heard that no usable decision
// was made, of a step that had done half.
func TestRefusalsBeforeNoUsableDecisionAreTold(t *testing.T) {
	t.Parallel()

	create, lost := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}]}`, `{raw: Hm, repairs: [{raw: So}, {raw: Well}]}`
	h := setup(t, actScript(saveBoth, create, create, lost))
	answers := []crud.Result{
		{Call: 1, Tool: vocab.ToolCreate, EntityType: "recipe", RowCount: 1, Told: "created 1 recipe: Ham (recipe_1)"},
		{Call: 1, Tool: vocab.ToolCreate, ErrorCode: crud.CodeViolation, ErrorMessage: "No cod before Friday."},
	}
	h.tools.execute = resulting(answers...)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write partial"}, h.outcomes(turn))
	require.Equal(t, []string{"No usable decision was made for this step. It was refused: No cod before Friday. Done: created 1 recipe: Ham (recipe_1). The rest is left."},
		column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1`, turn.ID))
}

// A limit ends the step as partial, with what is done and what is left, and never as a success.
func TestTooManyCallsArePartial(t *testing.T) {
	t.Parallel()

	calls := make([]string, 0, 7)
	for n := range 7 {
		calls = append(calls, readNumber(n+1))
	}
	h := setup(t, actScript(planRead, calls...))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read partial"}, h.outcomes(turn))
	require.Contains(t, column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1`, turn.ID)[0], "Stopped after 6 calls. Done: found 2 recipes")
	require.Equal(t, 7, h.model.count("act"))
}

func TestSameReadTwiceEndsTheStep(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planRead, readCall, `{calls: [{tool: db_read, args: { "table" : recipes }}]}`))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read partial"}, h.outcomes(turn))
	require.Equal(t, 2, h.model.count("act"))
}

const planWrite = `think: {goal: save, decision: plan, steps: [{type: write, subdomain: recipes, description: save it}, {type: write, subdomain: recipes, description: save another}]}`

// What a decision wrote before its failing call is rolled back; the model may repair it, and after two repairs the step
// has failed.
func TestFailingCallsLeaveNothing(t *testing.T) {
	t.Parallel()

	create := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}, {tool: db_create, args: {table: recipes, data: {name: y}}}]}`
	h := setup(t, actScript(planWrite, create, create, create))
	h.exec(`CREATE TABLE public.marks (name text)`)
	h.tools.execute = func(ctx context.Context, tx pgx.Tx, _ registry.Scope, calls []vocab.Call) (crud.Outcome, error) {
		savepoint, err := tx.Begin(ctx)
		if err != nil {
			return crud.Outcome{}, err
		}
		if _, err := savepoint.Exec(ctx, `INSERT INTO public.marks VALUES ('parent')`); err != nil {
			return crud.Outcome{}, err
		}

		return crud.Outcome{Results: []crud.Result{
			{Call: 1, Tool: calls[0].Tool, ErrorCode: crud.CodeNotExecuted, ErrorMessage: "not executed"},
			{Call: 2, Tool: calls[1].Tool, ErrorCode: crud.CodeViolation, ErrorMessage: "the child is wrong"},
		}}, savepoint.Rollback(ctx)
	}
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write failed", "2 write skipped"}, h.outcomes(turn))
	require.Empty(t, column[string](h, `SELECT name FROM public.marks`))
	require.Equal(t, 3, h.model.count("act"))
	require.Contains(t, column[string](h, `SELECT summary FROM turn_steps WHERE turn_id = $1 AND step = 1`, turn.ID)[0], "the child is wrong")
}

// A database error rolls back the whole decision; the job is retried and reuses the answer it has bought.
func TestDatabaseErrorRollsTheDecisionBack(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planRead, readCall, completed))
	h.exec(`CREATE TABLE public.marks (name text)`)
	tries := 0
	h.tools.execute = func(ctx context.Context, tx pgx.Tx, _ registry.Scope, calls []vocab.Call) (crud.Outcome, error) {
		tries++
		if _, err := tx.Exec(ctx, `INSERT INTO public.marks VALUES ('once')`); err != nil {
			return crud.Outcome{}, err
		}
		if tries == 1 {
			_, err := tx.Exec(ctx, `SELECT 1 / 0`)

			return crud.Outcome{}, err
		}

		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: calls[0].Tool, RowCount: 1}}}, nil
	}
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read ok"}, h.outcomes(turn))
	require.Equal(t, []string{"once"}, column[string](h, `SELECT name FROM public.marks`))
	require.Equal(t, 2, tries)
	require.Equal(t, 2, h.model.count("act"), "one per decision: the second try plays the stored answer")
}

func TestReplansAreBounded(t *testing.T) {
	t.Parallel()

	plan := `{goal: find, decision: plan, steps: [{type: read, subdomain: recipes, description: find}, {type: read, subdomain: recipes, description: more}]}`
	blocked := `{calls: [{tool: blocked, args: {code: plan_invalid, details: cannot, next: replan}}]}`
	h := setup(t, actScript(`think: [`+plan+`, `+plan+`, `+plan+`]`, blocked, blocked, blocked))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read failed", "2 read skipped", "3 read failed", "4 read skipped", "5 read failed", "6 read skipped"}, h.outcomes(turn))
	require.Equal(t, 3, h.model.count("think"))
	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
}

func TestQuickReadNeedsTwoCallsOfAModel(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: read, quick: {entity_type: inv, why: one table}}, act: [`+readCall+`]}]`)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, "quick reply", *turn.Reply)
	require.Equal(t, []string{"1 read ok"}, h.outcomes(turn))
	require.Equal(t, []int64{2}, column[int64](h, `SELECT count(*) FROM llm_calls`))
}

func TestAskUserOpensAQuestion(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planWrite, `{calls: [{tool: ask_user, args: {question: "How many?"}}]}`))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write partial", "2 write skipped"}, h.outcomes(turn))
	require.Equal(t, "done\n\nHow many?", *turn.Reply, "there is more to say than the question")
	require.Equal(t, []string{"ask_user How many? open"}, column[string](h, `SELECT kind || ' ' || (payload ->> 'text') || ' ' || status FROM questions`))
}

// A proposal survives other messages, and one yes is enough.
func TestQuestionsStayOpenForThreeTurns(t *testing.T) {
	t.Parallel()

	other := `{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}`
	h := setup(t, `turns: [{understand: {intent: explore}, think: {goal: g, decision: propose, proposal: "Shall I?"}, reply: r}, `+strings.Repeat(other+", ", 3)+`]`)
	h.start()
	for n := range 4 {
		h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
		want := "open"
		if n == 3 {
			want = "expired"
		}
		require.Equal(t, []string{want}, column[string](h, `SELECT status FROM questions`), "after turn %d", n+1)
	}
}

// Code carries out a confirmed approval: no plan, no model.
func TestApprovalIsCarriedOutByCode(t *testing.T) {
	t.Parallel()

	remove := `{calls: [{tool: db_delete, args: {table: recipes, filters: []}}]}`
	h := setup(t, `turns: [
		{understand: {intent: write}, think: {goal: g, decision: plan, steps: [{type: write, subdomain: recipes, description: delete}]}, act: [`+remove+`], reply: "Really?"},
		{understand: {intent: confirm, answers_question: true}, reply: done}]`)
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		return crud.Outcome{Approval: &crud.Approval{Text: "Delete all 11?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: "db_delete"}, EntityType: "recipe", Keys: []string{"k"}}}}}, nil
	}
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write partial"}, h.outcomes(first))
	require.Equal(t, []string{"yes Yes", "no No"}, column[string](h, `SELECT concat_ws(' ', o ->> 'id', o ->> 'label') FROM questions, jsonb_array_elements(payload -> 'options') AS o`))
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	second := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "yes"}).TurnID)
	require.Equal(t, []string{"1 write ok"}, h.outcomes(second))
	require.Equal(t, []string{"approve answered 2"}, column[string](h, `SELECT kind || ' ' || status || ' ' || answered_by_turn FROM questions`))
	require.Equal(t, 1, h.model.count("think"))
	require.Equal(t, 1, h.model.count("act"))
}

// What the plan had after the approved calls follows them: "and how many are left?" was asked in the same message.
func TestWhatWaitedForAnApprovalFollowsIt(t *testing.T) {
	t.Parallel()

	remove := `{calls: [{tool: db_delete, args: {table: recipes, filters: []}}]}`
	count := `{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: none are left}}]}`
	h := setup(t, `turns: [
		{understand: {intent: write}, think: {goal: g, decision: plan, steps: [{type: write, subdomain: recipes, description: delete}, {type: read, subdomain: recipes, description: count}]}, act: [`+remove+`], reply: "Really?"},
		{understand: {intent: confirm, answers_question: true}, act: [`+count+`], reply: done}]`)
	h.tools.execute = func(_ context.Context, _ pgx.Tx, _ registry.Scope, calls []vocab.Call) (crud.Outcome, error) {
		if calls[0].Tool == vocab.ToolRead {
			return crud.Outcome{Results: []crud.Result{{Tool: vocab.ToolRead, RowCount: 1}}}, nil
		}

		return crud.Outcome{Approval: &crud.Approval{Text: "Delete all 11?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: "db_delete"}, EntityType: "recipe", Keys: []string{"k"}}}}}, nil
	}
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 write partial", "2 read skipped"}, h.outcomes(first))
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	second := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "yes"}).TurnID)
	require.Equal(t, []string{"1 write ok", "2 read ok"}, h.outcomes(second))
	require.Equal(t, []string{"Do what the user has approved: Delete all 11?", "count"}, column[string](h, `SELECT description FROM turn_steps WHERE turn_id = $1 ORDER BY step`, second.ID))
	require.Equal(t, 1, h.model.count("think"))
}

func TestDisambiguationAsksWithLabels(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: write, disambiguation: {question: "Which?", options: [recipe_1, recipe_2]}}, reply: "Which?"}]`)
	h.prompts.refs = nodes.Refs{"recipe_1": {Type: "recipe", Label: "Chicken Soup"}, "recipe_2": {Type: "recipe", Label: "Chicken Pie"}}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"Chicken Soup", "Chicken Pie"}, column[string](h, `SELECT o ->> 'label' FROM questions, jsonb_array_elements(payload -> 'options') AS o`))
	require.Equal(t, 0, h.model.count("think"))
}

// Rows that are called alike are asked about by what distinguishes them.
func TestDisambiguationTellsRowsApart(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: write, disambiguation: {question: "Which?", options: [recipe_1, recipe_2, recipe_3]}}, reply: "Which?"}]`)
	h.prompts.refs = nodes.Refs{"recipe_1": {Type: "recipe", Label: "Soup"}, "recipe_2": {Type: "recipe", Label: "Soup"}, "recipe_3": {Type: "recipe", Label: "Pie"}}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"The recipe 1", "The recipe 2", "Pie"}, column[string](h, `SELECT o ->> 'label' FROM questions, jsonb_array_elements(payload -> 'options') AS o`))
}

// Each step is announced when it begins, also one that follows a step whose dependents were skipped.
func TestStepsAreAnnounced(t *testing.T) {
	t.Parallel()

	done := `{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: done}}]}`
	blocked := `{calls: [{tool: blocked, args: {code: plan_invalid, details: cannot, next: fail}}]}`
	h := setup(t, actScript(`think: {goal: find, decision: plan, steps: [
		{type: read, subdomain: recipes, description: first}, {type: write, subdomain: recipes, description: second}, {type: write, subdomain: recipes, description: third}, {type: read, subdomain: inventory, description: fourth}]}`,
		done, blocked, done))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"1 read ok", "2 write failed", "3 write skipped", "4 read ok"}, h.outcomes(turn))
	require.Equal(t, []string{"1 first", "2 second", "4 fourth"}, column[string](h, `SELECT concat_ws(' ', data ->> 'step', data ->> 'description') FROM turn_events WHERE turn_id = $1 AND type = 'step.started' ORDER BY seq`, turn.ID))
	require.Equal(t, []string{"understand", "think", "act 1", "act 2", "act 4", "reply"}, column[string](h, `SELECT concat_ws(' ', data ->> 'node', data ->> 'step') FROM turn_events WHERE turn_id = $1 AND type = 'node.started' ORDER BY seq`, turn.ID))
	require.Equal(t, []string{"find"}, column[string](h, `SELECT data ->> 'goal' FROM turn_events WHERE turn_id = $1 AND type = 'plan'`, turn.ID))
}

// A session has one open question: a new one replaces it.
func TestQuestionReplacesTheOpenOne(t *testing.T) {
	t.Parallel()

	asks := `{understand: {intent: explore}, think: {goal: g, decision: propose, proposal: "Shall I?"}, reply: r}`
	h := setup(t, `turns: [`+asks+`, `+asks+`]`)
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"superseded", "open"}, column[string](h, `SELECT q.status FROM questions AS q JOIN turns AS t ON t.id = q.turn_id ORDER BY t.number`))
}

// Unless the answer is a yes, nothing of what was to be approved is carried out.
func TestAnswerThatIsNoYesApprovesNothing(t *testing.T) {
	t.Parallel()

	remove := `{calls: [{tool: db_delete, args: {table: recipes, filters: []}}]}`
	h := setup(t, `turns: [
		{understand: {intent: write}, think: {goal: g, decision: plan, steps: [{type: write, subdomain: recipes, description: delete}]}, act: [`+remove+`], reply: "Really?"},
		{understand: {intent: answer, answers_question: true}, `+planRead+`, act: [{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}], reply: "Which ones?"}]`)
	h.tools.execute = func(_ context.Context, _ pgx.Tx, scope registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		if scope.Turn == 2 {
			return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, EntityType: "recipe", RowCount: 2}}}, nil
		}

		return crud.Outcome{Approval: &crud.Approval{Text: "Delete all 11?", Calls: []crud.ApprovedCall{{Call: vocab.Call{Tool: "db_delete"}, EntityType: "recipe", Keys: []string{"k"}}}}}, nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.prompts.mu.Lock()
	h.prompts.hasQuestion = true
	h.prompts.mu.Unlock()
	second := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "only the old ones"}).TurnID)
	require.Equal(t, []string{"1 read ok"}, h.outcomes(second))
	require.Equal(t, "Which ones?", *second.Reply)
	require.Equal(t, 2, h.model.count("act"))
}

// What a model decides about rows that have gone since it saw them, or must not decide, is dropped; the turn goes on.
func TestCurationOfWhatIsGoneIsDropped(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat, curation: {retain: [{ref: recipe_1, reason: liked}], demote: [recipe_2]}},
		think: {goal: g, decision: plan, steps: []}, reply: Right.}]`)
	h.prompts.refs = nodes.Refs{"recipe_1": {Type: "recipe", Label: "Soup"}, "recipe_2": {Type: "recipe", Label: "Pie"}}
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_2', 'recipe', 'pending', 'generated', 'Pie', 1, 1)`, h.session)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, 1, h.model.count("understand"))
	require.Contains(t, h.jobs(), "understand 1 completed 1")
}

// An exclusion ends with the message's only constraint that excludes; of several, none is its own.
func TestExclusionsEndWithTheirConstraint(t *testing.T) {
	t.Parallel()

	const cod, eel = `{text: no cod, kind: exclude, value: null, scope: session, replaces: ""}`, `{text: no eel, kind: exclude, value: null, scope: session, replaces: ""}`
	for constraints, ends := range map[string]bool{cod: true, cod + ", " + eel: false} {
		h := setup(t, `turns: [{understand: {intent: chat, constraints: [`+constraints+`], curation: {exclude: [{ref: recipe_1, reason: no}]}}, think: {goal: g, decision: plan, steps: []}, reply: Right.}]`)
		h.prompts.refs = nodes.Refs{"recipe_1": {Type: "recipe", Label: "Soup"}}
		h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
			VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Soup', 1, 1)`, h.session)
		h.start()
		h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
		require.Equal(t, []bool{ends}, column[bool](h, `SELECT excluded_constraint_id IS NOT NULL FROM entity_refs`), constraints)
	}
}

// A constraint that its model got wrong until the end costs the turn nothing: what it says is kept.
func TestFaultyConstraintsFailNoTurn(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat, constraints: [{text: no cod, kind: fish, scope: ever}, {text: "", kind: exclude}]}, think: {goal: g, decision: plan, steps: []}, reply: Right.}]`)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, []string{"no cod other session"}, column[string](h, `SELECT concat_ws(' ', text, kind, scope) FROM constraints`))
}

// Steps that depend on a skipped step are skipped with it.
func TestSkippedStepsTakeTheirOwnAlong(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(`think: {goal: find, decision: plan, steps: [
		{type: write, subdomain: inventory, description: first}, {type: generate, subdomain: inventory, description: second}, {type: generate, subdomain: recipes, description: third}]}`,
		`{calls: [{tool: blocked, args: {code: plan_invalid, details: cannot, next: fail}}]}`))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	require.Equal(t, []string{"1 write failed", "2 generate skipped", "3 generate skipped"}, h.outcomes(turn))
}

// A read after a write does not repeat the read before it.
func TestReadMayBeRepeatedAfterAWrite(t *testing.T) {
	t.Parallel()

	create := `{calls: [{tool: db_create, args: {table: recipes, data: {name: x}}}]}`
	h := setup(t, actScript(`think: {goal: save, decision: plan, steps: [{type: write, subdomain: recipes, description: save it}]}`, readCall, create, readCall, completed))
	h.start()
	require.Equal(t, []string{"1 write ok"}, h.outcomes(h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)))
}

// A plan touches the refs it names, so they stay in view.
func TestPlansTouchWhatTheyName(t *testing.T) {
	t.Parallel()

	h := late(t, `{understand: {intent: read}, think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: find it, refs: [recipe_1]}]}, act: [`+readCall+`, `+completed+`], reply: There.}`)
	h.prompts.refs = nodes.Refs{"recipe_1": {Type: "recipe", Label: "Soup"}}
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Soup', 1, 1)`, h.session)
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []int32{21}, column[int32](h, `SELECT turn_last_ref FROM entity_refs`))
}

// narrow prompts have no room for some rows of a step.
type narrow struct{ jobs.Prompts }

func (m narrow) Act(v *view.View, step *db.TurnSteps) (nodes.ActInput, error) {
	in, err := m.Prompts.Act(v, step)
	in.LeftOut = 40

	return in, err
}

// What a model concludes from part of a step's rows is not told as if it had seen all.
func TestConclusionsFromPartSaySo(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: read}, think: {goal: g, decision: plan, steps: [{type: analyze, subdomain: recipes, description: compare}]},
		act: [{calls: [{tool: step_complete, args: {summary: done, conclusions: "Two are vegan."}}]}], reply: There.}]`)
	h.config.Prompts = narrow{h.prompts}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"Two are vegan. (Not counting 40 of the rows, which were too many to be looked at.)"}, column[string](h, `SELECT conclusions FROM turn_steps`))
}

// What a step's calls and texts name was just spoken of, so it stays in view: also what no result contains. What the
// user wanted out of view in this turn does not come back by being named.
func TestDecisionsTouchWhatTheyName(t *testing.T) {
	t.Parallel()

	h := late(t, `{understand: {intent: write, curation: {demote: [recipe_4]}},
		think: {goal: g, decision: plan, steps: [{type: analyze, subdomain: recipes, description: compare}]},
		act: [{calls: [{tool: db_analyze, args: {table: recipes, filters: [{field: id, op: in, value: [recipe_1]}]}}]},
			{calls: [{tool: step_complete, args: {summary: "Two fit:\nrecipe_2, gen_recipe_1, not recipe_4", conclusions: "recipe_3 is best"}}]}],
		reply: There.}`)
	h.prompts.refs = nodes.Refs{}
	for i := 1; i <= 5; i++ {
		ref := fmt.Sprintf("recipe_%d", i)
		h.prompts.refs[ref] = nodes.Ref{Type: "recipe", Label: "Dish"}
		h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
			VALUES ($1, $2, 'recipe', $2, 'stored', 'read', 'Dish', 1, 1)`, h.session, ref)
	}
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'gen_recipe_1', 'recipe', 'pending', 'generated', 'Pie', 1, 1)`, h.session)
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"gen_recipe_1", "recipe_1", "recipe_2", "recipe_3"},
		column[string](h, `SELECT ref FROM entity_refs WHERE turn_last_ref = 21 AND demoted_at_turn IS NULL ORDER BY ref`))
	require.Equal(t, []string{"recipe_4"}, column[string](h, `SELECT ref FROM entity_refs WHERE demoted_at_turn = 21`))
}

// A quick read takes over a plan's calls if the plan is that read and nothing else. Any other plan is followed: what it was
// to count would be answered with a list.
func TestQuickReadTakesItsOwnCallsAlone(t *testing.T) {
	t.Parallel()

	const read = `{type: read, subdomain: recipes, description: Read, calls: [{tool: db_read, table: recipes}]}`
	for plan, want := range map[string][]string{
		read: {"read"}, read + `, {type: read, subdomain: inventory, description: Look}`: {"read", "read"},
		`{type: analyze, subdomain: recipes, description: Compare}`: {"analyze"},
	} {
		h := setup(t, `turns: [{understand: {intent: read, quick: {entity_type: recipe, why: one table}}, think: {goal: g, decision: plan, steps: [`+plan+`]}, act: [{calls: [{tool: step_complete, args: {summary: Done}}]}], reply: Done}]`)
		h.withPrompts()
		h.start()
		require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
		require.Equal(t, want, column[string](h, `SELECT step_type::text FROM turn_steps ORDER BY step`), plan)
		require.Equal(t, len(want)-strings.Count(plan, "calls"), h.model.count("act"), plan)
	}
}

// The end of a turn ends what has expired.
func TestEndOfATurnEndsWhatHasExpired(t *testing.T) {
	t.Parallel()

	h := late(t, `{understand: {intent: chat}, think: {goal: g, decision: plan, steps: []}, reply: hello}`)
	h.config.RetentionDecayTurns = 10
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref, active_reason)
		VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Soup', 1, 1, 'liked'), ($1, 'recipe_2', 'recipe', 'y', 'stored', 'read', 'Pie', 1, 15, 'liked')`, h.session)
	h.exec(`INSERT INTO constraints (user_id, session_id, text, kind, scope, source_turn, expires_at)
		SELECT user_id, id, c.text, 'other', 'session', 1, clock_timestamp() + c.ends::interval FROM sessions, (VALUES ('no cod', '-1 hour'), ('no eel', '1 hour')) AS c (text, ends) WHERE id = $1`, h.session)
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"recipe_2"}, column[string](h, `SELECT ref FROM entity_refs WHERE active_reason IS NOT NULL`))
	require.Equal(t, []string{"no eel"}, column[string](h, `SELECT text FROM constraints WHERE ended_turn IS NULL`))
}

// A plan without a goal leaves the turn the one it has.
func TestEmptyGoalReplacesNone(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(`think: [{goal: find, decision: plan, steps: [{type: read, subdomain: recipes, description: find recipes}]}, {goal: "", decision: plan, steps: []}]`,
		`{calls: [{tool: blocked, args: {code: plan_invalid, details: cannot, next: replan}}]}`))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, 2, h.model.count("think"))
	require.Equal(t, "find", *turn.Goal)
}
