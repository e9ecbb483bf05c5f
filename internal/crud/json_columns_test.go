package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const register = `CREATE SCHEMA register;
CREATE TABLE register.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE register.students (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES register.users, name text NOT NULL, contact jsonb);
INSERT INTO register.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO register.students (user_id, name, contact) VALUES (1, 'Ana', '{"mother": "Mrs Jung", "phone": "0170-300"}'), (1, 'Bo', '"by mail"')`

// A word is not written over an object, nor a part of an object over the whole, nor what was to be an object and is none as a word: each
// takes along what stood there.
func TestJSONKeepsItsStructure(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "register", register, map[string][]string{"student": {"name", "contact"}})
	b.read("students")
	set := func(ref, contact string) string {
		return `{"table": "students", "filters": [{"field": "id", "op": "=", "value": "` + ref + `"}], "set": [{"column": "contact", "value": ` + contact + `}], "clear": []}`
	}
	require.Equal(t, `contact holds {"mother":"Mrs Jung","phone":"0170-300"}: give the whole of it as it is to be, as JSON, with null for what is to go.`, b.refused("write", vocab.ToolUpdate, set("student_1", `"phone: 0170-555"`), crud.CodeBadValue))
	require.Contains(t, b.refused("write", vocab.ToolUpdate, set("student_1", `"{phone: 0170-555}"`), crud.CodeBadValue), "contact has to be JSON")
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "students", "data": {"name": "Cy", "contact": "[0170-555"}}`, crud.CodeBadValue), "contact has to be JSON")

	require.Contains(t, b.refused("write", vocab.ToolUpdate, set("student_1", `"{\"phone\": \"0170-555\"}"`), crud.CodeBadValue), `contact holds {"mother":"Mrs Jung","phone":"0170-300"}: give the whole`)
	b.ok("write", vocab.ToolUpdate, set("student_1", `"{\"mother\": \"Mrs Jung\", \"phone\": \"0170-555\"}"`))
	b.ok("write", vocab.ToolUpdate, set("student_1", `"{\"mother\": {\"name\": \"Jung\", \"age\": 40}, \"phone\": null}"`))
	b.refused("write", vocab.ToolUpdate, set("student_1", `"{\"mother\": {\"name\": \"Jun\"}, \"phone\": null}"`), crud.CodeBadValue)
	b.ok("write", vocab.ToolUpdate, set("student_2", `"by phone"`))
	b.ok("write", vocab.ToolUpdate, `{"table": "students", "filters": [{"field": "id", "op": "=", "value": "student_1"}], "set": [], "clear": ["contact"]}`)
	require.Equal(t, `null "by phone"`, query[string](b, `SELECT string_agg(coalesce(contact::text, 'null'), ' ' ORDER BY id) FROM register.students`))
}

// A reply states what a change was from: of JSON the whole, of a reference what the row was called.
func TestChangesTellWhatWas(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "register", register+`;
		CREATE TABLE register.rooms (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES register.users, name text NOT NULL);
		ALTER TABLE register.students ADD room_id integer REFERENCES register.rooms; INSERT INTO register.rooms (user_id, name) VALUES (1, 'Blue'), (1, 'Red')`,
		map[string][]string{"student": {"name", "contact", "room_id"}})
	b.read("students", "rooms")
	was := func(set string) any {
		result := b.ok("write", vocab.ToolUpdate, `{"table": "students", "filters": [{"field": "id", "op": "=", "value": "student_1"}], "set": [`+set+`]}`)
		b.scope.Call++

		return b.rows(result)[0]["_was"]
	}
	room := func(name string) string { return `{"column": "room_id", "value": "` + name + `"}` }
	require.Equal(t, map[string]any{"room": nil}, was(room("room_1")))
	require.Equal(t, map[string]any{"room": "Blue"}, was(room("room_2")))
	contact := func(value string) string {
		return `{"column": "contact", "value": "` + strings.ReplaceAll(value, `"`, `\"`) + `"}`
	}
	require.Equal(t, map[string]any{"contact": map[string]any{"mother": "Mrs Jung", "phone": "0170-300"}}, was(contact(`{"mother": "Mrs Jung", "phone": "0170-555"}`)))
	require.Equal(t, map[string]any{"contact": map[string]any{"mother": "Mrs Jung", "phone": "0170-555"}}, was(contact(`{"mother": "Mrs Jung", "phone": "`+strings.Repeat("0", 99)+`"}`)))
	require.Nil(t, was(contact(`{"mother": "Mrs Jung", "phone": "1"}`)), "too long")
}

// A word is found wherever it stands in a column of JSON: nobody knows below which key.
func TestWordsAreFoundWithinJSON(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "register", register, map[string][]string{"student": {"name", "contact"}})
	for word, n := range map[string]int{"jung": 1, "mail": 1, "0170": 1, "mother": 0, "%": 0, `{\"phone\": \"0170-300\"}`: 1, `{\"phone\": \"0170\"}`: 0} {
		require.Equal(t, n, b.ok("read", vocab.ToolRead, `{"table": "students", "filters": [{"field": "contact", "op": "contains", "value": "`+word+`"}]}`).RowCount, word)
	}
}
