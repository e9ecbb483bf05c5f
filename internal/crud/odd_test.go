package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// oddSQL has what is rare in a schema and allowed.
const oddSQL = `
CREATE SCHEMA odd;
CREATE TYPE odd.unit AS ENUM ('m', 'M', 'g');
CREATE COLLATION odd.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN odd.words AS text[];
CREATE DOMAIN odd.few_words AS odd.words CHECK (cardinality(VALUE) < 4);
CREATE TABLE odd.people (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text COLLATE odd.any_case NOT NULL, town text COLLATE odd.any_case, note text COLLATE "de-x-icu");
GRANT SELECT, INSERT (name, town, note) ON odd.people TO alfred_tenant;
CREATE TABLE odd.events (
	id bigint GENERATED ALWAYS AS IDENTITY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE odd.first_events PARTITION OF odd.events FOR VALUES FROM (1) TO (2);
GRANT SELECT, INSERT (name), UPDATE (name) ON odd.events TO alfred_tenant;
CREATE TABLE odd.stocks (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, quantity numeric(6, 2));
GRANT SELECT, INSERT (name, quantity), UPDATE (name, quantity) ON odd.stocks TO alfred_tenant;
CREATE FUNCTION odd.keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN OLD.name <> 'sealed' THEN NEW END; END $$;
CREATE TRIGGER keep BEFORE UPDATE ON odd.stocks FOR EACH ROW EXECUTE FUNCTION odd.keep();
CREATE TABLE odd.towns (name text COLLATE odd.any_case PRIMARY KEY, land text NOT NULL);
CREATE TABLE odd.streets (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, town text COLLATE odd.any_case NOT NULL REFERENCES odd.towns, name text NOT NULL);
INSERT INTO odd.towns VALUES ('Brest', 'Bretagne'), ('Metz', 'Lorraine');
INSERT INTO odd.streets (town, name) VALUES ('BREST', 'Rue A'), ('Metz', 'Rue B'), ('brest', 'Rue C');
GRANT SELECT ON odd.towns, odd.streets TO alfred_tenant;
CREATE TABLE odd.things (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, unit odd.unit, price real, tags odd.few_words, _version integer NOT NULL DEFAULT 1, _total integer, UNIQUE (user_id, id));
CREATE TABLE odd.boxes (
	code char(9) PRIMARY KEY DEFAULT substr(md5(random()::text), 1, 6),
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, stands_on char(9), UNIQUE (user_id, code),
	FOREIGN KEY (user_id, stands_on) REFERENCES odd.boxes (user_id, code) ON DELETE SET NULL (stands_on));
GRANT SELECT, DELETE, INSERT (name, stands_on), UPDATE (name, stands_on) ON odd.boxes TO alfred_tenant;
GRANT DELETE, INSERT ON odd.boxes TO alfred_undo;
GRANT DELETE, INSERT ON odd.things TO alfred_undo;
GRANT SELECT, DELETE, INSERT (name, unit, price, tags), UPDATE (name, unit, price, tags) ON odd.things TO alfred_tenant;`

const oddYAML = `
name: odd
schema: odd
owner: user_id
persona: You keep odd things.
entities:
  - {type: thing, table: things, label: "{name}", order: [name], writes: [create, update, delete], columns: [name, unit, price, tags]}
  - {type: box, table: boxes, label: "{name}", order: [name], writes: [create, update, delete], columns: [name, stands_on]}
  - {type: person, table: people, label: "{name}", writes: [create], columns: [name, town, note]}
  - {type: event, table: events, label: "{name}", writes: [create, update], columns: [name]}
  - {type: stock, table: stocks, label: "{name}", writes: [create, update], columns: [name, quantity], merge: {by: [name], sum: quantity}}
  - {type: town, table: towns, label: "{land}", reference: true, children: [{type: street}]}
  - {type: street, table: streets, label: "{name}", order: [name], reference: true, hidden: [town]}
subdomains:
  - {name: things, description: All., tables: [things, boxes, people, stocks, events], readable: [towns, streets]}
`

// An enum's values may differ only in their case.
func TestEnumValuesThatDifferInCase(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	row := b.rows(b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "way", "unit": "M"}}`))[0]
	require.Equal(t, "M", row["unit"])
	b.scope.Call++
	row = b.rows(b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "load", "unit": "G"}}`))[0]
	require.Equal(t, "g", row["unit"])
}

// A single-precision number is found by what its row shows: as a double it is another one.
func TestRealsAreComparedAsShown(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "pen", "price": 9.99}}`)
	for filter, want := range map[string]int{
		`"=", "value": 9.99`: 1, `"in", "value": [1, 9.99]`: 1, `">=", "value": 9.99`: 1, `"<=", "value": 9.99`: 1,
		`"!=", "value": 9.99`: 0, `">", "value": 9.99`: 0, `"<", "value": 9.99`: 0, `"<", "value": 1e60`: 1,
	} {
		b.scope.Call++
		require.Equal(t, want, b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": "price", "op": `+filter+`}]}`).RowCount, filter)
	}
}

// Numbers have no more decimals than they were given: a column of thirty made every price a line of zeros.
func TestNumbersAreNotPadded(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, strings.Replace(oddSQL, "quantity numeric(6, 2)", "quantity numeric(65, 30)", 1), oddYAML)
	shown := func(stepType, tool, args string) string {
		b.scope.Call++
		result := b.ok(stepType, tool, args)

		return query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 AND step = $2 AND call = $3`, b.scope.TurnID, b.scope.Step, result.Call)
	}
	require.Contains(t, shown("write", vocab.ToolCreate, `{"table": "stocks", "data": [{"name": "flour", "quantity": 49.5}, {"name": "salt"}]}`), `"quantity": 49.5}`)
	require.Contains(t, shown("analyze", vocab.ToolAnalyze, `{"table": "stocks", "aggregates": [{"fn": "sum", "column": "quantity", "as": "s"}, {"fn": "count", "column": "quantity", "as": "n"}]}`), `{"n": 1, "s": 49.5}`)
	require.Contains(t, shown("read", vocab.ToolRead, `{"table": "stocks", "filters": [{"field": "quantity", "op": "=", "value": 49.5}]}`), `"quantity": 49.5`)
}

// A price that a table computes from cents has the sixteen decimals of a division, and so had its total; of what somebody wrote, each is meant.
func TestNumbersOfADivisionAreNotPadded(t *testing.T) {
	t.Parallel()

	b := setupViews(t, "bills", `CREATE SCHEMA bills;
		CREATE TABLE bills.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE bills.items (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES bills.users, name text NOT NULL,
			cents integer NOT NULL, price numeric GENERATED ALWAYS AS (cents / 100.0) STORED, fee numeric NOT NULL, rate numeric(19, 4) NOT NULL);
		INSERT INTO bills.users (name) VALUES ('Ada');
		INSERT INTO bills.items (user_id, name, cents, fee, rate) VALUES (1, 'Visit', 9500, 4.50, 240)`, nil)
	b.ok("read", vocab.ToolRead, `{"table": "items"}`)
	shown := func() string {
		return query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 ORDER BY step DESC, call DESC LIMIT 1`, b.scope.TurnID)
	}
	for _, want := range []string{`"price": 95}`, `"fee": 4.50,`, `"rate": 240,`} {
		require.Contains(t, shown(), want)
	}
	b.ok("analyze", vocab.ToolAnalyze, `{"table": "items", "aggregates": [{"fn": "sum", "column": "price", "as": "n"}]}`)
	require.JSONEq(t, `[{"n": 95}]`, shown())
}

// A list may have a type with a name of its own.
func TestListsOfADomainType(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "pen", "tags": ["blue", "new"]}}`)
	for filter, want := range map[string]int{
		`"contains", "value": "blue"`: 1, `"contains", "value": ["new", "red"]`: 0, `"=", "value": ["blue", "new"]`: 1, `"!=", "value": []`: 1,
	} {
		b.scope.Call++
		require.Equal(t, want, b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": "tags", "op": `+filter+`}]}`).RowCount, filter)
	}
	b.scope.Call++
	b.ok("write", vocab.ToolUpdate, `{"table": "things", "filters": [{"field": "name", "op": "=", "value": "pen"}], "data": {"tags": ["old"]}}`)
	require.Equal(t, "tags cannot hold this value: it breaks a rule of its type.",
		b.refused("write", vocab.ToolUpdate, `{"table": "things", "filters": [{"field": "name", "op": "=", "value": "pen"}], "data": {"tags": ["a", "b", "c", "d"]}}`, crud.CodeBadValue))
}

// A key may be a text that the database fills up with blanks.
func TestKeysThatAreFilledUp(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	state := func() string {
		return query[string](b, `SELECT string_agg(x::text, ' ' ORDER BY name) FROM odd.boxes AS x`)
	}
	b.ok("write", vocab.ToolCreate, `{"table": "boxes", "data": {"name": "low"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "boxes", "data": {"name": "high", "stands_on": "box_1"}}`)
	b.scope.Call++
	rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "boxes"}`))
	require.Equal(t, []string{"box_2", "box_1"}, column[string](rows, "code"))
	require.Equal(t, []string{"box_1", ""}, column[string](rows, "stands_on"))
	require.Equal(t, "low", rows[0]["_stands_on_label"])

	b.nextTurn()
	before, wrote := state(), b.scope
	b.ok("write", vocab.ToolUpdate, `{"table": "boxes", "filters": [{"field": "stands_on", "op": "=", "value": "box_1"}], "data": {"name": "tall"}}`)
	b.scope.Call++
	b.ok("write", vocab.ToolDelete, `{"table": "boxes", "filters": [{"field": "id", "op": "=", "value": "box_1"}]}`)
	require.NotEqual(t, before, state())
	b.undone(wrote.TurnID, wrote.Turn)
	require.Equal(t, before, state())
	require.Equal(t, "box_1 box_2", query[string](b, `SELECT string_agg(ref, ' ' ORDER BY ref) FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
}

// A column may have a collation to which different texts are equal; Postgres looks for no patterns in such texts.
func TestTextsOfACollationWithoutPatterns(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": {"name": "Émile", "town": "Brest", "note": "Übung"}}`)
	for _, filter := range []string{
		`{"field": "name", "op": "=", "value": "émile"}`, `{"field": "name", "op": "similar", "value": "Emile"}`, `{"field": "name", "op": "ilike", "value": "é%"}`,
		`{"field": "town", "op": "contains", "value": "BRE"}`, `{"field": "town", "op": "ilike", "value": "b%"}`, `{"field": "note", "op": "contains", "value": "übung"}`,
	} {
		b.scope.Call++
		require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [`+filter+`]}`).RowCount, filter)
	}
	list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "person", crud.ListParams{Query: "émi"})
	require.NoError(t, err)
	require.Equal(t, 1, list.Total)
}

// A table's columns may be called as this package and its views call what they add.
func TestColumnsCalledLikeOurs(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.exec(`INSERT INTO odd.things (user_id, name, _version, _total) VALUES ($1, 'pen', 7, 8)`, b.scope.UserID)
	row := b.rows(b.ok("read", vocab.ToolRead, `{"table": "things"}`))[0]
	require.EqualValues(t, 7, row["_version"])
	require.EqualValues(t, 8, row["_total"])
	b.scope.Call++
	require.Equal(t, []map[string]any{{"_total": 8.0, "count": 1.0}}, b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "things", "group_by": ["_total"], "aggregates": [{"fn": "count"}]}`)))

	held, err := b.tools.Get(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "thing", "1")
	require.NoError(t, err)
	b.nextTurn()
	before, wrote := query[string](b, `SELECT x::text FROM odd.things AS x`), b.scope
	b.ok("write", vocab.ToolDelete, `{"table": "things", "filters": [{"field": "id", "op": "=", "value": "thing_1"}]}`)
	b.undone(wrote.TurnID, wrote.Turn)
	require.Equal(t, before, query[string](b, `SELECT x::text FROM odd.things AS x`))
	again, err := b.tools.Get(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "thing", "1")
	require.NoError(t, err)
	require.NotEqual(t, held.Version, again.Version, "the row's version is not the column of that name")
}

// Names may need quotes. What depends on a row is looked for in such a schema too.
func TestNamesInQuotes(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, strings.NewReplacer("odd.", `"Odd.One".`, "SCHEMA odd", `SCHEMA "Odd.One"`).Replace(oddSQL)+`
		CREATE TABLE "Odd.One"."The Log" ("Order" bigint REFERENCES "Odd.One".things (id) ON DELETE CASCADE);`, strings.Replace(oddYAML, "schema: odd", "schema: Odd.One", 1))
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": [{"name": "pen"}, {"name": "ink"}]}`)
	b.exec(`INSERT INTO "Odd.One"."The Log" SELECT id FROM "Odd.One".things WHERE name = 'pen'`)
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "things", "filters": [{"field": "name", "op": "=", "value": "ink"}]}`)
	require.Equal(t, "possible", b.undoable())
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "things", "filters": [{"field": "name", "op": "=", "value": "pen"}]}`)
	require.Equal(t, "With the thing, rows of The Log are deleted or changed that I do not see and cannot bring back.",
		query[string](b, `SELECT undo_reason FROM turns WHERE id = $1`, b.scope.TurnID))
}

// Rows stand in the row that they belong to, even if their reference to it is hidden, or equals its key without being
// written alike.
func TestChildrenOfKeysWrittenDifferently(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	var streets [][]string
	for _, town := range b.rows(b.ok("read", vocab.ToolRead, `{"table": "towns", "detail": "rows"}`)) {
		var names []string
		for _, street := range town["streets"].([]any) {
			names = append(names, street.(map[string]any)["name"].(string))
			require.NotContains(t, street, "town")
		}
		streets = append(streets, names)
	}
	require.Equal(t, [][]string{{"Rue A", "Rue C"}, {"Rue B"}}, streets)
}

// What is added to a row that is there is stored as it was asked for, or refused.
func TestAdditionsAreStoredOrRefused(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.ok("write", vocab.ToolCreate, `{"table": "stocks", "data": [{"name": "flour", "quantity": 1.25}, {"name": "sealed", "quantity": 1}]}`)
	b.scope.Call++
	b.ok("write", vocab.ToolCreate, `{"table": "stocks", "data": {"name": "Flour", "quantity": 0.5}}`)
	for more, want := range map[string]string{
		`{"name": "flour", "quantity": 0.005}`: "quantity would be stored as 1.76, not as 1.755.",
		`{"name": "flour", "quantity": 9999}`:  "quantity cannot hold this value: a number is out of range.",
		`{"name": "sealed", "quantity": 1}`:    "Rows of stocks were changed by somebody else in the meantime, or a rule keeps them as they are: read them again.",
	} {
		outcome := b.decide("write", call(vocab.ToolCreate, `{"table": "stocks", "data": `+more+`}`))
		require.Equal(t, want, outcome.Results[0].ErrorMessage)
	}
	require.Equal(t, "1.75 1.00", query[string](b, `SELECT string_agg(quantity::text, ' ' ORDER BY name) FROM odd.stocks`))
}

// A table may be partitioned, and have no partition for a row.
func TestPartitionedTables(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	b.ok("write", vocab.ToolCreate, `{"table": "events", "data": {"name": "start"}}`)
	b.scope.Call++
	b.ok("write", vocab.ToolUpdate, `{"table": "events", "filters": [{"field": "name", "op": "=", "value": "start"}], "data": {"name": "begin"}}`)
	require.Equal(t, "The table has no place for this row: its values are beyond those of all partitions.",
		b.refused("write", vocab.ToolCreate, `{"table": "events", "data": {"name": "end"}}`, crud.CodeViolation))
}

// A rule may write a row elsewhere, of which Postgres cannot say which it is.
func TestTablesWithRules(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL+`; CREATE RULE elsewhere AS ON INSERT TO odd.things WHERE NEW.name = 'pen' DO INSTEAD NOTHING`, oddYAML)
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "ink"}}`, crud.CodeSchemaChanged),
		"The database cannot do this as it is now: cannot perform INSERT RETURNING on relation")
}

// Values of types that models do not see come back as they were, whatever JSON their extension makes of them.
func TestUndoOfTypesOfExtensions(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `CREATE EXTENSION IF NOT EXISTS hstore;`+oddSQL+`; ALTER TABLE odd.things ADD extra hstore, ADD docs jsonb[]`, oddYAML)
	b.exec(`INSERT INTO odd.things (user_id, name, extra, docs) VALUES ($1, 'pen', 'a => b, "c d" => NULL', ARRAY['{"a": 1}', NULL]::jsonb[]), ($1, 'ink', NULL, '{}')`, b.scope.UserID)
	state := func() string {
		return query[string](b, `SELECT coalesce(string_agg(x::text, ' ' ORDER BY id), '') FROM odd.things AS x`)
	}
	b.ok("read", vocab.ToolRead, `{"table": "things"}`)
	b.nextTurn()
	before, wrote := state(), b.scope
	b.ok("write", vocab.ToolDelete, `{"table": "things", "filters": [{"field": "id", "op": "in", "value": ["thing_1", "thing_2"]}]}`)
	require.Empty(t, state())
	b.undone(wrote.TurnID, wrote.Turn)
	require.Equal(t, before, state())
}
