package crud_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
	"alfred/registry"
)

// setupPlanned is a user with three recipes, of which Dal is planned twice, Pho once, and Tofu never.
func setupPlanned(t *testing.T) *bundle {
	t.Helper()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": [
		{"name": "Dal", "cuisine": "indian", "recipe_ingredients": [{"name": "red lentils"}, {"name": "garlic"}]},
		{"name": "Pho", "cuisine": "thai", "recipe_ingredients": [{"name": "garlic cloves"}]}, {"name": "Tofu", "cuisine": "thai"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-02", "meal_type": "dinner", "recipe_id": "recipe_1"},
		{"date": "2026-12-05", "meal_type": "lunch", "recipe_id": "recipe_1"}, {"date": "2026-11-03", "meal_type": "dinner", "recipe_id": "recipe_2"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Soak", "meal_plan_id": "meal_1"}, {"title": "Buy noodles", "meal_plan_id": "meal_3", "recipe_id": "recipe_2"}]}`)

	return b
}

// found are the names of a table's rows that a filter finds.
func (b *bundle) found(table, filters string) []string {
	b.t.Helper()

	names := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "`+table+`", "filters": [`+filters+`]}`)), "name")
	slices.Sort(names)

	return names
}

// What has no row of another table, or one that meets conditions, took all rows of both, of which a prompt shows some hundred.
func TestRowsThatOthersPointTo(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	for filter, want := range map[string]string{
		`{"field": "meal_plans", "op": "not_exists", "value": []}`:                                                                       "Tofu",
		`{"field": "meal_plans", "op": "exists", "value": null}`:                                                                         "Dal, Pho",
		`{"field": "meal_plans.recipe_id", "op": "is_null", "value": null}`:                                                              "Tofu",
		`{"field": "meal_plans", "op": "not_exists", "value": ["date >= 2026-12-01", "date < 2027-01-01"]}`:                              "Pho, Tofu",
		`{"field": "meal_plans", "op": "exists", "value": ["date >= 2026-11-03", "meal_type = dinner"]}`:                                 "Pho",
		`{"field": "meal_plans", "op": "exists", "value": "meal_type != 'dinner'"}`:                                                      "Dal",
		`{"field": "meal_plans", "op": "exists", "value": [{"field": "date", "op": "<", "value": "2026-11-03"}]}`:                        "Dal",
		`{"field": "meal_plans", "op": "exists", "value": ["id in meal_2, meal_3"]}`:                                                     "Dal, Pho",
		`{"field": "meal_plans", "op": "exists", "value": ["id = meal_2..meal_3"]}`:                                                      "Dal, Pho",
		`{"field": "meal_plans", "op": "exists", "value": ["date not in (2026-11-02, '2026-12-05')"]}`:                                   "Pho",
		`{"field": "meal_plans", "op": "exists", "value": ["notes is null", "recipe_id.cuisine = thai"]}`:                                "Pho",
		`{"field": "recipe_ingredients", "op": "not_exists", "value": ["name = garlic"]}`:                                                "Tofu",
		`{"field": "recipe_ingredients", "op": "exists", "value": ["name = lentils"]}, {"field": "cuisine", "op": "=", "value": "thai"}`: "",
		`{"field": "tasks.meal_plan_id.recipe_id", "op": "exists", "value": ["title ilike %soak%"]}`:                                     "Dal",
		`{"field": "tasks", "op": "exists", "value": []}`:                                                                                "Pho",
		`{"field": "recipes", "op": "exists", "value": []}`:                                                                              "",
	} {
		require.Equal(t, want, strings.Join(b.found("recipes", filter), ", "), filter)
	}
	b.exec(`UPDATE kitchen.recipes SET parent_recipe_id = (SELECT id FROM kitchen.recipes WHERE user_id = $1 AND name = 'Dal') WHERE user_id = $1 AND name = 'Tofu'`, b.scope.UserID)
	require.Equal(t, []string{"Dal"}, b.found("recipes", `{"field": "recipes", "op": "exists", "value": ["name = Tofu"]}`), "a table that points to itself")
	require.Equal(t, []string{"Tofu"}, b.found("recipes", `{"field": "parent_recipe_id", "op": "=", "value": "Dal"}, {"field": "recipes", "op": "not_exists", "value": []}`))

	b.exec(`UPDATE kitchen.recipes SET name = 'Tofu, Fried' WHERE user_id = $1 AND name = 'Tofu'`, b.scope.UserID)
	require.Equal(t, []string{"Dal"}, b.found("recipes", `{"field": "recipes", "op": "exists", "value": ["name in fried tofu, Rice", "cuisine = thai"]}`), "a name with its words in another order")
	require.Equal(t, []string{"Pho", "Tofu, Fried"}, b.found("recipes", `{"field": "recipes", "op": "not_exists", "value": ["name = fried tofu"]}`))
	require.Empty(t, b.found("recipes", `{"field": "recipes", "op": "exists", "value": ["name = fried tofu", "cuisine = indian"]}`))
	b.exec(`UPDATE kitchen.recipes SET name = 'Tofu' WHERE user_id = $1 AND name = 'Tofu, Fried'`, b.scope.UserID)

	either := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "or_filters": [{"field": "meal_plans", "op": "not_exists", "value": []}, {"field": "name", "op": "=", "value": "Pho"}]}`))
	require.Len(t, either, 2)
	b.exec(`UPDATE kitchen.meal_plans SET notes = 'Leftovers' WHERE user_id = $1 AND date = '2026-11-02'`, b.scope.UserID)
	for op, rows := range map[string]int{"exists": 1, "not_exists": 3} {
		told := b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "`+op+`", "value": ["notes = leftovers"]}]}`)
		require.Equal(t, rows, told.RowCount)
		require.Equal(t, op == "not_exists", strings.Contains(told.Notice, "= on notes tells capitals and accents apart."), told.Notice)
	}
	listed, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "recipe", crud.ListParams{Filters: []registry.Filter{{Field: "meal_plans", Op: "exists", Value: []any{"date > 2026-12-01"}}}})
	require.NoError(t, err)
	require.Len(t, listed.Rows, 1)
	require.Equal(t, "Dal", listed.Rows[0].Data["name"], "lists for people take the same filters")
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "recipes", "group_by": ["cuisine"], "aggregates": [{"fn": "count", "as": "n"}], "filters": [{"field": "meal_plans", "op": "not_exists", "value": []}]}`))
	require.Equal(t, []map[string]any{{"cuisine": "thai", "n": 1.0}}, counted)
}

func TestWhatExistsRefuses(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	refused := func(filter string) string {
		t.Helper()

		return b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [`+filter+`]}`, crud.CodeBadFilter)
	}
	require.Contains(t, refused(`{"field": "meal_plans.date", "op": ">=", "value": "2026-11-03"}`), `ask for {"field": "meal_plans", "op": "exists", "value": ["date >= ..."]}, or not_exists, with all conditions that one row meets.`)
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": ["date >= 2026-11-03 and meal_type = dinner"]}`), "each a text of its own")
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": ["notes = hot, meal_type = dinner"]}`), "each a text of its own")
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": ["planned"]}`), "each a text of its own")
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": false}`), "each a text of its own")
	require.Contains(t, refused(`{"field": "inventory", "op": "not_exists", "value": []}`), "take a table whose rows point to recipes")
	require.Contains(t, refused(`{"field": "cuisine", "op": "not_exists", "value": []}`), "take a table whose rows point to recipes")
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": ["tasks not_exists"]}`), "each a text of its own")
	require.Contains(t, refused(`{"field": "meal_plans", "op": "exists", "value": [{"field": "tasks", "op": "not_exists", "value": []}]}`), "are on columns")
	b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "exists", "value": ["colour = red"]}]}`, crud.CodeUnknownColumn)
	b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "exists", "value": ["user_id = `+uuid.NewString()+`"]}]}`, crud.CodeUnknownColumn)
	b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "exists", "value": ["id = meal_99"]}]}`, crud.CodeUnknownRef)
}

// Whatever stands in the place of a table, a path, a column, an operator or a value is data, or refused.
func TestHostileTextsInExists(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	for _, text := range hostileTexts {
		for _, filter := range []object{
			{{"field", text}, {"op", "exists"}, {"value", nil}},
			{{"field", "meal_plans." + text}, {"op", "not_exists"}, {"value", nil}},
			{{"field", "meal_plans"}, {"op", "exists"}, {"value", []any{text}}},
			{{"field", "meal_plans"}, {"op", "exists"}, {"value", []any{text + " = 1"}}},
			{{"field", "meal_plans"}, {"op", "exists"}, {"value", []any{"notes " + text + " x"}}},
			{{"field", "meal_plans"}, {"op", "exists"}, {"value", []any{"notes = " + text, "date in " + text, "recipe_id = " + text}}},
			{{"field", "meal_plans"}, {"op", "exists"}, {"value", []any{object{{"field", text}, {"op", text}, {"value", object{{"a", text}}}}}}},
		} {
			result := b.decide("read", call(vocab.ToolRead, asJSON(object{{"table", "recipes"}, {"filters", []any{filter}}}))).Results[0]
			require.NotContains(t, result.ErrorMessage, "SQLSTATE", filter)
		}
	}
	require.Equal(t, []string{"Dal", "Pho", "Tofu"}, b.found("recipes", ""))
}

// A write may be of rows that nothing points to. A name that finds more than what is called so does not decide what is written.
func TestExistsAsTheScopeOfAWrite(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	refused := b.refused("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "recipe_ingredients", "op": "exists", "value": ["name = garlic"]}]}`, crud.CodeBadFilter)
	require.Contains(t, refused, "find the rows with db_read")
	deleted := b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "not_exists", "value": []}, {"field": "cuisine", "op": "=", "value": "thai"}]}`)
	require.Equal(t, []string{"recipe_3"}, deleted.Refs)
	changed := b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "meal_plans", "op": "exists", "value": ["date > 2026-12-01"]}], "data": {"cuisine": "nepali"}}`)
	require.Equal(t, []string{"recipe_1"}, changed.Refs)
}

// Rows of other people neither exist nor not: theirs that point to one's own do not count.
func TestExistsSeesTheUsersRowsAlone(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `
		CREATE SCHEMA desk;
		CREATE TABLE desk.teams (id bigint PRIMARY KEY, name text NOT NULL);
		CREATE TABLE desk.people (id bigint PRIMARY KEY, name text NOT NULL);
		CREATE TABLE desk.issues (id bigint PRIMARY KEY, user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid, title text NOT NULL, team_id bigint REFERENCES desk.teams,
			reporter_id bigint REFERENCES desk.people, assignee_id bigint REFERENCES desk.people, secret_id bigint REFERENCES desk.people);
		INSERT INTO desk.teams VALUES (1, 'Web'), (2, 'Mail');
		INSERT INTO desk.people VALUES (1, 'Ada'), (2, 'Eve');
		INSERT INTO desk.issues VALUES (1, '`+demoUser+`', 'Mine', 1, 1, 2, 2), (2, '`+uuid.NewString()+`', 'Theirs', 2, 2, 1, 1);
		GRANT SELECT ON ALL TABLES IN SCHEMA desk TO alfred_tenant`, `
name: desk
schema: desk
owner: user_id
persona: You keep issues.
entities:
  - {type: team, table: teams, reference: true, label: "{name}"}
  - {type: person, table: people, reference: true, label: "{name}"}
  - {type: issue, table: issues, label: "{title}", hidden: [secret_id]}
subdomains:
  - {name: desk, description: All., tables: [issues, teams, people], guidance: none}
`)
	require.Equal(t, []string{"Web"}, b.found("teams", `{"field": "issues", "op": "exists", "value": []}`))
	b.exec(`ALTER TABLE desk.issues DISABLE ROW LEVEL SECURITY`)
	require.Equal(t, []string{"Web"}, b.found("teams", `{"field": "issues", "op": "exists", "value": []}`), "the statement names the owner, too")
	require.Equal(t, []string{"Eve"}, b.found("people", `{"field": "issues.assignee_id", "op": "exists", "value": ["reporter_id = Ada"]}`))
	ambiguous := b.refused("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "issues", "op": "exists", "value": []}]}`, crud.CodeBadFilter)
	require.Contains(t, ambiguous, "the field is issues.reporter_id or issues.assignee_id.")
	b.refused("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "issues.secret_id", "op": "exists", "value": []}]}`, crud.CodeBadFilter)
}

// Who has none of many rows is found by an anti-join, behind views too: looked up one by one, 8,000 of 8,000 take minutes.
func TestExistsAmongManyRows(t *testing.T) {
	t.Parallel()
	b := setupPlaces(t, 7980)
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "places", "aggregates": [{"fn": "count", "as": "n"}], "filters": [{"field": "things", "op": "not_exists", "value": []}]}`))
	require.EqualValues(t, 20, counted[0]["n"])
	counted = b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "places", "aggregates": [{"fn": "count", "as": "n"}], "filters": [{"field": "things", "op": "exists", "value": ["title ilike T7%"]}]}`))
	require.EqualValues(t, 1+10+100+980, counted[0]["n"])
}
