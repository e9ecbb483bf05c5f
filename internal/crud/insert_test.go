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

// The parts of a new row may be numbered: whoever began with 0 was told that they were no list.
func TestNewPartsMayBeNumbered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "Lemonade"}], "children": [
		{"table": "recipe_ingredients", "position": 0, "set": [{"column": "name", "value": "water"}]},
		{"table": "recipe_ingredients", "position": 1, "set": [{"column": "name", "value": "lemon"}]}]}]}`)
	require.Equal(t, "water, lemon", query[string](b, `SELECT string_agg(i.name, ', ' ORDER BY i.position)
		FROM kitchen.recipe_ingredients AS i JOIN kitchen.recipes AS r ON r.id = i.recipe_id WHERE r.name = 'Lemonade'`))
}
