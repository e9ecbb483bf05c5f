package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A draft names the row that a column points to as a write does: for a dish that nobody had read, the model had to read it first.
func TestDraftsNameRows(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Ramen'), ($1, 'Stew'), ($1, 'Stew')`, b.scope.UserID)
	draft := func(content string) string {
		return `{"creates": [{"type": "meal", "content": {"date": "2027-01-02", "meal_type": "dinner", "recipe_id": ` + content + `}}]}`
	}
	made := b.rows(b.ok("generate", vocab.ToolGenerate, draft(`"ramen"`)))
	require.Equal(t, "recipe_4", made[0]["recipe_id"])
	require.Equal(t, "Ramen", made[0]["_recipe_id_label"])
	changed := b.rows(b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_meal_1", "set": [{"column": "recipe_id", "value": "Dal"}], "children": [], "clear": []}]}`))
	require.Equal(t, "recipe_1", changed[0]["recipe_id"])
	saved := b.rows(b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "from_ref": "gen_meal_1", "rows": [], "set": [], "children": [], "clear": []}`))
	require.Equal(t, "recipe_1", saved[0]["recipe_id"])

	require.Contains(t, b.refused("generate", vocab.ToolGenerate, draft(`"stew"`), crud.CodeUnknownRef), "Several recipes are called stew")
	b.refused("generate", vocab.ToolGenerate, draft(`"Goulash"`), crud.CodeUnknownRef)
	b.exec(`UPDATE entity_refs SET excluded_reason = 'too salty' WHERE session_id = $1 AND ref = 'recipe_4'`, b.scope.SessionID)
	require.Contains(t, b.refused("generate", vocab.ToolGenerate, draft(`"Ramen"`), crud.CodeNotAllowed), "is excluded (too salty)")
	parts := b.rows(b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Soup", "recipe_ingredients": [{"name": "leek", "ingredient_id": "garlic"}]}}]}`))
	require.Regexp(t, `ing_\d+`, parts[0]["recipe_ingredients"].([]any)[0].(map[string]any)["ingredient_id"])
}

// What is new and belongs together is drafted in one answer: a draft names another one by what it is called, or by the ref that it gets
// as the first of its type. A tenant and the tenant's lease took a model three attempts, and then the step was given up.
func TestDraftsNameOthersOfTheirAnswer(t *testing.T) {
	t.Parallel()
	ramen := func(more string) string {
		return `{"type": "recipe", "content": {"name": "Ramen"` + more + `}}`
	}
	meal := func(recipe string) string {
		return `{"type": "meal", "content": {"date": "2027-01-02", "meal_type": "dinner", "recipe_id": "` + recipe + `"}}`
	}
	for name, calls := range map[string][]string{
		"by name": {ramen("") + ", " + meal("ramen")}, "by the coming ref": {ramen("") + ", " + meal("gen_recipe_1")}, "in two calls": {ramen(""), meal("Ramen")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupPlanned(t)
			var made []vocab.Call
			for _, creates := range calls {
				made = append(made, call(vocab.ToolGenerate, `{"creates": [`+creates+`]}`))
			}
			outcome := b.decide("generate", made...)
			require.False(t, outcome.Failed(), "%+v", outcome.Results)
			rows := b.rows(outcome.Results[len(calls)-1])
			require.Equal(t, "gen_recipe_1", rows[len(rows)-1]["recipe_id"])
			require.Equal(t, "Ramen", rows[len(rows)-1]["_recipe_id_label"])
			require.Equal(t, "gen_recipe_1", query[string](b, `SELECT content ->> 'recipe_id' FROM artifacts WHERE session_id = $1 AND ref = 'gen_meal_1'`, b.scope.SessionID))
		})
	}
	t.Run("nothing else", func(t *testing.T) {
		t.Parallel()
		b := setupPlanned(t)
		require.Contains(t, b.refused("generate", vocab.ToolGenerate, `{"creates": [`+meal("Ramen")+`]}`, crud.CodeUnknownRef), "Ramen does not exist in this conversation")
		b.refused("generate", vocab.ToolGenerate, `{"creates": [`+ramen("")+", "+ramen("")+", "+meal("gen_recipe_2")+`]}`, crud.CodeUnknownRef)
		b.refused("generate", vocab.ToolGenerate, `{"creates": [`+ramen(`, "parent_recipe_id": "Ramen"`)+`]}`, crud.CodeUnknownRef)
	})
}
