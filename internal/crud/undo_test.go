package crud_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/vocab"
)

// state is all rows of the user, except for what the database sets by itself.
func (b *bundle) state() string {
	b.t.Helper()

	return query[string](b, `SELECT coalesce(jsonb_agg(to_jsonb(x) ORDER BY x.what, x.row), '[]')::text FROM (
		SELECT 'recipes' AS what, to_jsonb(r) - 'updated_at' AS row FROM kitchen.recipes AS r WHERE user_id = $1
		UNION ALL SELECT 'lines', to_jsonb(r) - 'updated_at' FROM kitchen.recipe_ingredients AS r WHERE user_id = $1
		UNION ALL SELECT 'meals', to_jsonb(r) - 'updated_at' FROM kitchen.meal_plans AS r WHERE user_id = $1
		UNION ALL SELECT 'tasks', to_jsonb(r) - 'updated_at' FROM kitchen.tasks AS r WHERE user_id = $1
		UNION ALL SELECT 'shopping', to_jsonb(r) - 'updated_at' FROM kitchen.shopping_list AS r WHERE user_id = $1
		UNION ALL SELECT 'prefs', to_jsonb(r) - 'updated_at' FROM kitchen.preferences AS r WHERE user_id = $1) AS x`, b.scope.UserID)
}

// undo undoes a turn, or what it did to the rows of refs, in a new turn.
func (b *bundle) undo(turn uuid.UUID, number int, refs ...string) crud.Outcome {
	b.t.Helper()

	b.nextTurn()
	outcome, err := b.tools.Undo(b.t.Context(), b.tx, b.at(), crud.Undoing{Turn: turn, Number: number, Asked: "“soup”", Refs: refs})
	require.NoError(b.t, err)
	if !outcome.Failed() {
		require.NoError(b.t, db.New().TurnUndone(b.t.Context(), b.tx, &db.TurnUndoneParams{TurnID: turn, UndoneBy: b.scope.TurnID, Part: outcome.Part, Alone: true}))
	}
	b.noIDs()

	return outcome
}

func (b *bundle) undone(turn uuid.UUID, number int) {
	b.t.Helper()

	outcome := b.undo(turn, number)
	for _, r := range outcome.Results {
		require.Empty(b.t, r.ErrorMessage)
	}
}

func (b *bundle) ref(ref string) string {
	b.t.Helper()

	return query[string](b, `SELECT coalesce(max(state::text || ' ' || action), '') FROM entity_refs WHERE session_id = $1 AND ref = $2`, b.scope.SessionID, ref)
}

type turnDone struct {
	id     uuid.UUID
	number int
	before string
}

// A row that was deleted and is there again, from wherever, is nobody's to overwrite.
func TestUndoLeavesWhatIsThereAgain(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Shop"}}`)
	id := query[uuid.UUID](b, `SELECT id FROM kitchen.tasks WHERE user_id = $1`, b.scope.UserID)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`)
	b.exec(`INSERT INTO kitchen.tasks (id, user_id, title) VALUES ($1, $2, 'Bake')`, id, b.scope.UserID)
	refused := b.undo(b.scope.TurnID, b.scope.Turn).Results[0]
	require.Equal(t, "The task Bake is there again, by another program, or the database itself. Nothing was taken back.", refused.ErrorMessage)
	require.Equal(t, "Bake", query[string](b, `SELECT title FROM kitchen.tasks WHERE id = $1`, id))
}

// Every write of a conversation can be undone, last first, and then everything again by undoing the undos.
func TestUndoBackwards(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	var turns []turnDone
	write := func(calls ...vocab.Call) {
		t.Helper()
		b.nextTurn()
		turns = append(turns, turnDone{b.scope.TurnID, b.scope.Turn, b.state()})
		outcome := b.decide("write", calls...)
		for _, r := range outcome.Results {
			require.Empty(t, r.ErrorMessage)
		}
	}
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Stew", "recipe_ingredients": [{"name": "beef"}]}}]}`)
	write(call(vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "servings": 2, "tags": ["quick"], "recipe_ingredients": [{"name": "water"}, {"name": "salt"}]}}`))
	write(call(vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`))
	write(call(vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-02", "meal_type": "dinner", "recipe_id": "recipe_1"}}`),
		call(vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Buy salt", "recipe_id": "recipe_1"}}`))
	write(call(vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"servings": 4, "tags": ["slow", "soup"], "description": "Warm."}}`),
		call(vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"servings": 6}}`))
	write(call(vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "eggs", "quantity": 6, "unit": "piece"}]}`))
	write(call(vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "eggs", "quantity": 4, "unit": "piece"}, {"name": "milk"}]}`))
	write(call(vocab.ToolCreate, `{"table": "preferences", "data": {"allergies": ["nuts"]}}`))
	write(call(vocab.ToolCreate, `{"table": "preferences", "data": {"allergies": ["eggs"], "household_adults": 2}}`))
	write(call(vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}]}`))
	end := b.state()
	require.Equal(t, "promoted created", b.ref("gen_recipe_1"))

	var undos []turnDone
	for _, turn := range slices.Backward(turns) {
		b.undone(turn.id, turn.number)
		require.JSONEq(t, turn.before, b.state(), "turn %d", turn.number)
		undos = append(undos, turnDone{b.scope.TurnID, b.scope.Turn, turn.before})
		require.Equal(t, "done", query[string](b, `SELECT undo FROM turns WHERE id = $1`, turn.id))
		require.Equal(t, "possible", query[string](b, `SELECT undo FROM turns WHERE id = $1`, b.scope.TurnID), "an undo can be taken back")
	}
	require.Equal(t, "pending generated", b.ref("gen_recipe_1"), "a draft again")
	require.Equal(t, "deleted deleted:user", b.ref("recipe_1"))

	for _, undo := range slices.Backward(undos) {
		b.undone(undo.id, undo.number)
	}
	require.JSONEq(t, end, b.state())
	require.Equal(t, "promoted created:user", b.ref("gen_recipe_1"))
	for _, turn := range turns {
		require.Equal(t, "possible", query[string](b, `SELECT undo FROM turns WHERE id = $1`, turn.id), "it stands again")
	}
}

// A turn is not undone over others' changes: then nothing happens, and the row and who changed it are named.
func TestUndoRefuses(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	made := func() (uuid.UUID, int) {
		b.nextTurn()
		b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "servings": 2, "recipe_ingredients": [{"name": "water"}]}}`)

		return b.scope.TurnID, b.scope.Turn
	}
	refused := func(turn uuid.UUID, number int) string {
		t.Helper()
		before := b.state()
		outcome := b.undo(turn, number)
		require.Len(t, outcome.Results, 1)
		require.JSONEq(t, before, b.state(), "nothing happened")

		return outcome.Results[0].ErrorMessage
	}

	turn, number := made()
	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"servings": 4}}`)
	require.Equal(t, "The recipe Soup has changed since (servings), by what you asked with “hello”. Nothing was taken back. Take that back first.", refused(turn, number))

	b.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	turn, number = made()
	b.exec(`UPDATE kitchen.recipes SET description = 'mine' WHERE user_id = $1`, b.scope.UserID)
	require.Equal(t, "The recipe Soup has changed since (description), by another program, or the database itself. Nothing was taken back.", refused(turn, number))
	b.exec(`UPDATE kitchen.recipes SET description = NULL, created_at = now() - interval '1 day' WHERE user_id = $1`, b.scope.UserID)
	b.undone(turn, number) // what the database sets by itself does not count

	turn, number = made()
	b.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	require.Contains(t, refused(turn, number), "is gone, by another program")

	turn, number = made()
	b.exec(`INSERT INTO kitchen.recipe_ingredients (user_id, recipe_id, name) SELECT user_id, id, 'pepper' FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	require.Contains(t, refused(turn, number), "came later and belongs to it, by another program")
	b.exec(`DELETE FROM kitchen.recipe_ingredients WHERE name = 'pepper' AND user_id = $1`, b.scope.UserID)
	b.exec(`INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id) SELECT user_id, '2026-11-03', 'lunch', id FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	require.Contains(t, refused(turn, number), "Nothing was taken back.")

	b.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	turn, number = made()
	ref := query[string](b, `SELECT ref FROM entity_refs WHERE session_id = $1 AND entity_type = 'recipe' AND state = 'stored' ORDER BY number DESC LIMIT 1`, b.scope.SessionID)
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-04", "meal_type": "lunch", "recipe_id": "`+ref+`"}}`)
	require.Equal(t, "The planned meal Wed 4 Nov lunch came later and belongs to it, by what you asked with “hello”. Nothing was taken back. Take that back first.", refused(turn, number))

	b.exec(`DELETE FROM kitchen.meal_plans WHERE user_id = $1`, b.scope.UserID)
	id := query[string](b, `SELECT id::text FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)
	_, err := b.tools.Patch(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "recipe", id, "", json.RawMessage(`{"servings": 5}`))
	require.NoError(t, err)
	require.Equal(t, "The recipe Soup has changed since (servings), by you, outside the chat. Nothing was taken back.", refused(turn, number), "no conversation knows of it")

	b.nextTurn()
	require.Equal(t, "What “soup” wrote is no longer kept, so that it cannot be taken back.", refused(b.scope.TurnID, b.scope.Turn-1))
}

// What an undo did is told by type and by what became of the rows.
func TestUndoTellsWhatItDid(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Old"}]}`)
	b.nextTurn()
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Call Ada"}, {"title": "Call Eve"}]}`),
		call(vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "recipe_ingredients": [{"name": "water"}]}}`),
		call(vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "New"}}`))
	require.False(t, outcome.Failed())

	var told []string
	for _, result := range b.undo(b.scope.TurnID, b.scope.Turn).Results {
		require.Empty(t, result.ErrorMessage)
		told = append(told, sprintf("%s %d %s", result.EntityType, result.RowCount, result.Changes[0].Action))
	}
	require.ElementsMatch(t, []string{"task 2 deleted:user", "recipe 1 deleted:user", "ri 1 deleted:user", "task 1 updated:user"}, told)
}

// Two decisions of a turn wrote the same row, which a later turn changed and then undid.
func TestUndoOfTwoDecisionsOnOneRow(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	start := b.state()
	buy := func(n string) {
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "soap", "quantity": `+n+`, "unit": "piece"}}`)
		b.scope.Call++
	}
	b.nextTurn()
	buy("9")
	buy("9")
	first, number := b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	buy("2")
	b.undone(b.scope.TurnID, b.scope.Turn)
	b.undone(first, number)
	require.JSONEq(t, start, b.state())
}

// Schema changes: a new column does not count, a dropped one is named.
func TestUndoAfterASchemaChange(t *testing.T) {
	t.Parallel()
	b := setupApart(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada", "category": "other"}}`)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`)
	turn, number := b.scope.TurnID, b.scope.Turn
	require.True(t, b.altered(alteration{sql: `ALTER TABLE kitchen.tasks ADD COLUMN mood text DEFAULT 'calm'`}, func(inner *bundle) { inner.undone(turn, number) }))
	require.True(t, b.altered(alteration{sql: `ALTER TABLE kitchen.tasks DROP COLUMN category CASCADE`}, func(inner *bundle) {
		result := inner.undo(turn, number).Results[0]
		require.Equal(t, crud.CodeSchemaChanged, result.ErrorCode, result.ErrorMessage)
		require.Contains(t, result.ErrorMessage, "category")
	}))
}

// A renamed column or one of another type is named too; nothing is half done, whether the turn changed or deleted rows.
func TestUndoAfterColumnsWereRenamedOrRetyped(t *testing.T) {
	t.Parallel()
	b := setupApart(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada", "due_date": "2026-12-01"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Eve", "due_date": "2026-12-01"}}`)
	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_2"}], "data": {"title": "Write to Eve", "due_date": "2026-12-02"}}`)
	updated, second := b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`)
	deleted, third := b.scope.TurnID, b.scope.Turn
	for name, sql := range map[string]string{
		"renamed": `ALTER TABLE kitchen.tasks RENAME COLUMN due_date TO due`,
		"retyped": `ALTER TABLE kitchen.tasks ALTER COLUMN due_date TYPE integer USING 7`,
	} {
		require.True(t, b.altered(alteration{sql: sql}, func(inner *bundle) {
			const rows = `SELECT string_agg(t::text, ' ' ORDER BY title) FROM kitchen.tasks AS t WHERE user_id = $1`
			before := query[string](inner, rows, inner.scope.UserID)
			for number, turn := range map[int]uuid.UUID{second: updated, third: deleted} {
				result := inner.undo(turn, number).Results[0]
				require.Contains(t, []crud.Code{crud.CodeSchemaChanged, crud.CodeStale}, result.ErrorCode, "%s: %s", name, result.ErrorMessage)
				require.Regexp(t, "due.date|an old value does not fit its column any more", result.ErrorMessage, name)
			}
			require.Equal(t, before, query[string](inner, rows, inner.scope.UserID), name)
		}))
	}
}

// What a trigger does to a row in the turn's own write is no change since; what one does later is, and the refusal
// blames nobody in particular.
func TestUndoAfterTriggersChangedRows(t *testing.T) {
	t.Parallel()
	b := setupApart(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada"}}`)
	require.True(t, b.altered(alteration{sql: `
		CREATE FUNCTION kitchen.louder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.due_date := '2026-12-01'; RETURN NEW; END $$;
		CREATE TRIGGER louder BEFORE UPDATE ON kitchen.tasks FOR EACH ROW EXECUTE FUNCTION kitchen.louder();
		CREATE FUNCTION kitchen.remind() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN UPDATE kitchen.tasks SET title = title || '!' WHERE user_id = NEW.user_id; RETURN NULL; END $$;
		CREATE TRIGGER remind AFTER INSERT ON kitchen.meal_plans FOR EACH ROW EXECUTE FUNCTION kitchen.remind();`,
	}, func(inner *bundle) {
		title := func() string {
			return query[string](inner, `SELECT title || ' ' || due_date FROM kitchen.tasks WHERE user_id = $1`, inner.scope.UserID)
		}
		update := func() (uuid.UUID, int) {
			inner.nextTurn()
			inner.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "Call Eve"}}`)

			return inner.scope.TurnID, inner.scope.Turn
		}
		turn, number := update()
		require.Equal(t, "Call Eve 2026-12-01", title())
		inner.undone(turn, number)
		require.Equal(t, "Call Ada 2026-12-01", title())

		turn, number = update()
		inner.exec(`INSERT INTO kitchen.meal_plans (user_id, date, meal_type) VALUES ($1, '2026-12-02', 'dinner')`, inner.scope.UserID)
		result := inner.undo(turn, number).Results[0]
		require.Equal(t, "The task Call Eve! has changed since (title), by another program, or the database itself. Nothing was taken back.", result.ErrorMessage)
		require.Equal(t, "Call Eve! 2026-12-01", title())
	}))
}

// A row that a cascade deleted counts as deleted by the turn that caused it; once that is undone, so can earlier turns
// be.
func TestUndoAfterRowsWereDeletedByACascade(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	start := b.state()
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "servings": 2, "recipe_ingredients": [{"name": "water"}]}}`)
	first, firstNumber := b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "recipe_ingredients", "filters": [{"field": "id", "op": "=", "value": "ri_1"}], "data": {"name": "broth"}}`)
	turn, number := b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}]}`)
	deleted, deletedNumber := b.scope.TurnID, b.scope.Turn
	require.Equal(t, "The recipe ingredient broth is gone, by what you asked with “hello”. Nothing was taken back. Take that back first.", b.undo(turn, number).Results[0].ErrorMessage)
	b.undone(deleted, deletedNumber)
	b.undone(turn, number)
	b.undone(first, firstNumber)
	require.JSONEq(t, start, b.state())

	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Stew", "recipe_ingredients": [{"name": "beef"}]}}`)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "recipe_ingredients", "filters": [{"field": "name", "op": "=", "value": "beef"}]}`)
	b.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1 AND name = 'Stew'`, b.scope.UserID)
	result := b.undo(b.scope.TurnID, b.scope.Turn).Results[0]
	require.NotEmpty(t, result.ErrorMessage, "it has nothing to come back to")
	require.Equal(t, start, b.state())
}

// JSON's null is another value than SQL's: some libraries store it for None, in columns that do not accept SQL's.
func TestUndoKeepsTheNullOfJSON(t *testing.T) {
	t.Parallel()
	b := setupThingsAs(t, dbtest.OwnTx(t), thingsSQL+"; GRANT INSERT ON things.things TO alfred_undo")
	docs := []string{`null`, `{"": null}`, `{"": 1, "a": 2}`, `[""]`, `"text"`}
	for n, doc := range docs {
		b.exec(`INSERT INTO things.things (n, user_id, title, doc) VALUES ($1, $2, 'x', $3::jsonb)`, n, b.scope.UserID, doc)
	}
	state := func() string {
		return query[string](b, `SELECT string_agg(n || coalesce(doc::text, ' SQL'), ' ' ORDER BY n) FROM things.things WHERE user_id = $1`, b.scope.UserID)
	}
	before := state()
	b.ok("read", vocab.ToolRead, `{"table": "things"}`)
	for n := range docs {
		for _, write := range [][2]string{{vocab.ToolUpdate, `, "data": {"doc": {"set": true, "": null, "a": null}}`}, {vocab.ToolUpdate, `, "data": {"doc": null}`}, {vocab.ToolDelete, ""}} {
			b.nextTurn()
			args := fmt.Sprintf(`{"table": "things", "filters": [{"field": "id", "op": "=", "value": "thing_%d"}]%s}`, n+1, write[1])
			require.Empty(t, b.decide("write", call(write[0], args)).Results[0].ErrorMessage)
			require.NotEqual(t, before, state(), args)
			b.undone(b.scope.TurnID, b.scope.Turn)
			require.Equal(t, before, state(), args)
		}
	}
}
