package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const studio = `CREATE SCHEMA studio;
CREATE TABLE studio.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE studio."Project" (id text PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, name text NOT NULL, "updatedAt" timestamp(3) NOT NULL);
CREATE TABLE studio."Take" (id text PRIMARY KEY, "projectId" text NOT NULL REFERENCES studio."Project" ON DELETE CASCADE, title text NOT NULL, "updatedAt" timestamp(3) NOT NULL);
INSERT INTO studio.users VALUES (1, 'Ada'), (2, 'Eve')`

// Rows whose keys and times programs make are created, changed, deleted and brought back like others.
func TestRowsThatProgramsFill(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "studio", studio, map[string][]string{"project": {"name"}, "take": {"projectId", "title"}})
	undo := func() string {
		last, number := b.scope.TurnID, b.scope.Turn
		b.nextTurn()
		outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: last, Number: number})
		require.NoError(t, err)
		b.nextTurn() // what follows is not taken back with the undo

		return outcome.Results[0].ErrorMessage
	}
	const rows = `SELECT coalesce(string_agg(p.name || ' ' || coalesce(t.title, '-'), ', ' ORDER BY t.title), '') FROM studio."Project" p LEFT JOIN studio."Take" t ON t."projectId" = p.id`

	b.ok("write", vocab.ToolCreate, `{"table": "Project", "data": {"name": "EP", "Take": [{"title": "One"}, {"title": "Two"}]}}`)
	require.Equal(t, "EP One, EP Two", query[string](b, rows))
	require.Empty(t, undo())
	require.Empty(t, query[string](b, rows))

	b.ok("write", vocab.ToolCreate, `{"table": "Project", "data": {"name": "LP", "Take": [{"title": "Three"}]}}`)
	b.exec(`UPDATE studio."Project" SET "updatedAt" = '2026-01-01'`)
	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "Project", "filters": [{"field": "name", "op": "=", "value": "LP"}], "data": {"name": "Live"}}`)
	require.True(t, query[bool](b, `SELECT "updatedAt" > now() - interval '1 day' FROM studio."Project"`))
	b.exec(`UPDATE studio."Project" SET "updatedAt" = '2026-01-01'`)
	require.Empty(t, undo(), "that a program has noted the time is nobody's change")
	require.Equal(t, "LP Three", query[string](b, rows))

	b.ok("write", vocab.ToolDelete, `{"table": "Project", "filters": [{"field": "name", "op": "=", "value": "LP"}]}`)
	require.Empty(t, query[string](b, rows))
	require.Empty(t, undo())
	require.Equal(t, "LP Three", query[string](b, rows))
}
