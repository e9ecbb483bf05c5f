package crud_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// desk has rows that programs mark as deleted: by a time, with a number that each change raises, and by true. Comments would go with
// their ticket, if it went.
const desk = `
CREATE SCHEMA desk;
CREATE TABLE desk.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE desk.queues (id integer PRIMARY KEY, name text NOT NULL, discarded_at timestamptz);
CREATE TABLE desk.tickets (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, title text NOT NULL CHECK (length(title) < 40),
    queue_id integer REFERENCES desk.queues, lock_version integer NOT NULL DEFAULT 0, deleted_at timestamp(6), updated_at timestamp(6) NOT NULL DEFAULT '2020-01-01');
CREATE TABLE desk.comments (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ticket_id integer NOT NULL REFERENCES desk.tickets ON DELETE CASCADE, body text NOT NULL);
CREATE TABLE desk.labels (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, name text NOT NULL, is_deleted boolean NOT NULL DEFAULT false);
CREATE TABLE desk.tips (id integer PRIMARY KEY, queue_id integer NOT NULL REFERENCES desk.queues ON DELETE CASCADE, text text NOT NULL);
CREATE TABLE desk.hours (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, ticket_id integer REFERENCES desk.tickets ON DELETE CASCADE, task text NOT NULL,
    during integer REFERENCES desk.hours ON DELETE CASCADE, tip_id integer REFERENCES desk.tips);
INSERT INTO desk.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO desk.queues VALUES (1, 'Hardware', NULL), (2, 'Telex', now());
INSERT INTO desk.tickets (user_id, title, deleted_at) VALUES (1, 'Printer', NULL), (1, 'Mouse', NULL), (1, 'Fax', '2026-01-01'), (2, 'Hers', NULL);
INSERT INTO desk.comments (ticket_id, body) VALUES (1, 'It smokes'), (3, 'Who has a fax?');
INSERT INTO desk.hours (user_id, ticket_id, task, during) VALUES (1, 1, 'Cleaned it', NULL), (1, 3, 'Sent it', NULL), (1, NULL, 'Lunch', NULL), (1, NULL, 'Break', 1), (1, NULL, 'Walk', 2);
INSERT INTO desk.tips VALUES (1, 1, 'Turn it off'), (2, 2, 'Stop');
CREATE TABLE desk.pins (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, ticket_id integer, place text NOT NULL);
INSERT INTO desk.pins VALUES (1, 1, 1, 'top');
INSERT INTO desk.labels (user_id, name, is_deleted) VALUES (1, 'urgent', false), (1, 'old', true);`

func setupDesk(t *testing.T) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), desk)
	require.NoError(t, err)
	d := testfactory.Views(t, tx, "desk", strings.NewReplacer(
		"\n  - type: ticket\n", "\n  - type: ticket\n    writes: [create, update, delete]\n    columns: [title]\n",
		"\n  - type: comment\n", "\n  - type: comment\n    writes: [create, delete]\n    columns: [ticket_id, body]\n",
		"\n  - type: label\n", "\n  - type: label\n    writes: [delete]\n",
	)).Domain
	ada := testfactory.User(t, tx, "UTC")
	_, err = tx.Exec(t.Context(), `INSERT INTO desk_alfred.alfred_accounts VALUES ($1, 1)`, ada)
	require.NoError(t, err)

	return setupOn(t, tx, ada, d)
}

// marked are the rows of tickets and comments that programs show, with those they have marked in brackets.
func (b *bundle) marked() string {
	return query[string](b, `SELECT string_agg(x.row, ' ' ORDER BY x.row) FROM (SELECT title || CASE WHEN deleted_at IS NULL THEN '' ELSE ' (gone)' END AS row FROM desk.tickets
		UNION ALL SELECT body FROM desk.comments UNION ALL SELECT name || CASE WHEN is_deleted THEN ' (gone)' ELSE '' END FROM desk.labels) AS x`)
}

// listed is a column of a table's rows, as models read them.
func (b *bundle) listed(table, name string) string {
	values := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "`+table+`"}`)), name)
	slices.Sort(values)

	return strings.Join(values, ", ")
}

// Rows that programs have marked as deleted are not there, nor what belongs to them. To delete a row is to mark it, as programs
// do: nothing goes with it, and an undo takes the mark away.
func TestMarkedRows(t *testing.T) {
	t.Parallel()

	b := setupDesk(t)
	require.Equal(t, "Mouse, Printer", b.listed("tickets", "title"))
	require.Equal(t, "It smokes", b.listed("comments", "body"))
	require.Equal(t, "urgent", b.listed("labels", "name"))
	require.Equal(t, "Hardware", b.listed("queues", "name"), "of what all share, too")
	require.Equal(t, "Turn it off", b.listed("tips", "text"))
	require.Equal(t, "Break, Cleaned it, Lunch", b.listed("hours", "task"), "nor what would be deleted with it, though it is somebody's for itself")
	before := b.marked()
	b.exec(`INSERT INTO desk.hours (user_id, task, during) VALUES (1, 'Nap', 4)`)

	b.nextTurn()
	gone := b.decide("write", call(vocab.ToolDelete, `{"table": "tickets", "filters": [{"field": "title", "op": "=", "value": "Printer"}]}`))
	require.Equal(t, "Gone with it: 1 comment and 2 hours. Left without it: 1 pin.", gone.Company, "what is no longer shown is told as what is deleted")
	require.Equal(t, vocab.CanBeUndone, gone.Undo)
	b.ok("write", vocab.ToolDelete, `{"table": "labels", "filters": [{"field": "name", "op": "=", "value": "urgent"}]}`)
	require.Equal(t, "Fax (gone) Hers It smokes Mouse Printer (gone) Who has a fax? old (gone) urgent (gone)", b.marked())
	require.Equal(t, "1 true", query[string](b, `SELECT lock_version || ' ' || (updated_at > '2026-01-01') FROM desk.tickets WHERE title = 'Printer'`))
	require.Equal(t, "possible", b.undoable())
	require.Empty(t, b.listed("comments", "body"), "what belongs to it is not shown")
	require.Equal(t, "Lunch, Nap", b.listed("hours", "task"))

	deleted, number := b.scope.TurnID, b.scope.Turn
	b.agreed(deleted, number)
	require.Equal(t, before, b.marked())
	require.Equal(t, 2, query[int](b, `SELECT lock_version FROM desk.tickets WHERE title = 'Printer'`))
	undo := b.scope
	b.agreed(undo.TurnID, undo.Turn)
	require.Contains(t, b.marked(), "Printer (gone)", "an undo of the undo")
}

// A row that was taken back is marked, too, and comes back as itself.
func TestMarkedRowsThatWereCreated(t *testing.T) {
	t.Parallel()

	b := setupDesk(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tickets", "data": {"title": "Screen"}}`)
	made, number := b.scope.TurnID, b.scope.Turn
	b.agreed(made, number)
	require.Contains(t, b.marked(), "Screen (gone)")
	b.agreed(b.scope.TurnID, b.scope.Turn)
	require.Contains(t, b.marked(), "Screen Who")
}

// A row that has since been marked by a program is gone to who would change it, and is not deleted again.
func TestMarkedMeanwhile(t *testing.T) {
	t.Parallel()

	b := setupDesk(t)
	b.ok("read", vocab.ToolRead, `{"table": "tickets"}`)
	b.exec(`UPDATE desk.tickets SET deleted_at = '2026-02-02' WHERE title = 'Mouse'`)
	b.nextTurn()
	mouse := b.named("ticket", "Mouse")
	for tool, data := range map[string]string{vocab.ToolUpdate: `, "data": {"title": "Rat"}`, vocab.ToolDelete: ""} {
		outcome := b.decide("write", call(tool, `{"table": "tickets", "filters": [{"field": "id", "op": "=", "value": "`+mouse+`"}]`+data+`}`))
		require.Contains(t, []crud.Code{crud.CodeNotFound, crud.CodeStale, crud.CodeUnknownRef}, outcome.Results[0].ErrorCode, outcome.Results[0].ErrorMessage)
	}
	require.Equal(t, "2026-02-02 00:00:00", query[string](b, `SELECT deleted_at::text FROM desk.tickets WHERE title = 'Mouse'`))
}

// Whoever is no account sees no rows, and is told that this is why.
func TestStrangersAreToldSo(t *testing.T) {
	t.Parallel()

	b := setupDesk(t)
	b.exec(`DELETE FROM desk_alfred.alfred_accounts`)
	require.Equal(t, vocab.NoAccount, b.ok("read", vocab.ToolRead, `{"table": "tickets"}`).Notice)
	require.Equal(t, vocab.NoAccount, b.ok("analyze", vocab.ToolAnalyze, `{"table": "tickets", "aggregates": [{"fn": "count"}]}`).Notice)
	require.Empty(t, b.ok("read", vocab.ToolRead, `{"table": "queues"}`).Notice, "what all share is shown to them too")
	require.Equal(t, vocab.NoAccount, b.refused("write", vocab.ToolCreate, `{"table": "tickets", "data": {"title": "Scanner"}}`, crud.CodeNotAllowed))
}

// Whoever has an account is told which rule a row breaks, not that they have none.
func TestRulesOfTablesBehindViews(t *testing.T) {
	t.Parallel()

	b := setupDesk(t)
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "tickets", "data": {"title": "`+strings.Repeat("Scanner ", 6)+`"}}`, crud.CodeViolation), "title")
}
