package crud_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// noted is a row of row_changes.
type noted struct {
	Seq        int
	EntityType string
	Action     string
	Before     map[string]any
	After      map[string]string
	Draft      *string
	Lost       *string
}

// noted returns what the current turn has written.
func (b *bundle) noted() []noted {
	b.t.Helper()

	rows, err := b.tx.Query(b.t.Context(), `SELECT seq, entity_type, action, before, after, draft, lost FROM row_changes WHERE turn_id = $1 ORDER BY seq`, b.scope.TurnID)
	require.NoError(b.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[noted])
	require.NoError(b.t, err)
	for i, one := range list {
		require.Equal(b.t, i+1, one.Seq)
	}

	return list
}

func (b *bundle) undoable() string {
	b.t.Helper()

	return query[string](b, `SELECT coalesce(undo, '') FROM turns WHERE id = $1`, b.scope.TurnID)
}

// A write records what its undo needs: only the old values of what it changed, and a mark of each new value except
// those the database sets by itself.
func TestWritesRecordTheirOldValues(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	require.Empty(t, b.undoable())
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "servings": 2, "recipe_ingredients": [{"name": "water"}, {"name": "salt"}]}}`)
	made := b.noted()
	require.Equal(t, []string{"recipe", "ri", "ri"}, []string{made[0].EntityType, made[1].EntityType, made[2].EntityType})
	require.Equal(t, "created", made[0].Action)
	require.Nil(t, made[0].Before)
	require.Contains(t, made[0].After, "name")
	require.NotContains(t, made[0].After, "updated_at")
	require.NotContains(t, made[0].After, "created_at")
	require.Equal(t, "possible", b.undoable())

	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"servings": 4, "name": "Soup"}}`)
	changed := b.noted()
	require.Len(t, changed, 1)
	require.Equal(t, map[string]any{"servings": 2.0}, changed[0].Before, "what stayed is not kept")

	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"servings": 4}}`)
	require.Empty(t, b.noted(), "nothing changed")
	require.Empty(t, b.undoable())

	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-02", "meal_type": "dinner", "recipe_id": "recipe_1"}}`)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}]}`)
	gone := b.noted()
	actions := map[string][]string{}
	for _, one := range gone {
		actions[one.EntityType] = append(actions[one.EntityType], one.Action)
		require.Nil(t, one.Lost)
	}
	require.Equal(t, []string{"deleted", "deleted"}, actions["ri"], "what goes with it")
	require.Len(t, actions["meal"], 1, "what points at it")
	last := gone[len(gone)-1]
	require.Equal(t, "recipe", last.EntityType, "the row itself is the last")
	require.Nil(t, last.After)
	require.Equal(t, "Soup", last.Before["name"])
	require.Contains(t, last.Before, "created_at", "a row comes back as it was")
}

// A decision that failed, or that waits for the user, has written nothing.
func TestFailedDecisionsAreNotRecorded(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.decide("write", call(vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada"}}`), call(vocab.ToolCreate, `{"table": "tasks", "data": {"nothing": 1}}`))
	require.Empty(t, b.noted())
	require.Empty(t, b.undoable())
}

// A decision that updates a row twice records one old value, and a saved draft is identified by its ref.
func TestADecisionRecordsARowOnce(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada"}}`)
	b.nextTurn()
	update := func(title string) vocab.Call {
		return call(vocab.ToolUpdate, sprintf(`{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": %q}}`, title))
	}
	require.Empty(t, b.decide("write", update("Call Bob"), update("Call Eve")).Results[1].ErrorMessage)
	changed := b.noted()
	require.Len(t, changed, 1)
	require.Equal(t, map[string]any{"title": "Call Ada"}, changed[0].Before)
	b.nextTurn()
	require.Empty(t, b.decide("write", update("Call Bob"), update("Call Eve")).Results[1].ErrorMessage)
	require.Empty(t, b.noted(), "in the end nothing changed")

	b.nextTurn()
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "task", "content": {"title": "Buy a cake"}}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "from_ref": "gen_task_1"}`)
	saved := b.noted()
	require.Len(t, saved, 1)
	raw, err := json.Marshal(saved[0].Draft)
	require.NoError(t, err)
	require.JSONEq(t, `"gen_task_1"`, string(raw))
}
