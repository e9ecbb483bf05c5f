package crud_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A step may write its subdomain's tables and their children, but not tables it may only read.
func TestStepsWriteWithinTheirBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bounds := crud.Bounds{StepType: "write", Tables: []string{"meal_plans", "recipes", "inventory"}, Writable: map[string][]string{vocab.ToolCreate: {"meal_plans", "recipes"}, vocab.ToolUpdate: {"meal_plans", "recipes"}, vocab.ToolDelete: {"meal_plans", "recipes"}}}
	decide := func(tool, args string) *crud.Outcome {
		prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), []vocab.Call{call(tool, args)})
		require.NoError(t, err)
		outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), bounds, prepared)
		require.NoError(t, err)
		b.scope.Call++

		return &outcome
	}
	for tool, args := range map[string]string{
		vocab.ToolCreate: `{"table": "inventory", "data": {"name": "eggs"}}`,
		vocab.ToolUpdate: `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "eggs"}], "data": {"quantity": 1}}`,
		vocab.ToolDelete: `{"table": "inv", "filters": [{"field": "name", "op": "=", "value": "eggs"}]}`,
	} {
		result := decide(tool, args).Results[0]
		require.Equal(t, crud.CodeWrongStep, result.ErrorCode, tool)
		require.Equal(t, "This step may read inventory, but write only meal_plans, recipes.", result.ErrorMessage)
	}
	require.False(t, decide(vocab.ToolRead, `{"table": "inventory"}`).Failed())
	require.False(t, decide(vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "instructions": ["Boil."], "recipe_ingredients": [{"name": "water"}]}}`).Failed())
	require.False(t, decide(vocab.ToolCreate, `{"table": "recipe_ingredients", "data": {"recipe_id": "recipe_1", "name": "salt"}}`).Failed(), "a child of what it may write")
	require.Equal(t, crud.CodeUnknownTable, decide(vocab.ToolCreate, `{"table": "tasks", "data": {"title": "x"}}`).Results[0].ErrorCode)
}

// What a step of a type is not offered does nothing either: a step that reads deletes nothing, whatever its model calls.
func TestStepsUseOnlyTheirTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "inventory"}`)
	before := query[string](b, `SELECT string_agg(i::text, ' ' ORDER BY id) FROM kitchen.inventory AS i WHERE user_id = $1`, b.scope.UserID)
	args := map[string]string{
		vocab.ToolAnalyze:  `{"table": "inventory", "aggregates": [{"fn": "count", "as": "n"}], "group_by": [], "filters": []}`,
		vocab.ToolCreate:   `{"table": "inventory", "data": {"name": "eggs"}}`,
		vocab.ToolDelete:   `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}]}`,
		vocab.ToolGenerate: `{"creates": [{"type": "task", "content": {"title": "Shop"}}], "updates": []}`,
		vocab.ToolUpdate:   `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"notes": "x"}}`,
	}
	for _, stepType := range []string{vocab.StepRead, vocab.StepAnalyze, vocab.StepGenerate, vocab.StepWrite} {
		for tool, args := range args {
			if !slices.Contains(vocab.StepTools(stepType), tool) {
				require.Contains(t, b.refused(stepType, tool, args, crud.CodeWrongStep), "Steps of type "+stepType+" may not use "+tool)
			}
		}
	}
	require.Equal(t, before, query[string](b, `SELECT string_agg(i::text, ' ' ORDER BY id) FROM kitchen.inventory AS i WHERE user_id = $1`, b.scope.UserID))
}
