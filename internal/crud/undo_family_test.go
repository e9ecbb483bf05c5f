package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// family is somebody's table whose rows point at each other: later ones are the parents of earlier ones in one project, and one is its own;
// in the other, earlier ones are those of later ones.
const family = `
CREATE SCHEMA family;
CREATE TABLE family.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE family.projects (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, member_id integer NOT NULL REFERENCES family.members, name text NOT NULL);
CREATE TABLE family.issues (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project_id integer NOT NULL REFERENCES family.projects ON DELETE CASCADE,
    title text NOT NULL, parent_id integer REFERENCES family.issues ON DELETE SET NULL);
INSERT INTO family.members VALUES (1, 'Ada');
INSERT INTO family.projects (member_id, name) VALUES (1, 'Web'), (1, 'App');
INSERT INTO family.issues (project_id, title) VALUES (1, 'a'), (1, 'b'), (1, 'c'), (2, 'd'), (2, 'e'), (2, 'f');
INSERT INTO family.issues (project_id, title) SELECT p, 'more' FROM generate_series(1, 2) AS p, generate_series(1, 30);
UPDATE family.issues SET parent_id = CASE title WHEN 'a' THEN 2 WHEN 'b' THEN 3 WHEN 'c' THEN 3 WHEN 'e' THEN 4 WHEN 'f' THEN 5 END;`

// setupFamily is a session of Ada's over these tables, behind views.
func setupFamily(t *testing.T) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), family)
	require.NoError(t, err)
	review := strings.NewReplacer("\n  - type: project\n", "\n  - type: project\n    writes: [create, update, delete]\n    columns: [name]\n",
		"\n  - type: issue\n", "\n  - type: issue\n    writes: [create, update, delete]\n    columns: [project_id, title, parent_id]\n")
	d := testfactory.Views(t, tx, "family", review).Domain
	ada := testfactory.User(t, tx, "UTC")
	_, err = tx.Exec(t.Context(), `INSERT INTO family_alfred.alfred_accounts VALUES ($1, 1)`, ada)
	require.NoError(t, err)

	return setupOn(t, tx, ada, d)
}

// Rows that point at each other come back, the ones that others point at first: behind a view, each is checked as it is
// written. A project of 400 issues could not be brought back though the reply had said that it can be undone.
func TestUndoBringsBackRowsThatPointAtEachOther(t *testing.T) {
	t.Parallel()

	b := setupFamily(t)

	all := func() string {
		return query[string](b, `SELECT string_agg(i::text, ' ' ORDER BY i.id) FROM family.issues AS i`)
	}
	before := all()
	b.read("projects")
	for _, project := range []string{"Web", "App"} {
		b.nextTurn()
		gone := b.decide("write", call(vocab.ToolDelete, `{"table": "projects", "filters": [{"field": "id", "op": "=", "value": "`+b.named("project", project)+`"}]}`))
		require.Equal(t, "Deleted with it: 33 issues.", gone.Company, "more than a row's few parts")
		outcome := b.undo(b.scope.TurnID, b.scope.Turn)
		require.Empty(t, outcome.Results[0].ErrorMessage, project)
		require.Equal(t, before, all(), project)
	}
}

// What a row pointed at may have become somebody else's meanwhile: the row is not brought back to point there.
func TestUndoPointsAtNobodyElsesRows(t *testing.T) {
	t.Parallel()

	b := setupFamily(t)
	b.read("issues")
	b.ok("write", vocab.ToolDelete, `{"table": "issues", "filters": [{"field": "id", "op": "=", "value": "`+b.named("issue", "a")+`"}]}`)
	b.exec(`INSERT INTO family.members VALUES (2, 'Bob')`)
	b.exec(`INSERT INTO family.projects (member_id, name) VALUES (2, 'Shop')`)
	b.exec(`UPDATE family.issues SET project_id = 3 WHERE title = 'b'`)
	require.NotEmpty(t, b.undo(b.scope.TurnID, b.scope.Turn).Results[0].ErrorMessage)
	require.Zero(t, query[int](b, `SELECT count(*) FROM family.issues WHERE title = 'a'`))
}

// Two rows that point at each other come back, too: what points at a row that is not there yet is set once it is.
func TestUndoBringsBackRowsThatPointAtEachOtherInACircle(t *testing.T) {
	t.Parallel()

	b := setupFamily(t)
	b.exec(`UPDATE family.issues SET parent_id = CASE title WHEN 'd' THEN 6 WHEN 'e' THEN 4 ELSE 5 END WHERE title IN ('d', 'e', 'f')`)
	all := func() string {
		return query[string](b, `SELECT string_agg(i::text, ' ' ORDER BY i.id) FROM family.issues AS i`)
	}
	before := all()
	b.read("projects")
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "projects", "filters": [{"field": "id", "op": "=", "value": "`+b.named("project", "App")+`"}]}`)
	require.NotEqual(t, before, all())
	require.Empty(t, b.undo(b.scope.TurnID, b.scope.Turn).Results[0].ErrorMessage)
	require.Equal(t, before, all())
}
