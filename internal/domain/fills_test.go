package domain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// studio is as an ORM makes tables: the program makes the keys and says when a row was written, and no column has a default.
const studio = `
CREATE SCHEMA studio;
CREATE TABLE studio.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE studio."Project" (
    id text PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, name text NOT NULL,
    "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "updatedAt" timestamp(3) NOT NULL);
CREATE TABLE studio."Take" (
    id uuid PRIMARY KEY, "projectId" text NOT NULL REFERENCES studio."Project" ON DELETE CASCADE, title text NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz);
CREATE TABLE studio.pictures (id text PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE TABLE studio.labels (id text PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE TABLE studio.profiles (id uuid PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE SEQUENCE studio.invoice_seq INCREMENT 50; CREATE SEQUENCE studio.loops_seq;
CREATE TABLE studio.invoice (id bigint PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE TABLE studio.reels (id serial PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, deleted boolean NOT NULL, created_date timestamptz NOT NULL, last_modified_date timestamptz, write_date timestamp);
CREATE TABLE studio.mixes (id bigint PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE TABLE studio.loops (id bigint PRIMARY KEY DEFAULT 5, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL);
CREATE SEQUENCE studio.tickets_seq;
CREATE TABLE studio.tickets (id bigint PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, place bigint NOT NULL DEFAULT nextval('studio.tickets_seq'));
CREATE TABLE studio.books (id serial PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, notes varchar(20) NOT NULL, blurb text);
CREATE TABLE studio.sheets (id serial PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, lock_version integer NOT NULL DEFAULT 0);
CREATE TABLE studio.tapes (id serial PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, "rowVersion" bigint NOT NULL);
CREATE TABLE studio.prints (id serial PRIMARY KEY, "userId" integer NOT NULL REFERENCES studio.users, title text NOT NULL, version integer NOT NULL, updated_on date, UNIQUE (title, version));
CREATE TABLE studio.badges (id uuid PRIMARY KEY REFERENCES studio.profiles, title text NOT NULL);
INSERT INTO studio.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO studio.books ("userId", title, notes, blurb) SELECT 2, 'Hers', left('signed', n), '' FROM generate_series(0, 1) AS n;
INSERT INTO studio."Project" VALUES ('clh3am1f30000udocl363eofy', 1, 'Album', '2026-01-01', '2026-01-01');
INSERT INTO studio.labels VALUES ('indie', 1, 'Independent');`

var studioReview = []string{
	"\n  - type: project\n", "\n  - type: project\n    writes: [create, update, delete]\n    columns: [name]\n",
	"\n  - type: sheet\n", "\n  - type: sheet\n    writes: [create, update]\n    columns: [title]\n",
	"\n  - type: invoice\n", "\n  - type: invoice\n    writes: [create]\n    columns: [title]\n",
	"\n  - type: book\n", "\n  - type: book\n    writes: [create]\n    columns: [title, notes]\n",
	"\n  - type: tape\n", "\n  - type: tape\n    writes: [create, update]\n    columns: [title]\n",
	"\n  - type: take\n", "\n  - type: take\n    writes: [create, update, delete]\n    columns: [projectId, title]\n",
}

// What programs write into rows by themselves is proposed where its form is known, and never a key that people choose.
func TestInitProposesFills(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, studio)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"studio"}})
	require.NoError(t, err)

	const cuid = `"'c' || left(replace(gen_random_uuid()::text, '-', ''), 24)"`
	for table, fills := range map[string]string{
		"Project":  `fills: {create: {id: ` + cuid + `}, update: {"updatedAt": "now()"}}`,
		"Take":     `fills: {create: {id: "gen_random_uuid()", created_at: "now()"}, update: {updated_at: "now()"}}`,
		"pictures": "", // the others of the schema do not agree on one form
		"labels":   "", // people choose it
		"profiles": `fills: {create: {id: "gen_random_uuid()"}}`,
		"sheets":   `fills: {update: {lock_version: "lock_version + 1"}}`,
		"tapes":    `fills: {create: {"rowVersion": "0"}, update: {"rowVersion": "\"rowVersion\" + 1"}}`,
		"prints":   `fills: {update: {updated_on: "now()"}}`, // the version tells the rows apart
		"invoice":  `fills: {create: {id: "nextval('\"studio\".\"invoice_seq\"')"}}`,
		"books":    `fills: {create: {notes: "''"}}`,
		"reels":    `fills: {create: {deleted: "false", created_date: "now()"}, update: {last_modified_date: "now()", write_date: "now()"}}`,
		"mixes":    "", // no sequence is its own
		"loops":    "", // it has a default
		"tickets":  "", // the sequence is another column's
		"badges":   "", // it is another row's
	} {
		_, entity, found := strings.Cut(text, `table: "`+table+`"`)
		require.True(t, found, table)
		entity, _, _ = strings.Cut(entity, "\n  - ")
		if fills == "" {
			require.NotContains(t, entity, "fills:", table)
		} else {
			require.Contains(t, entity, fills, table)
		}
	}

	exec(t, tx, `DELETE FROM studio.labels`)
	text, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"studio"}})
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(text, cuid), "an empty table's keys are like the others'")
}

// Rows are written as the owner's programs write them.
func TestViewsFillColumns(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, studio)
	d := attached(t, tx, "studio", studioReview...)
	require.True(t, d.ByType("take").Column("updated_at").Automatic())
	require.True(t, d.ByType("project").Column("updatedAt").Automatic())

	require.Equal(t, "1", as(t, tx, adaID, `INSERT INTO studio_alfred.invoice (title) VALUES ('March') RETURNING id`))
	require.Regexp(t, `^c[0-9a-f]{24}$`, as(t, tx, adaID, `INSERT INTO studio_alfred."Project" (name) VALUES ('EP') RETURNING id`))
	require.Equal(t, "Album", as(t, tx, adaID, `UPDATE studio_alfred."Project" SET name = name WHERE "updatedAt" = '2026-01-01' RETURNING name`))
	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		UPDATE studio_alfred."Project" SET name = 'LP';
		INSERT INTO studio_alfred.books (title) VALUES ('Mine');
		INSERT INTO studio_alfred."Take" ("projectId", title) VALUES ('clh3am1f30000udocl363eofy', 'One');
		RESET ROLE;
		DO $$ BEGIN
		    ASSERT (SELECT "updatedAt" > now() - interval '2 days' AND "createdAt" = '2026-01-01' FROM studio."Project" WHERE name = 'LP');
		    ASSERT (SELECT notes = '' FROM studio.books WHERE title = 'Mine');
		    ASSERT (SELECT created_at = now() AND updated_at = now() FROM studio."Take");
		END $$`)
}

// Programs that lock by a number find another one after every change of Alfred's, and do not overwrite it.
func TestViewsCountChanges(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, studio)
	d := attached(t, tx, "studio", studioReview...)
	require.True(t, d.ByType("tape").Column("rowVersion").Automatic())
	require.NotContains(t, d.Text, "lock_version:{lock_version}")
	require.NotContains(t, d.ByType("sheet").Describe(), "lock_version", "it says nothing to models")
	exec(t, tx, `INSERT INTO studio.sheets ("userId", title, lock_version) VALUES (1, 'A', 4);
		SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		UPDATE studio_alfred.sheets SET title = 'B';
		INSERT INTO studio_alfred.sheets (title) VALUES ('C');
		INSERT INTO studio_alfred.tapes (title) VALUES ('T');
		RESET ROLE;
		DO $$ BEGIN
		    ASSERT (SELECT lock_version = 5 FROM studio.sheets WHERE title = 'B');
		    ASSERT (SELECT lock_version = 0 FROM studio.sheets WHERE title = 'C');
		    ASSERT (SELECT "rowVersion" = 0 FROM studio.tapes);
		END $$`)
}

// A slip in what is filled is found before a row is written.
func TestFillsAreChecked(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, studio)
	text := attached(t, tx, "studio", studioReview...).Text
	for said, fills := range map[string]string{
		`fills: updatedAt: column "updatedAt" does not exist`:       `{create: {id: "'x'"}, update: {"updatedAt": "\"updatedAt\" + interval '1 day'"}}`, // a new row has none
		"fills: id: function nonsense() does not exist":             `{create: {id: nonsense()}}`,
		"every change would set name":                               `{create: {id: "'x'"}, update: {"updatedAt": now(), name: "'x'"}}`,
		"fills: userId is the owner, which the view fills":          `{create: {id: "'x'", "userId": "1"}, update: {"updatedAt": now()}}`,
		"key id has no default, and inserts never name it":          `{update: {"updatedAt": now()}}`,
		"no row can be created without updatedAt":                   `{create: {id: "'x'"}}`,
		"fills: column nowhere does not exist":                      `{create: {id: "'x'", nowhere: "1"}, update: {"updatedAt": now()}}`,
		`fills: updatedAt: invalid input syntax for type timestamp`: `{create: {id: "'x'"}, update: {"updatedAt": "'soon'"}}`,
	} {
		before, after, _ := strings.Cut(strings.NewReplacer(studioReview...).Replace(text), "    fills: ")
		_, after, _ = strings.Cut(after, "\n")
		decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(before + "    fills: " + fills + "\n" + after)}}, "d.yaml")
		require.NoError(t, err)
		_, err = domain.Bind(t.Context(), tx, decl)
		require.ErrorContains(t, err, said)
	}
}

// Who writes a row is the user where a default asks the owner's own login, which nobody has here, as Supabase's auth.uid().
func TestViewsFillWhoWrites(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA flat;
CREATE FUNCTION flat.uid() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('request.sub', true), '')::uuid $$;
CREATE TABLE flat.users (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TABLE flat.rooms (id serial PRIMARY KEY, user_id uuid NOT NULL DEFAULT flat.uid() REFERENCES flat.users, name text NOT NULL);
CREATE TABLE flat.costs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), room_id integer NOT NULL REFERENCES flat.rooms ON DELETE CASCADE,
	paid_by uuid NOT NULL DEFAULT flat.uid() REFERENCES flat.users, noted_by uuid NOT NULL DEFAULT flat.uid() REFERENCES flat.users, what text NOT NULL, CHECK (paid_by = '`+adaID+`' AND noted_by = '`+adaID+`'));
INSERT INTO flat.users VALUES ('`+adaID+`', 'Ada'), ('`+eveID+`', 'Eve');
INSERT INTO flat.rooms (user_id, name) VALUES ('`+adaID+`', 'Attic')`)
	bound(t, tx, "flat", "    table: \"costs\"\n", "    table: \"costs\"\n    owned_by: [room_id]\n    writes: [create]\n    columns: [room_id, paid_by, what]\n")
	exec(t, tx, `INSERT INTO flat_alfred.alfred_accounts VALUES ('`+adaID+`', '`+adaID+`')`)
	require.Equal(t, "1", as(t, tx, adaID, `INSERT INTO flat_alfred.costs (room_id, what) VALUES (1, 'Paint') RETURNING room_id::text`))
}
