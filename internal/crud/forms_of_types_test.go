package crud_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

func setupRooms(t *testing.T) *bundle {
	t.Helper()

	return setupDeclared(t, `
		CREATE SCHEMA rooms;
		CREATE DOMAIN rooms.fee AS money CHECK (VALUE >= 0::money);
		CREATE TABLE rooms.stays (
			id bigint GENERATED ALWAYS AS IDENTITY (START WITH 660001) PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
			name text NOT NULL, days daterange, at tstzrange, seats int4range, free datemultirange, host inet, net cidr, card macaddr, price rooms.fee, doors bit(4), flags varbit,
			breaks interval[], hosts inet[], place point);
		GRANT SELECT, DELETE, INSERT (name, days, at, seats, free, host, net, card, price, doors, flags, breaks, hosts), UPDATE (name, days, at, seats, free, host, net, card, price, doors, flags, breaks, hosts) ON rooms.stays TO alfred_tenant`, `
name: rooms
schema: rooms
owner: user_id
persona: You let rooms.
entities:
  - {type: stay, table: stays, label: "{name}", writes: [create, update, delete], columns: [name, days, at, seats, free, host, net, card, price, doors, flags, breaks, hosts]}
subdomains:
  - {name: rooms, description: All., tables: [stays], guidance: none}
`)
}

// Ranges, addresses, money and bits are read, found and written as the texts that Postgres makes of them.
func TestTypesWithAFormOfTheirOwn(t *testing.T) {
	t.Parallel()

	b := setupRooms(t)
	require.Contains(t, b.kit.ByType("stay").Describe(), `- days: range of dates ([2026-01-01,2026-02-01): its end excluded)
- at: range of times ([2026-01-31 18:00,2026-01-31 20:00): its end excluded)
- seats: range of numbers ([1,5): from 1 to before 5)
- free: several in braces, each a range of dates ([2026-01-01,2026-02-01): its end excluded)
- host: network address (192.168.1.10)
- net: network (192.168.1.0/24)
- card: hardware address (08:00:2b:01:02:03)
- price: amount of money (12.50), price >= 0
- doors: bits (0101)
- flags: bits (0101)
- breaks: list of length of time (1 day 02:30:00)
- hosts: list of network address (192.168.1.10)
`)
	b.ok("write", vocab.ToolCreate, `{"table": "stays", "data": {"name": "Ada", "days": "[2026-05-01,2026-05-04]", "at": "[2026-05-01 15:00,2026-05-05 10:00)", "seats": "[1,3)", "free": "{[2026-06-01,2026-06-03)}",
		"host": "10.0.0.1/32", "net": "10.0.0.0/8", "card": "08-00-2b-01-02-03", "price": 12.5, "doors": "0101", "flags": "1", "breaks": ["30 min"], "hosts": ["10.0.0.1"]}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "stays", "data": {"name": "Bob", "host": ""}}`)
	row := b.rows(b.ok("read", vocab.ToolRead, `{"table": "stays", "filters": [{"field": "name", "op": "=", "value": "Ada"}]}`))[0]
	for name, want := range map[string]any{
		"days": "[2026-05-01,2026-05-05)", "seats": "[1,3)", "free": "{[2026-06-01,2026-06-03)}", "host": "10.0.0.1", "net": "10.0.0.0/8", "card": "08:00:2b:01:02:03",
		"price": "$12.50", "doors": "0101", "flags": "1", "breaks": []any{"00:30:00"}, "hosts": []any{"10.0.0.1"},
	} {
		require.Equal(t, want, row[name], name)
	}
	require.NotContains(t, row, "place")
	for _, filter := range []string{
		`"field": "days", "op": "=", "value": "[2026-05-01,2026-05-04]"`, `"field": "days", "op": "contains", "value": "2026-05-04"`,
		`"field": "at", "op": "contains", "value": "2026-05-01 16:00"`, `"field": "free", "op": "contains", "value": "2026-06-02"`,
		`"field": "seats", "op": "contains", "value": 2`, `"field": "host", "op": "=", "value": "10.0.0.1"`, `"field": "host", "op": "ilike", "value": "10.0.%"`,
		`"field": "price", "op": "in", "value": [12.50]`, `"field": "doors", "op": "=", "value": "0101"`, `"field": "hosts", "op": "contains", "value": "10.0.0.1"`,
		`"field": "breaks", "op": "contains", "value": "1800 s"`, `"field": "card", "op": "is_not_null"`,
		`"field": "days", "op": "overlaps", "value": "[2026-05-04,2026-06-01)"`, `"field": "free", "op": "overlaps", "value": "[2026-05-01,2026-07-01)"`,
		`"field": "days", "op": "overlaps", "value": "[2026-05-04 (Mon),2026-06-01 (Mon))"`, `"field": "seats", "op": "overlaps", "value": "(,2)"`,
		`"field": "days", "op": ">=", "value": "2026-05-01 (Fri)"`, `"field": "days", "op": ">", "value": "2026-04-30"`, `"field": "days", "op": "<=", "value": "2026-05-04"`,
		`"field": "days", "op": "<", "value": "2026-05-05"`, `"field": "days", "op": "<", "value": "[2026-05-05,2026-05-06)"`, `"field": "seats", "op": ">", "value": 0`,
		`"field": "at", "op": ">=", "value": "2026-05-01 15:00"`, `"field": "at", "op": ">", "value": "2026-04-30"`, `"field": "at", "op": "<=", "value": "2026-05-05"`,
		`"field": "at", "op": "<", "value": "Tue 2026-05-05 10:00"`, `"field": "free", "op": ">", "value": "2026-05-31"`,
	} {
		require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "stays", "filters": [{`+filter+`}]}`).RowCount, filter)
	}
	for _, filter := range []string{
		`"field": "days", "op": ">", "value": "2026-05-01"`, `"field": "days", "op": "<", "value": "2026-05-04"`, `"field": "at", "op": ">", "value": "2026-05-01"`,
		`"field": "at", "op": "<", "value": "2026-05-05 09:59"`, `"field": "at", "op": "<", "value": "2026-05-05"`, `"field": "seats", "op": ">=", "value": "[2,9)"`,
	} {
		counted := b.ok("analyze", vocab.ToolAnalyze, `{"table": "stays", "aggregates": [{"fn": "count", "as": "n"}], "filters": [{`+filter+`}]}`)
		require.EqualValues(t, 0, b.rows(counted)[0]["n"], filter)
	}
	b.ok("write", vocab.ToolUpdate, `{"table": "stays", "filters": [{"field": "id", "op": "=", "value": "stay_1"}], "data": {"days": "[2026-05-02 (Sat),2026-05-03 (Sun))", "host": null}}`)
	require.Equal(t, "[2026-05-02,2026-05-03)", query[string](b, `SELECT days::text FROM rooms.stays WHERE name = 'Ada' AND host IS NULL`))
}

// What Postgres cannot read in such a form is refused by its column, in a filter too.
func TestFormsThatPostgresCannotRead(t *testing.T) {
	t.Parallel()

	b := setupRooms(t)
	for value, want := range map[string]string{
		`"days": "in May"`:                  "days cannot hold this value: it is no range of dates ([2026-01-01,2026-02-01): its end excluded).",
		`"days": "[2026-05-04,2026-05-01]"`: "days cannot hold this value: it is no range of dates ([2026-01-01,2026-02-01): its end excluded).",
		`"host": "the printer"`:             "host cannot hold this value: it is no network address (192.168.1.10).",
		`"net": "10.0.0.1/8"`:               "net cannot hold this value: it is no network (192.168.1.0/24).",
		`"price": "cheap"`:                  "price cannot hold this value: it is no amount of money (12.50).",
		`"price": -1`:                       "price cannot hold this value: it breaks a rule of its type.",
		`"doors": "01"`:                     "doors cannot hold this value: it does not have the length that its type has.",
		`"days": {"from": "2026-05-01"}`:    "days has to be a text.",
	} {
		require.Equal(t, want, b.refused("write", vocab.ToolCreate, `{"table": "stays", "data": {"name": "x", `+value+`}}`, crud.CodeBadValue), value)
	}
	for filter, want := range map[string]string{
		`"field": "host", "op": "=", "value": "the printer"`:   "host cannot hold this value: it is no network address (192.168.1.10).",
		`"field": "days", "op": "contains", "value": "in May"`: "days cannot hold this value: a date or time is not valid.",
		`"field": "days", "op": "overlaps", "value": "May"`:    "days cannot hold this value: it is no range of dates ([2026-01-01,2026-02-01): its end excluded).",
		`"field": "days", "op": ">", "value": "May"`:           "days cannot hold this value: a date or time is not valid.",
		`"field": "days", "op": ">", "value": "[May"`:          "days cannot hold this value: it is no range of dates ([2026-01-01,2026-02-01): its end excluded).",
	} {
		require.Equal(t, want, b.decide("read", call(vocab.ToolRead, `{"table": "stays", "filters": [{`+filter+`}]}`)).Results[0].ErrorMessage, filter)
	}
}

// A range of times is counted by when it begins, and added up by how long it is.
func TestRangesAreCountedByTheirBeginningAndLength(t *testing.T) {
	t.Parallel()

	b := setupRooms(t)
	for _, row := range []string{
		`"name": "Ada", "days": "[2026-05-01,2026-05-04)", "at": "[2026-05-01 15:00,2026-05-01 16:30)"`,
		`"name": "Bob", "days": "[2026-05-30,2026-06-02)", "at": "[2026-05-04 09:00,2026-05-04 10:00)", "free": "{[2026-06-01,2026-06-03)}"`, `"name": "Cem"`,
	} {
		b.ok("write", vocab.ToolCreate, `{"table": "stays", "data": {`+row+`}}`)
	}
	for call, want := range map[string]string{
		`"group_by": ["days:month"], "aggregates": [{"fn": "sum", "column": "days"}], "filters": [{"field": "days", "op": "is_not_null"}]`:                                `[{"days:month":"2026-05","sum_days":6}]`,
		`"group_by": ["at:weekday"], "aggregates": [{"fn": "avg", "column": "upper(at) - lower(at)", "as": "length"}], "filters": [{"field": "at", "op": "is_not_null"}]`: `[{"at:weekday":"1 Mon","length_hours":1},{"at:weekday":"5 Fri","length_hours":1.5}]`,
		`"aggregates": [{"fn": "sum", "column": "at * 40", "as": "cost"}], "filters": [{"field": "name", "op": "=", "value": "Ada"}]`:                                     `[{"cost":60}]`,
	} {
		rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "stays", `+call+`}`))
		got, err := json.Marshal(rows)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), call)
	}
	require.Equal(t, "Bob", b.rows(b.ok("read", vocab.ToolRead, `{"table": "stays", "filters": [{"field": "at", "op": "is_not_null"}], "order_by": "lower(at) desc"}`))[0]["name"])
	for _, column := range []string{"seats", "free", "upper(seats) - lower(seats)", "lower(name)", "lower(at)"} {
		b.refused("analyze", vocab.ToolAnalyze, `{"table": "stays", "aggregates": [{"fn": "sum", "column": "`+column+`"}]}`, crud.CodeBadArgument)
	}
}
