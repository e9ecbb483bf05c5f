package prompt_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// When many refs share one line, the planner gets no names. Those that the message names are listed beside it: without
// its ref, nobody can move "the cod".
func TestWhatTheMessageNamesHasItsRef(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 12 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1), Label: []string{"Rice", "Cod"}[i%2] + strconv.Itoa(i)})
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("gen_meal_%d", i+1), Label: fmt.Sprintf("Dinner %d", i+1)})
	}
	f := b.together(t, b.running(t, 1, "Move Cod5 to the fridge, and drop Dinner 3", db.StepTypeRead)).Frame
	require.Contains(t, body(f, "## Recent Context (last 2 turns)"), "- inv_1..inv_12: [12 inventory items]")
	named := body(f, "## All Known Entities")
	require.Contains(t, named, "**Named in the message**\n- gen_meal_3: Dinner 3 (meal) [needs save]")
	require.Contains(t, named, "\n- inv_6: Cod5 (inv) [read]")
	require.NotContains(t, named, "inv_4")
}

// Nor can they plan what the last reply has chosen of many, when a message only says yes to it. A reply that lists them all
// has chosen none.
func TestWhatTheLastReplyChoseHasItsRef(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 12 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", i+1), Label: fmt.Sprintf("Dish %d", i+1)})
	}
	known := func(number int, reply string, offers bool) string {
		testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: number, Reply: reply}))

		in := b.together(t, b.running(t, number+1, "yes, but for three", db.StepTypeRead))
		require.Equal(t, offers, in.Offers)

		return body(in.Frame, "## All Known Entities")
	}
	require.Equal(t, "**Named in your last reply**\n- recipe_5: Dish 5 (recipe) [read:summary] created turn 1, last turn 1", known(1, "Shall I plan Dish 5?", true))
	require.NotContains(t, known(3, "Dish 1, Dish 2, Dish 3, Dish 4, Dish 5, Dish 6, Dish 7, Dish 8, Dish 9, Dish 10, Dish 11, Dish 12", false), "last reply")
	for i := range 2 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", i+13), Label: "Stew", Action: "linked", Created: 4})
	}
	testfactory.StepResult(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 5}), testfactory.ResultOpts{
		Step: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Dish 1", "parent_recipe_id": "recipe_13"}, {"id": "recipe_2", "name": "Dish 2", "parent_recipe_id": "recipe_14"}]`,
	})
	require.Contains(t, known(6, "Which Stew do you mean?", true), "**Named in your last reply**\n- recipe_13: Stew (recipe) [linked] created turn 4, last turn 4\n- recipe_14: Stew", "what the rows point at that were read")
}

// A planner sees no rows. What tells loaded ones of one name apart stands beside it: who says "the one that takes 40
// minutes" means one of two stews.
func TestPlannersTellRowsOfOneNameApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, label := range []string{"Stew", "Stew", "Soup", "Stew", "2026-0051", "鍋"} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", i+1), Label: label})
	}
	turn := b.running(t, 1, "the one that takes 40 minutes", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Stew", "cuisine": "irish", "parent_recipe_id": "recipe_3", "_parent_recipe_id_label": "Soup"},
		{"id": "recipe_2", "name": "Stew", "cuisine": "indian", "description": "` + strings.Repeat("hot ", 17) + `", "last_cooked_at": "2026-11-27T21:05:02.968+00:00"}, {"id": "recipe_3", "name": "Soup", "cuisine": "thai"},
		{"id": "recipe_5", "name": "2026-0051", "cuisine": "french"}, {"id": "recipe_6", "name": "鍋", "cuisine": "japanese"}]`})
	recent := body(b.together(t, turn).Frame, "## Recent Context (last 2 turns)")
	require.Contains(t, recent, "- recipe_1: Stew, cuisine:irish parent_recipe:Soup (recipe) [read")
	require.Regexp(t, `- recipe_2: Stew, description:(hot )+cuisine:indian… \(recipe\) \[read`, recent, "not half of a time")
	require.Contains(t, recent, "- recipe_3: Soup (recipe) [read", "the only one of its name")
	require.Contains(t, recent, "- recipe_4: Stew (recipe) [read", "not loaded")
	require.Contains(t, recent, "- recipe_5: 2026-0051, cuisine:french (recipe) [read", "a number says nothing by which people would know it")
	require.Contains(t, recent, "- recipe_6: 鍋 (recipe) [read")
}

// A step lists the tools that end it or ask a question among its own.
func TestAStepMayAlwaysEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	step := body(b.act(t, b.running(t, 1, "hello", db.StepTypeAnalyze), 1).Frame, "## Current Step")
	require.Contains(t, step, "Tools of this step: db_analyze, recall, calculate, and in every step step_complete, ask_user, blocked, request_schema; others are refused")
}

// An example of new content has a child row, where the type has any: models copy what they see.
func TestExamplesOfNewContentHaveChildren(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "hello", db.StepTypeGenerate)
	guidance := func(kind db.StepType, subdomain string) string {
		b.exec(t, `UPDATE turn_steps SET step_type = $2, subdomain = $3 WHERE turn_id = $1`, turn.ID, kind, subdomain)

		return body(b.act(t, turn, 1).Frame, "## Guidance")
	}
	child := `"children": [{"table": "recipe_ingredients", "position": 0, "set": [{"column": "name", "value": "..."}]}]`
	require.Contains(t, guidance(db.StepTypeGenerate, "recipes"), child)
	require.Contains(t, guidance(db.StepTypeWrite, "recipes"), child)
	require.NotContains(t, guidance(db.StepTypeWrite, "tasks"), `"table": "recipe_ingredients"`)
}

// A draft that was changed while its offer is open is offered anew: the reply is not told both to offer and not to
// press.
func TestAnOfferTakesThePlaceOfTheOpenOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Curry"})
	first := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1})
	b.exec(t, `INSERT INTO questions (id, session_id, user_id, turn_id, kind, payload) VALUES (gen_random_uuid(), $1, $2, $3, 'propose', '{"text": "Shall I save Curry?", "options": []}')`, b.session, b.user, first.ID)
	turn := b.running(t, 2, "make it milder", db.StepTypeGenerate)
	const pending, offer = "A question of yours is still open", "offer once to save"
	require.Contains(t, body(b.reply(t, turn).Frame, "## Reply Guidance"), pending)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "generate", Type: "recipe", Rows: `[{"id": "gen_recipe_1", "name": "Curry"}]`})
	guidance := body(b.reply(t, turn).Frame, "## Reply Guidance")
	require.Contains(t, guidance, offer)
	require.NotContains(t, guidance, pending)
}

// The reply gets a deleted row's line, without its details.
func TestADeletedRowIsToldInShort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew", State: db.RefStateDeleted, Action: "deleted"})
	turn := b.running(t, 1, "delete it", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_delete", Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Stew", "cuisine": "irish", "instructions": ["Brown the meat.", "Simmer."]}]`})
	results := body(b.reply(t, turn).Frame, "## Execution Results")
	require.Contains(t, results, "Deleted 1 recipe:\n- Stew cuisine:irish\n")
	require.NotContains(t, results, "Simmer")
}

// The last exchange stands in the conversation: the flow takes it up in few words and says nothing twice.
func TestTheFlowRepeatsNoReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := "Found 30 things: "
	for i := range 30 {
		long += fmt.Sprintf("thing number %d, ", i)
	}
	first := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: "what is there?", Reply: long})
	testfactory.Summary(t, b.tx, first)
	b.exec(t, `UPDATE turn_summaries SET what_user_expressed = 'what is there?', response_summary = $2 WHERE turn_id = $1`, first.ID, long)
	flow := body(b.reply(t, b.running(t, 2, "thanks", db.StepTypeRead)).Frame, "## Conversation Flow")
	require.NotContains(t, flow, "The user wanted")
	require.Contains(t, flow, "- You: Found 30 things")
	require.NotContains(t, flow, "thing number 20")
}

// A list of sentences is printed line by line, however short it is.
func TestSentencesStandLineByLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Toast"})
	turn := b.running(t, 1, "how?", db.StepTypeRead)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Toast", "tags": ["quick", "easy"], "instructions": ["Cut.", "Toast."]}]`})
	results := body(b.reply(t, turn).Frame, "## Execution Results")
	require.Contains(t, results, "tags:quick, easy")
	require.Contains(t, results, "instructions:\n  1. Cut.\n  2. Toast.")
}

// A call that waits for the user's approval has not failed.
func TestAQuestionIsNoFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "delete all", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_delete", Type: "shop", Error: "Nothing was changed: the user has to agree first."})
	failed := func() string { return body(b.reply(t, turn).Frame, "## Execution Results") }
	require.Contains(t, failed(), "failed on the way")
	b.exec(t, `UPDATE turn_step_results SET error_code = 'approval_needed' WHERE turn_id = $1`, turn.ID)
	require.NotContains(t, failed(), "failed on the way")
}

// Totals share the results' budget: when one has used it up, the next is cut too.
func TestTotalsKeepTheBudget(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Results = 300 })
	turn := b.running(t, 1, "how many of each?", db.StepTypeAnalyze)
	for call := range 3 {
		testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: call + 1, Tool: "db_analyze", Type: "inv", Rows: fmt.Sprintf(
			`[{"call": %d, "totals": [%s0]}]`, call, strings.Repeat("100, ", 1000))})
	}
	results := body(b.reply(t, turn).Frame, "## Execution Results")
	require.Equal(t, 3, strings.Count(results, "Figures of the "))
	require.Less(t, len(results), 4*300+1000)
}

// Rows of one name are named once, with their number.
func TestRowsOfOneNameAreNamedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, label := range []string{"Eggs", "Milk", "Eggs", "Eggs"} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1), Label: label})
	}
	turn := b.running(t, 1, "all gone", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_update", Type: "inv", Rows: `[
		{"id": "inv_1", "name": "Eggs"}, {"id": "inv_2", "name": "Milk"}, {"id": "inv_3", "name": "Eggs"}, {"id": "inv_4", "name": "Eggs"}]`})
	require.Contains(t, body(b.reply(t, turn).Frame, "## Execution Results"), "Changed in this turn: Eggs (3), Milk")
}

// What a group is called is said once, whether the conversation knows its row or not.
func TestTotalsNameTheirGroupsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew"})
	turn := b.running(t, 1, "how often?", db.StepTypeAnalyze)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_analyze", Type: "meal", Rows: `[
		{"recipe_id": "recipe_1", "_recipe_id_label": "Stew", "count": 3}, {"_recipe_id_label": "Toast", "count": 2}, {"recipe_id": null, "count": 1}]`})
	require.Contains(t, body(b.reply(t, turn).Frame, "## Execution Results"), `: [{"count":3,"recipe_id":"Stew"},{"count":2,"recipe_id":"Toast"},{"count":1,"recipe_id":null}]`)
}

// Without a model, a reply lists only so many rows, wherever among them parts of another stand.
func TestARepliesListIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 90 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("ri_%d", i+1), Label: fmt.Sprintf("Item %d", i+1)})
	}
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew"})
	turn := b.running(t, 1, "all ingredients", db.StepTypeRead)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Stew", "recipe_ingredients": [{"id": "ri_61", "name": "Item 61"}]}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Type: "ri", Rows: rows("ri", 90, "")})
	reply := b.reply(t, turn).Fallback
	require.Equal(t, 60, strings.Count(reply, "- Item"), reply)
	require.Contains(t, reply, "… and 29 more")
}

// A question whose offer is gone before the reply, because its user discarded the draft in the page, is not asked.
func TestAMootQuestionIsNotAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "save it", db.StepTypeWrite)
	b.exec(t, `INSERT INTO questions (id, session_id, user_id, turn_id, kind, payload) VALUES (gen_random_uuid(), $1, $2, $3, 'propose', '{"text": "Shall I save Curry?", "options": []}')`, b.session, b.user, turn.ID)
	in := b.reply(t, turn)
	require.Contains(t, body(in.Frame, "## Open Question"), "Shall I save Curry?")
	require.Contains(t, in.Fallback, "Shall I save Curry?")
	b.exec(t, `UPDATE questions SET status = 'superseded' WHERE turn_id = $1`, turn.ID)
	in = b.reply(t, turn)
	require.Empty(t, body(in.Frame, "## Open Question"))
	require.NotContains(t, in.Fallback, "Shall I save Curry?")
}

// What the user changed in the page is told with the message that follows it. Later, and after an undo, a mention of the row was
// told as a change of the user's.
func TestChangesInThePageAreToldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", ID: uuid.NewString(), Label: "Stew", Action: "updated:user"})
	turn := b.running(t, 1, "rename it", db.StepTypeWrite)
	require.NotContains(t, body(b.reply(t, turn).Frame, "## What You Know"), "in the page")
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Tool: vocab.ToolUIChange, Type: "recipe", Params: `{"action": "updated:user"}`, Rows: `[{"id": "recipe_1"}]`})
	require.Contains(t, body(b.reply(t, turn).Frame, "## What You Know"), "The user has changed it in the page: Stew (recipe)")
}

// A changed part of a row is named, though its values stand with the row: a heading without a line told of nothing.
func TestChangedPartsAreNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "ri_1", Label: "butter"})
	turn := b.running(t, 1, "less butter", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Stew", "recipe_ingredients": [{"id": "ri_1", "name": "butter"}]}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Tool: "db_update", Type: "ri", Rows: `[{"id": "ri_1", "name": "butter", "quantity": 1}]`})
	require.Contains(t, body(b.reply(t, turn).Frame, "## Execution Results"), "Changed 1 recipe ingredient:\n- butter (its values stand with the row that it is part of)")
}

// A planner knows the tables that only other subdomains' steps read, and parts of rows: where they are read, and their
// columns.
func TestPlannersKnowWhatIsOnlyRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.think(t, b.running(t, 1, "hello", db.StepTypeRead))
	require.Equal(t, nodes.Home{Subdomain: "recipes", Type: "ing", Plural: "ingredients"}, in.Homes["ingredients"])
	require.Contains(t, in.Persona, "**inventory** (inventory; reads ingredients")
	require.Contains(t, in.Persona, "\n- ingredients, read only: name, ", "a plan to add one would end in an apology")
	require.Contains(t, in.Persona, "\n- recipe_ingredients: recipe_id* (recipe), ingredient_id (ing), name*, quantity", "what a new row needs")
}

// Rows that are called by their day are found by a range of days, and counted by a column whose values recur.
func TestExamplesFitTheirColumns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "hello", db.StepTypeRead)
	b.exec(t, `UPDATE turn_steps SET subdomain = 'meal_plans' WHERE turn_id = $1`, turn.ID)
	guidance := body(b.act(t, turn, 1).Frame, "## Guidance")
	require.Contains(t, guidance, `From one to before another: db_read {"table": "meal_plans", "filters": [{"field": "date", "op": ">=", "value": "..."}, {"field": "date", "op": "<", "value": "..."}]}`)
	require.NotContains(t, guidance, "By name")
	b.exec(t, `UPDATE turn_steps SET step_type = 'analyze' WHERE turn_id = $1`, turn.ID)
	require.Contains(t, body(b.act(t, turn, 1).Frame, "## Guidance"), `"group_by": ["meal_type"]`)
}

// What failed on the way to a step's success is told neither to the next step nor to whoever words the reply, who would
// apologize for it; and arguments that say nothing are not repeated.
func TestMendedCallsAreNotTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "what is there", db.StepTypeRead)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Error: "There is no column colour."})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Type: "inv", Rows: `[{"id": "inv_1", "name": "Eggs"}]`})
	b.exec(t, `UPDATE turn_step_results SET params = '{"table": "inventory", "columns": [], "limit": 0, "order_by": ""}' WHERE turn_id = $1`, turn.ID)
	results := func() string { return body(b.act(t, turn, 1).Frame, "## Step Results") }
	require.Contains(t, results(), "There is no column colour.")
	require.Contains(t, body(b.reply(t, turn).Frame, "## Execution Results"), "(1 attempt failed on the way)")
	require.Contains(t, results(), `db_read inv {"table":"inventory"} → 1 row`)

	for _, outcome := range []string{"empty", "ok"} {
		b.exec(t, `UPDATE turn_steps SET outcome = $2, summary = 'Found 1.' WHERE turn_id = $1`, turn.ID, outcome)
		require.NotContains(t, body(b.reply(t, turn).Frame, "## Execution Results"), "failed on the way")
	}
	b.exec(t, `INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description) SELECT turn_id, user_id, 2, 'analyze', subdomain, 'count' FROM turn_steps WHERE turn_id = $1`, turn.ID)
	require.NotContains(t, body(b.act(t, turn, 2).Frame, "## Step Results"), "There is no column colour.")
}

// An analysis knows the columns that it may count by, and what the numbers measure.
func TestAnalysesKnowTheirColumns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	schema := body(b.act(t, b.running(t, 1, "how many", db.StepTypeAnalyze), 1).Frame, "## Schema")
	require.Contains(t, schema, "- recipes: name, ")
	require.Contains(t, schema, "; servings: How many people it feeds")
	require.NotContains(t, schema, "- id: ref")
	turn := b.running(t, 2, "how many", db.StepTypeAnalyze)
	b.exec(t, `UPDATE turn_steps SET schema_tables = '{tasks}' WHERE turn_id = $1`, turn.ID)
	require.Contains(t, body(b.act(t, turn, 1).Frame, "## Schema"), "tasks (task)", "what it asked for")
}

// Whoever mistypes a name hears what it may have meant, and a later step sees it.
func TestSimilarNamesAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "butter chiken?", db.StepTypeRead)
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeWrite})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 1, Type: "recipe", Rows: `[]`})
	b.exec(t, `UPDATE turn_step_results SET error_message = 'Similar names: Butter Chicken', params = '{"filters": [{"field": "name", "op": "=", "value": "butter chiken"}]}' WHERE turn_id = $1`, turn.ID)
	require.Contains(t, body(b.act(t, turn, 2).Frame, "## Step Results"), "→ 0 rows (Similar names: Butter Chicken)")
	require.Contains(t, body(b.reply(t, turn).Frame, "## Execution Results"), "Found: no recipes that fit. Similar names: Butter Chicken")
	require.Contains(t, b.reply(t, turn).Fallback, "I found no recipes that fit. Similar names: Butter Chicken.")
}
