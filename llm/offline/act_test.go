package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/llm"
)

func names(calls []llm.ToolCall) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name)
	}
	return out
}

func TestAct_CallsTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, description, tool, args string
	}{
		{"read", "Read inventory", "db_read", `{"table": "inventory", "filters": []}`},
		{"read", "Read recipes recipe_2 in full", "db_read", `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_2"}], "detail": "full"}`},
		{"read", "Read recipes gen_recipe_1, gen_recipe_2", "db_read", `{"table": "recipes", "filters": [{"field": "id", "op": "in", "value": ["gen_recipe_1", "gen_recipe_2"]}]}`},
		{"read", `Read recipes named "shakshuka"`, "db_read", `{"table": "recipes", "filters": [{"field": "name", "op": "ilike", "value": "%shakshuka%"}]}`},
		{"read", `Read inventory named "milk"`, "db_read", `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "milk"}]}`},
		{"read", `Recall about "budget"`, "recall", `{"query": "budget"}`},
		{"write", `Create inventory with [{"location":"fridge","name":"eggs","quantity":12}]`, "db_create", `{"table": "inventory", "data": {"location": "fridge", "name": "eggs", "quantity": 12}}`},
		{"write", `Create shopping_list with [{"name":"milk"},{"name":"bread"}]`, "db_create", `{"table": "shopping_list", "data": [{"name": "milk"}, {"name": "bread"}]}`},
		{"write", "Save recipes gen_recipe_1", "db_create", `{"table": "recipes", "from_ref": "gen_recipe_1"}`},
		{"write", "Delete recipes recipe_3", "db_delete", `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_3"}]}`},
		{"write", `Update inventory inv_1 with [{"quantity":2,"unit":"l"}]`, "db_update", `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2, "unit": "l"}}`},
		{"write", "Add 12 eggs to the fridge", "db_create", `{"table": "inventory", "data": {"location": "fridge", "name": "eggs", "quantity": 12}}`},
		{"read", "Show what is in the pantry", "db_read", `{"table": "inventory", "filters": []}`},
	} {
		t.Run(tt.description, func(t *testing.T) {
			t.Parallel()
			calls := actOf(t, kitchen(t), tt.kind, tt.description, draftContext+"\n\n"+recentRecipes, "")
			require.Equal(t, []string{tt.tool, "step_complete"}, names(calls))
			require.JSONEq(t, tt.args, string(calls[0].Args))
		})
	}
}

func TestAct_FindsByNameBeforeItWrites(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	description := `Delete recipes named "shakshuka"`
	require.Equal(t, []string{"db_read"}, names(actOf(t, d, "write", description, "", "")), "no ref is invented")

	found := "## Active Entities (Full Data)\n| ref | label | type | data |\n|---|---|---|---|\n| recipe_3 | Shakshuka Classic | recipe | {\"name\":\"Shakshuka Classic\"} |\n\n## Step Results\nStep 1 (write, recipes): open\ndb_read recipe {\"table\":\"recipes\"} → 1 row: recipe_3"
	calls := actOf(t, d, "write", description, "", found)
	require.Equal(t, []string{"db_delete", "step_complete"}, names(calls))
	require.JSONEq(t, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_3"}]}`, string(calls[0].Args))

	none := "## Step Results\nStep 1 (write, recipes): open\ndb_read recipe {\"table\":\"recipes\"} → 0 rows"
	require.Equal(t, []string{"step_complete"}, names(actOf(t, d, "write", description, "", none)))

	two := strings.Replace(found, "\n\n", "\n| recipe_4 | Green Shakshuka | recipe | {} |\n\n", 1)
	require.Equal(t, []string{"ask_user"}, names(actOf(t, d, "write", description, "", two)))
}

func TestAct_ReportsFailure(t *testing.T) {
	t.Parallel()
	failed := "## Step Results\nStep 1 (write, recipes): open\ndb_create recipe {} → error rule_violation: name needs a value."
	calls := actOf(t, kitchen(t), "write", "Save recipes gen_recipe_1", draftContext, failed)
	require.Equal(t, []string{"blocked"}, names(calls))
}

func TestAct_AsksBeforeItSavesWhatADraftPointsAt(t *testing.T) {
	t.Parallel()
	entities := draftContext + "\n- gen_meal_1: Jan 16 [dinner] (meal) [needs save]\n{\"date\": \"2026-01-16\", \"recipe_id\": \"gen_recipe_1\"}"
	require.Equal(t, []string{"ask_user"}, names(actOf(t, kitchen(t), "write", "Save meal_plans gen_meal_1", entities, "")))
}

func TestAct_NotesFactsBesideWhatIsKnown(t *testing.T) {
	t.Parallel()
	data := "## Active Entities (Full Data)\n| ref | label | type | data |\n|---|---|---|---|\n| pref_1 | Preferences | pref | {\"allergies\": [\"shellfish\"]} |"
	calls := actOf(t, kitchen(t), "write", `Note preferences about "peanuts" by allergies`, data, "")
	require.JSONEq(t, `{"table": "preferences", "filters": [{"field": "id", "op": "=", "value": "pref_1"}], "data": {"allergies": ["shellfish", "peanuts"]}}`, string(calls[0].Args))
	calls = actOf(t, kitchen(t), "write", `Note preferences about "peanuts" by allergies`, "", "")
	require.JSONEq(t, `{"table": "preferences", "data": {"allergies": ["peanuts"]}}`, string(calls[0].Args))
}

func TestAct_Counts(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	calls := actOf(t, d, "analyze", "Count recipes by cuisine", "", "")
	require.Equal(t, []string{"db_analyze"}, names(calls))
	require.JSONEq(t, `{"table": "recipes", "aggregates": [{"fn": "count", "as": "count"}], "group_by": ["cuisine"]}`, string(calls[0].Args))
	calls = actOf(t, d, "analyze", "Count recipes by cuisine", "", "## Step Results\nStep 1 (analyze, recipes): open\ndb_analyze recipe {} → 2 rows: [{\"count\":2,\"cuisine\":\"thai\"},{\"count\":1,\"cuisine\":null}]")
	require.Equal(t, []string{"step_complete"}, names(calls))
	require.JSONEq(t, `{"summary": "Counted the recipes.", "conclusions": "Recipes by cuisine: thai: 2, none: 1."}`, string(calls[0].Args))
}

func generated(t *testing.T, calls []llm.ToolCall) map[string]any {
	t.Helper()
	require.Equal(t, []string{"generate", "step_complete"}, names(calls))
	var args struct {
		Creates []struct {
			Type    string         `json:"type"`
			Content map[string]any `json:"content"`
		} `json:"creates"`
		Updates []struct {
			Ref     string         `json:"ref"`
			Content map[string]any `json:"content"`
		} `json:"updates"`
	}
	require.NoError(t, json.Unmarshal(calls[0].Args, &args))
	if len(args.Updates) > 0 {
		return args.Updates[0].Content
	}
	require.NotEmpty(t, args.Creates)
	return args.Creates[0].Content
}

func TestAct_DraftsAndRevises(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	draft := generated(t, actOf(t, d, "generate", `Draft recipes about "a thai basil chicken"`, "", ""))
	require.Equal(t, "Thai Basil Chicken", draft["name"])
	require.Equal(t, "thai", draft["cuisine"])
	require.NotEmpty(t, draft["instructions"])
	rows, _ := draft["recipe_ingredients"].([]any)
	require.Greater(t, len(rows), 5)
	require.Contains(t, compact(rows), `"name":"chicken"`)
	require.NotRegexp(t, `\{[a-zA-Z]+\}`, compact(draft))
}

func TestAct_RevisesTheWholeContent(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	draft := generated(t, actOf(t, d, "generate", `Draft recipes about "a thai basil chicken"`, "", ""))
	context := draftContext + "\n" + compact(draft)

	veg := generated(t, actOf(t, d, "generate", `Revise recipes gen_recipe_1 about "make it vegetarian"`, context, ""))
	require.Equal(t, "Vegetarian Thai Basil Tofu", veg["name"])
	require.NotContains(t, compact(veg), "chicken")
	require.Contains(t, compact(veg["recipe_ingredients"]), "tofu")
	require.Equal(t, draft["servings"], veg["servings"])
	require.Equal(t, 1, strings.Count(compact(veg["recipe_ingredients"]), `"name":"soy sauce"`))
	require.NotContains(t, compact(veg["instructions"]), "soy sauce, the soy sauce")

	lime := generated(t, actOf(t, d, "generate", `Revise recipes gen_recipe_1 about "add lime at the end"`, context, ""))
	require.Contains(t, compact(lime["recipe_ingredients"]), `"name":"lime"`)
	steps, _ := lime["instructions"].([]any)
	require.Contains(t, asText(steps[len(steps)-1]), "lime")

	four := generated(t, actOf(t, d, "generate", `Revise recipes gen_recipe_1 about "for 4 people"`, context, ""))
	require.InDelta(t, 4, four["servings"], 0)
	require.Contains(t, compact(four["recipe_ingredients"]), `"quantity":800`)
}

func TestAct_PlansWithoutWhatIsExcluded(t *testing.T) {
	t.Parallel()
	entities := "## Recent Context (last 2 turns)\n- recipe_1: Butter Chicken (recipe) [read]\n- recipe_2: Cod with Peas (recipe) [read]\n- recipe_4: Lemon Cod (recipe) [read]\n\n" +
		"## Excluded (user rejected)\n- recipe_2: Cod with Peas (recipe) [read] — *no cod*\n\n## Constraints\n- no cod this week [exclude: {\"terms\":[\"cod\"]}] (since turn 2) until 2026-01-18 (Sunday)"
	description := `Plan meal_plans about "plan dinners for Friday and Saturday" with [{"date":"2026-01-16","meal_type":"dinner"},{"date":"2026-01-17","meal_type":"dinner"}]`
	calls := actOf(t, kitchen(t), "generate", description, entities, "")
	require.Equal(t, []string{"generate", "step_complete"}, names(calls))
	require.JSONEq(t, `{"creates": [
		{"type": "meal", "content": {"date": "2026-01-16", "meal_type": "dinner", "recipe_id": "recipe_1"}},
		{"type": "meal", "content": {"date": "2026-01-17", "meal_type": "dinner", "recipe_id": "recipe_1"}}]}`, string(calls[0].Args))
}
