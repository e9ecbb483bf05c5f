package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
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

// The parts of a new row or draft may be numbered, from 0 or 1: whoever did was told that they were no list.
func TestNewPartsMayBeNumbered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := func(name, at, after string) string {
		return `"set": [{"column": "name", "value": "` + name + `"}], "children": [
			{"table": "recipe_ingredients", "position": ` + at + `, "set": [{"column": "name", "value": "water"}]},
			{"table": "recipe_ingredients", "position": ` + after + `, "set": [{"column": "name", "value": "lemon"}]}]`
	}
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "rows": [{`+row("Lemonade", "0", "1")+`}]}`)
	b.ok("write", vocab.ToolCreate, `{`+row("Punch", "1", "2")+`, "table": "recipes"}`)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", `+row("Sorbet", "1", "2")+`}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
	for _, name := range []string{"Punch", "Sorbet"} {
		require.Equal(t, "water, lemon", query[string](b, `SELECT string_agg(i.name, ', ' ORDER BY i.position)
			FROM kitchen.recipe_ingredients AS i JOIN kitchen.recipes AS r ON r.id = i.recipe_id WHERE r.name = $1`, name))
	}
	require.Equal(t, "water, lemon", query[string](b, `SELECT string_agg(i.name, ', ' ORDER BY i.position)
		FROM kitchen.recipe_ingredients AS i JOIN kitchen.recipes AS r ON r.id = i.recipe_id WHERE r.name = 'Lemonade'`))
}

// What the parts of a new row point to may be named, as what the row itself points to: an order of two lamps took a look at
// the lamps first. A name that two rows have is refused with the rest.
func TestNewPartsNameWhatTheyPointTo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	names := query[[]string](b, `SELECT array_agg(name) FROM (SELECT name FROM kitchen.ingredients ORDER BY name LIMIT 2) AS i`)
	part := func(line, name string) string {
		return `{"table": "recipe_ingredients", "set": [{"column": "name", "value": "` + line + `"}, {"column": "ingredient_id", "value": "` + name + `"}]}`
	}
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "rows": [
		{"set": [{"column": "name", "value": "One"}], "children": [`+part("x", names[0])+`, `+part("y", names[1])+`]},
		{"set": [{"column": "name", "value": "Two"}], "children": [`+part("z", names[1])+`]}]}`)
	require.Equal(t, "x "+names[0]+", y "+names[1]+", z "+names[1], query[string](b, `SELECT string_agg(p.name || ' ' || i.name, ', ' ORDER BY p.name)
		FROM kitchen.recipe_ingredients AS p JOIN kitchen.ingredients AS i ON i.id = p.ingredient_id WHERE p.name IN ('x', 'y', 'z')`))
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "Three"}], "children": [`+part("w", "unobtainium")+`]}]}`,
		crud.CodeUnknownRef), "unobtainium")
}
