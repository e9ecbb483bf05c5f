package offline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const padSeeEw = "## Recent Context (last 2 turns)\nAlready loaded. Do NOT re-read them.\n- recipe_2: Pad See Ew (recipe) [read:full]\n\n" +
	"## Active Entities (Full Data)\n| ref | label | type | data |\n|---|---|---|---|\n" +
	"| recipe_2 | Pad See Ew | recipe | {\"name\":\"Pad See Ew\",\"servings\":2,\"total_time_minutes\":25} |\n" +
	"| inv_1 | Eggs | inv | {\"name\":\"Eggs\",\"quantity\":1,\"unit\":\"count\"} |\n" +
	"| inv_2 | Sugar | inv | {\"name\":\"Sugar\",\"quantity\":1,\"unit\":\"kg\"} |\n\n" +
	"### recipe_2\ninstructions:\n1. Brown the chicken breasts.\n2. Return the chicken and serve.\nrecipe_ingredients:\n" +
	"- chicken breasts 250 g (in strips) category:meat id:ri_1\n- eggs 2 count category:dairy id:ri_2\n- sugar 10 g category:baking id:ri_3"

func TestStored_IsChangedByItsWords(t *testing.T) {
	t.Parallel()
	plan := thinkOf(t, kitchen(t), "use tofu instead of chicken in the pad see ew", recentRecipes, recipesTalk, "")
	require.Equal(t, []string{"read/recipes: Read recipes recipe_2 in full", `write/recipes: Revise recipes recipe_2 about "use tofu instead of chicken"`}, descriptions(plan))

	calls := actOf(t, kitchen(t), "write", `Revise recipes recipe_2 about "use tofu instead of chicken"`, padSeeEw, "")
	require.Equal(t, []string{"db_update", "db_update", "step_complete"}, names(calls))
	require.JSONEq(t, `{"table": "recipe_ingredients", "filters": [{"field": "id", "op": "=", "value": "ri_1"}], "data": {"name": "tofu"}}`, string(calls[0].Args))
	require.JSONEq(t, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_2"}], "data": {"instructions": ["Brown the tofu.", "Return the tofu and serve."]}}`, string(calls[1].Args))
	require.Contains(t, string(calls[2].Args), "Changed Pad See Ew: tofu instead of chicken breasts")
}

func TestStored_IsScaledByTheCalculatorIntoADraft(t *testing.T) {
	t.Parallel()
	plan := thinkOf(t, kitchen(t), "double the pad see ew", recentRecipes, recipesTalk, "")
	require.Equal(t, []string{"read/recipes: Read recipes recipe_2 in full", `generate/recipes: Vary recipes recipe_2 about "double"`}, descriptions(plan))

	step := `Vary recipes recipe_2 about "double"`
	calls := actOf(t, kitchen(t), "generate", step, padSeeEw, "")
	require.Equal(t, []string{"calculate"}, names(calls))
	require.JSONEq(t, `{"expressions": ["2 * 2", "250 * 2", "2 * 2", "10 * 2"]}`, string(calls[0].Args))

	done := "## Step Results\nStep 1 (generate, recipes): open\ncalculate {} → 3 rows: [{\"expression\":\"2 * 2\",\"result\":4},{\"expression\":\"250 * 2\",\"result\":500},{\"expression\":\"10 * 2\",\"result\":20}]"
	draft := generated(t, actOf(t, kitchen(t), "generate", step, padSeeEw, done))
	require.Equal(t, "Pad See Ew for 4", draft["name"])
	require.Contains(t, compact(draft["recipe_ingredients"]), `"quantity":500`)
	require.NotContains(t, compact(draft), "ri_1")
	require.NotContains(t, compact(draft), "total_time")
}

func TestStored_IsComparedWithWhatThereIs(t *testing.T) {
	t.Parallel()
	plan := thinkOf(t, kitchen(t), "what do I need to buy for the pad see ew?", recentRecipes, recipesTalk, "")
	require.Equal(t, []string{"read/inventory: Read inventory", "read/recipes: Read recipes recipe_2 in full", "analyze/recipes: Compare recipes recipe_2"}, descriptions(plan))

	calls := actOf(t, kitchen(t), "analyze", "Compare recipes recipe_2", padSeeEw, "")
	require.Equal(t, []string{"step_complete"}, names(calls))
	said := strings.ReplaceAll(string(calls[0].Args), `\n`, "\n")
	require.Contains(t, said, "To buy for Pad See Ew:\n- 250 g chicken breasts (in strips)\n- 1 eggs more (you have 1)")
	require.Contains(t, said, "You have sugar.", "10 g of 1 kg")
}

func TestPlanned_IsMovedNotPlannedAgain(t *testing.T) {
	t.Parallel()
	known := "## Recent Context (last 2 turns)\n- meal_1: Jan 16 [dinner] (meal) [read]\n- recipe_3: Shakshuka Classic (recipe) [read:summary]"
	talk := "User: put the shakshuka on friday\nAlfred: Planned Friday, Jan 16 (dinner): Shakshuka Classic."
	require.Equal(t, []string{`write/meal_plans: Update meal_plans meal_1 with [{"date":"2026-01-17"}]`},
		descriptions(thinkOf(t, kitchen(t), "move it to Saturday", known, talk, "")))
	require.Equal(t, []string{`read/meal_plans: Read meal_plans where [{"field":"date","op":">=","value":"2026-01-13"}]`, `write/meal_plans: Update meal_plans named "Shakshuka Classic" with [{"date":"2026-01-17"}]`},
		descriptions(thinkOf(t, kitchen(t), "move the shakshuka to Saturday", known, "", "")))

	rows := "## Active Entities (Full Data)\n| ref | label | type | data |\n|---|---|---|---|\n" +
		"| meal_1 | Jan 16 [dinner] | meal | {\"date\":\"2026-01-16\",\"meal_type\":\"dinner\",\"recipe_id\":\"recipe_3\",\"_recipe_id_label\":\"Shakshuka Classic\"} |"
	calls := actOf(t, kitchen(t), "write", `Update meal_plans named "Shakshuka Classic" with [{"date":"2026-01-17"}]`, rows, "")
	require.Equal(t, []string{"db_update", "step_complete"}, names(calls))
	require.Contains(t, string(calls[1].Args), "Moved Shakshuka Classic to Saturday, January 17 (dinner).")
}

func TestReplaced_OnceAndAdded(t *testing.T) {
	t.Parallel()
	context := draftContext + "\n" + `{"name": "Curry", "instructions": ["Stir in the heavy cream and the cream."], "recipe_ingredients": [{"name": "heavy cream", "quantity": 100, "unit": "ml"}]}`
	vegan := generated(t, actOf(t, kitchen(t), "generate", `Revise recipes gen_recipe_1 about "make it vegan"`, context, ""))
	require.NotContains(t, compact(vegan), "coconut coconut")
	require.Equal(t, []any{"Stir in the coconut cream."}, vegan["instructions"])
}

func TestDrafted_WithoutWhatIsNotWanted(t *testing.T) {
	t.Parallel()
	draft := generated(t, actOf(t, kitchen(t), "generate", `Draft recipes about "a chicken pasta without garlic"`, "", ""))
	for _, part := range []string{"recipe_ingredients", "instructions", "description"} {
		require.NotContains(t, compact(draft[part]), "garlic", part)
	}
}
