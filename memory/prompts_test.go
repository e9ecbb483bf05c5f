package memory_test

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

// mealPlanning is a conversation that narrows down options: nine recipes and the
// pantry were read, cod was ruled out, now French toast and wings are.
func mealPlanning(t *testing.T, b *testBundle) *db.Turns {
	t.Helper()
	b.exec(t, `INSERT INTO kitchen.preferences (user_id, allergies, cooking_skill_level, favorite_cuisines, subdomain_guidance)
		VALUES ($1, '{shellfish}', 'beginner', '{indian,thai,mexican}', '{"meal_plans": "I cook on Sunday and Wednesday.", "recipes": "Five to seven steps."}')`, b.user)

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
		{"text": "wings", "ref": "recipe_6", "resolution": "inferred"}], "intent": "explore", "curation_summary": "Excluded recipe_5 and recipe_6"}`)
	for _, ref := range []string{"recipe_5", "recipe_6"} {
		b.exec(t, `UPDATE entity_refs SET excluded_reason = 'not this week', turn_last_ref = 3 WHERE session_id = $1 AND ref = $2`, b.session, ref)
		b.exec(t, `INSERT INTO decisions (session_id, turn_id, turn_number, action, ref, reason, actor) VALUES ($1, $2, 3, 'exclude', $3, 'not this week', 'assistant')`,
			b.session, turn.ID, ref)
	}
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 1, Type: db.StepTypeAnalyze, Description: "Choose from what remains", Refs: []string{"recipe_3", "recipe_4", "recipe_8", "recipe_9"}})
}

// The worked example of a conversation that narrows down, as each node sees it.
func TestPromptsOfMealPlanning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)

	golden(t, "understand", b.understand(t, turn).Frame)
	decideRejection(t, b, turn)
	think := b.think(t, turn)
	golden(t, "think", think.Frame)
	require.Equal(t, 8, think.MaxSteps)
	require.False(t, think.WriteAllowed)
	golden(t, "act_analyze", b.act(t, turn, 1).Frame)

	b.exec(t, `UPDATE turn_steps SET outcome = 'ok', summary = 'recipe_3, recipe_4, recipe_8 and recipe_9 remain.' WHERE turn_id = $1`, turn.ID)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Params: `{"table": "recipes"}`,
		Rows: `[{"id": "recipe_3", "name": "Air Fryer Paneer Tikka", "servings": 2}, {"id": "recipe_8", "name": "Thai Pad See Ew", "servings": 2}]`})
	golden(t, "reply", b.reply(t, turn).Frame)

	reply := "Got it! That leaves two."
	turn.Reply = &reply
	summarize, err := b.memory.Summarize(t.Context(), b.tx, turn)
	require.NoError(t, err)
	golden(t, "summarize", summarize.Frame)
	require.Equal(t, "narrowing", summarize.Fallback.ConversationPhase)

	compress, err := b.memory.Compress(t.Context(), b.tx, b.session, "conversation", 1, 2)
	require.NoError(t, err)
	golden(t, "compress_conversation", compress.Frame)
	compress, err = b.memory.Compress(t.Context(), b.tx, b.session, "narrative", 1, 2)
	require.NoError(t, err)
	golden(t, "compress_narrative", compress.Frame)
	require.Contains(t, compress.Fallback, "Find recipes without cod")
}
