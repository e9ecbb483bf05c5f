package crud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// labSQL has types that only Postgres can check, and rows that reference each other in cycles.
const labSQL = `
CREATE SCHEMA lab;
CREATE DOMAIN lab.code AS text CHECK (VALUE ~ '^[A-Z]{2}$');
CREATE TABLE lab.teams (
	id bigint GENERATED ALWAYS AS IDENTITY (START WITH 990001) PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, lead_id bigint, UNIQUE (user_id, id));
CREATE TABLE lab.people (
	id bigint GENERATED ALWAYS AS IDENTITY (START WITH 880001) PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, team_id bigint, mentor_id bigint,
	badge varchar(4), rate numeric(4, 2), starts time, pause interval, initials lab.code, shifts smallint[], at timestamptz, calls timestamptz[], met timestamp, doc jsonb, note text,
	room char(4), keys char(3)[],
	UNIQUE (user_id, id),
	FOREIGN KEY (user_id, team_id) REFERENCES lab.teams (user_id, id),
	FOREIGN KEY (user_id, mentor_id) REFERENCES lab.people (user_id, id));
ALTER TABLE lab.teams ADD FOREIGN KEY (user_id, lead_id) REFERENCES lab.people (user_id, id);
GRANT SELECT, DELETE, INSERT (name, lead_id), UPDATE (name, lead_id) ON lab.teams TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (name, team_id, mentor_id, badge, rate, starts, pause, initials, shifts, at, calls, met, doc, note, room, keys), UPDATE (name, team_id, mentor_id, badge, rate, starts, pause, initials, shifts, at, calls, met, doc, note, room, keys) ON lab.people TO alfred_tenant`

// setupLab is a session in a domain declared by domain.Init.
func setupLab(t *testing.T) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), labSQL)
	require.NoError(t, err)
	text, err := domain.Init(t.Context(), tx, "lab")
	require.NoError(t, err)

	return setupDeclaredIn(t, tx, "", text)
}

// What a change wrote over is told of every kind of column.
func TestUpdateTellsWhatWas(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": {"name": "Ada", "rate": 12.5, "starts": "08:30", "shifts": [1], "note": "x"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "teams", "data": {"name": "Red"}}`)
	result := b.ok("write", vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "name", "op": "=", "value": "Ada"}],
		"data": {"rate": 12.50, "starts": "09:30", "shifts": [1, 2], "note": "x", "team_id": "team_1"}}`)
	require.Equal(t, map[string]any{"starts": "08:30:00", "shifts": []any{1.0}, "team": nil}, b.rows(result)[0]["_was"])
}

// TestRefusesWhatColumnsCannotHold requires every refusal to name the column and to change nothing, whether Go or only
// Postgres detects it.
func TestRefusesWhatColumnsCannotHold(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	require.Contains(t, b.kit.ByType("person").Describe(), "- badge: text, at most 4 characters\n")
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": {"name": "Ada", "badge": "A1", "rate": 12.5, "starts": "08:30", "pause": "45 min", "initials": "AL", "shifts": [1, 2]}}`)
	for value, want := range map[string]string{
		`"badge": "too long"`:        "badge cannot hold this value: a text is too long, it may have 4 characters.",
		`"rate": 12345`:              "rate cannot hold this value: a number is out of range.",
		`"rate": 1.239`:              "rate would be stored as 1.24, not as 1.239.",
		`"starts": "half past nine"`: "starts cannot hold this value: a date or time is not valid.",
		`"starts": "27:99"`:          "starts cannot hold this value: a date or time is not valid.",
		`"pause": "a while"`:         "pause cannot hold this value: a date or time is not valid.",
		`"initials": "ada"`:          "initials cannot hold this value: it breaks a rule of its type.",
		`"shifts": [1, 70000]`:       "shifts cannot hold this value: a number is out of range.",
		`"shifts": [1, "x"]`:         "shifts has to be a number.",
		`"shifts": {"a": 1}`:         "shifts has to be a list.",
		`"at": "tomorrow"`:           "at has to be a time such as 2026-01-31T18:30.",
		`"at": 17`:                   "at has to be a time such as 2026-01-31T18:30.",
		`"rate": "1e999999999"`:      "rate is out of range.",
		`"rate": "25 Euro"`:          "rate has to be a number.",
		`"name": {"first": "Ada"}`:   "name has to be a text.",
		`"name": null`:               "name ",
		`"salary": 3`:                `people has no column "salary" to write.`,
		`"team_id": 990001`:          "990001 does not exist in this conversation",
		`"team_id": "person_1"`:      "but a team is needed here",
		`"team_id": ["team_1"]`:      "team_1 does not exist in this conversation",
	} {
		row := strings.Replace(`{"name": "Eve", `+value+`}`, `"name": "Eve", "name"`, `"name"`, 1)
		for _, c := range []struct{ tool, args string }{
			{vocab.ToolCreate, `{"table": "people", "data": [{"name": "Eve", "badge": "E1"}, ` + row + `]}`},
			{vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_1"}], "data": {` + value + `}}`},
		} {
			result := b.decide("write", call(c.tool, c.args)).Results[0]
			require.Contains(t, result.ErrorMessage, want, c.args)
		}
	}
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM lab.people WHERE name = 'Ada' AND badge = 'A1' AND rate = 12.5`))

	for filter, want := range map[string]string{
		`{"field": "starts", "op": ">", "value": "noonish"}`: "starts cannot hold this value: a date or time is not valid.",
		`{"field": "pause", "op": "in", "value": ["x"]}`:     "pause cannot hold this value: a date or time is not valid.",
		`{"field": "team_id", "op": "=", "value": 990001}`:   "990001 does not exist in this conversation",
	} {
		for tool, step := range map[string]string{vocab.ToolRead: "read", vocab.ToolDelete: "write"} {
			result := b.decide(step, call(tool, `{"table": "people", "filters": [`+filter+`]}`)).Results[0]
			require.Contains(t, result.ErrorMessage, want, filter)
		}
	}
}

// TestKeepsWhatColumnsCanHold writes unusual but valid values, and reads them back.
func TestKeepsWhatColumnsCanHold(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	megabyte := strings.Repeat("é1 ", 1<<20/4)
	deep := strings.Repeat(`{"a":[`, 200) + `"x"` + strings.Repeat(`]}`, 200)
	raw, err := json.Marshal(map[string]any{"table": "people", "data": map[string]any{
		"name": "Zoë \x00\u202e ☕", "note": megabyte, "doc": json.RawMessage(deep), "badge": "", "team_id": "", "starts": "24:00",
		"room": "B2", "keys": []string{"a", "b12"},
	}})
	require.NoError(t, err)
	b.ok("write", vocab.ToolCreate, string(raw))
	read := b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "note", "op": "contains", "value": "É1 é1"}, {"field": "team_id", "op": "is_null"}]}`))
	require.Len(t, read, 1)
	require.Equal(t, "Zoë \u202e ☕", read[0]["name"])
	require.Equal(t, megabyte, read[0]["note"])
	doc, err := json.Marshal(read[0]["doc"])
	require.NoError(t, err)
	require.JSONEq(t, deep, string(doc))
	require.Empty(t, read[0]["badge"])
	require.Equal(t, "B2", query[string](b, `SELECT room::text FROM lab.people`))
	require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "room", "op": "=", "value": "B2"}, {"field": "keys", "op": "contains", "value": ["a"]}]}`).RowCount)
	b.ok("write", vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_1"}], "data": {"note": "a\u0000b", "mentor_id": "", "at": ""}}`)
	require.True(t, query[bool](b, `SELECT note = 'ab' AND mentor_id IS NULL AND at IS NULL FROM lab.people`))
}

// TestRowsInCircles reads and deletes rows that reference themselves and each other.
func TestRowsInCircles(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": [{"name": "Ada"}, {"name": "Bob"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "teams", "data": {"name": "Red", "lead_id": "person_1"}}`)
	b.ok("write", vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_1"}], "data": {"team_id": "team_1", "mentor_id": "person_1"}}`)
	b.ok("write", vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_2"}], "data": {"mentor_id": "person_1"}}`)
	rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "detail": "full", "order_by": "name"}`))
	require.Equal(t, []string{"person_1", "person_1"}, column[string](rows, "mentor_id"))
	require.Equal(t, []string{"Ada", "Ada"}, column[string](rows, "_mentor_id_label"))
	require.Contains(t, b.refused("write", vocab.ToolDelete, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_1"}]}`, crud.CodeConflict), "still in use")
	require.NotRegexp(t, `(99|88)000\d`, query[string](b, `SELECT string_agg(rows::text || coalesce(error_message, ''), '') FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID))
}

// TestManyRows reads a table larger than a result may be: the count is exact and the result bounded, so that the model
// knows how much it does not see.
func TestManyRows(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.exec(`INSERT INTO lab.people (user_id, name, badge) SELECT $1, 'Person ' || n, n % 10 FROM generate_series(1, 10000) AS n`, b.scope.UserID)
	result := b.ok("read", vocab.ToolRead, `{"table": "people"}`)
	require.Equal(t, []int{10000, 500}, []int{result.RowCount, len(result.Refs)})
	require.Equal(t, 10000, query[int](b, `SELECT row_count FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID))
	result = b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "badge", "op": "=", "value": "7"}], "limit": 100000}`)
	require.Equal(t, []int{1000, 500}, []int{result.RowCount, len(result.Refs)})

	outcome := b.decide("write", call(vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "badge", "op": "is_not_null"}], "data": {"note": "x"}}`))
	require.NotNil(t, outcome.Approval, "nothing of this size happens unasked")
	require.Contains(t, outcome.Approval.Text, "This would change 10000 people")
	require.Equal(t, 0, query[int](b, `SELECT count(*)::int FROM lab.people WHERE note = 'x'`))
}
