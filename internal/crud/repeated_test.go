package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A call that adds up is carried out once, however often an answer or a step makes it: a second creation would leave two
// rows, and a second deletion by name would take the row that is next best called so.
func TestRepeatedCallsAreRefused(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.inventory (user_id, name) SELECT $1, unnest(ARRAY['Butter', 'Peanut butter'])`, b.scope.UserID)
	create := call(vocab.ToolCreate, `{"table": "tasks", "rows": [{"set": [{"column": "title", "value": "Shop"}], "children": []}]}`)
	again := call(vocab.ToolCreate, `{"rows": [{"children": [], "set": [{"value": "Shop", "column": "title"}]}], "table": "tasks"}`)
	remove := call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "butter"}]}`)
	draft := call(vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Soup"}}], "updates": []}`)
	tasks := `SELECT count(*)::int FROM kitchen.tasks WHERE user_id = $1`

	for name, calls := range map[string][]vocab.Call{"create": {create, again}, "delete": {remove, remove}} {
		outcome := b.decide("write", calls...)
		require.Equal(t, crud.CodeNotExecuted, outcome.Results[0].ErrorCode, name)
		require.Equal(t, crud.CodeRepeated, outcome.Results[1].ErrorCode, name)
		require.Contains(t, outcome.Results[1].ErrorMessage, "stands twice in this answer")
	}
	require.Zero(t, query[int](b, tasks, b.scope.UserID))
	require.Equal(t, crud.CodeRepeated, b.decide("generate", draft, draft).Results[1].ErrorCode)

	for _, one := range []vocab.Call{create, remove} {
		done := b.ok("write", one.Tool, string(one.Args))
		b.done = map[string]string{crud.Fingerprint(one): done.Told}
		require.Contains(t, b.refused("write", one.Tool, string(one.Args), crud.CodeRepeated), "This step has already done that: "+done.Told)
	}
	require.Equal(t, 1, query[int](b, tasks, b.scope.UserID))
	require.Equal(t, "Peanut butter", query[string](b, `SELECT string_agg(name, ' ') FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID))

	two := b.ok("write", vocab.ToolCreate, `{"table": "tasks", "rows": [{"set": [{"column": "title", "value": "Wash"}], "children": []}, {"set": [{"column": "title", "value": "Wash"}], "children": []}]}`)
	require.Equal(t, 2, two.RowCount, "whoever wants two equal rows can have them")
	update := call(vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "set": [{"column": "title", "value": "Shop early"}]}`)
	for _, result := range b.decide("write", update, update).Results {
		require.Empty(t, result.ErrorMessage, "the same value may be set twice")
	}
}
