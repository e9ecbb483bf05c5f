package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// Whoever writes is told whether that can be undone, and an impossible undo is refused in the same words.
func TestUndoWithoutTheRights(t *testing.T) {
	t.Parallel()

	const (
		create       = `{"table": "tasks", "data": {"title": "Call Ada"}}`
		deleteTask   = `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`
		deleteRecipe = `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}]}`
	)
	for name, test := range map[string]struct {
		forbid     func(task *domain.Entity)
		tool, args string
		said       string
	}{
		"created":                   {func(*domain.Entity) {}, vocab.ToolCreate, create, ""},
		"created, not removable":    {func(task *domain.Entity) { task.Removable = false }, vocab.ToolCreate, create, "What was created among the tasks cannot be taken away again: the database does not allow it."},
		"deleted":                   {func(*domain.Entity) {}, vocab.ToolDelete, deleteTask, vocab.CanBeUndone},
		"deleted, not restorable":   {func(task *domain.Entity) { task.Restorable = false }, vocab.ToolDelete, deleteTask, "Deleted tasks cannot be brought back: the database does not allow it."},
		"referenced":                {func(*domain.Entity) {}, vocab.ToolDelete, deleteRecipe, vocab.CanBeUndone},
		"referenced, not settable":  {func(task *domain.Entity) { task.Column("recipe_id").SetBack = false }, vocab.ToolDelete, deleteRecipe, "The tasks that name it lose that for good: the database does not allow to set it back."},
		"referenced, not removable": {func(task *domain.Entity) { task.Removable = false }, vocab.ToolDelete, deleteRecipe, vocab.CanBeUndone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := dbtest.Tx(t)
			b := setupOn(t, tx, testfactory.User(t, tx, "UTC"), testfactory.OwnKitchen(t))
			b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup"}}`)
			b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Buy salt", "recipe_id": "recipe_1"}}`)
			test.forbid(b.kit.ByType("task"))
			b.nextTurn()
			before := b.state()

			outcome := b.decide("write", call(test.tool, test.args))
			require.False(t, outcome.Failed())
			require.Equal(t, test.said, outcome.Undo)

			written := b.state()
			undone := b.undo(b.scope.TurnID, b.scope.Turn)
			if test.said == "" || test.said == vocab.CanBeUndone {
				require.False(t, undone.Failed())
				require.JSONEq(t, before, b.state())

				return
			}
			require.Equal(t, test.said+" Nothing was changed.", undone.Results[0].ErrorMessage)
			require.JSONEq(t, written, b.state())
		})
	}
}

// A shared row that a deletion sets free of somebody's is nobody's to set again: that is said, and nothing is brought back without it.
func TestSharedRowsSetFreeAreNotSetAgain(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "exams", `CREATE SCHEMA exams;
		CREATE TABLE exams.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE exams.courses (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES exams.users, title text NOT NULL);
		CREATE TABLE exams.tests (id serial PRIMARY KEY, course_id integer REFERENCES exams.courses ON DELETE SET NULL, title text NOT NULL);
		CREATE TABLE exams.results (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES exams.users, test_id integer NOT NULL REFERENCES exams.tests);
		INSERT INTO exams.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO exams.courses (user_id, title) VALUES (1, 'Greek'), (1, 'Latin');
		INSERT INTO exams.tests (course_id, title) VALUES (1, 'Alpha')`, map[string][]string{"course": {"title"}})
	b.read("courses")
	remove := func(ref string) {
		b.ok("write", vocab.ToolDelete, `{"table": "courses", "filters": [{"field": "id", "op": "=", "value": "`+ref+`"}]}`)
	}
	remove("course_2")
	require.Equal(t, "possible", b.undoable())
	b.nextTurn()
	remove("course_1")
	require.Equal(t, "impossible", b.undoable())
	require.Equal(t, "The tests that name it lose that for good: the database does not allow to set it back.", query[string](b, `SELECT undo_reason FROM turns ORDER BY number DESC LIMIT 1`))
}
