package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// undidPart undoes what the current turn did to the rows of refs.
func (b *bundle) undidPart(refs ...string) (turn crud.Undoing) {
	b.t.Helper()
	turn = crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn}
	outcome := b.undo(turn.Turn, turn.Number, refs...)
	require.Empty(b.t, outcome.Results[0].ErrorMessage)
	require.True(b.t, outcome.Part)

	return turn
}

// What a turn did to some of its rows is undone exactly; the rest stands until it is undone too, and then all is as it was.
func TestUndoOfSomeRows(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Old"}, {"title": "Older"}]}`)
	start := b.state()
	b.nextTurn()
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "recipe_ingredients": [{"name": "water"}, {"name": "salt"}]}}`),
		call(vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "New"}}`),
		call(vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_2"}]}`))
	require.False(t, outcome.Failed())
	b.scope.Call++
	b.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "Newer"}}`)
	titles := func() string {
		return query[string](b, `SELECT concat_ws(' ', (SELECT string_agg(title, ' ' ORDER BY title) FROM kitchen.tasks WHERE user_id = $1),
			(SELECT string_agg(name, ' ' ORDER BY name) FROM kitchen.recipe_ingredients WHERE user_id = $1))`, b.scope.UserID)
	}
	require.Equal(t, "Newer salt water", titles())
	first := b.undidPart("task_2")
	require.Equal(t, "Newer Older salt water", titles(), "a deleted row comes back")
	partly := b.scope
	require.Empty(t, b.undo(first.Turn, first.Number, "task_1", "recipe_1").Results[0].ErrorMessage)
	require.JSONEq(t, start, b.state(), "a row that two decisions wrote, and one with its parts")
	require.Equal(t, "done", query[string](b, `SELECT undo FROM turns WHERE id = $1`, first.Turn), "nothing is left of it")
	require.Equal(t, "What “soup” wrote has been taken back already.", b.undo(first.Turn, first.Number).Results[0].ErrorMessage)

	b.undone(partly.TurnID, partly.Turn)
	require.Equal(t, "Old", titles(), "the part is done again")
	require.Equal(t, "possible", query[string](b, `SELECT undo FROM turns WHERE id = $1`, first.Turn), "that part stands")
	b.undone(first.Turn, first.Number)
	require.JSONEq(t, start, b.state())
}

// Of a part that was taken back, a part may be done again: then it is undone with the rest.
func TestUndoOfAPartOfAPart(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	start := b.state()
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "A"}, {"title": "B"}, {"title": "C"}]}`)
	made := crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn}
	titles := func() string {
		return query[string](b, `SELECT coalesce(string_agg(title, ' ' ORDER BY title), '') FROM kitchen.tasks WHERE user_id = $1`, b.scope.UserID)
	}
	part := func(of crud.Undoing, refs ...string) crud.Undoing {
		require.Empty(t, b.undo(of.Turn, of.Number, refs...).Results[0].ErrorMessage)

		return crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn}
	}
	again := part(part(made, "task_1", "task_2"), "task_1")
	require.Equal(t, "A C", titles())
	part(again, "task_1")
	require.Equal(t, "C", titles())
	part(made)
	require.JSONEq(t, start, b.state())

	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "D"}, {"title": "E"}, {"title": "F"}]}`)
	made = crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn}
	part(part(made, "task_4", "task_5"), "task_4")
	require.Equal(t, "D F", titles())
	part(made)
	require.JSONEq(t, start, b.state(), "what was done again, too")
}

// One row in the way does not keep a person from the others.
func TestRefusedUndoOffersTheOtherRows(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "A"}, {"title": "B"}]}`)
	made, number := b.scope.TurnID, b.scope.Turn
	b.exec(`UPDATE kitchen.tasks SET title = 'Z' WHERE user_id = $1 AND title = 'A'`, b.scope.UserID)
	require.Equal(t, "The task Z has changed since (title), by another program, or the database itself. Nothing was taken back. Name the others to take back only those.",
		b.undo(made, number).Results[0].ErrorMessage)
	require.Empty(t, b.undo(made, number, "task_2").Results[0].ErrorMessage)
	require.Equal(t, "Z", query[string](b, `SELECT string_agg(title, ' ') FROM kitchen.tasks WHERE user_id = $1`, b.scope.UserID))
}

// What the database refuses was not taken back, and is told so: of a trigger's sentence alone nobody knew.
func TestUndoThatATriggerRefusesSaysSo(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "A"}, {"title": "B"}]}`)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "title", "op": "in", "value": ["A", "B"]}]}`)
	gone, number := b.scope.TurnID, b.scope.Turn
	b.exec(`CREATE FUNCTION kitchen.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.title = 'A' THEN RAISE EXCEPTION 'the slot of % is taken', NEW.title; END IF; RETURN NEW; END $$;
		CREATE TRIGGER full_up BEFORE INSERT ON kitchen.tasks FOR EACH ROW EXECUTE FUNCTION kitchen.full()`)
	require.Equal(t, "The slot of A is taken. Nothing was taken back. Name the others to take back only those.", b.undo(gone, number).Results[0].ErrorMessage)
	require.Equal(t, "The slot of A is taken. Nothing was taken back.", b.undo(gone, number, "task_1").Results[0].ErrorMessage)
	require.Empty(t, b.undo(gone, number, "task_2").Results[0].ErrorMessage)
}

// Nothing is undone by half: what was deleted with a row comes back with it, what needs a row keeps it.
func TestUndoOfSomeRowsTakesTheirCompanyAlong(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": [{"name": "Soup", "recipe_ingredients": [{"name": "water"}]}, {"name": "Stew", "recipe_ingredients": [{"name": "beef"}]}]}`)
	b.scope.Call++
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Cook", "recipe_id": "recipe_1"}]}`)
	whole := b.state()
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "id", "op": "in", "value": ["recipe_1", "recipe_2"]}]}`)
	gone := crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn}
	message := b.undo(gone.Turn, gone.Number, "ri_1").Results[0].ErrorMessage
	require.NotEmpty(t, message, "an ingredient has nothing to come back to")
	require.Equal(t, 0, query[int](b, `SELECT count(*) FROM kitchen.recipe_ingredients WHERE user_id = $1`, b.scope.UserID))
	require.Empty(t, b.undo(gone.Turn, gone.Number, "recipe_1").Results[0].ErrorMessage)
	require.Equal(t, "water Cook", query[string](b, `SELECT string_agg(i.name || ' ' || t.title, '|') FROM kitchen.recipe_ingredients AS i
		JOIN kitchen.tasks AS t ON t.recipe_id = i.recipe_id WHERE i.user_id = $1`, b.scope.UserID))
	b.undone(gone.Turn, gone.Number)
	require.JSONEq(t, whole, b.state())

	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Pie"}}`)
	b.scope.Call++
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Bake", "recipe_id": "recipe_3"}}`)
	made, number, before := b.scope.TurnID, b.scope.Turn, b.state()
	require.Equal(t, "The task Bake, which is to stay, names the recipe. Nothing was taken back.", b.undo(made, number, "recipe_3").Results[0].ErrorMessage)
	require.Contains(t, b.undo(made, number, "recipe_1").Results[0].ErrorMessage, "did nothing to recipe_1")
	require.JSONEq(t, before, b.state())
	b.exec(`UPDATE kitchen.tasks SET title = 'Bake it' WHERE user_id = $1 AND title = 'Bake'`, b.scope.UserID)
	require.Contains(t, b.undo(made, number, "recipe_3", "task_2").Results[0].ErrorMessage, "has changed since (title)")
}

// What stands of the turns in a chain of undos, whole or in part, is told for each of them.
func TestUndoTellsWhatStands(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "A"}, {"title": "B"}]}`)
	turns := []crud.Undoing{{Turn: b.scope.TurnID, Number: b.scope.Turn}}
	undo := func(of int, refs ...string) {
		t.Helper()
		require.Empty(t, b.undo(turns[of-1].Turn, turns[of-1].Number, refs...).Results[0].ErrorMessage)
		turns = append(turns, crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn})
	}
	// known is of each turn whether it stands, or which one undid it.
	known := func() (all []string) {
		for _, turn := range turns {
			all = append(all, query[string](b, `SELECT coalesce(t.undo || ' by ' || u.number - $2, t.undo) FROM turns AS t LEFT JOIN turns AS u ON u.id = t.undone_by WHERE t.id = $1`,
				turn.Turn, turns[0].Number-1))
		}

		return all
	}
	undo(1)
	undo(2)
	undo(3)
	require.Equal(t, []string{"done by 2", "possible", "done by 4", "possible"}, known())
	undo(4)
	require.Equal(t, []string{"possible", "done by 3", "possible", "done by 5", "possible"}, known())

	turns = turns[:0]
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "C"}, {"title": "D"}]}`)
	turns = append(turns, crud.Undoing{Turn: b.scope.TurnID, Number: b.scope.Turn})
	undo(1)
	undo(2, "task_3")
	require.Equal(t, []string{"possible", "possible", "possible"}, known(), "one row of it stands again")
	undo(3)
	require.Equal(t, []string{"done by 2", "possible", "done by 4", "possible"}, known())
	undo(2)
	undo(1, "task_4")
	undo(1, "task_3")
	require.Equal(t, []string{"done by 7", "done by 5", "done by 4", "possible", "possible", "possible", "possible"}, known())
	undo(6)
	undo(8)
	require.Equal(t, []string{"done by 7", "done by 5", "done by 4", "possible", "possible", "possible", "possible", "done by 9", "possible"}, known())
}

// A turn whose writes cancelled each other out is undone like any other, though there is no row to change: it stayed what "undo
// that" means, whatever was done before.
func TestUndoOfWhatChangedNothing(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "A"}}`)
	b.nextTurn()
	for _, title := range []string{"B", "A"} {
		b.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "`+title+`"}}`)
	}
	turn, number := b.scope.TurnID, b.scope.Turn
	require.Empty(t, b.undo(turn, number).Results[0].ErrorMessage)
	require.Equal(t, "done", query[string](b, `SELECT undo FROM turns WHERE id = $1`, turn))
}
