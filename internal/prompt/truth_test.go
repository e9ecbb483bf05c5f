package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/nodes"
)

// V06: the step's own rows are in Act's prompt regardless of the budget, and only what the prompt shows may be
// overwritten.
func TestV06TheStepsOwnRowsAreNeverCut(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Rows = 400 })
	for i := range 300 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("shop_%d", i+1)})
	}
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_2", Label: "Soup"})
	turn := b.running(t, 1, "change them", db.StepTypeWrite)
	b.exec(t, `UPDATE turn_steps SET refs = '{recipe_1,shop_300}' WHERE turn_id = $1`, turn.ID)
	long := strings.Repeat("Stir. ", 40)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: fmt.Sprintf(
		`[{"id": "recipe_1", "name": "Stew", "instructions": [%q]}, {"id": "recipe_2", "name": "Soup", "instructions": [%q]}]`, long, strings.Repeat("Boil. ", 400))})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Type: "shop", Rows: rows("shop", 300, `, "quantity": 3`)})

	in := b.act(t, turn, 1)
	data := body(in.Frame, "## Active Entities (Full Data)")
	require.Contains(t, data, "| shop_300 |", "300 rows give way before the one that the step is about")
	require.Contains(t, data, "### recipe_1\ninstructions:", "and so do other rows before its long texts")
	require.NotContains(t, data, "### recipe_2")
	require.Contains(t, in.Shown["recipe_1"], "instructions")
	require.Contains(t, in.Shown["recipe_2"], "name")
	require.NotContains(t, in.Shown["recipe_2"], "instructions", "what was cut was not seen")
	require.NotContains(t, in.Shown, "shop_290")
}

// V06: the draft that the step changes is not cut either; other drafts are cut for it.
func TestV06TheStepsOwnDraftIsNeverCut(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Drafts = 60 })
	turn := b.running(t, 2, "change the first", db.StepTypeGenerate)
	b.exec(t, `UPDATE turn_steps SET refs = '{gen_recipe_1}' WHERE turn_id = $1`, turn.ID)
	for n := 1; n <= 3; n++ {
		ref := fmt.Sprintf("gen_recipe_%d", n)
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: ref, Label: ref, LastRef: n})
		testfactory.Artifact(t, b.tx, b.session, ref, fmt.Sprintf(`{"name": "Dish", "description": %q}`, strings.Repeat("long ", 60)))
	}
	drafts := body(b.act(t, turn, 1).Frame, "## Generated (NOT YET SAVED)")
	require.Contains(t, drafts, "gen_recipe_1: gen_recipe_1 (recipe) [needs save]\n{")
	require.Contains(t, drafts, "(1 of 3 shown in full")
}

// V06: a planned call that changes a row is carried out only where the values it overwrites are known; knowing one
// column is not enough for another.
func TestV06KnownIsByColumn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_1"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_2"})
	turn := b.running(t, 1, "two of it", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Rows: `[{"id": "inv_1", "name": "Milk"}]`})
	s := b.view(t, b.tx, turn).Scene(false)
	require.True(t, s.Knows([]string{"inv_1"}, []string{"name"}))
	require.False(t, s.Knows([]string{"inv_1"}, []string{"quantity"}))
	require.False(t, s.Knows([]string{"inv_2"}, nil), "a handle is no data")
	require.False(t, s.Knows(nil, nil))
	for value, composed := range map[string]bool{`"kg"`: false, `3`: false, `null`: false, `[]`: false, `["mild"]`: true, `{"a": 1}`: true, `"from the farm"`: true, `"+49 151 200006"`: false} {
		var now any
		require.NoError(t, json.Unmarshal([]byte(value), &now))
		s.Rows.ByRef["inv_1"].Columns["notes"] = now
		require.Equal(t, composed, s.Composed([]string{"inv_1"}, []string{"name", "notes"}), "to %s one may have meant to add", value)
	}
	s.Rows.ByRef["inv_1"].Columns["name"] = "Oat milk"
	s.Rows.ByRef["inv_1"].Columns["location"] = "the fridge"
	require.False(t, s.Composed([]string{"inv_1"}, []string{"name", "location"}), "a name is one value, and so is a word of a list")
	s.ByRef["inv_1"].Stale = view.StaleChanged
	require.False(t, s.Knows([]string{"inv_1"}, []string{"name"}))
}

// V25: with a window of 0, nothing is recent, and nothing divides by it.
func TestV25TheWindowMayBeZero(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.RetentionWindow, c.FullDetailTurns = 0, 0 })
	testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Goal: "Find a stew"}))
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Stew"})
	f := b.think(t, b.running(t, 2, "hello", db.StepTypeRead)).Frame
	require.Empty(t, body(f, "## Recent Context (last 0 turns)"))
	require.Contains(t, body(f, "## Conversation"), "[Turn 1]", "what the window leaves out was said")
	require.Empty(t, body(f, "## What Happened"), "and is not told twice")
	require.Contains(t, body(b.compress(t, 1).Frame, "## What Happened"), "### Turn 1\nGoal: Find a stew", "and is compressed from what was done")
}

// V29: what a turn did before it failed is in the narrative and in the conversation.
func TestV29WritesOfAFailedTurnAreShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	failed := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: "add milk", Status: db.TurnStatusFailed,
		Error: "Something went wrong. Done before that, and it stays: saved Milk."})
	b.exec(t, `UPDATE turns SET reply = error_message WHERE id = $1`, failed.ID)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "shop_1", Label: "Milk", Action: "created"})
	b.exec(t, `INSERT INTO turn_summaries (turn_id, session_id, turn_number, user_message, steps) VALUES ($1, $2, 1, 'add milk',
		'[{"step": 1, "step_type": "write", "subdomain": "shopping", "description": "Add milk", "status": "ok", "outcome": "added", "entities_affected": ["shop_1"]}]')`, failed.ID, b.session)
	f := b.think(t, b.running(t, 2, "again", db.StepTypeRead)).Frame
	require.Contains(t, body(f, "## What Happened"), "### Turn 1 (last turn) (failed: what its steps did stays done)\nSteps:\n1. Add milk (write, shopping): ok. added → shop_1")
	require.Contains(t, body(f, "## Conversation"), "Alfred (failed): Something went wrong. Done before that, and it stays: saved Milk.")
}

// By then, What Happened no longer shows the turn, and Earlier does not show it yet.
func TestV29WritesOfACancelledTurnAreShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stopped := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: "add milk", Status: db.TurnStatusCancelled})
	b.exec(t, `UPDATE turns SET reply = 'You cancelled this request. Done before that, and it stays: saved Milk.' WHERE id = $1`, stopped.ID)
	for n := 2; n <= 3; n++ {
		testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n}))
	}
	f := b.think(t, b.running(t, 4, "again", db.StepTypeRead)).Frame
	require.Contains(t, body(f, "## Conversation"), "Alfred (cancelled): You cancelled this request. Done before that, and it stays: saved Milk.")
}

// V30, V40: what remains after exclusions is named to Think and Act by ref and to the reply by name, whether a model
// repeats it or not.
func TestV30WhatRemainsIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1}))
	for ref, o := range map[string]testfactory.RefOpts{
		"recipe_1": {Label: "Cod"}, "recipe_2": {Label: "Wings", Excluded: "too hot"}, "recipe_3": {Label: "Salad", LastRef: 2}, "recipe_4": {Label: "Soup", LastRef: 2},
	} {
		o.Ref = ref
		testfactory.Ref(t, b.tx, b.session, o)
	}
	b.exec(t, `UPDATE entity_refs SET demoted_at_turn = 1 WHERE session_id = $1 AND ref = 'recipe_1'`, b.session)
	turn := b.running(t, 2, "not the wings", db.StepTypeAnalyze)
	for node, f := range map[string]nodes.Frame{"think": b.think(t, turn).Frame, "act": b.act(t, turn, 1).Frame} {
		require.Equal(t, "recipe_3, recipe_4", body(f, "## Viable for planning"), node)
	}
	require.Contains(t, body(b.reply(t, turn).Frame, "## Reply Guidance"), "- Not excluded, still to choose from: Salad, Soup.")
}

// V33: Understand's list keeps the newest; the rest is counted by type, including demoted and linked entities.
func TestV33TheNewestAreListedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := 1; n <= 24; n++ {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", n*2), Label: fmt.Sprintf("Dish %d", n), LastRef: n})
	}
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_1", Label: "Eggs", LastRef: 20, Demoted: 20})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "task_1", Label: "Call", LastRef: 20, Action: "linked"})
	known := body(b.understand(t, b.running(t, 25, "hello", db.StepTypeRead)).Frame, "## All Known Entities")
	require.Contains(t, known, "- recipe_48: Dish 24")
	require.Contains(t, known, "- recipe_10: Dish 5 ")
	require.NotContains(t, known, "- recipe_8: Dish 4")
	require.Contains(t, known, "Also known, not listed: 4 recipes")
	require.Contains(t, known, "Demoted, not listed: 1; named, they come back")
	require.Contains(t, known, "Known only because other rows point at them: 1")
}

// V35: each type of step has its own examples, real calls on a table of its subdomain; analysis has instructions.
func TestV35ExamplesAreCallsOfTheStepsType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for kind, want := range map[db.StepType][]string{
		db.StepTypeRead:     {`db_read {"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}]`, `"op": "ilike", "value": "%...%"`},
		db.StepTypeAnalyze:  {"## How To Analyze", `db_analyze {"table": "recipes"`},
		db.StepTypeGenerate: {`generate {"creates": [{"type": "recipe", "set":`, `"updates": [{"ref": "gen_recipe_1"`},
		db.StepTypeWrite:    {`db_create {"table": "recipes", "from_ref": "gen_recipe_1"}`, `db_update {"table": "recipes", "filters": [{"field": "id"`, `db_delete {"table": "recipes"`},
	} {
		b.exec(t, `DELETE FROM turns WHERE session_id = $1`, b.session)
		persona := body(b.act(t, b.running(t, 1, "hello", kind), 1).Frame, "## Guidance")
		for _, one := range want {
			require.Contains(t, persona, one, kind)
		}
		for other, calls := range map[db.StepType]string{db.StepTypeRead: "By name: db_read", db.StepTypeGenerate: "A new draft: generate", db.StepTypeWrite: "A deletion: db_delete"} {
			require.Equal(t, kind == other, strings.Contains(persona, calls), "%s in %s", other, kind)
		}
	}
}

// V36: a row's short values are shown as its display line if that contains all of them, which takes fewer tokens than
// names and quotes.
func TestV36RowsStandAsTheirDisplayLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_1", Label: "Eggs"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "meal_1", Label: "Jan 12 [lunch]"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken", Action: "linked"})
	turn := b.running(t, 1, "hello", db.StepTypeAnalyze)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Rows: `[{"id": "inv_1", "name": "Eggs", "quantity": 12, "unit": "count", "location": "fridge", "category": "dairy"}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Type: "meal", Rows: `[{"id": "meal_1", "date": "2026-01-12", "meal_type": "lunch", "recipe_id": "recipe_1", "_recipe_id_label": "Butter Chicken", "servings": 2}]`})
	data := body(b.act(t, turn, 1).Frame, "## Active Entities (Full Data)")
	require.Contains(t, data, "| ref | label | type | data |")
	require.Contains(t, data, "| inv_1 | Eggs | inv | (12 count) [fridge] category:dairy |", "the name stands once")
	require.Contains(t, data, "→ Butter Chicken (recipe_1) servings:2 |", "who acts needs the ref")
	require.NotContains(t, data, `"quantity"`)
}

// V38: compressed text is always made from rows, never from earlier compressed text; the earlier text is only used for
// turns that do not fit.
func TestV38CompressionIsOfRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := 1; n <= 8; n++ {
		testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n, Goal: fmt.Sprintf("goal %d", n)}))
	}
	for _, kind := range []string{"conversation", "narrative"} {
		b.exec(t, `INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version, created_at) VALUES ($1, $2, 1, 4, 'Worded before.', 'm', '1', $3)`,
			b.session, kind, testfactory.Epoch())
	}
	in := b.compress(t, 8)
	said, done := body(in.Frame, "## Conversation"), body(in.Frame, "## What Happened")
	require.Contains(t, said, "[Turn 5, 2026-01-13 (Tuesday)] User: message 5\nAlfred: reply 5", "what is new stands in full")
	for n := 1; n <= 4; n++ {
		require.Contains(t, said, fmt.Sprintf("Turn %d: \"message %d\" → reply %d", n, n, n))
		require.Contains(t, done, fmt.Sprintf("Turn %d: goal %d", n, n))
		require.NotContains(t, done, fmt.Sprintf("reply %d", n), "the reply stands once")
	}
	require.NotContains(t, text(in.Frame)+in.Fallback.Conversation+in.Fallback.Narrative, "Worded before.")

	b.prompts = prompt.New(b.domain, tight(func(c *prompt.Config) { c.Budget.Conversation = 40 }))
	said = body(b.compress(t, 8).Frame, "## Conversation")
	require.Contains(t, said, "### Earlier\nWorded before.")
	require.NotContains(t, said, "Turn 1:")
}

func tight(change func(*prompt.Config)) prompt.Config {
	c := prompt.DefaultConfig()
	change(&c)

	return c
}

// V38: a draft is offered when it was created or changed, not in every turn in which it is pending.
func TestV38ADraftIsOfferedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Curry"})
	turn := b.running(t, 1, "draft a curry", db.StepTypeGenerate)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "generate", Type: "recipe", Rows: `[{"id": "gen_recipe_1", "name": "Curry"}]`})
	const offer = "Drafts are waiting: name them and offer once to save them."
	require.Contains(t, body(b.reply(t, turn).Frame, "## Reply Guidance"), offer)
	require.NotContains(t, body(b.reply(t, b.running(t, 2, "thanks", db.StepTypeRead)).Frame, "## Reply Guidance"), offer)
}

// What was said on another day says on which, in the user's time zone: "undo what I did today" took back what was done yesterday.
func TestTurnsOfAnotherDaySayWhich(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n, ago := range []string{"2 days", "0"} {
		past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 8 + n, Message: "thaw the cod tomorrow"})
		b.exec(t, `UPDATE turns SET finished_at = started_at - '`+ago+`'::interval WHERE id = $1`, past.ID)
	}
	turn := b.running(t, 10, "and what did I say?", db.StepTypeRead)
	said := body(b.think(t, turn).Frame, "## Conversation")
	require.Regexp(t, `\[Turn 8, \d{4}-\d\d-\d\d \(\w+day\)\] User: thaw`, said)
	require.Contains(t, said, "[Turn 9] User: thaw")
}

// V40: Understand's instructions begin with its purpose, its list keeps the highest confidence over budget, and the
// expected next step is in the reply's guidance.
func TestV40SmallGapsToTheSeeds(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Entities = 60 })
	for i, confidence := range []string{"0.2", "0.9"} {
		ref := fmt.Sprintf("recipe_%d", i+1)
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: ref, Label: "A dish with quite a long name that takes its place", Retained: "it is planned for the week"})
		b.exec(t, `UPDATE entity_refs SET retain_confidence = `+confidence+` WHERE session_id = $1 AND ref = $2`, b.session, ref)
	}
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 9})
	testfactory.Summary(t, b.tx, past)
	b.exec(t, `UPDATE turn_summaries SET natural_next = 'they will save it' WHERE turn_id = $1`, past.ID)
	turn := b.running(t, 10, "hello", db.StepTypeRead)
	known := body(b.understand(t, turn).Frame, "## All Known Entities")
	require.Contains(t, known, "recipe_2")
	require.NotContains(t, known, "recipe_1:")
	reply := b.reply(t, turn).Frame
	require.Contains(t, body(reply, "## Reply Guidance"), "they will save it")
	require.NotContains(t, body(reply, "## Conversation Flow"), "they will save it")
	require.LessOrEqual(t, clean.Tokens(known), 150)
}

// V21: calls rolled back with a failed one are counted, not listed; and no two texts of the instructions contradict
// each other.
func TestV21WhatWasNotExecutedIsOneLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "add ten things", db.StepTypeWrite)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_create", Type: "shop", Error: "There is no column colour."})
	for n := range 9 {
		testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: n + 2, Tool: "db_create", Type: "shop", Error: "Nothing was changed."})
	}
	b.exec(t, `UPDATE turn_step_results SET error_code = 'not_executed' WHERE turn_id = $1 AND call > 1`, turn.ID)
	results := body(b.act(t, turn, 1).Frame, "## Step Results")
	require.Contains(t, results, "There is no column colour.")
	require.Contains(t, results, "(9 other calls of the same decision not carried out)")
	require.Equal(t, 1, strings.Count(results, "db_create"))
}

// What was written stays told as written, though it was read again afterwards: the reply was told that nothing was changed.
func TestWritesAreToldAlthoughReadAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "eat an egg, and what is left?", db.StepTypeWrite)
	for n, label := range []string{"Eggs", "Milk"} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", n+1), Label: label})
	}
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_update", Type: "inv", Rows: `[{"id": "inv_1", "name": "Eggs", "quantity": 5}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Type: "inv", Rows: `[{"id": "inv_1", "name": "Eggs", "quantity": 5}, {"id": "inv_2", "name": "Milk", "quantity": 1}]`})
	results := body(b.reply(t, turn).Frame, "## Execution Results")
	require.Contains(t, results, "Changed 1 pantry item:\n- Eggs")
	require.Contains(t, results, "Found 1 pantry item besides those written in this turn:\n- Milk")
	require.Contains(t, results, "Changed in this turn: Eggs")
	require.NotContains(t, results, "Nothing was saved")
}

// The reply takes up what the user wished of the conversation. What only left the view is nothing to tell people: "put the
// other recipes away" sounds as if they were gone.
func TestReplyAcknowledgesWhatTheUserSaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1}))
	turn := b.running(t, 2, "save the soup", db.StepTypeRead)
	for curation, told := range map[string]bool{
		`"curation": {"demote": ["recipe_1"], "retain": [{"ref": "recipe_2", "reason": "cooked tonight"}]}`: false,
		`"curation": {"exclude": [{"ref": "recipe_1", "reason": "no cod"}]}`:                                true,
		`"constraints": [{"text": "no cod", "kind": "exclude", "scope": "session"}]`:                        true,
	} {
		testfactory.Run(t, b.tx, turn, 1, "understand", 0, `{"intent": "write", "curation_summary": "Noted", `+curation+`}`)
		require.Equal(t, told, strings.Contains(body(b.reply(t, turn).Frame, "## Reply Guidance"), "Acknowledge briefly: Noted"), curation)
		b.exec(t, `DELETE FROM node_runs WHERE turn_id = $1`, turn.ID)
	}
}
