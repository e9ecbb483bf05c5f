package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
)

var recipeNames = []string{
	"Cod Tacos", "Butter Cod", "Air Fryer Paneer Tikka", "Chicken Tikka Bites", "Chai French Toast",
	"Dry Rub Wings", "Cod Curry", "Thai Pad See Ew", "Thai Yellow Curry",
}

// mealPlanning is a conversation that narrows down options: nine recipes and the pantry were read, cod was ruled out,
// and now French toast and wings are.
func mealPlanning(t *testing.T, b *testBundle) *db.Turns {
	t.Helper()
	b.exec(t, `INSERT INTO kitchen.preferences (user_id, allergies, cooking_skill_level, favorite_cuisines, subdomain_guidance)
		VALUES ($1, '{shellfish}', 'beginner', '{indian,thai,mexican}', '{"meal_plans": "I cook on Sunday and Wednesday.", "recipes": "Five to seven steps."}')`, b.user)

	b.exec(t, `INSERT INTO kitchen.recipes (user_id, name, cuisine, servings, instructions)
		SELECT $1, name, CASE WHEN name LIKE 'Thai%' THEN 'thai' WHEN name LIKE '%Tikka%' THEN 'indian' ELSE 'fusion' END, 2, '{Cook.}' FROM unnest($2::text[]) AS name`, b.user, recipeNames)
	b.exec(t, `INSERT INTO kitchen.inventory (user_id, name, location)
		SELECT $1, 'Item ' || n, CASE WHEN n <= 45 THEN 'pantry' WHEN n <= 54 THEN 'fridge' ELSE 'freezer' END FROM generate_series(1, 59) AS n`, b.user)
	testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{
		Number: 1, Message: "can you help me plan some meals?", Reply: "Absolutely! Saved recipes, or something new?", Goal: "Start planning meals",
	}))
	second := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{
		Number: 2, Message: "no cod this week", Goal: "Find recipes without cod",
		Reply: "Here are 6 recipes that fit your pantry, without cod.",
	})
	for i, name := range recipeNames {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", i+1), Label: name, Created: 2})
		testfactory.Event(t, b.tx, b.session, 2, fmt.Sprintf("recipe_%d", i+1), "read")
	}
	for i := range 59 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1), Label: fmt.Sprintf("Item %d", i+1), Created: 2})
		testfactory.Event(t, b.tx, b.session, 2, fmt.Sprintf("inv_%d", i+1), "read")
	}
	testfactory.Step(t, b.tx, second, testfactory.StepOpts{Step: 1, Description: "Read recipes", Outcome: new(db.StepOutcomeOk), Summary: "Found 9 recipes."})
	testfactory.Step(t, b.tx, second, testfactory.StepOpts{Step: 2, Subdomain: "inventory", Description: "Read the pantry", Outcome: new(db.StepOutcomeOk), Summary: "Found 59 items."})
	testfactory.Step(t, b.tx, second, testfactory.StepOpts{
		Step: 3, Type: db.StepTypeAnalyze, Description: "Rule out cod", Outcome: new(db.StepOutcomeOk),
		Summary: "6 are viable.", Conclusions: "recipe_3, recipe_4, recipe_5, recipe_6, recipe_8 and recipe_9 have no cod.",
	})
	testfactory.StepResult(t, b.tx, second, testfactory.ResultOpts{Step: 1, Type: "recipe", Params: `{"table": "recipes"}`, Rows: recipeRows()})
	testfactory.StepResult(t, b.tx, second, testfactory.ResultOpts{Step: 2, Type: "inv", Params: `{"table": "inventory"}`, Rows: rows("inv", 59, `, "quantity": 2, "location": "pantry"`)})
	testfactory.Summary(t, b.tx, second)

	third := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{
		Number: 3, Message: "lets not do the french toast or wings", Status: db.TurnStatusRunning, Goal: "Filter out French Toast and Wings",
	})
	for _, ref := range []string{"recipe_1", "recipe_2", "recipe_7"} {
		b.exec(t, `UPDATE entity_refs SET excluded_reason = 'no cod this week' WHERE session_id = $1 AND ref = $2`, b.session, ref)
	}
	b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, source_turn, expires_at)
		VALUES ($1, $2, 'no cod this week', 'exclude', '"cod"', 2, '2026-01-18 22:59:59+00')`, b.user, b.session)

	return third
}

func recipeRows() string {
	list := make([]string, len(recipeNames))
	for i, name := range recipeNames {
		list[i] = fmt.Sprintf(`{"id": "recipe_%d", "name": %q, "cuisine": "thai", "servings": 2, "total_time_minutes": 45}`, i+1, name)
	}

	return "[" + strings.Join(list, ",") + "]"
}

// decideRejection is what Understand commits in the third turn.
func decideRejection(t *testing.T, b *testBundle, turn *db.Turns) {
	t.Helper()
	testfactory.Run(t, b.tx, turn, 1, "understand", 0, `{"mentions": [{"text": "the french toast", "ref": "recipe_5", "resolution": "inferred"},
		{"text": "wings", "ref": "recipe_6", "resolution": "inferred"}], "intent": "explore", "curation_summary": "Excluded recipe_5 and recipe_6",
		"curation": {"exclude": [{"ref": "recipe_5", "reason": "not this week"}, {"ref": "recipe_6", "reason": "not this week"}]}}`)
	for _, ref := range []string{"recipe_5", "recipe_6"} {
		b.exec(t, `UPDATE entity_refs SET excluded_reason = 'not this week', turn_last_ref = 3 WHERE session_id = $1 AND ref = $2`, b.session, ref)
		b.exec(t, `INSERT INTO decisions (session_id, turn_id, turn_number, action, ref, reason, actor) VALUES ($1, $2, 3, 'exclude', $3, 'not this week', 'assistant')`,
			b.session, turn.ID, ref)
	}
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 1, Type: db.StepTypeAnalyze, Description: "Choose from what remains", Refs: []string{"recipe_3", "recipe_4", "recipe_8", "recipe_9"}})
}

// A worked example of a conversation that narrows down, as each node sees it.
func TestPromptsOfMealPlanning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)

	golden(t, "understand", b.understand(t, turn).Frame)
	decideRejection(t, b, turn)
	think := b.think(t, turn)
	golden(t, "think", think.Frame)
	require.Equal(t, 8, think.MaxSteps)
	golden(t, "act_analyze", b.act(t, turn, 1).Frame)
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeGenerate, Subdomain: "meal_plans", Description: "Draft the week from what remains"})
	golden(t, "act_generate", b.act(t, turn, 2).Frame)
	b.exec(t, `DELETE FROM turn_steps WHERE turn_id = $1 AND step = 2`, turn.ID)

	b.exec(t, `UPDATE turn_steps SET outcome = 'ok', summary = 'recipe_3, recipe_4, recipe_8 and recipe_9 remain.' WHERE turn_id = $1`, turn.ID)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Params: `{"table": "recipes"}`,
		Rows: `[{"id": "recipe_3", "name": "Air Fryer Paneer Tikka", "servings": 2}, {"id": "recipe_8", "name": "Thai Pad See Ew", "servings": 2}]`})
	golden(t, "reply", b.reply(t, turn).Frame)

	reply := "Got it! That leaves two."
	turn.Reply = &reply
	summarize := b.summarize(t, turn)
	golden(t, "summarize", summarize.Frame)
	require.Equal(t, "Excluded recipe_5 and recipe_6", summarize.Fallback.WhatWeAcknowledged)

	compress := b.compress(t, 2)
	golden(t, "compress", compress.Frame)
	require.Contains(t, compress.Fallback.Narrative, "Find recipes without cod")
}

// weeklyPlan is a conversation with every kind of entity: a weekly plan retained because the user is still building it,
// a recipe draft, one retained since the first turn, pantry rows just read, and now the request to save.
func weeklyPlan(t *testing.T, b *testBundle) *db.Turns {
	t.Helper()
	for n, said := range []struct{ message, goal, reply string }{
		{"what curries do I have?", "Show the curries", "You have Thai Curry."},
		{"plan my week around it", "Draft a plan of the week", "Here is a plan for two days, not saved yet."},
		{"and draft me a quick noodle dish", "Draft a noodle dish", "A draft: Sesame Noodles."},
		{"what's in my fridge?", "Show the fridge", "Eggs and milk."},
	} {
		turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n + 1, Message: said.message, Goal: said.goal, Reply: said.reply})
		if n == 3 {
			testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Subdomain: "inventory", Description: "Read the fridge", Outcome: new(db.StepOutcomeOk), Summary: "Found 2 items."})
			testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Params: `{"table": "inventory"}`,
				Rows: `[{"id": "inv_1", "name": "Eggs", "quantity": 12, "unit": "count", "location": "fridge"}, {"id": "inv_2", "name": "Milk", "quantity": 1, "unit": "l", "location": "fridge"}]`})
		}
		testfactory.Summary(t, b.tx, turn)
	}
	for _, o := range []testfactory.RefOpts{
		{Ref: "recipe_3", Label: "Thai Curry", Created: 1, LastRef: 2, Retained: "Part of the meal plan"},
		{Ref: "gen_meal_1", Label: "Jan 14 [dinner]", Created: 2, LastRef: 2, Retained: "The user is building a plan of the week"},
		{Ref: "gen_meal_2", Label: "Jan 15 [dinner]", Created: 2, LastRef: 2, Retained: "The user is building a plan of the week"},
		{Ref: "gen_recipe_1", Label: "Sesame Noodles", Created: 3, LastRef: 3},
		{Ref: "inv_1", Label: "Eggs", Created: 4},
		{Ref: "inv_2", Label: "Milk", Created: 4},
	} {
		testfactory.Ref(t, b.tx, b.session, o)
	}
	testfactory.Artifact(t, b.tx, b.session, "gen_meal_1", `{"date": "2026-01-14", "meal_type": "dinner", "recipe_id": "recipe_3"}`)
	testfactory.Artifact(t, b.tx, b.session, "gen_meal_2", `{"date": "2026-01-15", "meal_type": "dinner", "recipe_id": "gen_recipe_1"}`)
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": "Sesame Noodles", "servings": 2, "recipe_ingredients": [{"name": "noodles", "quantity": 200, "unit": "g"}]}`)
	for _, e := range []struct {
		turn        int
		ref, action string
	}{
		{1, "recipe_3", "read"}, {2, "gen_meal_1", "generated"}, {2, "gen_meal_2", "generated"},
		{3, "gen_recipe_1", "generated"}, {4, "inv_1", "read"}, {4, "inv_2", "read"},
	} {
		testfactory.Event(t, b.tx, b.session, e.turn, e.ref, e.action)
	}
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES
		($1, 3, 'retain', 'gen_meal_1', 'The user is building a plan of the week', 'assistant'),
		($1, 3, 'retain', 'gen_meal_2', 'The user is building a plan of the week', 'assistant'),
		($1, 4, 'retain', 'recipe_3', 'Part of the meal plan', 'assistant')`, b.session)

	return testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 5, Message: "save the plan", Status: db.TurnStatusRunning, Goal: "Save the plan of the week"})
}

// A worked example of a conversation over several turns: what is recent, what is retained and why, what is unsaved; and
// what each node sees of it.
func TestPromptsOfTheWeeklyPlan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := weeklyPlan(t, b)
	golden(t, "plan_understand", b.understand(t, turn).Frame)

	testfactory.Run(t, b.tx, turn, 1, "understand", 0, `{"mentions": [{"text": "the plan", "ref": "gen_meal_1", "resolution": "inferred"}, {"text": "the plan", "ref": "gen_meal_2", "resolution": "inferred"}], "intent": "write"}`)
	think := b.think(t, turn)
	golden(t, "plan_think", think.Frame)

	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 1, Subdomain: "preferences", Description: "Read the preferences", Outcome: new(db.StepOutcomeEmpty), Summary: "None set."})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "pref", Params: `{"table": "preferences"}`})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeWrite, Subdomain: "meal_plans", Description: "Save the plan", Refs: []string{"gen_recipe_1", "gen_meal_1", "gen_meal_2"}})
	golden(t, "plan_act_write", b.act(t, turn, 2).Frame)
	golden(t, "plan_reply", b.reply(t, turn).Frame)
}
