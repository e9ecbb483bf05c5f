package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const chores = `CREATE SCHEMA chores;
CREATE TABLE chores.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE chores.homes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES chores.users, name text NOT NULL);
CREATE TABLE chores.rooms (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, home_id integer NOT NULL REFERENCES chores.homes, name text NOT NULL, UNIQUE (home_id, name));
CREATE TABLE chores.jobs (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, home_id integer NOT NULL REFERENCES chores.homes, room_id integer NOT NULL REFERENCES chores.rooms);
INSERT INTO chores.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO chores.homes (user_id, name) VALUES (1, 'Flat'), (1, 'Cabin');
INSERT INTO chores.rooms (home_id, name) VALUES (1, 'Kitchen'), (2, 'Kitchen'), (2, 'Porch');
INSERT INTO chores.jobs (title, home_id, room_id) VALUES ('Sweep', 1, 1), ('Scrub', 2, 2), ('Paint', 2, 3)`

// What a name means alone where its rows belong to others is decided by what else the same call says of these: a kitchen in the
// flat is no other than the flat's.
func TestNamesAreReadWithinTheirParents(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "chores", chores, map[string][]string{"job": {"title", "home_id", "room_id"}})
	filter := func(field, value string) string {
		return `{"field": "` + field + `", "op": "=", "value": "` + value + `"}`
	}
	const room = `, {"field": "room_id", "op": "=", "value": "kitchen"}`
	for _, filters := range []string{filter("home_id", "Cabin") + room, filter("room_id", "Kitchen") + ", " + filter("home_id", "cabin"), filter("room_id.home_id", "Cabin") + room, filter("home_id.name", "Cabin") + room, filter("room_id.home_id.name", "Cabin") + room, filter("home_id", "Cabin") + room + ", " + filter("room_id.name", "Kitchen")} {
		require.Equal(t, []string{"Scrub"}, column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "jobs", "filters": [`+filters+`]}`)), "title"), filters)
	}
	require.Contains(t, b.refused("read", vocab.ToolRead, `{"table": "jobs", "filters": [`+filter("room_id", "Kitchen")+`]}`, crud.CodeUnknownRef), "Several rooms are called")
	b.refused("read", vocab.ToolRead, `{"table": "jobs", "filters": [`+filter("home_id", "Hut")+room+`]}`, crud.CodeUnknownRef)
	b.read("homes")

	for _, home := range []string{"Cabin", query[string](b, `SELECT ref FROM alfred.entity_refs WHERE session_id = $1 AND label = 'Cabin'`, b.scope.SessionID)} {
		b.ok("write", vocab.ToolCreate, `{"table": "jobs", "data": {"title": "Dust", "room_id": "Kitchen", "home_id": "`+home+`"}}`)
	}
	require.EqualValues(t, 2, query[int64](b, `SELECT count(*) FROM chores.jobs WHERE title = 'Dust' AND home_id = 2 AND room_id = 2`))
	b.ok("write", vocab.ToolUpdate, `{"table": "jobs", "filters": [`+filter("title", "Paint")+`], "data": {"home_id": "Flat", "room_id": "Kitchen"}}`)
	require.EqualValues(t, 1, query[int64](b, `SELECT count(*) FROM chores.jobs WHERE title = 'Paint' AND home_id = 1 AND room_id = 1`))
	b.ok("write", vocab.ToolUpdate, `{"table": "jobs", "filters": [`+filter("title", "Scrub")+`], "data": {"room_id": "Kitchen", "title": "Scour"}}`)
	require.EqualValues(t, 2, query[int64](b, `SELECT room_id FROM chores.jobs WHERE title = 'Scour'`), "it is one of the cabin's")
}

// So it is where a label does not say to what rows belong, and several rows have one name.
func TestEqualNamesAreReadWithinTheirParents(t *testing.T) {
	t.Parallel()
	const owner = `user_id uuid NOT NULL DEFAULT '` + demoUser + `', UNIQUE (user_id, id)`
	b := setupDeclared(t, `CREATE SCHEMA cabins;
		CREATE TABLE cabins.homes (id serial PRIMARY KEY, name text NOT NULL, `+owner+`);
		CREATE TABLE cabins.rooms (id serial PRIMARY KEY, home_id integer NOT NULL, name text NOT NULL, `+owner+`, FOREIGN KEY (user_id, home_id) REFERENCES cabins.homes (user_id, id));
		CREATE TABLE cabins.jobs (id serial PRIMARY KEY, name text NOT NULL, home_id integer NOT NULL, room_id integer, `+owner+`,
			FOREIGN KEY (user_id, home_id) REFERENCES cabins.homes (user_id, id), FOREIGN KEY (user_id, room_id) REFERENCES cabins.rooms (user_id, id));
		INSERT INTO cabins.homes (name) VALUES ('Flat'), ('Cabin');
		INSERT INTO cabins.rooms (home_id, name) VALUES (1, 'Kitchen'), (2, 'Kitchen'), (2, 'Summer kitchen');
		INSERT INTO cabins.jobs (name, home_id, room_id) VALUES ('Sweep', 1, 1), ('Scrub', 2, 2);
		GRANT SELECT ON ALL TABLES IN SCHEMA cabins TO alfred_tenant; GRANT USAGE ON ALL SEQUENCES IN SCHEMA cabins TO alfred_tenant; GRANT INSERT (name, home_id, room_id) ON cabins.jobs TO alfred_tenant`, `
name: cabins
schema: cabins
owner: user_id
persona: You keep cabins.
entities:
  - {type: home, table: homes, label: "{name}"}
  - {type: room, table: rooms, label: "{name}"}
  - {type: job, table: jobs, label: "{name}", writes: [create], columns: [name, home_id, room_id]}
subdomains:
  - {name: cabins, description: All., tables: [homes, rooms, jobs], guidance: none}
`)
	require.Equal(t, []string{"Scrub"}, b.found("jobs", `{"field": "room_id", "op": "in", "value": ["kitchen"]}, {"field": "home_id", "op": "=", "value": "Cabin"}`))
	b.ok("write", vocab.ToolCreate, `{"table": "jobs", "data": [{"name": "Dust", "room_id": "Kitchen", "home_id": "flat"}, {"name": "Wax", "room_id": "Kitchen", "home_id": "Cabin"}]}`)
	require.Equal(t, "1 2", query[string](b, `SELECT string_agg(room_id::text, ' ' ORDER BY name) FROM cabins.jobs WHERE name IN ('Dust', 'Wax')`))
	refused := b.refused("write", vocab.ToolCreate, `{"table": "jobs", "data": {"name": "Dust", "room_id": "Kitchen", "home_id": "Hut"}}`, crud.CodeUnknownRef)
	require.Contains(t, refused, "Several rooms are called Kitchen")
}

// Whoever is asked about rows of one name is told whose each is, whatever else tells them apart.
func TestQuestionsSayWhoseNamesakesAre(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "chores", chores+`;
		CREATE TABLE chores.steps (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job_id integer NOT NULL REFERENCES chores.jobs ON DELETE CASCADE, title text NOT NULL, due date);
		INSERT INTO chores.steps (job_id, title, due) VALUES (1, 'Dust', '2026-12-03'), (2, 'Dust', '2026-12-04'), (3, 'Dry', NULL)`, map[string][]string{"step": {"job_id", "title", "due"}})
	b.read("steps")
	asked := b.decide("write", call(vocab.ToolUpdate, `{"table": "steps", "filters": [{"field": "title", "op": "=", "value": "Dust"}], "set": [{"column": "due", "value": "2026-12-24"}]}`)).Approval
	require.Contains(t, asked.Text, "This would change 2 steps (due: Thu Dec 24, 2026): Dust, due: Dec 3, 2026, job Sweep; Dust, due: Dec 4, 2026, job Scrub. Shall I?")
}
