package crud_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// A fork knows rows as they were: it says what has become of them since, and by which turn. Undone changes do not
// count.
func TestSinceAFork(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	update := func(ref, title string) {
		b.nextTurn()
		b.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "`+ref+`"}], "data": {"title": "`+title+`"}}`)
	}
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "kept"}, {"title": "changed"}, {"title": "deleted"}, {"title": "undone"}, {"title": "touched"}]}`)
	b.exec(`UPDATE turns SET status = 'cancelled', finished_at = now() WHERE id = $1`, b.scope.TurnID)
	fork := query[uuid.UUID](b, `SELECT fork_session($1, 1)`, b.scope.SessionID)

	update("task_2", "changed by a turn")
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_3"}]}`)
	update("task_4", "for a while")
	b.undone(b.scope.TurnID, b.scope.Turn)
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "recipe_ingredients": [{"name": "water"}]}}`)
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "for a while too"}}`)
	b.undone(b.scope.TurnID, b.scope.Turn)
	b.exec(`UPDATE kitchen.tasks SET title = 'touched by somebody' WHERE user_id = $1 AND title = 'touched'`, b.scope.UserID)

	found, err := b.tools.Since(t.Context(), b.tx, b.scope.UserID, fork)
	require.NoError(t, err)
	var said []string
	for _, one := range found {
		said = append(said, sprintf("%s %s %q %s %d", one.EntityType, one.Ref, one.Label, one.Change, one.Turn))
	}
	require.ElementsMatch(t, []string{
		`task task_2 "changed" changed 2`, `task task_3 "deleted" deleted 3`, `task task_5 "touched" changed 0`, `recipe  "Soup" created 6`,
	}, said)
}

// A fork begins with its parent's registry, but what was done to rows was done once.
func TestRowEventsAreNotForked(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Eve"}}`)
	b.exec(`UPDATE turns SET status = 'cancelled', finished_at = now() WHERE id = $1`, b.scope.TurnID)
	parent, fork := b.scope.SessionID, query[uuid.UUID](b, `SELECT fork_session($1, 1)`, b.scope.SessionID)
	events := func() []string {
		return query[[]string](b, `SELECT array_agg(action || ' ' || number || CASE session_id WHEN $2 THEN ' here' ELSE ' in the fork' END ORDER BY at)
			FROM v_row_events WHERE user_id = $1 AND entity_type = 'task'`, b.scope.UserID, parent)
	}
	require.Equal(t, []string{"created 1 here"}, events())

	b.scope.SessionID = fork
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`)
	require.Equal(t, []string{"created 1 here", "deleted 2 in the fork"}, events())

	b.exec(`SELECT forget_session($1)`, parent)
	require.Equal(t, []string{"created 1 in the fork", "deleted 2 in the fork"}, events(), "what is forgotten there is known here")
}

// A ref whose draft is saved, brought back by an undo and saved again stands for one row after the other; each row has its
// own past.
func TestRowEventsOfAnUndoneSave(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	save := `{"table": "recipes", "from_ref": "gen_recipe_1"}`
	past := func() []string {
		return query[[]string](b, `SELECT array_agg(concat_ws(' ', rank, action, actor, number) ORDER BY rank, at) FROM (
			SELECT v.*, dense_rank() OVER (ORDER BY first, entity_id) AS rank
			FROM (SELECT v.*, min(at) OVER (PARTITION BY entity_id) AS first FROM v_row_events AS v) AS v
			WHERE user_id = $1 AND entity_type = 'recipe') AS v`, b.scope.UserID)
	}
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Stew", "recipe_ingredients": [{"name": "beef"}]}}]}`)
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, save)
	b.undone(b.scope.TurnID, 2)
	require.Equal(t, []string{"1 created assistant 2", "1 deleted user 3"}, past())

	b.undone(b.scope.TurnID, 3)
	require.Equal(t, []string{"1 created assistant 2", "1 deleted user 3", "1 created user 4"}, past(), "the same row again")

	b.undone(b.scope.TurnID, 4)
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, save)
	require.Equal(t, []string{"1 created assistant 2", "1 deleted user 3", "1 created user 4", "1 deleted user 5", "2 created assistant 6"}, past(), "another row")
}
