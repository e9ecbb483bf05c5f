package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// TestNoKeyLeaves fills every kind of reference, arrays included, and reads all tables completely; the harness searches
// every stored result for keys.
func TestNoKeyLeaves(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.exec(`UPDATE kitchen.recipes SET parent_recipe_id = $1 WHERE name = 'Pad See Ew'`, butterChicken)
	b.exec(`WITH meal AS (INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id) VALUES ($1, '2026-01-12', 'lunch', $2) RETURNING id),
		task AS (INSERT INTO kitchen.tasks (user_id, title, recipe_id, meal_plan_id) SELECT $1, 'Thaw', $2, id FROM meal)
		INSERT INTO kitchen.cooking_log (user_id, recipe_id, from_meal_plan_id) SELECT $1, $2, id FROM meal`, b.scope.UserID, butterChicken)
	b.exec(`INSERT INTO kitchen.shopping_list (user_id, name, notes) VALUES ($1, 'Odd', $2)`, b.scope.UserID, butterChicken)

	for _, e := range b.kit.Entities {
		require.Positive(t, b.ok("read", vocab.ToolRead, sprintf(`{"table": %q, "detail": "full", "limit": 50}`, e.Table)).RowCount, e.Table)
		b.ok("analyze", vocab.ToolAnalyze, sprintf(`{"table": %q, "aggregates": [{"fn": "count"}]}`, e.Table))
	}
	rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "meal_plans"}`))
	require.Equal(t, "recipe_1", rows[0]["recipe_id"])
	require.Equal(t, "Butter Chicken", rows[0]["_recipe_id_label"])

	b.ok("write", vocab.ToolUpdate, `{"table": "cooking_log", "filters": [{"field": "recipe_id", "op": "=", "value": "recipe_1"}], "data": {"recipe_id": "recipe_2", "rating": 5}}`)
	b.ok("write", vocab.ToolDelete, `{"table": "meal_plans", "filters": [{"field": "date", "op": "=", "value": "2026-01-12"}]}`)
	for _, ref := range []string{"recipe_1", "recipe_2"} {
		b.ok("write", vocab.ToolDelete, sprintf(`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": %q}]}`, ref))
	}
}
