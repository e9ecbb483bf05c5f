package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// What a model writes in another form than was asked for is read if it can mean only one thing.
func TestOtherFormsAreRead(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
	for args, rows := range map[string]int{
		`{"table": "Recipe", "order_by": "name", "order_dir": "DESC", "detail": "Full"}`:                      3,
		`{"table": "recipes", "filters": [{"field": "name", "op": "ILIKE", "value": "%chick%"}]}`:             1,
		`{"table": "recipes", "filters": [{"field": "cuisine", "op": "==", "value": "Indian"}]}`:              1,
		`{"table": "recipes", "filters": [{"field": "cuisine", "op": "NOT IN", "value": ["indian"]}]}`:        2,
		`{"table": "recipes", "filters": [{"field": "cuisine", "op": "is not null", "value": ""}]}`:           3,
		`{"table": "recipes", "filters": [{"field": "cuisine", "op": "is_null", "value": "null"}]}`:           0,
		`{"table": "recipes", "filters": [{"field": "id", "op": "in", "value": ["Recipe_1", "'recipe_2'"]}]}`: 2,
		`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "ref: recipe_1"}]}`:             1,
	} {
		require.Equal(t, rows, b.ok("read", vocab.ToolRead, args).RowCount, args)
	}

	b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "`+"`recipe_1`"+`"}],
		"set": [{"column": "tags", "value": "[\"quick\", \"mild\"]"}, {"column": "description", "value": 5}, {"column": "servings", "value": "4"}]}`)
	require.Equal(t, "quick mild 5 4", query[string](b, `SELECT array_to_string(tags, ' ') || ' ' || description || ' ' || servings FROM kitchen.recipes WHERE name = 'Butter Chicken'`))
	for value, bought := range map[string]bool{`"yes"`: true, `"True"`: true, `"no"`: false} {
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "Salt", "is_purchased": `+value+`}}`)
		require.Equal(t, bought, query[bool](b, `SELECT is_purchased FROM kitchen.shopping_list ORDER BY created_at DESC, id DESC LIMIT 1`), value)
		b.exec(`DELETE FROM kitchen.shopping_list`)
	}
}

// What was hardly meant as it stands is refused with what to write instead: a filter that fits nothing would be taken for
// an answer, and a word for nothing would be stored.
func TestFormsThatMeanSomethingElseAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Butter Chicken"}]}`)
	filter := func(op, value string) string {
		return `{"table": "recipes", "filters": [{"field": "cuisine", "op": "` + op + `", "value": "` + value + `"}]}`
	}
	for args, says := range map[string]string{
		filter("=", "%ind%"):       "use contains",
		filter("contains", "%ind"): "use contains",
		filter("=", "null"):        "use is_null",
		filter("not_ilike", "x"):   "There is no operator",
	} {
		require.Contains(t, b.refused("read", vocab.ToolRead, args, crud.CodeBadFilter), says, args)
	}
	one := `"filters": [{"field": "id", "op": "=", "value": "recipe_1"}]`
	for set, code := range map[string]crud.Code{
		`[{"column": "description", "value": "null"}]`:       crud.CodeBadValue,
		`[{"column": "servings", "value": "four"}]`:          crud.CodeBadValue,
		`[{"column": "tags", "value": "quick"}]`:             crud.CodeBadValue,
		`[{"column": "servings", "value": 4, "value": 5}]`:   crud.CodeBadArgument,
		`[{"column": "parent_recipe_id", "value": "Chili"}]`: crud.CodeUnknownRef,
	} {
		b.refused("write", vocab.ToolUpdate, `{"table": "recipes", `+one+`, "set": `+set+`}`, code)
	}
	twice := `{"table": "recipes", ` + one + `, "filters": [{"field": "servings", "op": ">", "value": 0}]}`
	require.Contains(t, b.refused("write", vocab.ToolDelete, twice, crud.CodeBadArgument), `"filters" stands twice in one object`)
	for _, date := range []string{"tomorrow", "12/05/2026", "Friday"} {
		require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Shop", "due_date": "`+date+`"}}`, crud.CodeBadValue), "2026-01-31")
	}
}

// Words of a list are meant however people write them: nobody says in_progress.
func TestWordsOfAList(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "desk", `CREATE SCHEMA desk;
		CREATE TABLE desk.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE desk.tickets (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, subject text NOT NULL, status varchar(20) NOT NULL);
		INSERT INTO desk.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO desk.tickets (user_id, subject, status) SELECT 1, 'Ticket ' || i, (ARRAY['in_progress', 'done', 'on hold'])[1 + i % 3] FROM generate_series(1, 15) AS i`,
		map[string][]string{"ticket": {"subject", "status"}})
	for said, kept := range map[string]string{"In Progress": "in_progress", "ON-HOLD": "on hold", " done ": "done"} {
		found := b.ok("read", vocab.ToolRead, `{"table": "tickets", "filters": [{"field": "status", "op": "=", "value": "`+said+`"}]}`)
		require.Len(t, b.rows(found), 5, said)
		b.ok("write", vocab.ToolCreate, `{"table": "tickets", "data": {"subject": "new", "status": "`+said+`"}}`)
		require.Equal(t, kept, query[string](b, `SELECT status FROM desk.tickets ORDER BY id DESC LIMIT 1`))
		b.exec(`DELETE FROM desk.tickets WHERE subject = 'new'`)
	}
	require.Equal(t, "status has to be one of done, in_progress, on hold.", b.refused("write", vocab.ToolCreate, `{"table": "tickets", "data": {"subject": "new", "status": "waiting"}}`, crud.CodeBadValue))
}

// Several wrong columns of a call are refused with one list of those that there are.
func TestColumnsAreListedOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	refused := b.refused("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "x", "colour": "red", "size": 3}}`, crud.CodeUnknownColumn)
	require.Contains(t, refused, `tasks has no column "colour" to write. Columns: title`)
	require.Contains(t, refused, `tasks has no column "size" to write.`)
	require.Equal(t, 1, strings.Count(refused, "Columns: "))
}
