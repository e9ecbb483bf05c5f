package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// Owners' tables and columns may have any name, also those that statements give to rows of their own.
func TestTablesNamedLikeAliases(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `
		CREATE SCHEMA odd;
		CREATE TABLE odd.f (id bigint PRIMARY KEY, f text NOT NULL, a text[] NOT NULL DEFAULT '{}', form text, n text);
		INSERT INTO odd.f (id, f, a) VALUES (1, 'Flour', '{meal}');
		CREATE TABLE odd.r (
			id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
			r text NOT NULL, f_id bigint REFERENCES odd.f, t integer, x integer, j integer, v integer, e text, value text, form text, whole boolean);
		CREATE TABLE odd.x (id bigint PRIMARY KEY, user_id uuid NOT NULL, value bigint REFERENCES odd.f, key text);
		INSERT INTO odd.x VALUES (1, '`+demoUser+`', 1, 'k');
		GRANT SELECT ON odd.f, odd.x TO alfred_tenant;
		GRANT SELECT, DELETE, INSERT (r, f_id, t, x, j, v, e, value, form, whole), UPDATE (r, f_id, t, x, j, v, e, value, form, whole) ON odd.r TO alfred_tenant`, `
name: odd
schema: odd
owner: user_id
persona: You keep odd things.
entities:
  - {type: kind, table: f, reference: true, label: "{f}"}
  - {type: place, table: x, label: "{key}"}
  - {type: thing, table: r, label: "{r}", writes: [create, update, delete], columns: [r, f_id, t, x, j, v, e, value, form, whole],
     match: {column: r, link: f_id, name: f, aliases: a}}
subdomains:
  - {name: odd, description: All., tables: [r, f, x], guidance: none}
`)
	b.ok("write", vocab.ToolCreate, `{"table": "r", "data": [{"r": "meal", "t": 1, "x": 2, "value": "much"}, {"r": "stone", "t": 3}]}`)
	b.ok("read", vocab.ToolRead, `{"table": "f"}`)
	b.ok("write", vocab.ToolCreate, `{"table": "r", "data": [{"r": "bread", "f_id": "kind_1"}]}`)
	b.ok("write", vocab.ToolDelete, `{"table": "r", "filters": [{"field": "r", "op": "=", "value": "bread"}]}`)
	rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "r", "filters": [{"field": "r", "op": "similar", "value": "Flour"}]}`))
	require.Len(t, rows, 1)
	require.Equal(t, "meal", rows[0]["r"])
	require.EqualValues(t, 2, rows[0]["x"])
	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "r", "group_by": ["r"], "aggregates": [{"fn": "sum", "column": "t", "as": "t"}]}`))
	require.Len(t, counted, 2)
	b.ok("write", vocab.ToolUpdate, `{"table": "r", "filters": [{"field": "r", "op": "=", "value": "stone"}], "set": [{"column": "r", "value": "rock"}, {"column": "t", "value": 4}], "clear": []}`)
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "x", "filters": [{"field": "value.f", "op": "=", "value": "Flour"}]}`)), 1)
	b.ok("write", vocab.ToolDelete, `{"table": "r", "filters": [{"field": "r", "op": "=", "value": "rock"}]}`)
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "r"}`)), 1)
}
