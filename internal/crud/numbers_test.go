package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

func TestAnalyze(t *testing.T) {
	t.Parallel()

	t.Run("EqualsSQL", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "inventory", "group_by": ["location"], "aggregates": [{"fn": "count"}, {"fn": "sum", "column": "quantity"}, {"fn": "max", "column": "name", "as": "last"}], "order_by": "count", "order_dir": "desc"}`))
		require.Equal(t, []string{"fridge", "pantry", "freezer"}, column[string](rows, "location"))
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
	rows := b.rows(b.ok("analyze", vocab.ToolCalculate, `{"expressions": ["0.1 + 0.2", "2.5 * 4", "(1 + 2) ^ 3", "2 ** -1", "10 / 3", "round(10 / 3, 2)", "ceil(7 / 2)", "floor(-0.5)", "sum(1, 2, 3)", "mean([1, 2])", "max(1, 3) - min(4, 2)", "-2 + 9007199254740993", "9007199254740993.5 * 2", "1234567890.1234567891 - 1_0.5e1", "1e-999999999 + 1"]}`))
	require.Equal(t, []string{"0.3", "10", "27", "0.5", "3.3333333333", "3.33", "4", "-1", "6", "1.5", "1", "9007199254740991", "18014398509481987", "1234567785.1234567891", "1"}, column[string](rows, "result"))

	for _, expression := range []string{"1 / 0", "2 ^ 101", "((9 ^ 99) ^ 99) ^ 99", "x + 1", "len('a')", "true", "1 +", "'a' + 'b'", "0 ^ -1", strings.Repeat("1+", 300) + "1"} {
		b.refused("analyze", vocab.ToolCalculate, sprintf(`{"expressions": [%q]}`, expression), crud.CodeBadValue)
	}
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
