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
	for _, filters := range []string{filter("home_id", "Cabin") + room, filter("room_id", "Kitchen") + ", " + filter("home_id", "cabin"), filter("room_id.home_id", "Cabin") + room, filter("home_id.name", "Cabin") + room} {
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
