package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A constrained model fills in every argument: missing ones are null or an empty list, and rows are columns with
// values.
func TestConstrainedForm(t *testing.T) {
	t.Parallel()

	t.Run("DraftSaveUpdate", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		drafted := b.ok("generate", vocab.ToolGenerate, `{"updates": [], "creates": [{"type": "recipe",
			"set": [{"column": "name", "value": "Thai Curry"}, {"column": "servings", "value": 2}, {"column": "tags", "value": ["smoky"]}],
			"children": [
				{"table": "recipe_ingredients", "set": [{"column": "name", "value": "salt"}]},
				{"table": "recipe_ingredients", "set": [{"column": "name", "value": "lime"}, {"column": "quantity", "value": "1"}]}]}]}`)
		require.Equal(t, []string{"Thai Curry"}, column[string](b.rows(drafted), "name"))
		b.ok("write", vocab.ToolCreate, `{"table": "recipes", "rows": [], "from_ref": "gen_recipe_1", "clear": ["tags"], "children": [],
			"set": [{"column": "cuisine", "value": "thai"}]}`)
		require.Equal(t, "2 thai 0 lime,salt", query[string](b, `SELECT r.servings || ' ' || r.cuisine || ' ' || coalesce(cardinality(r.tags), 0) || ' ' || string_agg(i.name, ',' ORDER BY i.name)
			FROM kitchen.recipes r JOIN kitchen.recipe_ingredients i ON i.recipe_id = r.id WHERE r.name = 'Thai Curry' GROUP BY r.id`))
		b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Thai Curry"}],
			"set": [{"column": "servings", "value": 4}], "clear": ["cuisine"]}`)
		require.Equal(t, "4 none", query[string](b, `SELECT servings || ' ' || coalesce(cuisine, 'none') FROM kitchen.recipes WHERE name = 'Thai Curry'`))
	})

	t.Run("ChildrenByPosition", func(t *testing.T) {
		t.Parallel()

		line := func(position, set string) string {
			return `{"table": "recipe_ingredients", "position": ` + position + `, "set": [` + set + `]}`
		}
		name := func(text string) string { return `{"column": "name", "value": "` + text + `"}` }
		for children, lines := range map[string][]string{
			line("2", name("broth")):                           {"water", "broth", "leek"},
			line("1", ``):                                      {"salt", "leek"},
			line("9", name("pepper")):                          {"water", "salt", "leek", "pepper"},
			line("1", ``) + "," + line("0", name("pepper")):    {"salt", "leek", "pepper"},
			line("null", name("pepper")) + "," + line("3", ``): {"water", "salt", "pepper"},
			line("0", name("dill")) + "," + line("0", name("rye")) + "," + line("2", name("broth")): {"water", "broth", "leek", "dill", "rye"},
		} {
			b := setupAlone(t)
			b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Soup", "recipe_ingredients": [{"name": "water"}, {"name": "salt"}, {"name": "leek"}]}}]}`)
			b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "children": [`+children+`]}]}`)
			require.Equal(t, lines, query[[]string](b, `SELECT array_agg(line ->> 'name' ORDER BY n) FROM (SELECT content FROM artifacts WHERE session_id = $1 ORDER BY version DESC LIMIT 1) AS a,
				jsonb_array_elements(a.content -> 'recipe_ingredients') WITH ORDINALITY AS l (line, n)`, b.scope.SessionID), children)
		}
	})

	t.Run("Rows", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "from_ref": null, "clear": [], "set": [], "children": [], "rows": [
			{"children": [], "set": [{"column": "name", "value": "eggs"}]}, {"children": [], "set": [{"column": "name", "value": "milk"}, {"column": "quantity", "value": 2}]}]}`)
		require.Equal(t, "eggs,milk", query[string](b, `SELECT string_agg(name, ',' ORDER BY name) FROM kitchen.shopping_list WHERE name IN ('eggs', 'milk')`))
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "set": [{"column": "name", "value": "flour"}]}`)
	})

	t.Run("JSONAsText", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(`DELETE FROM kitchen.preferences`)
		b.ok("write", vocab.ToolCreate, `{"table": "preferences", "rows": [{"children": [], "set": [{"column": "subdomain_guidance", "value": "{\"recipes\": \"spicy\"}"}]}]}`)
		require.Equal(t, "spicy", query[string](b, `SELECT subdomain_guidance ->> 'recipes' FROM kitchen.preferences`))
	})

	t.Run("ReadsWithNothingToSay", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		all := b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		same := b.ok("read", vocab.ToolRead, `{"table": "recipes", "columns": [], "detail": "summary", "filters": [], "or_filters": [], "limit": null, "order_by": null, "order_dir": "asc"}`)
		require.ElementsMatch(t, all.Refs, same.Refs)
		b.ok("analyze", vocab.ToolAnalyze, `{"table": "recipes", "filters": [{"field": "cuisine", "op": "is_not_null", "value": null}], "group_by": [], "limit": null, "order_by": null,
			"order_dir": "desc", "aggregates": [{"fn": "count", "column": null, "as": null}]}`)
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for args, says := range map[string]string{
			`{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "a"}, {"column": "name", "value": "b"}], "children": []}]}`: "set twice",
			`{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "a"}], "children": []}], "data": {"name": "b"}}`:            "once",
			`{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "a"}], "children": [{"table": "tasks", "set": []}]}]}`:      "do not stand in",
			`{"table": "recipes", "rows": [{"set": [{"column": "name", "value": "a"}]}], "set": [{"column": "name", "value": "b"}]}`:        "from_ref",
			`{"table": "recipes", "from_ref": "gen_recipe_1", "set": [{"column": "name", "value": "a"}], "clear": ["name"]}`:                "both set and cleared",
			`{"table": "recipes", "from_ref": "gen_recipe_1", "data": {"name": "a"}}`:                                                       "rows or from_ref, not both",
			`{"table": "recipes", "patch": {"name": "a"}}`:                                                                                  "goes with from_ref",
			`{"table": "recipes", "data": []}`:   "1 to 200 rows",
			`{"table": "recipes", "data": [{}]}`: "a list of rows",
		} {
			require.Contains(t, b.refused("write", vocab.ToolCreate, args, crud.CodeBadArgument), says)
		}
		require.Contains(t, b.refused("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [], "set": [], "clear": []}`, crud.CodeBadArgument), "at least one column")
	})
}

// What is computed cannot be written; its comment says of what it is made, which is what was meant.
func TestComputedColumnsSayOfWhatTheyAreMade(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "yard", `CREATE SCHEMA yard;
		CREATE TABLE yard.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE yard.jobs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES yard.users, name text NOT NULL, status integer NOT NULL DEFAULT 0, word text GENERATED ALWAYS AS (CASE status WHEN 0 THEN 'open' ELSE 'done' END) STORED);
		COMMENT ON COLUMN yard.jobs.word IS 'status in words: 0 is open, 1 is done';
		INSERT INTO yard.users (name) VALUES ('Ada');
		INSERT INTO yard.jobs (user_id, name) VALUES (1, 'Roof')`, map[string][]string{"job": {"name", "status"}})
	b.read("jobs")
	refused := b.refused("write", vocab.ToolUpdate, `{"table": "jobs", "filters": [{"field": "id", "op": "=", "value": "job_1"}], "set": [{"column": "word", "value": "done"}]}`, crud.CodeNotAllowed)
	require.Equal(t, "word is computed (status in words: 0 is open, 1 is done); write what it is made of, or leave it out.", refused)
}
