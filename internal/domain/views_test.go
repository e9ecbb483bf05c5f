package domain_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

// harbour has only composite keys, an enum, sequences, rules in triggers, a table without a key, and its own view.
const harbour = `
CREATE SCHEMA harbour;
CREATE TYPE harbour.kind AS ENUM ('sail', 'motor');
CREATE TABLE harbour.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE harbour.boats (
    club text NOT NULL, number integer NOT NULL, member_id integer NOT NULL REFERENCES harbour.members, name text NOT NULL,
    kind harbour.kind NOT NULL DEFAULT 'sail', length numeric(4, 1) CHECK (length > 0), doubled numeric GENERATED ALWAYS AS (length * 2) STORED,
    PRIMARY KEY (club, number));
COMMENT ON TABLE harbour.boats IS 'Boats of members.';
COMMENT ON COLUMN harbour.boats.length IS 'In metres.';
CREATE TABLE harbour.trips (
    club text NOT NULL, number integer NOT NULL, nth serial NOT NULL, sailed_on date NOT NULL, note text,
    with_club text, with_number integer,
    PRIMARY KEY (club, number, nth), FOREIGN KEY (club, number) REFERENCES harbour.boats ON DELETE CASCADE,
    FOREIGN KEY (with_club, with_number) REFERENCES harbour.boats);
CREATE TABLE harbour.log (line text);
CREATE TABLE harbour.places (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES harbour.members, label text NOT NULL, fee numeric);
CREATE VIEW harbour.long_boats AS SELECT * FROM harbour.boats WHERE length > 10;
CREATE VIEW harbour.longest AS SELECT * FROM harbour.long_boats WHERE length > 20;
CREATE TABLE harbour.audit (id bigserial PRIMARY KEY, what text);
CREATE FUNCTION harbour.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.note = 'fog' THEN RETURN NULL; END IF;
    IF NEW.note = 'storm' THEN RAISE EXCEPTION 'Nobody sails in a storm.'; END IF;
    INSERT INTO harbour.audit (what) VALUES (NEW.note); RETURN NEW; END $$;
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON harbour.trips FOR EACH ROW EXECUTE FUNCTION harbour.note();
INSERT INTO harbour.members VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO harbour.boats VALUES ('a:b', 1, 1, 'Swan'), ('a', 1, 2, 'Crow');
INSERT INTO harbour.trips (club, number, sailed_on) VALUES ('a:b', 1, '2026-01-01'), ('a', 1, '2026-01-02');
INSERT INTO harbour.places VALUES (1, 1, 'Pier', 10), (2, 2, 'Bay', 20);`

const (
	adaID = "0190a000-0000-7000-8000-00000000000a"
	eveID = "0190a000-0000-7000-8000-00000000000e"
)

// bound is what init writes of a schema; review are pairs of texts, each of which the second replaces.
func bound(t *testing.T, tx pgx.Tx, schema string, review ...string) *testfactory.Viewed {
	t.Helper()

	return testfactory.Views(t, tx, schema, strings.NewReplacer(review...))
}

// attached is bound for two people, whose accounts are 1 and 2.
func attached(t *testing.T, tx pgx.Tx, schema string, review ...string) *testfactory.Viewed {
	t.Helper()

	v := bound(t, tx, schema, review...)
	exec(t, tx, `INSERT INTO `+schema+`_alfred.alfred_accounts VALUES ('`+adaID+`', 1), ('`+eveID+`', 2)`)

	return v
}

// refusedViews is the error with which no views are written of a declaration.
func refusedViews(t *testing.T, tx pgx.Tx, text string) error {
	t.Helper()
	decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(text)}}, "d.yaml")
	require.NoError(t, err)
	_, _, err = domain.Views(t.Context(), tx, decl)

	return err
}

// as runs one statement as a user, and returns its value or the error's message.
func as(t *testing.T, tx pgx.Tx, user, sql string) string {
	t.Helper()

	inner, err := tx.Begin(t.Context())
	require.NoError(t, err)

	defer func() { require.NoError(t, inner.Rollback(t.Context())) }()

	_, err = inner.Exec(t.Context(), `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', $1, true)`, user)
	require.NoError(t, err)

	var value *string
	if err := inner.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		return err.Error()
	}

	if value == nil {
		return ""
	}

	return *value
}

var harbourReview = []string{
	"\n  - type: boat\n", "\n  - type: boat\n    writes: [create, update, delete]\n    columns: [club, number, name, kind, length]\n",
	"\n  - type: trip\n", "\n  - type: trip\n    writes: [create, update, delete]\n    columns: [boat_key, sailed_on, note]\n",
	"\n  - type: place\n", "\n  - type: place\n    writes: [update, delete]\n    columns: [label]\n",
}

// A key with a time in it names its row in every time zone: users move, and background work has none of theirs.
func TestW03AKeyWithATimeStaysInAnotherTimeZone(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA tide;
CREATE DOMAIN tide.moment AS timestamptz;
CREATE TABLE tide.members (id integer PRIMARY KEY);
CREATE TABLE tide.heights (member_id integer NOT NULL REFERENCES tide.members, at tide.moment NOT NULL, metres numeric NOT NULL, PRIMARY KEY (member_id, at));
CREATE TABLE tide.remarks (id serial PRIMARY KEY, member_id integer NOT NULL, at timestamptz NOT NULL, FOREIGN KEY (member_id, at) REFERENCES tide.heights);
INSERT INTO tide.members VALUES (1), (2);
INSERT INTO tide.heights VALUES (1, '2026-07-01 12:00+02', 4.5), (2, 'infinity', 3);
INSERT INTO tide.remarks (member_id, at) VALUES (1, '2026-07-01 12:00+02');`)
	attached(t, tx, "tide")

	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
		exec(t, tx, `SET LOCAL TimeZone = '`+zone+`'`)
		require.Equal(t, "1:2026-07-01 10:00:00+00", as(t, tx, adaID, `SELECT key FROM tide_alfred.heights`), zone)
		require.Equal(t, "1:2026-07-01 10:00:00+00", as(t, tx, adaID, `SELECT height_key FROM tide_alfred.remarks`), zone)
		require.Equal(t, "2:infinity+00", as(t, tx, eveID, `SELECT key FROM tide_alfred.heights`), zone)
	}
}

// W03, W07: composite keys, views that know what their tables know, and user isolation.
func TestW03CompositeKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, harbour)
	d := attached(t, tx, "harbour", harbourReview...)
	require.Len(t, d.Notes, 2, d.Notes)
	require.Contains(t, d.Notes[0], "long_boats is itself a view")
	require.Contains(t, d.Notes[1], "longest is itself a view", "a view over a view")
	decl := *d.Decl
	decl.Entities = slices.Clone(decl.Entities)
	at := slices.IndexFunc(decl.Entities, func(e domain.EntityDecl) bool { return e.Type == "long_boat" })
	decl.Entities[at].Writes = []domain.Verb{domain.Update}
	_, _, err := domain.Views(t.Context(), tx, &decl)
	require.ErrorContains(t, err, "long_boat: writes: long_boats is itself a view, of which rows are only read; declare an operation for what is to be changed")

	boat, trip := d.ByType("boat"), d.ByType("trip")
	require.Equal(t, "Boats of members.", boat.Comment)
	require.Equal(t, "In metres.", boat.Column("length").Comment)
	require.Contains(t, boat.Column("length").Check, "length > ")
	require.Equal(t, []string{"sail", "motor"}, boat.Column("kind").Enum)
	require.Equal(t, `"kind"::text`, boat.Column("kind").SQL(), "the tenant may not name the owner's type")
	require.True(t, boat.Column("doubled").Generated)
	require.False(t, boat.Column("name").Nullable)
	require.Same(t, boat, trip.Column("boat_key").FK.Entity)
	require.Nil(t, d.ByType("log"), "a table without a key")

	keys := `SELECT string_agg(key, ' ') FROM harbour_alfred.`
	require.Equal(t, `a\:b:1`, as(t, tx, adaID, keys+`boats`))
	require.Equal(t, `a:1`, as(t, tx, eveID, keys+`boats`))
	require.Equal(t, `a:1:2`, as(t, tx, eveID, keys+`trips`))
	require.Empty(t, as(t, tx, "0190a000-0000-7000-8000-0000000000ff", keys+`boats`), "an unknown user sees nothing")
	require.Contains(t, as(t, tx, adaID, `SELECT name FROM harbour.boats`), "permission denied for schema harbour")
	require.Contains(t, as(t, tx, adaID, `UPDATE harbour_alfred.places SET fee = 0 RETURNING 'x'`), "permission denied")
}

// Writing goes through the view where Postgres can do that, else through a function with the owner's privileges, and
// never to another user's row.
func TestW03Writing(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, harbour)
	attached(t, tx, "harbour", harbourReview...)

	require.Equal(t, "Quay", as(t, tx, adaID, `UPDATE harbour_alfred.places SET label = 'Quay' RETURNING label`))
	require.Equal(t, "no rows in result set", as(t, tx, adaID, `UPDATE harbour_alfred.places SET label = 'Quay' WHERE id = 2 RETURNING label`))
	require.Contains(t, as(t, tx, adaID, `UPDATE harbour_alfred.places SET _version = '1' RETURNING label`), "cannot update column")
	require.Equal(t, "1", as(t, tx, adaID, `SELECT id::text FROM harbour_alfred.places FOR UPDATE`), "rows can be locked")

	require.Equal(t, `z:7`, as(t, tx, adaID, `INSERT INTO harbour_alfred.boats (club, number, name) VALUES ('z', 7, 'Gull') RETURNING key`))
	require.Equal(t, `Teal`, as(t, tx, adaID, `UPDATE harbour_alfred.boats SET number = 1, name = 'Teal' RETURNING name`))
	require.Contains(t, as(t, tx, adaID, `UPDATE harbour_alfred.boats SET number = 5 RETURNING name`), "The key of boats (club, number) stays as it is",
		"a row under another key would be another row")
	require.Equal(t, "no rows in result set", as(t, tx, adaID, `DELETE FROM harbour_alfred.boats WHERE key = 'a:1' RETURNING key`))
	require.Regexp(t, `^a\\:b:1:\d+$`, as(t, tx, adaID, `INSERT INTO harbour_alfred.trips (boat_key, sailed_on) VALUES ('a\:b:1', '2026-02-01') RETURNING key`),
		"a number from the owner's sequence, and the owner's books are kept")
	require.Contains(t, as(t, tx, adaID, `INSERT INTO harbour_alfred.trips (boat_key, sailed_on) VALUES ('a:1', '2026-02-01') RETURNING key`),
		"There is no such row of boats.", "another's boat")
	require.Contains(t, as(t, tx, adaID, `INSERT INTO harbour_alfred.trips (boat_key, sailed_on, note) VALUES ('a\:b:1', '2026-02-01', 'fog') RETURNING key`),
		"A rule of trips leaves this row out", "the owner's trigger")
	require.Contains(t, as(t, tx, adaID, `UPDATE harbour_alfred.trips SET note = 'storm' RETURNING key`), "Nobody sails in a storm.")
	require.Equal(t, "calm", as(t, tx, adaID, `UPDATE harbour_alfred.trips SET note = 'calm' RETURNING note`))
}

// Tables with their own row-level security are named, with what their owner can do; the owner's own roles still see
// what they saw.
func TestW03OwnersRowLevelSecurity(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "mooring"))
	exec(t, tx, `ALTER TABLE mooring.places ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON mooring.places USING (member_id = nullif(current_setting('mooring.member', true), '')::integer)`)

	d := attached(t, tx, "mooring")
	require.Len(t, d.Notes, 3)
	require.Contains(t, d.Notes[2], `places has row-level security of its own`)
	require.Contains(t, d.Notes[2], `CREATE POLICY alfred_views ON "mooring"."places" TO "alfred_views_mooring_alfred" USING (true)`)

	labels := `SELECT string_agg(label, ' ') FROM mooring_alfred.places`
	require.Empty(t, as(t, tx, adaID, labels), "nothing rather than too much")
	exec(t, tx, `CREATE POLICY alfred_views ON "mooring"."places" TO "alfred_views_mooring_alfred" USING (true)`)
	require.Equal(t, "Pier", as(t, tx, adaID, labels))
	require.Equal(t, "Bay", as(t, tx, eveID, labels))
}

// A view blocks changes to its tables; once detached, the tables can be altered, and the account mapping stays.
func TestW03DetachAttachDrop(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "dock"))
	decl := attached(t, tx, "dock").Decl

	require.Error(t, tryExec(t, tx, `ALTER TABLE dock.places DROP COLUMN fee`), "the view shows it")
	require.NoError(t, domain.Detach(t.Context(), tx, decl))
	exec(t, tx, `ALTER TABLE dock.places DROP COLUMN fee`)
	sql, _, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	require.NoError(t, domain.Attach(t.Context(), tx, decl, sql))
	require.Equal(t, "Pier", as(t, tx, adaID, `SELECT label FROM dock_alfred.places`))

	require.NoError(t, domain.Drop(t.Context(), tx, decl))

	var left int
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_class c, aclexplode(c.relacl) x
		WHERE c.relnamespace = 'dock'::regnamespace AND x.grantee <> c.relowner`).Scan(&left))
	require.Zero(t, left, "no grant is left")
}

// Whoever finds out after attaching that rows belong to others is told what maps users to those before, unless nothing does.
func TestViewsOfOtherAccounts(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA yard; CREATE TABLE yard.users (id integer PRIMARY KEY, name text NOT NULL); CREATE TABLE yard.clubs (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE yard.boats (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES yard.users, club_id text NOT NULL REFERENCES yard.clubs, name text NOT NULL)`)
	bound(t, tx, "yard")
	exec(t, tx, `INSERT INTO yard_alfred.alfred_accounts VALUES ('`+adaID+`', 1)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"yard"}, Accounts: "clubs"})
	require.NoError(t, err)
	decl, err := domain.Load(fstest.MapFS{"y.yaml": {Data: []byte(text)}}, "y.yaml")
	require.NoError(t, err)
	sql, _, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	require.ErrorContains(t, domain.Attach(t.Context(), tx, decl, sql),
		`"yard_alfred"."alfred_accounts" maps users to accounts that are integer, and now they are text: note what it holds and empty it`)
	exec(t, tx, `DELETE FROM yard_alfred.alfred_accounts`)
	require.NoError(t, domain.Attach(t.Context(), tx, decl, sql))
}

// An owner who may not create roles is told what somebody else has to run. With the role made for them they attach the
// views, and drop them; the role stays.
func TestViewsOfAnOwnerWithoutRoles(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE ROLE slip_owner; GRANT alfred_tenant, alfred_undo TO slip_owner; CREATE SCHEMA slip AUTHORIZATION slip_owner`)
	exec(t, tx, `DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO slip_owner', current_database()); END $$; SET LOCAL ROLE slip_owner`)
	exec(t, tx, strings.ReplaceAll(strings.Replace(harbour, "CREATE SCHEMA harbour;", "", 1), "harbour", "slip"))
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"slip"}})
	require.NoError(t, err)
	decl, err := domain.Load(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml")
	require.NoError(t, err)
	sql, _, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	require.ErrorContains(t, domain.Attach(t.Context(), tx, decl, sql),
		`CREATE ROLE "alfred_views_slip_alfred" NOLOGIN; GRANT "alfred_views_slip_alfred" TO slip_owner`)

	exec(t, tx, `RESET ROLE; CREATE ROLE alfred_views_slip_alfred NOLOGIN; GRANT alfred_views_slip_alfred TO slip_owner; SET LOCAL ROLE slip_owner`)
	require.NoError(t, domain.Attach(t.Context(), tx, decl, sql))
	exec(t, tx, `INSERT INTO slip_alfred.alfred_accounts VALUES ('`+adaID+`', 1)`)
	require.Equal(t, "Pier", as(t, tx, adaID, `SELECT label FROM slip_alfred.places`))
	exec(t, tx, `SET LOCAL ROLE slip_owner`)
	require.NoError(t, domain.Drop(t.Context(), tx, decl))
	exec(t, tx, `RESET ROLE; DROP ROLE alfred_views_slip_alfred`)
}

func tryExec(t *testing.T, tx pgx.Tx, sql string) error {
	t.Helper()

	inner, err := tx.Begin(t.Context())
	require.NoError(t, err)

	defer func() { require.NoError(t, inner.Rollback(t.Context())) }()

	_, err = inner.Exec(t.Context(), sql)

	return err
}

// An owner's view keeps its table's key beside what it computes itself, also for the view over it.
func TestViewsOverComputingViews(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "pier"))
	exec(t, tx, `ALTER TABLE pier.places ADD behind integer REFERENCES pier.places`)
	exec(t, tx, `CREATE VIEW pier.fees AS SELECT p.id AS place_id, p.member_id, p.label, sum(p.fee) AS due FROM pier.places AS p GROUP BY p.id;
COMMENT ON COLUMN pier.fees.due IS 'In euros.'`)
	d := attached(t, tx, "pier")

	fee := d.ByType("fee")
	require.Equal(t, "place_id", fee.Key.Name)
	require.Equal(t, "In euros.", fee.Column("due").Comment)
	require.Equal(t, "place", d.ByType("place").Column("behind").FK.Entity.Type, "keys lead to the table's rows, not to what a view makes of them")
}

// A number that the owner's trigger gives needs neither a default nor a model's value; what it only tidies up does.
func TestTriggersFillColumns(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "berth"))
	exec(t, tx, `ALTER TABLE berth.places ALTER id ADD GENERATED ALWAYS AS IDENTITY (START 3), ADD number integer, ADD slug text, ADD "by Day" date, ADD spot text NOT NULL DEFAULT '', ADD checked integer NOT NULL DEFAULT 0;
UPDATE berth.places SET number = id, slug = id, "by Day" = '2026-01-01';
ALTER TABLE berth.places ALTER number SET NOT NULL, ALTER slug SET NOT NULL, ALTER "by Day" SET NOT NULL, ALTER checked DROP DEFAULT, ALTER spot DROP DEFAULT;
CREATE FUNCTION berth.fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    SELECT max(number) + 1, lower(NEW.label) INTO NEW.number, new.slug FROM berth.places WHERE checked = NEW.checked;
    NEW."by Day" := '2026-02-02';
    IF NEW.checked = 0 THEN NEW.fee = 1; END IF;
    NEW.label := trim(NEW.label);
    NEW.spot := CASE WHEN NEW.spot IS NULL THEN 'quay' ELSE lower(NEW.spot) END;
    RETURN NEW; END $$;
CREATE TRIGGER fill BEFORE INSERT ON berth.places FOR EACH ROW EXECUTE FUNCTION berth.fill()`)
	d := attached(t, tx, "berth", "\n  - type: place\n", "\n  - type: place\n    writes: [create]\n    columns: [label, checked]\n")

	for name, filled := range map[string]bool{"number": true, "slug": true, "by Day": true, "spot": true, "checked": false, "label": false} {
		require.Equal(t, filled, d.ByType("place").Column(name).HasDefault, name)
	}
	require.Equal(t, "3 buoy", as(t, tx, adaID, `WITH new AS (INSERT INTO berth_alfred.places (label, checked) VALUES ('Buoy', 0) RETURNING id)
		SELECT id || ' buoy' FROM new`))
}

// A foreign key may lead to a column that is unique and may be null. A row of the user's without a value there opens no
// other user's rows to references.
func TestReferencesToColumnsThatMayBeNull(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `
		CREATE SCHEMA club;
		CREATE TABLE club.members (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE club.lockers (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES club.members, code text UNIQUE);
		CREATE TABLE club.bags (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES club.members, name text NOT NULL, locker text REFERENCES club.lockers (code));
		INSERT INTO club.members VALUES (1, 'Ada'), (2, 'Eve');
		INSERT INTO club.lockers VALUES (1, 1, NULL), (2, 1, 'A'), (3, 2, 'E');
		INSERT INTO club.bags VALUES (1, 1, 'blue', NULL);`)
	attached(t, tx, "club", "\n  - type: bag\n", "\n  - type: bag\n    writes: [update]\n    columns: [name, locker]\n")
	update := func(locker string) string {
		return as(t, tx, adaID, `UPDATE club_alfred.bags SET locker = '`+locker+`' WHERE id = 1 RETURNING locker`)
	}
	require.Equal(t, "A", update("A"))
	require.Contains(t, update("E"), "There is no such row of lockers.")
}

// A foreign key may lead to other columns than those of the composite key by which rows are known.
func TestForeignKeyBesideACompositeKey(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA hall;
		CREATE TABLE hall.members (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE hall.seats (line integer, place integer, door text NOT NULL, nth integer NOT NULL, member_id integer NOT NULL REFERENCES hall.members, name text NOT NULL,
			PRIMARY KEY (line, place), UNIQUE (door, nth));
		CREATE TABLE hall.tickets (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES hall.members, name text NOT NULL, door text, nth integer,
			FOREIGN KEY (door, nth) REFERENCES hall.seats (door, nth));`)
	d := attached(t, tx, "hall")
	require.NotNil(t, d.ByType("ticket").Column("door"))
}
