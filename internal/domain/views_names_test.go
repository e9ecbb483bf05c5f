package domain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// lending names what it uses without a schema, as programs do whose search path is their own schema and public.
const lending = `
CREATE SCHEMA lending;
CREATE TYPE public.lending_state AS ENUM ('open', 'closed');
CREATE FUNCTION public.lending_code() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT 'c-1' $$;
CREATE DOMAIN public.lending_word AS text CHECK (VALUE <> '');
CREATE DOMAIN public.lending_sku AS public.lending_word CHECK (VALUE ~ '^[A-Z]+$');
CREATE DOMAIN public.lending_mood AS text CHECK (VALUE IN ('good', 'bad'));
CREATE DOMAIN public.lending_count AS integer DEFAULT 1 CHECK (VALUE > 0);
CREATE TABLE lending.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE lending.loans (
    id serial PRIMARY KEY, member_id integer NOT NULL REFERENCES lending.members, title text NOT NULL,
    code text NOT NULL DEFAULT public.lending_code(), state public.lending_state NOT NULL DEFAULT 'open',
    sku public.lending_sku, pieces public.lending_count, mood public.lending_mood, lasts interval, at time);
CREATE TABLE lending.books (what text);
CREATE FUNCTION lending.keep_books() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO books (what) VALUES (lending_code() || ' ' || NEW.title); RETURN NEW; END $$;
CREATE TRIGGER keep_books AFTER INSERT OR UPDATE ON lending.loans FOR EACH ROW EXECUTE FUNCTION lending.keep_books();
INSERT INTO lending.members VALUES (1, 'Ada'), (2, 'Eve')`

func TestW03OwnersNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, lending)
	d := attached(t, tx, "lending",
		"\n  - type: loan\n", "\n  - type: loan\n    writes: [create, update]\n    columns: [title, code, state, sku, pieces, mood, lasts, at]\n")

	described := d.ByType("loan").Describe()
	for _, line := range []string{
		"- pieces: number, pieces > 0", "- mood: text, one of good | bad", "- sku: text, sku <> '' AND sku ~ '^[A-Z]+$'",
		"- lasts: length of time (1 day 02:30:00)", "- at: time of day (18:30:00)",
	} {
		require.Contains(t, described, line+"\n")
	}

	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true)`)
	exec(t, tx, `INSERT INTO lending_alfred.loans (title) VALUES ('Saw')`)
	exec(t, tx, `UPDATE lending_alfred.loans SET title = 'Drill'`)
	exec(t, tx, `SET LOCAL ROLE NONE`)

	var loan, books string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT code || ' ' || state || ' ' || pieces || ' ' || title FROM lending.loans`).Scan(&loan))
	require.Equal(t, "c-1 open 1 Drill", loan)
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT string_agg(what, ', ') FROM lending.books`).Scan(&books))
	require.Equal(t, "c-1 Saw, c-1 Drill", books)
}

// A type that is NOT NULL would fail writes that have nothing to do with it.
func TestDomainTypesThatAreNotNull(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(strings.ReplaceAll(lending, "lending", "hiring"), "AS integer DEFAULT", "AS integer NOT NULL DEFAULT"))
	files := fstest.MapFS{"hiring.yaml": {Data: []byte(`
name: hiring
schema: hiring
owner: member_id
persona: None.
entities: [{type: loan, table: loans, label: "{title}", writes: [update], columns: [title]}]
subdomains: [{name: loans, description: All., tables: [loans]}]
`)}}
	decl, err := domain.Load(files, "hiring.yaml")
	require.NoError(t, err)
	_, err = domain.Bind(t.Context(), tx, decl)
	require.ErrorContains(t, err, "writes: pieces is of type hiring_count, which is NOT NULL, and no row can be written without it")
}

// What is missing is said once, with what to do, and not as a consequence for every table.
func TestW03SaysWhatIsMissing(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(lending, "lending", "renting"))
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"renting"}})
	require.NoError(t, err)
	decl, err := domain.Load(fstest.MapFS{"r.yaml": {Data: []byte(text)}}, "r.yaml")
	require.NoError(t, err)
	_, err = domain.Bind(t.Context(), tx, decl)
	require.EqualError(t, err, `r.yaml:4: schema "renting_alfred" has no views yet, or no more: run worker domain attach`)

	for writes, said := range map[string]string{
		"    writes: [update]\n    columns: [titel, day]\n": "d.yaml:24: loan: columns: column titel does not exist in loans\nd.yaml:24: loan: columns: column day does not exist in loans",
		"    writes: [create, update, delete]\n":            "d.yaml:23: loan: writes: no columns; name under columns those that may be written",
	} {
		require.EqualError(t, refusedViews(t, tx, strings.Replace(text, "    name: \"loan\"\n", writes, 1)), "write views: "+said)
	}
}

// A deleted row of a table that inherits would come back as a row of its parent, without its own columns.
func TestW03InheritingRowsAreNotRestored(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(lending, "lending", "leasing"))
	exec(t, tx, `CREATE TABLE leasing.long_loans (months integer, PRIMARY KEY (id), FOREIGN KEY (member_id) REFERENCES leasing.members) INHERITS (leasing.loans)`)
	d := attached(t, tx, "leasing",
		"\n  - type: loan\n", "\n  - type: loan\n    writes: [delete]\n", "\n  - type: long_loan\n", "\n  - type: long_loan\n    writes: [delete]\n")
	require.False(t, d.ByType("loan").Restorable)
	require.True(t, d.ByType("long_loan").Restorable)
}

// The names of tables stand in messages of the functions that write their rows, where % is a place to fill in.
func TestW03NamesWithPercent(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `
CREATE SCHEMA sale;
CREATE TABLE sale.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE sale."50% off" (id serial PRIMARY KEY, member_id integer NOT NULL REFERENCES sale.members, name text NOT NULL);
CREATE TABLE sale."% shares" (id serial PRIMARY KEY, member_id integer NOT NULL REFERENCES sale.members, name text NOT NULL, of integer REFERENCES sale."50% off");
INSERT INTO sale.members VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO sale."50% off" (member_id, name) VALUES (2, 'Saw')`)
	attached(t, tx, "sale", "    table: \"% shares\"\n", "    table: \"% shares\"\n    writes: [create, update]\n    columns: [name, of]\n")
	require.Contains(t, as(t, tx, adaID, `INSERT INTO sale_alfred."% shares" (name, of) VALUES ('mine', 1)`), "There is no such row of 50% off.")
}
