package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// depotSQL has rules that explain themselves in the owner's words: in a trigger, with an SQLSTATE of the owner's own,
// as a commented constraint, and deferred to the end of the transaction.
const depotSQL = `
CREATE SCHEMA depot;
CREATE TABLE depot.crates (
	id bigint GENERATED ALWAYS AS IDENTITY (START WITH 770001) PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, secret text,
	weight numeric CONSTRAINT not_too_heavy CHECK (weight <= 500),
	shelf integer CONSTRAINT one_each UNIQUE,
	UNIQUE (user_id, id));
COMMENT ON CONSTRAINT not_too_heavy ON depot.crates IS 'The lift carries 500 kg at most';
COMMENT ON CONSTRAINT one_each ON depot.crates IS 'A shelf holds one crate.';
CREATE TABLE depot.labels (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	crate_id bigint NOT NULL, text text NOT NULL,
	UNIQUE (user_id, id), FOREIGN KEY (user_id, crate_id) REFERENCES depot.crates (user_id, id));
CREATE FUNCTION depot.rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.name = 'silence' THEN
		RETURN NULL;
	ELSIF NEW.name = 'many' THEN
		RAISE EXCEPTION 'At most 50 crates' USING DETAIL = 'You have 50 already', HINT = 'Send one back first.';
	ELSIF NEW.name = 'own state' THEN
		RAISE EXCEPTION 'No crates on Sundays.' USING ERRCODE = 'DEP01';
	ELSIF NEW.name = 'as check' THEN
		RAISE EXCEPTION 'A crate needs a lid.' USING ERRCODE = 'check_violation';
	ELSIF NEW.name = 'key' THEN
		RAISE EXCEPTION 'Crate 0190f3a5-0000-7000-8000-000000000001 is locked.';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER rules BEFORE INSERT OR UPDATE ON depot.crates FOR EACH ROW EXECUTE FUNCTION depot.rules();
CREATE FUNCTION depot.late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM depot.labels WHERE crate_id = NEW.id) AND NEW.name LIKE 'labelled%' THEN
		RAISE EXCEPTION 'A labelled crate needs a label.';
	END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON depot.crates DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION depot.late();
GRANT SELECT, DELETE, INSERT (name, weight, shelf), UPDATE (name, weight, shelf) ON depot.crates TO alfred_tenant;
GRANT SELECT, INSERT (crate_id, text) ON depot.labels TO alfred_tenant;`

const depotYAML = `
name: depot
schema: depot
owner: user_id
persona: You keep crates.
entities:
  - type: crate
    table: crates
    label: "{name}"
    order: [name]
    writes: [create, update, delete]
    columns: [name, weight, shelf]
    children: [{type: label}]
  - {type: label, table: labels, label: "{text}", writes: [create], columns: [crate_id, text]}
subdomains:
  - {name: crates, description: All., tables: [crates, labels], guidance: none}
`

func setupDepot(t *testing.T) *bundle {
	t.Helper()

	return setupDeclared(t, depotSQL, depotYAML)
}

// W01, V17: the owner's own sentence for a refusal reaches model and user.
func TestW01OwnersMessagesAreShown(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "first", "shelf": 1}}`)
	for args, want := range map[string]string{
		`{"name": "many"}`:                 "At most 50 crates. You have 50 already. Send one back first.",
		`{"name": "own state"}`:            "No crates on Sundays.",
		`{"name": "as check"}`:             "A crate needs a lid.",
		`{"name": "key"}`:                  "Crate [id] is locked.",
		`{"name": "heavy", "weight": 501}`: "The lift carries 500 kg at most.",
		`{"name": "labelled, not really"}`: "A labelled crate needs a label.",
	} {
		require.Equal(t, want, b.refused("write", vocab.ToolCreate, sprintf(`{"table": "crates", "data": %s}`, args), crud.CodeViolation))
	}
	b.refused("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "silence"}}`, crud.CodeViolation)
	require.Equal(t, "A shelf holds one crate.", b.refused("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "second", "shelf": 1}}`, crud.CodeConflict))
	b.refused("write", vocab.ToolUpdate, `{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}], "data": {"name": "silence"}}`, crud.CodeStale)
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM depot.crates WHERE name = 'first'`))
}

// A refusal names what must not repeat, whether a constraint or an index of expressions or of some rows says so.
func TestUniqueIndexesNameTheirColumns(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.exec(`CREATE UNIQUE INDEX lower_name ON depot.crates (user_id, lower(name)) WHERE weight IS NULL;
		ALTER TABLE depot.crates ADD CONSTRAINT apart EXCLUDE USING gist (int4range(shelf, shelf + 10) WITH &&) WHERE (shelf IS NOT NULL);
		CREATE UNIQUE INDEX by_weight ON depot.crates (weight)`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "First"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Second", "weight": 3, "shelf": 20}}`)
	for args, want := range map[string]string{
		`{"name": "FIRST"}`:                            "Another crate has the same lower(name), where weight IS NULL.",
		`{"name": "Third", "weight": 3}`:               "Another crate has the same weight.",
		`{"name": "Fourth", "weight": 4, "shelf": 25}`: "Its shelf to shelf + 10 overlaps that of another row, where shelf IS NOT NULL. In the way: Second.",
	} {
		require.Equal(t, want, b.refused("write", vocab.ToolCreate, sprintf(`{"table": "crates", "data": %s}`, args), crud.CodeConflict))
	}
}

// Whoever is refused a time learns which of their rows is in the way, by a change too, and nothing of other people's.
func TestExclusionsNameWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "rooms", `CREATE EXTENSION IF NOT EXISTS btree_gist; CREATE SCHEMA rooms;
		CREATE TABLE rooms.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE rooms.bookings (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rooms.users, room integer NOT NULL, title text NOT NULL,
			"startsAt" timestamptz NOT NULL, ends_at timestamptz NOT NULL, value integer,
			EXCLUDE USING gist (room WITH =, tstzrange("startsAt", ends_at) WITH &&));
		INSERT INTO rooms.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO rooms.bookings (user_id, room, title, "startsAt", ends_at) VALUES (1, 1, 'Standup', '2026-01-02 09:00Z', '2026-01-02 10:00Z'), (2, 1, 'Secret', '2026-01-02 11:00Z', '2026-01-02 12:00Z')`,
		map[string][]string{"booking": {"room", "title", `"startsAt"`, "ends_at"}})
	booked := func(title, from, to string) string {
		return `{"room": 1, "title": "` + title + `", "startsAt": "2026-01-02T` + from + `:00Z", "ends_at": "2026-01-02T` + to + `:00Z"}`
	}
	const overlaps = `Its "startsAt" to ends_at overlaps that of another row with the same room.`
	refused := func(tool, args, want string) {
		t.Helper()
		require.Equal(t, want, b.refused("write", tool, args, crud.CodeConflict))
	}
	refused(vocab.ToolCreate, `{"table": "bookings", "data": `+booked("Review", "09:30", "10:30")+`}`, overlaps+" In the way: Standup.")
	refused(vocab.ToolCreate, `{"table": "bookings", "data": `+booked("Review", "11:30", "12:30")+`}`, overlaps)
	b.ok("write", vocab.ToolCreate, `{"table": "bookings", "data": `+booked("Review", "10:00", "11:00")+`}`)
	refused(vocab.ToolUpdate, `{"table": "bookings", "filters": [{"field": "title", "op": "=", "value": "Review"}], "set": [{"column": "startsAt", "value": "2026-01-02T09:45:00Z"}]}`, overlaps+" In the way: Standup.")
	moved := func(title, from, to string) vocab.Call {
		return call(vocab.ToolUpdate, `{"table": "bookings", "filters": [{"field": "title", "op": "=", "value": "`+title+`"}], "data": `+booked(title, from, to)+`}`)
	}
	require.Equal(t, overlaps+" In the way: Review. Calls are carried out in their order: if a later one would make room, put it first.",
		b.decide("write", moved("Standup", "09:15", "10:15"), moved("Review", "10:15", "11:00")).Results[0].ErrorMessage)
	require.Empty(t, b.decide("write", moved("Review", "10:15", "11:00"), moved("Standup", "09:15", "10:15")).Results[0].ErrorMessage)
}

// A deferred rule is attributed to the call that broke it, and a violation that the call itself fixes does not count.
func TestW01DeferredRules(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "labelled", "labels": [{"text": "fragile"}]}}`)
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "crates", "data": {"name": "plain"}}`),
		call(vocab.ToolUpdate, `{"table": "crates", "filters": [{"field": "name", "op": "=", "value": "plain"}], "data": {"name": "labelled too"}}`),
		call(vocab.ToolCreate, `{"table": "crates", "data": {"name": "after"}}`))
	require.Equal(t, crud.CodeNotExecuted, outcome.Results[0].ErrorCode)
	require.Equal(t, "A labelled crate needs a label.", outcome.Results[1].ErrorMessage)
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM depot.crates`))

	_, err := b.tools.Create(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "crate", []byte(`{"name": "labelled by hand"}`))
	require.EqualError(t, err, "rule_violation: A labelled crate needs a label.")
}

// W05: an update or delete whose filters do not match the named row fails the decision: its precondition does not hold.
func TestW05MissedGuardFailsTheDecision(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "sent", "weight": 3}}`)
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "crates", "data": {"name": "refund"}}`),
		call(vocab.ToolUpdate, `{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}, {"field": "name", "op": "=", "value": "open"}], "data": {"weight": 0}}`))
	require.Equal(t, crud.CodeNotFound, outcome.Results[1].ErrorCode)
	require.Equal(t, "The crate that is named does not fit the other filters. Nothing was changed: read it again.", outcome.Results[1].ErrorMessage)
	require.Equal(t, "sent 3", query[string](b, `SELECT string_agg(name || ' ' || weight, ', ') FROM depot.crates`))
	b.refused("write", vocab.ToolDelete, `{"table": "crates", "filters": [{"field": "id", "op": "in", "value": ["crate_1"]}, {"field": "weight", "op": ">", "value": 5}]}`, crud.CodeNotFound)
	require.Zero(t, b.ok("write", vocab.ToolDelete, `{"table": "crates", "filters": [{"field": "name", "op": "=", "value": "nothing called so"}]}`).RowCount,
		"what is not named by ref may be nothing")
}

// W10: refusing to delete a referenced row names the rows that reference it.
func TestW10RowInUse(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "labelled", "labels": [{"text": "fragile"}]}}`)
	require.Equal(t, "The crate labelled is still in use by 1 label.", b.refused("write", vocab.ToolDelete,
		`{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}]}`, crud.CodeConflict))
}

// Of many rows, those in use are named, so that the others can be deleted.
func TestW10WhichRowsAreInUse(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": [{"name": "free"}, {"name": "one", "labels": [{"text": "a"}]}, {"name": "two", "labels": [{"text": "b"}, {"text": "c"}]}]}`)
	b.nextTurn()
	all := `{"table": "crates", "filters": [{"field": "id", "op": "in", "value": ["crate_1", "crate_2", "crate_3"]}]}`
	want := "The crate one is still in use by 1 label. The crate two is still in use by 2 labels. Nothing was deleted."
	require.Equal(t, want, b.refused("write", vocab.ToolDelete, all, crud.CodeConflict))
	b.exec(`ALTER TABLE depot.labels ALTER CONSTRAINT labels_user_id_crate_id_fkey DEFERRABLE INITIALLY DEFERRED`)
	require.Equal(t, want, b.refused("write", vocab.ToolDelete, all, crud.CodeConflict))
	b.exec(`UPDATE depot.crates SET name = 'alike'; CREATE TABLE depot.secrets (crate_id bigint REFERENCES depot.crates); INSERT INTO depot.secrets SELECT min(id) FROM depot.crates`)
	require.Equal(t, "The crate is still in use by other rows.",
		b.refused("write", vocab.ToolDelete, `{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}]}`, crud.CodeConflict), "nobody sees by which")
}

// Behind views, the rows that refer to one are those of their views.
func TestW10RowsInUseBehindViews(t *testing.T) {
	t.Parallel()

	b := setupAltered(t, `ALTER TABLE quay.trips DROP CONSTRAINT trips_club_number_fkey, ADD FOREIGN KEY (club, number) REFERENCES quay.boats`)
	b.read("boats")
	b.nextTurn()
	require.Equal(t, "The boat Swan is still in use by 1 trip.",
		b.refused("write", vocab.ToolDelete, `{"table": "boats", "filters": [{"field": "name", "op": "=", "value": "Swan"}]}`, crud.CodeConflict))
}

// What points at a row by several columns is one row that uses it: "5 orders and 5 orders and 5 orders" were five.
func TestW10RowsInUseAreCountedOnce(t *testing.T) {
	t.Parallel()

	b := setupViews(t, "trade", `CREATE SCHEMA trade;
		CREATE TABLE trade.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE trade.customers (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES trade.users, name text NOT NULL);
		CREATE TABLE trade.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES trade.users, name text NOT NULL, buyer_id integer NOT NULL REFERENCES trade.customers, payer_id integer REFERENCES trade.customers);
		INSERT INTO trade.users (name) VALUES ('Ada'); INSERT INTO trade.customers (user_id, name) VALUES (1, 'Bo'), (1, 'Cy');
		INSERT INTO trade.orders (user_id, name, buyer_id, payer_id) VALUES (1, 'S1', 1, 1), (1, 'S2', 2, 1), (1, 'S3', 2, NULL)`, map[string][]string{"customer": {"name"}})
	b.read("customers")
	require.Equal(t, "The customer Bo is still in use by 2 orders.", b.refused("write", vocab.ToolDelete, `{"table": "customers", "filters": [{"field": "name", "op": "=", "value": "Bo"}]}`, crud.CodeConflict))
}

// The same holds for foreign keys that are checked at the end of the transaction, as all of Django's are.
func TestW10RowInUseFoundLate(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.exec(`ALTER TABLE depot.labels ALTER CONSTRAINT labels_user_id_crate_id_fkey DEFERRABLE INITIALLY DEFERRED`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "labelled", "labels": [{"text": "fragile"}]}}`)
	require.Equal(t, "The crate labelled is still in use by 1 label.", b.refused("write", vocab.ToolDelete,
		`{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}]}`, crud.CodeConflict))
	_, err := b.tools.Delete(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "crate", query[string](b, `SELECT id::text FROM depot.crates`), crud.Deletion{Version: ""})
	require.EqualError(t, err, "conflict: The crate labelled is still in use by 1 label.")
}

// W02: what the declaration forbids is refused by name, whatever a model or a user interface sends.
func TestW02OnlyWhatIsDeclared(t *testing.T) {
	t.Parallel()

	b := setupDepot(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "labelled", "labels": [{"text": "fragile"}]}}`)
	require.Equal(t, "secret can be read, and not written. Columns: name, weight, shelf, labels.",
		b.refused("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "x", "secret": "y"}}`, crud.CodeNotAllowed))
	require.Equal(t, "Changing rows of labels is not possible; what is: create.",
		b.refused("write", vocab.ToolUpdate, `{"table": "labels", "filters": [], "data": {"text": "y"}}`, crud.CodeNotAllowed))
	b.refused("write", vocab.ToolDelete, `{"table": "labels", "filters": []}`, crud.CodeNotAllowed)
	user := crud.User{ID: b.scope.UserID}
	_, err := b.tools.Patch(t.Context(), b.tx, user, "label", "1", "", []byte(`{"text": "y"}`))
	require.ErrorContains(t, err, "not_allowed: Changing rows of labels is not possible")
	_, err = b.tools.Create(t.Context(), b.tx, user, "crate", []byte(`{"name": "x", "secret": "y"}`))
	require.ErrorContains(t, err, "not_allowed: secret can be read, and not written")
	require.Contains(t, b.kit.ByType("label").Describe(), "labels (label), create only")
	require.Contains(t, b.kit.ByType("crate").Describe(), "- secret: text, never written")
}

// To a model, id is a row's ref, even where a column that is not the key has that name.
func TestIDIsTheRefWhateverColumnIsCalledSo(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `
		CREATE SCHEMA depot;
		CREATE TABLE depot.crates (
			number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id integer NOT NULL DEFAULT 7, name text NOT NULL,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid);
		GRANT SELECT, DELETE, INSERT (name), UPDATE (name) ON depot.crates TO alfred_tenant;`, `
name: depot
schema: depot
owner: user_id
persona: You keep crates.
entities: [{type: crate, table: crates, label: "{name}", writes: [create, update, delete], columns: [name]}]
subdomains: [{name: crates, description: All., tables: [crates]}]
`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "first"}}`)
	b.ok("write", vocab.ToolUpdate, `{"table": "crates", "filters": [{"field": "id", "op": "=", "value": "crate_1"}], "data": {"name": "renamed"}}`)
	require.Equal(t, "renamed", query[string](b, `SELECT name FROM depot.crates`))
	require.NotContains(t, b.kit.ByType("crate").Describe(), "- id:")
}

// A list takes an enum's values in any case, and a wrong one is refused with those that it may be.
func TestListsOfAnEnum(t *testing.T) {
	t.Parallel()
	b := setupDeclared(t, `
		CREATE SCHEMA hues;
		CREATE TYPE hues.hue AS ENUM ('red', 'dark blue');
		CREATE TABLE hues.flags (
			id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
			name text NOT NULL, hues hues.hue[], UNIQUE (user_id, id));
		GRANT SELECT, INSERT (name, hues) ON hues.flags TO alfred_tenant`, `
name: hues
schema: hues
owner: user_id
persona: You keep flags.
entities:
  - {type: flag, table: flags, label: "{name}", order: [name], writes: [create], columns: [name, hues]}
subdomains:
  - {name: flags, description: All., tables: [flags], guidance: none}
`)
	b.ok("write", vocab.ToolCreate, `{"table": "flags", "data": {"name": "a", "hues": ["Red", "dark blue"]}}`)
	require.Equal(t, "{red,\"dark blue\"}", query[string](b, `SELECT hues::text FROM hues.flags`))
	require.Equal(t, "hues has to be one of red, dark blue.",
		b.refused("write", vocab.ToolCreate, `{"table": "flags", "data": {"name": "b", "hues": ["pink"]}}`, crud.CodeBadValue))
	require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "flags", "filters": [{"field": "hues", "op": "contains", "value": "RED"}]}`).RowCount)
}

// A question about a deletion says what goes with the rows, at whatever depth, and counts no row that it names itself.
func TestDeletionSaysWhatGoesWithIt(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `
		CREATE SCHEMA plans;
		CREATE TABLE plans.projects (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid, name text NOT NULL, UNIQUE (user_id, id));
		CREATE TABLE plans.tasks (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid, name text NOT NULL, project_id bigint, parent_id bigint,
			UNIQUE (user_id, id), FOREIGN KEY (user_id, project_id) REFERENCES plans.projects (user_id, id) ON DELETE CASCADE,
			FOREIGN KEY (user_id, parent_id) REFERENCES plans.tasks (user_id, id) ON DELETE CASCADE);
		CREATE TABLE plans.notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid, text text NOT NULL, task_id bigint,
			FOREIGN KEY (user_id, task_id) REFERENCES plans.tasks (user_id, id) ON DELETE CASCADE);
		CREATE TABLE plans.days (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid, day date NOT NULL, task_id bigint,
			FOREIGN KEY (user_id, task_id) REFERENCES plans.tasks (user_id, id) ON DELETE SET NULL (task_id));
		DO $$ DECLARE one text; BEGIN
			FOREACH one IN ARRAY ARRAY['projects', 'tasks', 'notes', 'days'] LOOP
				EXECUTE format('GRANT SELECT, DELETE ON plans.%I TO alfred_tenant', one);
			END LOOP;
		END $$;`, `
name: plans
schema: plans
owner: user_id
persona: You plan.
entities:
  - {type: project, table: projects, label: "{name}", writes: [delete], approve: [delete]}
  - {type: task, table: tasks, label: "{name}", writes: [delete], approve: [delete]}
  - {type: note, table: notes, label: "{text}", writes: [delete]}
  - {type: day, table: days, label: "{day}", writes: [delete]}
subdomains:
  - {name: plans, description: All., tables: [projects, tasks, notes, days], guidance: none}
`)
	b.exec(`INSERT INTO plans.projects (user_id, name) SELECT $1, name FROM unnest(ARRAY['House', 'Boat', 'Idle']) AS name`, b.scope.UserID)
	b.exec(`INSERT INTO plans.tasks (user_id, name, project_id, parent_id) VALUES ($1, 'Roof', 1, NULL), ($1, 'Beams', NULL, 1), ($1, 'Nails', NULL, 2), ($1, 'Mast', 2, NULL)`, b.scope.UserID)
	b.exec(`INSERT INTO plans.notes (user_id, text, task_id) VALUES ($1, 'Thirty of them', 3), ($1, 'Nobody''s', NULL)`, b.scope.UserID)
	b.exec(`INSERT INTO plans.days (user_id, day, task_id) VALUES ($1, '2026-06-01', 4), ($1, '2026-06-02', 3), ($1, '2026-06-03', 3)`, b.scope.UserID)
	about := func(table string, names ...string) vocab.Call {
		return call(vocab.ToolDelete, sprintf(`{"table": %q, "filters": [{"field": "name", "op": "in", "value": ["%s"]}]}`, table, strings.Join(names, `", "`)))
	}
	for want, calls := range map[string][]vocab.Call{
		"This would delete 1 project: Idle.": {about("projects", "Idle")},
		"This would delete 1 project: House, with its 3 tasks and 1 note; 2 days would no longer name it.":                                                                                              {about("projects", "House")},
		"This would delete 2 projects: House, Boat, with their 4 tasks and 1 note; 3 days would no longer name them.":                                                                                   {about("projects", "House"), about("projects", "Boat")},
		"This would delete 1 task: Beams, with its 1 task and 1 note; 2 days would no longer name it.":                                                                                                  {about("tasks", "Beams")},
		"This would delete 1 project: House, with its 1 task and 1 note; 2 days would no longer name it. This would delete 2 tasks: Beams, Nails, with their 1 note; 2 days would no longer name them.": {about("projects", "House"), about("tasks", "Nails", "Beams")},
	} {
		asked, _, _ := strings.Cut(b.decide("write", calls...).Approval.Text, " Deleted ") // what cannot be brought back
		require.Equal(t, want, asked)
	}
}
