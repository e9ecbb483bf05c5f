package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const workshop = `CREATE SCHEMA workshop;
CREATE TABLE workshop.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TYPE workshop.urgency AS ENUM ('low', 'normal', 'high', 'emergency');
CREATE TABLE workshop.jobs (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES workshop.users, title text NOT NULL,
	urgency workshop.urgency, effort text NOT NULL DEFAULT 'small' CHECK (effort IN ('small', 'medium', 'large')), minutes numeric NOT NULL DEFAULT 2.5);
INSERT INTO workshop.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO workshop.jobs (user_id, title, urgency, effort) VALUES (1, 'a', 'normal', 'large'), (1, 'b', 'emergency', 'small'), (1, 'c', 'low', 'medium'), (1, 'd', 'high', 'medium'), (1, 'e', NULL, 'large')`

// The values of a closed list have its order: behind views, the most urgent rows were those whose urgency came last in the
// alphabet, and whoever asked for what is at least high was not shown emergencies.
func TestClosedListsAreScales(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "workshop", workshop, map[string][]string{"job": {"title", "urgency", "effort"}})
	titles := func(more string) []string {
		return column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "jobs", `+more+`}`)), "title")
	}
	require.Equal(t, []string{"b", "d", "a", "c", "e"}, titles(`"order_by": "urgency", "order_dir": "desc"`))
	require.Equal(t, []string{"b", "c", "d", "a", "e"}, titles(`"order_by": "effort, title"`))
	for filter, want := range map[string][]string{
		`{"field": "urgency", "op": ">=", "value": "high"}`:  {"b", "d"},
		`{"field": "urgency", "op": "<", "value": "normal"}`: {"c"},
		`{"field": "effort", "op": ">", "value": "small"}`:   {"a", "c", "d", "e"},
		`{"field": "effort", "op": "<=", "value": "Medium"}`: {"b", "c", "d"},
	} {
		require.Equal(t, want, titles(`"order_by": "title", "filters": [`+filter+`]`), filter)
	}

	counted := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "jobs", "group_by": ["effort"], "aggregates": [{"fn": "max", "column": "urgency"}, {"fn": "min", "column": "urgency"}], "order_by": "effort desc"}`))
	require.Equal(t, []string{"large", "medium", "small"}, column[string](counted, "effort"))
	require.Equal(t, []string{"normal", "high", "emergency"}, column[string](counted, "max_urgency"))
	require.Equal(t, []string{"normal", "low", "emergency"}, column[string](counted, "min_urgency"))

	averages := b.ok("analyze", vocab.ToolAnalyze, `{"table": "jobs", "aggregates": [{"fn": "avg", "column": "minutes"}]}`)
	require.JSONEq(t, `[{"avg_minutes": 2.5}]`, string(averages.Stored.Rows))
	require.NotContains(t, string(averages.Stored.Rows), "2.50", "without zeros that mean nothing")

	page := func(after string) crud.RowList {
		list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "job", crud.ListParams{Order: "-urgency", Limit: 2, After: after})
		require.NoError(t, err)

		return list
	}
	first := page("")
	second := page(first.Next)
	var listed []any
	for _, row := range append(first.Rows, second.Rows...) {
		listed = append(listed, row.Data["title"])
	}
	require.Equal(t, []any{"b", "d", "a", "c"}, listed)
}

// An enumeration that is read as such is left to the database, which may have an index in its order.
func TestEnumerationsAreScalesThemselves(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `CREATE SCHEMA errands;
		CREATE TYPE errands.urgency AS ENUM ('low', 'high', 'emergency');
		CREATE TABLE errands.jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
			name text NOT NULL, urgency errands.urgency, UNIQUE (user_id, id));
		GRANT SELECT, INSERT (name, urgency) ON errands.jobs TO alfred_tenant`, `
name: errands
schema: errands
owner: user_id
persona: You run errands.
entities:
  - {type: job, table: jobs, label: "{name}", order: [urgency desc], writes: [create], columns: [name, urgency]}
subdomains:
  - {name: jobs, description: All., tables: [jobs], guidance: none}
`)
	require.True(t, b.kit.ByType("job").Column("urgency").Native)
	b.ok("write", vocab.ToolCreate, `{"table": "jobs", "data": [{"name": "a", "urgency": "high"}, {"name": "b", "urgency": "emergency"}, {"name": "c", "urgency": "low"}, {"name": "d"}]}`)
	require.Equal(t, []string{"b", "a", "c", "d"}, column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "jobs"}`)), "name"))
	require.Equal(t, []string{"a", "b"}, b.found("jobs", `{"field": "urgency", "op": ">=", "value": "high"}`))
	require.Equal(t, "emergency", b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "jobs", "aggregates": [{"fn": "max", "column": "urgency", "as": "most"}]}`))[0]["most"])
}
