package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// Rows keep the order in which they were shown, although some have more columns than others.
func TestRowsKeepTheirOrder(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Tea", "recipe_ingredients": [
		{"name": "water", "quantity": 1, "unit": "l"}, {"name": "salt"}, {"name": "lemon", "is_optional": true},
		{"name": "sugar", "quantity": 1}, {"name": "mint", "is_optional": true, "notes": "fresh"}]}}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
	require.Equal(t, "water, salt, lemon, sugar, mint", query[string](b, `SELECT string_agg(i.name, ', ' ORDER BY i.position)
		FROM kitchen.recipe_ingredients i JOIN kitchen.recipes r ON r.id = i.recipe_id WHERE r.name = 'Tea'`))
}
