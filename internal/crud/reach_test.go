package crud_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// A filter or a group may be a column of the row that a column points to: how many open issues have a label was answered by
// reading all of the label's 299 links, of which a prompt showed 271.
func TestColumnsOfTheRowsThatColumnsPointTo(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": [{"name": "Dal", "cuisine": "indian", "servings": 4}, {"name": "Pho", "cuisine": "thai", "servings": 2}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-02", "meal_type": "dinner", "recipe_id": "recipe_1"},
		{"date": "2026-11-03", "meal_type": "dinner", "recipe_id": "recipe_2"}, {"date": "2026-11-04", "meal_type": "lunch"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Soak", "meal_plan_id": "meal_1"}, {"title": "Simmer", "meal_plan_id": "meal_2"}, {"title": "Call"}]}`)
	for filter, want := range map[string][]string{
		`{"field": "meal_plan_id.meal_type", "op": "=", "value": "dinner"}`:            {"Simmer", "Soak"},
		`{"field": "meal_plan_id.date", "op": ">=", "value": "2026-11-03"}`:            {"Simmer"},
		`{"field": "meal_plan_id.recipe_id.cuisine", "op": "!=", "value": "thai"}`:     {"Soak"},
		`{"field": "meal_plan_id.recipe_id", "op": "=", "value": "recipe_2"}`:          {"Simmer"},
		`{"field": "meal_plan_id.recipe_id", "op": "in", "value": ["dal"]}`:            {"Soak"},
		`{"field": "meal_plan_id.recipe_id.name", "op": "ilike", "value": "%p%"}`:      {"Simmer"},
		`{"field": "meal_plan_id.id", "op": "in", "value": ["meal_1", "meal_2"]}`:      {"Simmer", "Soak"},
		`{"field": "meal_plan_id.recipe_id.servings", "op": "is_null", "value": null}`: {"Call"},
	} {
		names := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "tasks", "filters": [`+filter+`]}`)), "title")
		slices.Sort(names)
		require.Equal(t, want, names, filter)
	}
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "tasks", "group_by": ["meal_plan_id.recipe_id", "meal_plan_id.date:month"],
		"aggregates": [{"fn": "count"}, {"fn": "sum", "column": "meal_plan_id.recipe_id.servings"}]}`))
	require.Len(t, counted, 3)
	dal := counted[slices.IndexFunc(counted, func(row map[string]any) bool { return row["meal_plan_id.recipe_id"] == "recipe_1" })]
	require.Equal(t, "Dal", dal["_meal_plan_id.recipe_id_label"])
	require.Equal(t, "2026-11", dal["meal_plan_id.date:month"])
	require.EqualValues(t, 4, dal["sum_meal_plan_id_recipe_id_servings"])

	refused := b.refused("read", vocab.ToolRead, `{"table": "tasks", "filters": [{"field": "meal_plan_id.colour", "op": "=", "value": "red"}]}`, crud.CodeUnknownColumn)
	require.Contains(t, refused, `meal_plans has no column "colour". Columns:`)
	for said, path := range map[string]string{"cuisine": "recipe_id.cuisine", "meal_type": "meal_plan_id.meal_type", "recipe.name": "recipe_id.name", "meal_plans.date": "meal_plan_id.date"} {
		refused = b.refused("read", vocab.ToolRead, `{"table": "tasks", "filters": [{"field": "`+said+`", "op": "=", "value": "thai"}]}`, crud.CodeUnknownColumn)
		require.Regexp(t, `What it points to has: (.*, )?`+path+`[.,]`, refused, "it is found in what the task points to")
	}
	b.refused("read", vocab.ToolRead, `{"table": "tasks", "filters": [{"field": "meal_plan_id.user_id", "op": "=", "value": "`+uuid.NewString()+`"}]}`, crud.CodeUnknownColumn)
	b.refused("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"meal_plan_id.date": "2026-11-05"}}`, crud.CodeUnknownColumn)
	deleted := b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "meal_plan_id.recipe_id.cuisine", "op": "=", "value": "thai"}]}`)
	require.Equal(t, []string{"task_2"}, deleted.Refs)
}

// Rows are ordered by what the rows are like that a column points to, and by their names where it is the column alone: their keys have no
// order that means anything.
func TestRowsInTheOrderOfThoseThatTheyPointTo(t *testing.T) {
	t.Parallel()
	b := setupPlanned(t)
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-09", "meal_type": "snack", "recipe_id": "recipe_3"}, {"date": "2026-11-10", "meal_type": "snack"}]}`)
	ordered := func(more string) []string {
		return column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "meal_plans", `+more+`}`)), "date")
	}
	require.Equal(t, []string{"2026-11-03", "2026-11-09", "2026-11-02", "2026-12-05", "2026-11-10"}, ordered(`"order_by": "recipe_id.cuisine", "order_dir": "desc"`))
	require.Equal(t, []string{"2026-11-09", "2026-11-03", "2026-11-02", "2026-12-05", "2026-11-10"}, ordered(`"order_by": "recipe_id", "order_dir": "desc"`))
	require.Equal(t, []string{"2026-11-03", "2026-11-09"}, ordered(`"order_by": "recipe_id.name", "filters": [{"field": "recipe_id.cuisine", "op": "=", "value": "thai"}, {"field": "recipe_id.name", "op": "!=", "value": "x"}]`))
	b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "order_by": "recipe_id.user_id"}`, crud.CodeUnknownColumn)
	require.Equal(t, []string{"2026-11-03", "2026-11-09", "2026-11-02", "2026-12-05", "2026-11-10"}, ordered(`"order_by": "recipe_id.cuisine desc, date", "order_dir": ""`), "several, each in its own direction")
	require.Equal(t, []string{"2026-11-09", "2026-11-03", "2026-12-05", "2026-11-02", "2026-11-10"}, ordered(`"order_by": "recipe_id.cuisine, date desc", "order_dir": "desc"`))
	b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "order_by": "date, nothing"}`, crud.CodeUnknownColumn)

	named := b.rows(b.ok("read", vocab.ToolRead, `{"table": "meal_plans", "columns": ["date", "recipe_id.name"], "limit": 1}`))
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "task", "content": {"title": "Soak", "category": "prep", "recipe_id": "recipe_1"}}]}`)
	drafts := b.rows(b.ok("read", vocab.ToolRead, `{"table": "tasks", "columns": ["recipe_id.name"], "filters": [{"field": "id", "op": "=", "value": "gen_task_1"}]}`))
	require.Equal(t, "Dal", drafts[0]["_recipe_id_label"])
	require.NotContains(t, drafts[0], "category")
	require.Equal(t, "Dal", named[0]["_recipe_id_label"], "what the row is called stands beside its ref")
	refused := b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "columns": ["date", "recipe_id.cuisine"]}`, crud.CodeUnknownColumn)
	require.Contains(t, refused, "read recipes for cuisine")
}

// The names of columns that several others lead to may be longer than names that Postgres knows: cut off, they were no longer known as refs, and
// a key was shown.
func TestLongNamesOfColumnsThatAreReached(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `
		CREATE SCHEMA clinic;
		CREATE TABLE clinic.fields (number bigint PRIMARY KEY, name text NOT NULL);
		CREATE TABLE clinic.doctors (id bigint PRIMARY KEY, name text NOT NULL, specialisation_of_practitioner_id bigint REFERENCES clinic.fields);
		CREATE TABLE clinic.visits (id bigint PRIMARY KEY, user_id uuid NOT NULL, practitioner_in_the_building_id bigint REFERENCES clinic.doctors);
		INSERT INTO clinic.fields VALUES (17, 'Eyes');
		INSERT INTO clinic.doctors VALUES (1, 'Ada', 17);
		INSERT INTO clinic.visits VALUES (1, '`+demoUser+`', 1);
		GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO alfred_tenant`, `
name: clinic
schema: clinic
owner: user_id
persona: You keep visits.
entities:
  - {type: field, table: fields, reference: true, label: "{name}"}
  - {type: doctor, table: doctors, reference: true, label: "{name}"}
  - {type: visit, table: visits, label: "{_practitioner_in_the_building_id_label}"}
subdomains:
  - {name: clinic, description: All., tables: [visits, doctors, fields], guidance: none}
`)
	const path = "practitioner_in_the_building_id.specialisation_of_practitioner_id"
	b.read("fields")
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "visits", "group_by": ["`+path+`"], "aggregates": [{"fn": "count", "as": "n"}, {"fn": "count", "column": "`+path+`"}], "order_by": "`+path+`"}`))
	require.Len(t, counted, 1)
	require.Equal(t, "field_1", counted[0][path])
	require.EqualValues(t, 1, counted[0]["count_practitioner_in_the_building_id_specialisation_of_practitioner_id"], "a number that the model does not name may have a long name")

	found := b.ok("read", vocab.ToolRead, `{"table": "visits", "filters": [{"field": "`+path+`.id", "op": "=", "value": "field_1"}]}`)
	require.Equal(t, 1, found.RowCount, "id is the key, whatever its column is called")
}

// setupPlaces is a user who sees 8,000 places through views, and in the first of them so many things, one in each.
func setupPlaces(t *testing.T, things int) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), `
		CREATE SCHEMA depot;
		CREATE TABLE depot.members (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE depot.places (member_id integer NOT NULL REFERENCES depot.members, shelf integer, box integer, name text NOT NULL, PRIMARY KEY (member_id, shelf, box));
		CREATE TABLE depot.things (id integer PRIMARY KEY, member_id integer NOT NULL, shelf integer NOT NULL, box integer NOT NULL, title text NOT NULL,
			FOREIGN KEY (member_id, shelf, box) REFERENCES depot.places);
		INSERT INTO depot.members VALUES (1, 'Ada');
		INSERT INTO depot.places SELECT 1, n / 100, n % 100, 'L' || n % 10 FROM generate_series(0, 7999) AS n;
		INSERT INTO depot.things SELECT n, 1, n / 100, n % 100, 'T' || n FROM generate_series(0, `+strconv.Itoa(things-1)+`) AS n`)
	require.NoError(t, err)
	ada := testfactory.User(t, tx, "UTC")
	d := testfactory.Views(t, tx, "depot").Domain
	_, err = tx.Exec(t.Context(), `INSERT INTO depot_alfred.alfred_accounts VALUES ($1, 1); SET LOCAL statement_timeout = '3s'`, pgx.QueryExecModeSimpleProtocol, ada)
	require.NoError(t, err)

	return setupOn(t, tx, ada, d)
}

// Rows behind views are joined, not looked up one by one: a key of several columns has no index there, and 200,000 rows that point to
// 50,000 took longer than a minute.
func TestColumnsThatAreReachedByKeysOfSeveralColumns(t *testing.T) {
	t.Parallel()
	b := setupPlaces(t, 8000)
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "things", "group_by": ["place_key.name"], "aggregates": [{"fn": "count", "as": "n"}],
		"filters": [{"field": "place_key.shelf", "op": "<", "value": 40}, {"field": "place_key.name", "op": "!=", "value": "L3"}]}`))
	require.Len(t, counted, 9)
	require.EqualValues(t, 400, counted[0]["n"])
}
