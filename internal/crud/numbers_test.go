package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// What happened per month is one call: a model that gets thousands of moments adds them up by itself, or only those that
// fit in its prompt.
func TestAnalyzePerMonth(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.meal_plans (user_id, date, meal_type, servings) VALUES ($1, '2025-12-31', 'lunch', 1), ($1, '2026-01-01', 'lunch', 2), ($1, '2026-01-30', 'dinner', 3)`, b.scope.UserID)
	for by, want := range map[string][]string{"month": {"2025-12", "2026-01"}, "week": {"2026-W01", "2026-W05"}, "year": {"2025", "2026"}, "day": {"2025-12-31", "2026-01-01", "2026-01-30"}, "weekday": {"3 Wed", "4 Thu", "5 Fri"}} {
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, sprintf(`{"table": "meal_plans", "group_by": ["date:%s"], "aggregates": [{"fn": "sum", "column": "servings", "as": "n"}], "order_by": "date:%[1]s"}`, by)))
		require.Equal(t, want, column[string](rows, "date:"+by))
	}
	for by, want := range map[string]string{"meal_type:month": "meal_type has no month.", "date:hour": "date has no hour."} {
		refused := b.refused("analyze", vocab.ToolAnalyze, `{"table": "meal_plans", "group_by": ["`+by+`"], "aggregates": [{"fn": "count"}]}`, crud.CodeBadArgument)
		require.Contains(t, refused, want)
	}
}

func TestAnalyze(t *testing.T) {
	t.Parallel()

	t.Run("EqualsSQL", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "inventory", "group_by": ["location"], "aggregates": [{"fn": "count"}, {"fn": "sum", "column": "quantity"}, {"fn": "max", "column": "name", "as": "last"}], "order_by": "count", "order_dir": "desc"}`))
		require.Equal(t, []string{"fridge", "pantry", "freezer"}, column[string](rows, "location"))
		several := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "inventory", "group_by": ["location", "category"], "aggregates": [{"fn": "count"}], "order_by": "location, count, category desc", "order_dir": ""}`))
		require.Equal(t, "pantry", several[0]["location"])
		require.EqualValues(t, 1, several[0]["count"])
		require.Equal(t, []float64{5, 4, 3}, column[float64](rows, "count"))
		require.InDelta(t, 1255, rows[1]["sum_quantity"], 0)
		require.Equal(t, "Peas", rows[2]["last"])
	})

	t.Run("NoRows", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "tasks", "aggregates": [{"fn": "count"}], "filters": [{"field": "completed", "op": "=", "value": false}]}`))
		require.Equal(t, []map[string]any{{"count": 0.0}}, rows)
	})

	t.Run("DifferentValues", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-02", "meal_type": "dinner"}, {"date": "2026-11-02", "meal_type": "lunch"}, {"date": "2026-12-03", "meal_type": "lunch"}]}`)
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "meal_plans", "aggregates": [{"fn": "count_distinct", "column": "date"}, {"fn": "count_distinct", "column": "date:month"},
			{"fn": "count_distinct", "column": "recipe_id.name", "as": "dishes"}], "group_by": ["meal_type"], "order_by": "count_distinct_date", "filters": [{"field": "date", "op": ">=", "value": "2026-11-01"}]}`))
		require.Equal(t, []map[string]any{
			{"meal_type": "dinner", "count_distinct_date": 1.0, "count_distinct_date_month": 1.0, "dishes": 0.0},
			{"meal_type": "lunch", "count_distinct_date": 2.0, "count_distinct_date_month": 2.0, "dishes": 0.0},
		}, rows)
	})

	t.Run("MintsNoRefs", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "recipe_ingredients", "group_by": ["recipe_id"], "aggregates": [{"fn": "count", "as": "n"}], "order_by": "n", "order_dir": "desc", "limit": 1}`))
		require.Equal(t, []map[string]any{{"_recipe_id_label": "Butter Chicken", "n": 14.0}}, rows)
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		for _, args := range []string{
			`{"table": "inventory", "aggregates": []}`,
			`{"table": "inventory", "aggregates": [{"fn": "median", "column": "quantity"}]}`,
			`{"table": "inventory", "aggregates": [{"fn": "sum", "column": "name"}]}`,
			`{"table": "recipes", "aggregates": [{"fn": "count_distinct", "column": "tags"}]}`,
			`{"table": "recipes", "aggregates": [{"fn": "count_distinct", "column": ""}]}`,
			`{"table": "inventory", "aggregates": [{"fn": "sum"}]}`,
			`{"table": "inventory", "aggregates": [{"fn": "count"}, {"fn": "count"}]}`,
			`{"table": "inventory", "aggregates": [{"fn": "count", "as": "x\" FROM users; --"}]}`,
			`{"table": "inventory", "aggregates": [{"fn": "count"}], "order_by": "name"}`,
			`{"table": "recipes", "aggregates": [{"fn": "count"}], "group_by": ["tags"]}`,
			`{"table": "recipes", "aggregates": [{"fn": "max", "column": "parent_recipe_id"}]}`,
		} {
			b.refused("analyze", vocab.ToolAnalyze, args, crud.CodeBadArgument)
		}
	})
}

func TestCalculate(t *testing.T) {
	t.Parallel()

	b := setup(t)
	rows := b.rows(b.ok("analyze", vocab.ToolCalculate, `{"expressions": ["0.1 + 0.2", "round(10 / 3, 2)"]}`))
	require.Equal(t, []string{"0.3", "3.33"}, column[string](rows, "result"))
	require.Contains(t, b.refused("analyze", vocab.ToolCalculate, `{"expressions": ["1", "x + 1"]}`, crud.CodeBadValue), "Expression 2: only numbers")
	b.refused("analyze", vocab.ToolCalculate, `{"expressions": [`+strings.Repeat(`"1",`, 20)+`"1"]}`, crud.CodeBadArgument)
	b.refused("analyze", vocab.ToolCalculate, `{"expressions": []}`, crud.CodeBadArgument)
}

// A schema without null asks for 0 where no limit is meant.
func TestALimitOfZeroIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("read", vocab.ToolRecall, `{"query": "curry", "limit": 0}`)
	b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "curry"}], "limit": 0}`)
}

// A price in euros is not written into a column of cents: 213.00 became 2.13.
func TestCentsAreNoEuros(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "cash", `CREATE SCHEMA cash;
		CREATE TABLE cash.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE cash.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES cash.users, name text NOT NULL, "centsTotal" integer, pieces integer);
		INSERT INTO cash.users (name) VALUES ('Ada');
		INSERT INTO cash.orders (user_id, name, "centsTotal", pieces) VALUES (1, 'First', 17400, 1)`, map[string][]string{"order": {"name", `"centsTotal"`, "pieces"}})
	b.read("orders")
	set := func(column, value string) string {
		return `{"table": "orders", "filters": [{"field": "id", "op": "=", "value": "order_1"}], "set": [{"column": "` + column + `", "value": ` + value + `}]}`
	}
	for value, cents := range map[string]string{`"213.00"`: "21300 for 213.00", `39.9`: "3990 for 39.9", `0.05`: "5 for 0.05"} {
		require.Equal(t, "centsTotal counts cents: write "+cents+".", b.refused("write", vocab.ToolUpdate, set("centsTotal", value), crud.CodeBadValue))
	}
	require.Contains(t, b.refused("read", vocab.ToolRead, `{"table": "orders", "filters": [{"field": "centsTotal", "op": ">", "value": "100.00"}]}`, crud.CodeBadValue), "write 10000 for 100.00")
	b.ok("write", vocab.ToolUpdate, set("centsTotal", `21300`))
	b.ok("write", vocab.ToolUpdate, set("pieces", `2.0`))
	require.Contains(t, b.refused("write", vocab.ToolUpdate, set("centsTotal", `1.234`), crud.CodeBadValue), "has to be a whole number")
}
