package crud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
	"alfred/registry"
)

func TestRead(t *testing.T) {
	t.Parallel()

	t.Run("Summary", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		require.Equal(t, []string{"recipe_1", "recipe_2", "recipe_3"}, result.Refs)
		require.Equal(t, 3, result.RowCount)
		rows := b.rows(result)
		require.Equal(t, []string{"Butter Chicken", "Pad See Ew", "Shakshuka Classic"}, column[string](rows, "name"))
		require.NotContains(t, rows[0], "instructions", "a list is not the full text")
		require.NotContains(t, rows[0], "user_id")
		require.InDelta(t, 45, rows[0]["total_time_minutes"], 0)
		require.Contains(t, query[string](b, `SELECT loaded::text FROM entity_refs WHERE ref = 'recipe_1'`), "summary")
	})

	t.Run("FullHasChildrenWithRefs", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "pad see ew"}], "detail": "full"}`))
		require.Len(t, rows, 1)
		require.Len(t, rows[0]["instructions"], 6)
		children, ok := rows[0]["recipe_ingredients"].([]any)
		require.True(t, ok)
		require.Len(t, children, 11)
		first, ok := children[0].(map[string]any)
		require.True(t, ok)
		require.Equal(t, "ri_1", first["id"], "ingredient rows have handles")
		require.Equal(t, "wide rice noodles", first["name"])
		require.Equal(t, "recipe_1", first["recipe_id"])
	})

	t.Run("ColumnsKeepKeyAndLabel", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipe", "columns": ["cuisine"], "limit": 1, "order_by": "cuisine", "order_dir": "desc"}`))
		require.Equal(t, []map[string]any{{"id": "recipe_1", "name": "Pad See Ew", "cuisine": "thai"}}, rows)
	})

	t.Run("LimitIsCounted", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("read", vocab.ToolRead, `{"table": "inventory", "limit": 5}`)
		require.Equal(t, 12, result.RowCount)
		require.Len(t, result.Refs, 5)
	})

	t.Run("ZeroRowsIsAResult", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		require.Zero(t, b.ok("read", vocab.ToolRead, `{"table": "tasks"}`).RowCount)
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		for args, code := range map[string]crud.Code{
			`{"table": "spaceships"}`:                                                                           crud.CodeUnknownTable,
			`{"table": "recipes", "filter": []}`:                                                                crud.CodeBadArgument,
			`{"table": "recipes", "filters": {}}`:                                                               crud.CodeBadFilter,
			`{"table": "recipes", "limit": -1}`:                                                                 crud.CodeBadArgument,
			`{"table": "recipes", "columns": ["user_id"]}`:                                                      crud.CodeUnknownColumn,
			`{"table": "recipes", "filters": [{"field": "limit", "op": "=", "value": 3}]}`:                      crud.CodeUnknownColumn,
			`{"table": "recipes", "filters": [{"field": "name", "op": "not_ilike", "value": "x"}]}`:             crud.CodeBadFilter,
			`{"table": "recipes", "filters": [{"field": "name"}]}`:                                              crud.CodeBadFilter,
			`{"table": "recipes", "filters": [{"field": "tags", "op": ">", "value": 3}]}`:                       crud.CodeBadFilter,
			`{"table": "recipes", "filters": [{"field": "servings", "op": "=", "value": "many"}]}`:              crud.CodeBadValue,
			`{"table": "recipes", "filters": [{"field": "difficulty", "op": "=", "value": "expert"}]}`:          crud.CodeBadValue,
			`{"table": "recipes", "filters": [{"field": "servings", "op": "in", "value": []}]}`:                 crud.CodeBadFilter,
			`{"table": "recipes", "or_filters": [{"field": "cuisine", "op": "is_null", "value": false}]}`:       crud.CodeBadFilter,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_99"}]}`:               crud.CodeUnknownRef,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "` + demoUser + `"}]}`:        crud.CodeUnknownRef,
			`{"table": "meal_plans", "filters": [{"field": "recipe_id", "op": "=", "value": "Butter Cheese"}]}`: crud.CodeUnknownRef,
			`{"table": "meal_plans", "filters": [{"field": "date", "op": ">", "value": "next tuesday"}]}`:       crud.CodeBadValue,
			`{"table": "inventory", "filters": [{"field": "_semantic", "op": "similar", "value": "green"}]}`:    crud.CodeBadFilter,
			`{"table": "recipes", "or_filters": [{"field": "_semantic", "op": "similar", "value": "green"}]}`:   crud.CodeBadFilter,
			`{"table": "recipes", "detail": "everything"}`:                                                      crud.CodeBadArgument,
		} {
			message := b.refused("read", vocab.ToolRead, args, code)
			require.NotContains(t, message, "SELECT")
		}
	})

	t.Run("TakesSoManyFiltersAndNames", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		asked := func(n int) string {
			return `{"table": "recipes", "filters": [` + strings.TrimSuffix(strings.Repeat(`{"field": "recipe_ingredients", "op": "exists", "value": []},`, n), ",") + `]}`
		}
		require.Equal(t, 3, b.ok("read", vocab.ToolRead, asked(20)).RowCount)
		require.Equal(t, "At most 20 filters may ask about other rows.", b.refused("read", vocab.ToolRead, asked(21), crud.CodeBadFilter))
		named := func(n int) string {
			return `{"table": "recipes", "filters": [{"field": "name", "op": "in", "value": [` + strings.TrimSuffix(strings.Repeat(`"nothing",`, n), ",") + `]}]}`
		}
		require.Zero(t, b.ok("read", vocab.ToolRead, named(1000)).RowCount)
		require.Equal(t, "These are 1001 names; at most 1000 are looked up at once.", b.refused("read", vocab.ToolRead, named(1001), crud.CodeBadFilter))
	})

	t.Run("StepTypeDecidesTools", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.refused("read", vocab.ToolDelete, `{"table": "inventory", "filters": []}`, crud.CodeWrongStep)
		b.refused("analyze", vocab.ToolRead, `{"table": "inventory"}`, crud.CodeWrongStep)
		b.refused("generate", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "x"}}`, crud.CodeWrongStep)
		require.Equal(t, 12, query[int](b, `SELECT count(*)::int FROM kitchen.inventory`))
	})

	t.Run("OtherUsersRowsAreNotThere", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.user()
		result := b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "name", "op": "ilike", "value": "%secret%"}]}`)
		require.Zero(t, result.RowCount)
	})
}

// Hidden columns are not shown, whether a row is read or written, may not be named, and no refusal offers them.
func TestHiddenColumnsAreNotShown(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, result := range []crud.Result{
		b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-03-02", "meal_type": "dinner", "notes": "soup"}}`),
		b.ok("read", vocab.ToolRead, `{"table": "meal_plans", "detail": "full"}`),
	} {
		for _, row := range b.rows(result) {
			require.Contains(t, row, "meal_type")
			require.NotContains(t, row, "slot_order")
		}
		b.scope.Call++
	}
	b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "columns": ["slot_order"]}`, crud.CodeUnknownColumn)
	listed := b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "columns": ["nothing"]}`, crud.CodeUnknownColumn)
	require.Contains(t, listed, "meal_type")
	require.NotContains(t, listed, "slot_order")
}

// A filtered read that finds nothing does not say that there is nothing: later turns read it.
func TestNothingThatFitsIsNotNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, "found no shopping items", b.ok("read", vocab.ToolRead, `{"table": "shopping_list"}`).Told)
	require.Equal(t, "found no shopping items that fit", b.ok("read", vocab.ToolRead, `{"table": "shopping_list", "filters": [{"field": "name", "op": "=", "value": "gold"}]}`).Told)
}

// Whoever looks for "ilike sanne" may mean what holds the word. It finds what the words say, and where that is nothing, what
// holds them, whatever the capitals and accents.
func TestPatternsThatFitNothingAreTakenLoosely(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Call Sanne de Boer"}, {"title": "Call Jan"}]}`)
	b.nextTurn()
	for pattern, want := range map[string]string{
		"sanne":        "Call Sanne de Boer",
		"%de bóér%":    "Call Sanne de Boer",
		"call_jàn":     "Call Jan",
		"call jan":     "Call Jan",
		"%nobody%":     "",
		"nobody":       "",
		"%100\\\\% s%": "",
	} {
		filter := `"filters": [{"field": "title", "op": "ilike", "value": "` + pattern + `"}]`
		read := b.ok("read", vocab.ToolRead, `{"table": "tasks", `+filter+`}`)
		require.Equal(t, want, strings.Join(column[string](b.rows(read), "title"), ", "), pattern)
		require.Equal(t, want != "" && pattern != "call jan", read.Notice != "", read.Notice)
		require.False(t, (&crud.Outcome{Results: []crud.Result{read}}).MayHaveMissed())
		counted := b.ok("analyze", vocab.ToolAnalyze, `{"table": "tasks", `+filter+`, "aggregates": [{"fn": "count", "as": "n"}]}`)
		require.Equal(t, read.Notice, counted.Notice, pattern)
	}
}

// Looking through texts letter by letter may take long. Then nothing is found, as before, and the decision goes on.
func TestLookingLooselyIsBounded(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `CREATE SCHEMA shop;
		CREATE TABLE shop.all_goods (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL, name text NOT NULL, note text NOT NULL);
		CREATE VIEW shop.goods WITH (security_barrier) AS SELECT id, user_id, name, note || pg_sleep(1.2)::text AS note FROM shop.all_goods;
		GRANT SELECT ON shop.goods TO alfred_tenant`, `
name: shop
schema: shop
owner: user_id
persona: You keep goods.
entities:
  - {type: good, table: goods, key: id, label: "{name}", order: [name]}
subdomains:
  - {name: goods, description: All., tables: [goods]}
`)
	b.exec(`INSERT INTO shop.all_goods (user_id, name, note) VALUES ($1, 'Tea', 'Green')`, b.scope.UserID)
	read := b.ok("read", vocab.ToolRead, `{"table": "goods", "filters": [{"field": "note", "op": "=", "value": "green"}]}`)
	require.Zero(t, read.RowCount)
	require.Contains(t, read.Notice, "was not looked into")
	counted := b.ok("analyze", vocab.ToolAnalyze, `{"table": "goods", "filters": [{"field": "note", "op": "=", "value": "green"}], "aggregates": [{"fn": "count", "as": "n"}]}`)
	require.Equal(t, []map[string]any{{"n": 0.0, "_notice": read.Notice}}, b.rows(counted))
	require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "goods", "filters": [{"field": "name", "op": "=", "value": "tea"}]}`).RowCount)
}

// Who asks what there is with chicken means chicken thighs too.
func TestRecipesByAnIngredient(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for filter, rows := range map[string]int{`"contains", "value": "Chicken"`: 2, `"ilike", "value": "%chicken%"`: 2, `"contains", "value": "chickpeas"`: 0} {
		read := b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "ingredient_names", "op": `+filter+`}]}`)
		require.Equal(t, rows, read.RowCount, filter)
	}
}

// People write names as they like, also those that a table keeps in two columns. Another text is compared exactly, unless that
// finds nothing: "nobody of yours lives in berlin" would be untrue.
func TestNamesOfTwoColumns(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `CREATE SCHEMA staff;
		CREATE TABLE staff.people (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL, first_name text NOT NULL, last_name text NOT NULL, city text NOT NULL, skills text[] NOT NULL);
		GRANT SELECT ON staff.people TO alfred_tenant`, `
name: staff
schema: staff
owner: user_id
persona: You know people.
entities:
  - {type: person, table: people, label: "{first_name} {last_name}"}
subdomains:
  - {name: people, description: All., tables: [people]}
`)
	b.exec(`INSERT INTO staff.people (user_id, first_name, last_name, city, skills) VALUES ($1, 'Mike', 'Hillyer', 'Berlin', '{Köchin,driver}')`, b.scope.UserID)
	for filter, want := range map[string]string{
		`{"field": "first_name", "op": "=", "value": "mike"}`:                  "1 ",
		`{"field": "last_name", "op": "in", "value": ["hillyer"]}`:             "1 ",
		`{"field": "city", "op": "ilike", "value": "berlin"}`:                  "1 ",
		`{"field": "city", "op": "=", "value": "Berlin"}`:                      "1 ",
		`{"field": "city", "op": "=", "value": "berlín"}`:                      "1 No row fits to the letter; these have other capitals, accents or endings, or say more.",
		`{"field": "city", "op": "in", "value": ["bonn", "berlin"]}`:           "1 No row fits to the letter; these have other capitals, accents or endings, or say more.",
		`{"field": "skills", "op": "contains", "value": ["kochin", "Driver"]}`: "1 No row fits to the letter; these have other capitals, accents or endings, or say more.",
		`{"field": "skills", "op": "contains", "value": ["kochin", "pilot"]}`:  "0 ",
		`{"field": "skills", "op": "contains", "value": ["koch"]}`:             "0 ",
		`{"field": "city", "op": "=", "value": "berl"}`:                        "0 ",
	} {
		read := b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [`+filter+`]}`)
		require.Equal(t, want, sprintf("%d %s", read.RowCount, read.Notice), filter)
	}
	counted := b.ok("analyze", vocab.ToolAnalyze, `{"table": "people", "filters": [{"field": "city", "op": "=", "value": "berlin"}], "aggregates": [{"fn": "count", "as": "n"}]}`)
	require.Equal(t, []map[string]any{{"n": 1.0, "_notice": counted.Notice}}, b.rows(counted))
}

// A row that is called by another is called so however that is called: a loan by a copy, which is called by its film.
func TestNamesOfRowsCalledByOthers(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `CREATE SCHEMA lending;
		CREATE TABLE lending.towns (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
		CREATE TABLE lending.stores (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, town_id bigint NOT NULL REFERENCES lending.towns);
		CREATE TABLE lending.copies (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, store_id bigint NOT NULL REFERENCES lending.stores);
		CREATE TABLE lending.loans (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL, copy_id bigint NOT NULL REFERENCES lending.copies, late boolean NOT NULL DEFAULT false);
		CREATE TABLE lending.boxes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, copy_id bigint NOT NULL REFERENCES lending.copies);
		CREATE TABLE lending.fines (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL, box_id bigint NOT NULL REFERENCES lending.boxes);
		GRANT SELECT ON ALL TABLES IN SCHEMA lending TO alfred_tenant; GRANT UPDATE (late) ON lending.loans TO alfred_tenant;
		INSERT INTO lending.towns (name) VALUES ('Ghent'); INSERT INTO lending.stores (town_id) VALUES (1); INSERT INTO lending.copies (store_id) VALUES (1); INSERT INTO lending.boxes (copy_id) VALUES (1)`, `
name: lending
schema: lending
owner: user_id
persona: You lend.
entities:
  - {type: town, table: towns, reference: true, label: "{name}"}
  - {type: store, table: stores, reference: true, label: "{_town_id_label}"}
  - {type: copy, table: copies, reference: true, label: "copy of {_store_id_label}"}
  - {type: loan, table: loans, label: "loan of a {_copy_id_label}", writes: [update], columns: [late]}
  - {type: box, table: boxes, reference: true, label: "{_copy_id_label}"}
  - {type: fine, table: fines, label: "{_box_id_label}"}
subdomains:
  - {name: loans, description: All., tables: [loans, fines], readable: [boxes, copies, stores, towns]}
`)
	b.exec(`INSERT INTO lending.loans (user_id, copy_id) VALUES ($1, 1)`, b.scope.UserID)
	b.exec(`INSERT INTO lending.fines (user_id, box_id) VALUES ($1, 1)`, b.scope.UserID)
	b.ok("read", vocab.ToolRead, `{"table": "loans"}`)
	require.Equal(t, "loan of a copy of Ghent", query[string](b, `SELECT label FROM entity_refs WHERE session_id = $1 AND ref = 'loan_1'`, b.scope.SessionID))
	for kind, found := range map[string]int{"loan": 1, "fine": 0} { // a fine is called by a town that is too far from it
		list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, kind, crud.ListParams{Query: "ghent"})
		require.NoError(t, err)
		require.Equal(t, found, list.Total, kind)
	}
	keys := []registry.Filter{{Field: "copy_id", Op: "=", Value: json.Number("1")}, {Field: "id", Op: "in", Value: []any{json.Number("1"), "2"}}}
	list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "loan", crud.ListParams{Filters: keys, Named: true})
	require.NoError(t, err)
	require.Equal(t, 1, list.Total, "as a row shows its keys, a list is filtered by them")
	require.Equal(t, "loan of a copy of Ghent", list.Rows[0].Data["_label"])
	require.Equal(t, "copy of Ghent", list.Rows[0].Data["_copy_id_label"])
}
