package crud_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

func TestNameLookup(t *testing.T) {
	t.Parallel()

	names := func(b *bundle, table, filters string) []string {
		b.t.Helper()

		list := column[string](b.rows(b.ok("read", vocab.ToolRead, sprintf(`{"table": %q, %s}`, table, filters))), "name")
		slices.Sort(list)

		return list
	}
	stock := func(b *bundle) {
		b.t.Helper()

		b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": [{"name": "chicken"}, {"name": "chicken breasts"}, {"name": "chicken thighs"}, {"name": "salmon"}, {"name": "cod"}]}`)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, 'leftover chicken'), ($1, 'chiken stock')`, b.scope.UserID)
	}

	t.Run("FindsVariantsAndUnlinkedRows", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		stock(b)
		family := []string{"chicken", "chicken breasts", "chicken thighs", "leftover chicken"}
		require.Equal(t, family, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "Chicken"}]`))
		require.Equal(t, append([]string{"chicken", "chicken breasts", "chicken thighs", "chiken stock"}, "leftover chicken"),
			names(b, "inventory", `"filters": [{"field": "name", "op": "similar", "value": "chiken"}]`), "a slip is understood, and found literally too")
		require.Equal(t, []string{"chicken thighs"}, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "chicken thighs"}]`))
		require.Equal(t, []string{"cod"}, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "cod"}]`))
	})

	t.Run("TheMostSimilarNameIsMeant", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		stock(b)
		b.exec(`WITH i AS (INSERT INTO kitchen.ingredients (name, family, category, parent_category) VALUES ('chikena', 'chikena', 'meat', 'protein') RETURNING id)
			INSERT INTO kitchen.inventory (user_id, name, ingredient_id) SELECT $1, 'a bird', id FROM i`, b.scope.UserID)
		require.Equal(t, []string{"a bird", "chiken stock"}, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "chiken"}]`), "chicken is less similar")
	})

	t.Run("NoMatchIsEmpty", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		stock(b)
		require.Empty(t, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "dragonfruit"}]`))
		require.Empty(t, names(b, "inventory", `"filters": [{"field": "name", "op": "similar", "value": "xyzzy"}]`))
		require.Empty(t, names(b, "shopping_list", `"filters": [{"field": "name", "op": "=", "value": "chicken"}]`))
	})

	t.Run("NoNameIsNotEveryName", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		stock(b)
		b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Soup')`, b.scope.UserID)
		for _, value := range []string{`""`, `" "`} {
			for _, op := range []string{"=", "similar"} {
				filters := `"filters": [{"field": "name", "op": "` + op + `", "value": ` + value + `}]`
				require.Empty(t, names(b, "inventory", filters))
				require.Empty(t, names(b, "recipes", filters))
				require.Zero(t, b.ok("write", vocab.ToolUpdate, `{"table": "inventory", `+filters+`, "data": {"quantity": 7}}`).RowCount)
				b.scope.Call++
			}
		}
		require.Equal(t, []string{"cod"}, names(b, "inventory", `"filters": [{"field": "name", "op": "in", "value": ["", "cod"]}]`))
	})

	t.Run("WholeWords", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, 'eggplant'), ($1, 'two dozen eggs'), ($1, 'Egg noodles'), ($1, 'brown rice'), ($1, 'C++ (tin)'), ($1, 'dried berries')`, b.scope.UserID)
		for name, want := range map[string][]string{
			"egg": {"Egg noodles", "two dozen eggs"}, "Eggs": {"Egg noodles", "two dozen eggs"}, "ice": {}, "rice": {"brown rice"}, "C++": {"C++ (tin)"}, "berry": {"dried berries"}, "berries": {"dried berries"},
		} {
			got := names(b, "inventory", sprintf(`"filters": [{"field": "name", "op": "=", "value": %q}]`, name))
			require.Equal(t, want, append([]string{}, got...), name)
		}
		b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Rice pudding')`, b.scope.UserID)
		require.Equal(t, []string{"Rice pudding"}, names(b, "recipes", `"filters": [{"field": "name", "op": "=", "value": "ric"}]`), "a title is found by a part")
		require.Zero(t, b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "ice"}]}`).RowCount, "and not deleted by one")
	})

	t.Run("InOrLists", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		stock(b)
		require.Equal(t, []string{"chicken", "chicken breasts", "chicken thighs", "cod", "leftover chicken"},
			names(b, "inventory", `"or_filters": [{"field": "name", "op": "=", "value": "chicken"}, {"field": "name", "op": "=", "value": "cod"}]`))
		require.Equal(t, []string{"cod", "salmon"}, names(b, "inventory", `"filters": [{"field": "name", "op": "in", "value": ["cod", "salmon"]}]`))
		require.Equal(t, []string{"chicken", "chicken breasts", "chicken thighs", "chiken stock", "cod", "leftover chicken"},
			names(b, "inventory", `"or_filters": [{"field": "name", "op": "=", "value": "chiken"}, {"field": "name", "op": "=", "value": "cod"}]`), "a slip is understood there, too")
	})

	t.Run("WildcardsAreLiteral", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		require.Empty(t, names(b, "inventory", `"filters": [{"field": "name", "op": "=", "value": "%"}]`))
		require.Empty(t, names(b, "recipes", `"filters": [{"field": "name", "op": "=", "value": "_"}]`))
	})

	t.Run("WithoutMatchRule", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		require.Equal(t, []string{"Shakshuka Classic"}, names(b, "recipes", `"filters": [{"field": "name", "op": "=", "value": "shakshuka"}]`))
		require.Equal(t, []string{"Shakshuka Classic"}, names(b, "recipes", `"filters": [{"field": "name", "op": "similar", "value": "shakshooka"}]`))
	})

	t.Run("WordsInAnyOrder", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		b.exec(`INSERT INTO kitchen.recipes (user_id, name) SELECT $1, name FROM unnest(ARRAY['Smith, Anna', 'Jones Bob', 'Smith, Anna Maria', 'Anna''s smithy', 'Ida Roe', 'Roe, Ida']) AS name`, b.scope.UserID)
		for value, want := range map[string][]string{
			`"Anna Smith"`:                 {"Smith, Anna", "Smith, Anna Maria"},
			`"bob  jones"`:                 {"Jones Bob"},
			`"Jones, Bob"`:                 {"Jones Bob"},
			`"Ida Roe"`:                    {"Ida Roe", "Roe, Ida"},
			`["Jones Bob", "Anna, Smith"]`: {"Jones Bob", "Smith, Anna", "Smith, Anna Maria"},
			`"Smith, Bob"`:                 {},
		} {
			op := map[bool]string{true: "in", false: "="}[value[0] == '[']
			require.Equal(t, want, names(b, "recipes", sprintf(`"filters": [{"field": "name", "op": %q, "value": %s}]`, op, value)), value)
		}
		require.Equal(t, []string{"Jones Bob"}, names(b, "recipes", `"or_filters": [{"field": "name", "op": "=", "value": "Bob Jones"}, {"field": "name", "op": "=", "value": "nobody"}]`))
		count := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "recipes", "aggregates": [{"fn": "count", "as": "n"}], "filters": [{"field": "name", "op": "=", "value": "Maria Smith"}]}`))
		require.Equal(t, []float64{1}, column[float64](count, "n"))
		list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "recipe", crud.ListParams{Query: "anna smith"})
		require.NoError(t, err)
		require.Len(t, list.Rows, 2)

		require.Zero(t, b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Maria Smith"}]}`).RowCount, "a name with further words is another")
		require.Equal(t, 1, b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Anna Smith"}]}`).RowCount)
		require.Equal(t, []string{"Smith, Anna Maria"}, names(b, "recipes", `"filters": [{"field": "name", "op": "=", "value": "Anna Smith"}]`))
	})
}

// The row that a column points to may be named where exactly one has the name: a model had to read it first, for a ref
// that it needed for nothing else.
func TestRowsByTheNameOfTheirs(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "rows": [
		{"set": [{"column": "name", "value": "Stew"}], "children": [{"table": "recipe_ingredients", "set": [{"column": "name", "value": "leek"}]}]},
		{"set": [{"column": "name", "value": "Stew with ham"}], "children": [{"table": "recipe_ingredients", "set": [{"column": "name", "value": "ham"}]}]},
		{"set": [{"column": "name", "value": "Soup"}], "children": [{"table": "recipe_ingredients", "set": [{"column": "name", "value": "pea"}]}]},
		{"set": [{"column": "name", "value": "Soup"}]}]}`)
	b.exec(`DELETE FROM alfred.entity_refs WHERE session_id = $1`, b.scope.SessionID)
	for filter, want := range map[string][]string{
		`{"field": "recipe_id", "op": "=", "value": "stew"}`:                     {"leek"},
		`{"field": "recipe_id", "op": "in", "value": ["Stew", "Stew with ham"]}`: {"ham", "leek"},
		`{"field": "recipe_id", "op": "!=", "value": "Stew"}`:                    {"ham", "pea"},
	} {
		names := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipe_ingredients", "filters": [`+filter+`]}`)), "name")
		slices.Sort(names)
		require.Equal(t, want, names, filter)
		counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "recipe_ingredients", "aggregates": [{"fn": "count", "as": "n"}], "filters": [`+filter+`]}`))
		require.EqualValues(t, len(want), counted[0]["n"], filter)
	}
	for _, name := range []string{"Soup", "Pie", "recipe_99"} { // two rows, none, and a ref
		b.refused("read", vocab.ToolRead, `{"table": "recipe_ingredients", "filters": [{"field": "recipe_id", "op": "=", "value": "`+name+`"}]}`, crud.CodeUnknownRef)
	}
	b.ok("write", vocab.ToolDelete, `{"table": "recipe_ingredients", "filters": [{"field": "recipe_id", "op": "=", "value": "Stew"}]}`)
	require.Equal(t, []string{"ham", "pea"}, slices.Sorted(slices.Values(column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipe_ingredients"}`)), "name"))))
}

// A slip in a name finds nothing, and says what may have been meant: zero rows is an answer that nobody asks about again.
func TestASlipInANameSaysWhatIsSimilar(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": [{"name": "Leek Stew", "cuisine": "irish"}, {"name": "Pea Soup"}]}`)
	read := func(filters string) crud.Result {
		return b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [`+filters+`]}`)
	}
	slip := `{"field": "name", "op": "=", "value": "leek stw"}`
	require.Equal(t, "Similar names: Leek Stew", read(slip).Notice)
	require.Zero(t, read(slip).RowCount)
	require.Empty(t, read(slip+`, {"field": "cuisine", "op": "=", "value": "thai"}`).Notice, "the other filters hold")
	require.Empty(t, read(`{"field": "name", "op": "=", "value": "dragonfruit"}`).Notice)
}

// Whoever leaves a draft out gets all stored rows, in whatever spelling.
func TestDraftsAreLeftOutInEverySpelling(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "task", "content": {"title": "Draft"}}]}`)
	b.exec(`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'Sweep'), ($1, 'Mop')`, b.scope.UserID)
	for _, op := range []string{"not_in", "not in", "NOT IN"} {
		found := b.ok("read", vocab.ToolRead, sprintf(`{"table": "tasks", "filters": [{"field": "id", "op": %q, "value": ["gen_task_1"]}]}`, op))
		require.Equal(t, 2, found.RowCount, op)
	}
}
