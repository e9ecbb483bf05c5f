package crud_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// quay is somebody's unaltered tables: composite keys, cascading and nulling foreign keys, generated numbers, a rule in
// a trigger, undeclared tables, functions.
const quay = `
CREATE SCHEMA quay;
CREATE TABLE quay.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE quay.boats (
    club text NOT NULL, number integer NOT NULL, member_id integer NOT NULL REFERENCES quay.members, name text NOT NULL,
    moored boolean NOT NULL DEFAULT false, fee numeric NOT NULL DEFAULT 10, doubled numeric GENERATED ALWAYS AS (fee * 2) STORED, secret text DEFAULT 'kept',
    PRIMARY KEY (club, number));
CREATE TABLE quay.trips (
    club text NOT NULL, number integer NOT NULL, nth serial NOT NULL, note text,
    with_club text, with_number integer, PRIMARY KEY (club, number, nth),
    FOREIGN KEY (club, number) REFERENCES quay.boats ON DELETE CASCADE,
    FOREIGN KEY (with_club, with_number) REFERENCES quay.boats ON DELETE SET NULL);
CREATE TABLE quay.bills (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, member_id integer NOT NULL REFERENCES quay.members, amount numeric NOT NULL);
CREATE TABLE quay.lists (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), member_id integer NOT NULL REFERENCES quay.members, title text NOT NULL, colour text DEFAULT 'red',
    days daterange DEFAULT '[2026-01-01,2026-02-01)', slot tstzrange DEFAULT '[2026-01-01 10:00+02,)', host inet DEFAULT '10.0.0.1', cost money DEFAULT 3.5, code bit(3) DEFAULT '101', pauses interval[] DEFAULT '{1 hour}');
CREATE TABLE quay.keys (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), member_id integer NOT NULL REFERENCES quay.members, name text NOT NULL);
CREATE TABLE quay.key_log (key_id uuid NOT NULL REFERENCES quay.keys ON DELETE CASCADE, what text);
CREATE FUNCTION quay.calm() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.note = 'storm' THEN RAISE EXCEPTION 'Nobody sails in a storm.'; END IF; NEW.note := trim(NEW.note); RETURN NEW; END $$;
CREATE TRIGGER calm BEFORE INSERT OR UPDATE ON quay.trips FOR EACH ROW EXECUTE FUNCTION quay.calm();
CREATE TABLE quay.titles (was text);
CREATE FUNCTION quay.note_title() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO quay.titles VALUES (OLD.title); RETURN NULL; END $$;
CREATE TRIGGER note_title AFTER UPDATE ON quay.lists FOR EACH ROW EXECUTE FUNCTION quay.note_title();
CREATE FUNCTION quay.limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT sum(amount) > 500 FROM bills WHERE member_id = coalesce(NEW.member_id, OLD.member_id)) THEN RAISE EXCEPTION 'Nobody owes more than 500.' USING ERRCODE = 'check_violation'; END IF; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER limited AFTER INSERT OR UPDATE OR DELETE ON quay.bills DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION quay.limited();
CREATE FUNCTION quay.moor(list_id uuid, at numeric, why text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    UPDATE quay.boats AS b SET moored = true, fee = at FROM quay.lists AS l WHERE l.id = list_id AND b.member_id = l.member_id; RETURN 'All are moored.'; END $$;
CREATE FUNCTION quay.unmoor(list_id uuid, at numeric) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    UPDATE quay.boats AS b SET moored = false, fee = 22 - at FROM quay.lists AS l WHERE l.id = list_id AND b.member_id = l.member_id; RETURN 'All are free.'; END $$;
CREATE FUNCTION quay.sink(list_id uuid) RETURNS text LANGUAGE sql AS $$ SELECT 'Nothing is left.' $$;
INSERT INTO quay.members VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO quay.boats (club, number, member_id, name) VALUES ('a:b', 1, 1, 'Swan'), ('a', 2, 1, 'Gull'), ('a', 1, 2, 'Crow');
INSERT INTO quay.trips (club, number, note, with_club, with_number) VALUES ('a:b', 1, 'far', 'a', 2), ('a', 2, 'near', 'a:b', 1), ('a', 1, 'hers', NULL, NULL);
INSERT INTO quay.bills (member_id, amount) VALUES (1, 5), (1, 6), (2, 7);
INSERT INTO quay.lists (member_id, title, colour) VALUES (1, 'Ropes', 'blue'), (2, 'Hers', 'blue');
INSERT INTO quay.keys (member_id, name) VALUES (1, 'Gate'), (1, 'Shed');
INSERT INTO quay.key_log (key_id, what) SELECT id, 'cut' FROM quay.keys WHERE name = 'Gate';
`

var quayReview = strings.NewReplacer(
	"\n  - type: boat\n", "\n  - type: boat\n    writes: [create, delete]\n    columns: [club, number, name]\n",
	"\n  - type: bill\n", "\n  - type: bill\n    writes: [create, update, delete]\n    columns: [amount]\n",
	"\n  - type: list\n", "\n  - type: list\n    writes: [create, update, delete]\n    columns: [title, days, slot, host, cost, code, pauses]\n",
	"\n  - type: key\n", "\n  - type: key\n    writes: [delete]\n",
	"\nsubdomains:\n", `
operations:
  - {name: moor_all, function: moor, on: list, confirm: never, changes: [boat], trusted: true, inverse: unmoor_all}
  - {name: unmoor_all, function: unmoor, on: list, confirm: always, changes: [boat], trusted: true}
  - {name: sink_all, function: sink, on: list, confirm: always, trusted: true}
subdomains:
`)

// setupQuay is a session of Ada's over views of the quay.
func setupQuay(t *testing.T, more ...string) *bundle {
	t.Helper()

	return setupAltered(t, "", more...)
}

// setupAltered is setupQuay after the owner altered something.
func setupAltered(t *testing.T, alter string, more ...string) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	run := func(sql string) {
		_, err := tx.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	run(quay + alter)
	d := testfactory.Views(t, tx, "quay", quayReview, strings.NewReplacer(more...)).Domain
	ada, eve := testfactory.User(t, tx, "UTC"), testfactory.User(t, tx, "UTC")
	_, err := tx.Exec(t.Context(), `INSERT INTO quay_alfred.alfred_accounts VALUES ($1, 1), ($2, 2)`, ada, eve)
	require.NoError(t, err)

	return setupOn(t, tx, ada, d)
}

// afloat is everything in the quay, whoever owns it.
func (b *bundle) afloat() string {
	b.t.Helper()

	return query[string](b, `SELECT string_agg(x.row, E'\n' ORDER BY x.row) FROM (SELECT 'boat ' || b::text AS row FROM quay.boats AS b UNION ALL SELECT 'trip ' || t::text FROM quay.trips AS t
		UNION ALL SELECT 'bill ' || i::text FROM quay.bills AS i UNION ALL SELECT 'list ' || l::text FROM quay.lists AS l
		UNION ALL SELECT 'key ' || k::text FROM quay.keys AS k UNION ALL SELECT 'log ' || g::text FROM quay.key_log AS g) AS x`)
}

func (b *bundle) read(tables ...string) {
	b.t.Helper()

	for _, table := range tables {
		b.ok("read", vocab.ToolRead, `{"table": "`+table+`"}`)
		b.scope.Call++
	}
}

// named is the ref of a row by its label.
func (b *bundle) named(entityType, label string) string {
	b.t.Helper()

	return query[string](b, `SELECT ref FROM entity_refs WHERE session_id = $1 AND entity_type = $2 AND label LIKE $3`, b.scope.SessionID, entityType, label)
}

// Behind views, with composite keys, cascades and cleared references: an undo restores everything exactly, including
// columns that the assistant may not set, and so does undoing the undo.
func TestUndoBehindViews(t *testing.T) {
	t.Parallel()

	for name, calls := range map[string]func(b *bundle) []vocab.Call{
		"create with a key of two columns": func(*bundle) []vocab.Call {
			return []vocab.Call{call(vocab.ToolCreate, `{"table": "boats", "data": {"club": "z:\\", "number": 7, "name": "Tern"}}`)}
		},
		"create with a number": func(*bundle) []vocab.Call {
			return []vocab.Call{call(vocab.ToolCreate, `{"table": "bills", "data": [{"amount": 1}, {"amount": 2}]}`)}
		},
		"create through the view itself": func(*bundle) []vocab.Call {
			return []vocab.Call{call(vocab.ToolCreate, `{"table": "lists", "data": {"title": "Sails"}}`)}
		},
		"update": func(b *bundle) []vocab.Call {
			return []vocab.Call{
				call(vocab.ToolUpdate, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "`+b.named("list", "Ropes")+`"}], "data": {"title": "Lines", "days": "[2026-03-01,2026-03-05]",
					"slot": "[2026-03-01 10:00,2026-03-01 12:00)", "host": "10.0.0.2", "cost": 4, "code": "011", "pauses": ["30 min"]}}`),
				call(vocab.ToolUpdate, `{"table": "bills", "filters": [{"field": "amount", "op": "=", "value": 5}], "data": {"amount": 50}}`),
			}
		},
		"delete": func(b *bundle) []vocab.Call {
			return []vocab.Call{
				call(vocab.ToolDelete, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "`+b.named("list", "Ropes")+`"}]}`),
				call(vocab.ToolDelete, `{"table": "bills", "filters": [{"field": "amount", "op": "=", "value": 6}]}`),
			}
		},
		"delete with what goes and what lets go": func(b *bundle) []vocab.Call {
			return []vocab.Call{call(vocab.ToolDelete, `{"table": "boats", "filters": [{"field": "id", "op": "=", "value": "`+b.named("boat", "Swan")+`"}]}`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupQuay(t)
			b.read("boats", "bills", "lists", "keys")
			b.nextTurn()
			before := b.afloat()
			outcome := b.decide("write", calls(b)...)
			for _, r := range outcome.Results {
				require.Empty(t, r.ErrorMessage)
			}
			after, wrote, number := b.afloat(), b.scope.TurnID, b.scope.Turn
			require.NotEqual(t, before, after)
			require.Equal(t, "possible", b.undoable())

			b.agreed(wrote, number)
			require.Equal(t, before, b.afloat())
			undo := b.scope.TurnID
			require.Equal(t, "possible", b.undoable())
			b.agreed(undo, b.scope.Turn)
			require.Equal(t, after, b.afloat(), "an undo of the undo")
			b.agreed(b.scope.TurnID, b.scope.Turn)
			require.Equal(t, before, b.afloat(), "and of that")
		})
	}
}

// agreed undoes a turn with the user's approval.
func (b *bundle) agreed(turn uuid.UUID, number int) {
	b.t.Helper()

	b.nextTurn()
	outcome, err := b.tools.Undo(b.t.Context(), b.tx, b.at(), crud.Undoing{Turn: turn, Number: number, Agreed: true})
	require.NoError(b.t, err)
	for _, r := range outcome.Results {
		require.Empty(b.t, r.ErrorMessage)
	}
	require.NoError(b.t, db.New().TurnUndone(b.t.Context(), b.tx, &db.TurnUndoneParams{TurnID: turn, UndoneBy: b.scope.TurnID}))
}

// What the declaration forbids the assistant requires approval, and is only done with it.
func TestUndoAsksForApproval(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("keys")
	b.nextTurn()
	before := b.afloat()
	b.ok("write", vocab.ToolDelete, `{"table": "keys", "filters": [{"field": "id", "op": "=", "value": "`+b.named("key", "Shed")+`"}]}`)
	wrote, number, gone := b.scope.TurnID, b.scope.Turn, b.afloat()
	require.Equal(t, "possible", b.undoable(), "nothing stood in the log of this one")

	b.nextTurn()
	outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: wrote, Number: number, Asked: "“off with it”"})
	require.NoError(t, err)
	require.NotNil(t, outcome.Approval)
	require.Equal(t, "Taking back “off with it” would bring back keys, which I may not do unasked. Shall I?", outcome.Approval.Text)
	require.Equal(t, gone, b.afloat())
	b.agreed(wrote, number)
	require.Equal(t, before, b.afloat())
}

// What went along with a deleted row comes back with it: whoever took back a deletion was asked for leave to bring back its tags.
func TestUndoBringsBackWhatWentAlong(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "sales", `CREATE SCHEMA sales;
		CREATE TABLE sales.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE sales.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES sales.users, name text NOT NULL);
		CREATE TABLE sales.tags (id serial PRIMARY KEY, order_id integer NOT NULL REFERENCES sales.orders ON DELETE CASCADE, name text NOT NULL);
		INSERT INTO sales.users (name) VALUES ('Ada'); INSERT INTO sales.orders (user_id, name) VALUES (1, 'S1'); INSERT INTO sales.tags (order_id, name) VALUES (1, 'fair')`,
		map[string][]string{"order": {"name"}})
	b.read("orders")
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "orders", "filters": [{"field": "id", "op": "=", "value": "order_1"}]}`)
	wrote, number := b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: wrote, Number: number, Asked: "“off with it”"})
	require.NoError(t, err)
	require.Nil(t, outcome.Approval)
	require.Equal(t, "S1 fair", query[string](b, `SELECT o.name || ' ' || t.name FROM sales.orders AS o JOIN sales.tags AS t ON t.order_id = o.id`))
}

// Deleting a row also deletes rows of an undeclared table: this is said at the time, and the turn cannot be undone.
func TestUndoRefusesUndeclaredCascades(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("keys")
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "keys", "filters": [{"field": "id", "op": "=", "value": "`+b.named("key", "Gate")+`"}]}`)
	require.Equal(t, "impossible", b.undoable())
	require.Equal(t, "With the key, rows of key log are deleted or changed that I do not see and cannot bring back.",
		query[string](b, `SELECT undo_reason FROM turns WHERE id = $1`, b.scope.TurnID))
	after := b.afloat()
	outcome := b.undo(b.scope.TurnID, b.scope.Turn)
	require.Equal(t, crud.CodeNotAllowed, outcome.Results[0].ErrorCode)
	require.Equal(t, after, b.afloat())
}

// What triggers write into other tables stays: the user hears so when asked for permission, and when undoing.
func TestUndoSaysWhatTriggersWroteElsewhere(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("lists")
	list := b.named("list", "Ropes")
	b.nextTurn()
	const said = "What the database itself writes elsewhere after changes of lists is not undone."
	asked := b.decide("write", call("sink_all", `{"list_id": "`+list+`"}`))
	require.NotNil(t, asked.Approval)
	require.Contains(t, asked.Approval.Text, said+" Shall I?")
	require.Empty(t, asked.Aftermath, "nothing is written yet")

	b.ok("write", vocab.ToolUpdate, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "`+list+`"}], "data": {"title": "Lines"}}`)
	outcome := b.undo(b.scope.TurnID, b.scope.Turn)
	require.Empty(t, outcome.Results[0].ErrorMessage)
	require.Equal(t, said, outcome.Aftermath)
	require.Equal(t, 2, query[int](b, `SELECT count(*)::int FROM quay.titles`))
}

// An operation is undone by its declared inverse with those of the same arguments that it takes, with the user's approval,
// and only while all rows it affected are as it left them; an operation without one says so at once.
func TestUndoOfOperations(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("lists", "boats")
	list := b.named("list", "Ropes")
	b.nextTurn()
	before := b.afloat()
	b.ok("write", "moor_all", `{"list_id": "`+list+`", "at": 12, "why": "a storm"}`)
	moored, number, after := b.scope.TurnID, b.scope.Turn, b.afloat()
	require.NotEqual(t, before, after)
	require.Equal(t, "possible", b.undoable())
	require.Equal(t, []string{"boat", "boat", "list"}, query[[]string](b, `SELECT array_agg(entity_type ORDER BY entity_type) FROM row_changes WHERE turn_id = $1`, moored))

	b.exec(`UPDATE quay.boats SET fee = 13 WHERE name = 'Swan'`)
	b.nextTurn()
	outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: moored, Number: number, Agreed: true})
	require.NoError(t, err)
	require.Equal(t, "The boat Swan has changed since (fee), by another program, or the database itself. Nothing was taken back.", outcome.Results[0].ErrorMessage)
	b.exec(`UPDATE quay.boats SET fee = 12 WHERE name = 'Swan'`)

	require.Equal(t, "Moor all cannot be taken back in part. Nothing was changed.", b.undo(moored, number, b.named("boat", "Swan")).Results[0].ErrorMessage)

	b.nextTurn()
	outcome, err = b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: moored, Number: number, Asked: "“moor all”"})
	require.NoError(t, err)
	require.Equal(t, "Taking back “moor all” would do unmoor all, which I may not do unasked. Shall I?", outcome.Approval.Text)
	require.Equal(t, after, b.afloat())

	b.agreed(moored, number)
	require.Equal(t, before, b.afloat())
	require.Equal(t, "impossible", b.undoable(), "what took it back names no operation that would do it again")

	b.nextTurn()
	asked := b.decide("write", call("sink_all", `{"list_id": "`+list+`"}`))
	require.Contains(t, asked.Approval.Text, "Sink all cannot be taken back.")
}

// If a trigger alters a restored row, the undo fails.
func TestUndoFailsIfATriggerAltersRows(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.exec(`ALTER TABLE quay.trips DISABLE TRIGGER calm; UPDATE quay.trips SET note = ' far ' WHERE note = 'far'; ALTER TABLE quay.trips ENABLE TRIGGER calm`)
	b.read("boats")
	b.nextTurn()
	b.ok("write", vocab.ToolDelete, `{"table": "boats", "filters": [{"field": "id", "op": "=", "value": "`+b.named("boat", "Swan")+`"}]}`)
	after, wrote, number := b.afloat(), b.scope.TurnID, b.scope.Turn
	b.nextTurn()
	outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: wrote, Number: number, Agreed: true})
	require.NoError(t, err)
	require.Contains(t, outcome.Results[0].ErrorMessage, "The database would not leave the trip")
	require.Equal(t, after, b.afloat())
}

// An owner's deferred trigger names its tables without their schema and reads what the tenant may not: it runs as in the
// owner's own program, once all parts of a call are written.
func TestDeferredTriggersBehindViews(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("bills")
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "bills", "data": [{"amount": 100}, {"amount": 200}]}`)
	require.Equal(t, "Nobody owes more than 500.", b.refused("write", vocab.ToolCreate, `{"table": "bills", "data": {"amount": 300}}`, crud.CodeViolation))
	require.Equal(t, "5 6 100 200", query[string](b, `SELECT string_agg(amount::text, ' ' ORDER BY id) FROM quay.bills WHERE member_id = 1`))
}

// What one call violates, a later one of the same answer may mend; so may the parts of an undo.
func TestDeferredRulesAfterAllCalls(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.read("bills")
	b.nextTurn()
	before := b.afloat()
	raise := call(vocab.ToolUpdate, `{"table": "bills", "filters": [{"field": "amount", "op": "=", "value": 5}], "data": {"amount": 600}}`)
	read := call(vocab.ToolRead, `{"table": "bills"}`)
	outcome := b.decide("write", raise, read)
	require.Equal(t, "Nobody owes more than 500.", outcome.Results[0].ErrorMessage)
	require.Equal(t, crud.CodeNotExecuted, outcome.Results[1].ErrorCode)

	outcome = b.decide("write", raise, call(vocab.ToolCreate, `{"table": "bills", "data": {"amount": -200}}`), read)
	for _, r := range outcome.Results {
		require.Empty(t, r.ErrorMessage)
	}
	b.agreed(b.scope.TurnID, b.scope.Turn)
	require.Equal(t, before, b.afloat())
}

// Whoever may call settle gets none of the owner's rights: triggers of other tables run as their writer.
func TestSettlingRunsNobodyElsesTriggers(t *testing.T) {
	t.Parallel()
	b := setupQuay(t)
	b.exec(`SET LOCAL ROLE alfred_tenant`)
	b.exec(`CREATE TEMP TABLE mine (id int)`)
	b.exec(`CREATE FUNCTION pg_temp.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('test.ran_as', current_user, true); RETURN NULL; END $$`)
	b.exec(`CREATE CONSTRAINT TRIGGER limited AFTER INSERT ON mine DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.tell()`)
	b.exec(`INSERT INTO mine VALUES (1)`)
	b.exec(`SELECT quay_alfred.settle()`)
	b.exec(`SET CONSTRAINTS ALL IMMEDIATE`)
	b.exec(`RESET ROLE`)
	require.Equal(t, "alfred_tenant", query[string](b, `SELECT current_setting('test.ran_as')`))
}
