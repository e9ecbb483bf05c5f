package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

const sqlIntro = `# SQL

Everything in schema ` + "`alfred`" + `. ` + "`make generate`" + ` writes this page from the catalog's comments, which ` + "`\\d+`" + ` and ` + "`\\df+`" + ` also show in psql.

- **The public API** is the views and functions of the first two sections. Their names, columns, arguments and meaning change only with a major version (before 1.0, a minor one).
  Columns and optional arguments may be added, so name the columns that you select.
- **Tables** are documented for operators. They may change with any version; migrations carry the data over.
- ` + "`SET search_path = alfred, public`" + ` saves writing the schema. The owner sees all users' rows. A transaction with role ` + "`alfred_tenant`" + ` and
  ` + "`alfred.user_id`" + ` set sees one user's.
- Tables whose names start with ` + "`river_`" + ` are River's; ` + "`v_queue`" + ` shows the part that concerns Alfred.
- A function that refuses says why, with one of these SQLSTATEs:

| SQLSTATE | meaning |
|---|---|
| ` + "`AL001`" + ` | there is no such session or turn, or it is another user's |
| ` + "`AL002`" + ` | the session is archived |
| ` + "`AL003`" + ` | another turn is running or waiting, and ` + "`if_busy`" + ` is ` + "`reject`" + `; the detail is its id |
| ` + "`AL004`" + ` | 20 messages are waiting in the session |
| ` + "`AL005`" + ` | an argument cannot be used; the message says what it may be |
| ` + "`AL006`" + ` | the message is longer than 32 KiB |
| ` + "`AL007`" + ` | of the inside: the turn or its job belongs to another attempt by now |
| ` + "`AL008`" + ` | the question was answered, has expired or was replaced |
| ` + "`AL009`" + ` | the turn cannot be undone, or not be forked at; the message says why |
| ` + "`AL010`" + ` | another database serves the user, or will soon |
`

// publicMark begins a comment whose object is public API.
const publicMark = "Public API. "

// relation is a table or a view.
type relation struct {
	Name, Kind, Comment string
	Columns             []column
}

type column struct {
	Name, Type, Comment string
	Nullable            bool
}

type function struct {
	Name, Arguments, Result, Comment string
}

// docs/sql.md is generated from the catalog.
func TestSQLIsDocumented(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	relations, functions := readRelations(t, tx), readFunctions(t, tx)
	isPublic := func(comment string) bool { return strings.HasPrefix(comment, publicMark) }
	for _, state := range raisedStates(t, tx) {
		require.Contains(t, sqlIntro, "| `"+state+"` |")
	}
	var page strings.Builder
	page.WriteString(sqlIntro)
	page.WriteString("\n## Public views\n")
	for _, r := range relations {
		require.Equal(t, isPublic(r.Comment), r.Kind == "v", "%s: the public relations are the views", r.Name)
		if r.Kind == "v" {
			page.WriteString(r.markdown(t))
		}
	}
	for _, public := range []bool{true, false} {
		page.WriteString(map[bool]string{true: "\n## Public functions\n", false: "\n## Functions of the inside\n\n"}[public])
		for _, f := range functions {
			if isPublic(f.Comment) == public {
				page.WriteString(f.markdown(public))
			}
		}
	}
	page.WriteString("\n## Enumerations\n\n")
	page.WriteString(readEnums(t, tx))
	page.WriteString("\n## Tables\n")
	for _, r := range relations {
		if r.Kind != "v" {
			page.WriteString(r.markdown(t))
		}
	}
	same(t, "docs/sql.md", page.String())
}

func (r *relation) markdown(t *testing.T) string {
	t.Helper()

	var text strings.Builder
	fmt.Fprintf(&text, "\n### %s\n\n%s\n\n| column | type | meaning |\n|---|---|---|\n", r.Name, strings.TrimPrefix(r.Comment, publicMark))
	for _, c := range r.Columns {
		require.NotEmpty(t, c.Comment, "%s.%s has no comment", r.Name, c.Name)
		kind := c.Type
		if c.Nullable && r.Kind != "v" {
			kind += ", null"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", c.Name, kind, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(c.Comment))
	}

	return text.String()
}

func (f *function) markdown(public bool) string {
	if public {
		return fmt.Sprintf("\n### %s\n\n```\n%s(%s) returns %s\n```\n\n%s\n", f.Name, f.Name, f.Arguments, f.Result, strings.TrimPrefix(f.Comment, publicMark))
	}

	return fmt.Sprintf("- `%s`: %s\n", f.Name, f.Comment)
}

func readRelations(t *testing.T, tx pgx.Tx) []relation {
	t.Helper()

	rows, err := tx.Query(t.Context(), `
		SELECT c.relname, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''), a.attname, format_type(a.atttypid, a.atttypmod),
			coalesce(col_description(c.oid, a.attnum), ''), NOT a.attnotnull
		FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = 'alfred'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
			AND c.relname !~ '^river|_migrations$'
		ORDER BY c.relname COLLATE "C", a.attnum`)
	require.NoError(t, err)
	var relations []relation
	var r relation
	var c column
	_, err = pgx.ForEachRow(rows, []any{&r.Name, &r.Kind, &r.Comment, &c.Name, &c.Type, &c.Comment, &c.Nullable}, func() error {
		if i := len(relations); i == 0 || relations[i-1].Name != r.Name {
			relations = append(relations, relation{Name: r.Name, Kind: r.Kind, Comment: r.Comment})
		}
		last := &relations[len(relations)-1]
		last.Columns = append(last.Columns, c)

		return nil
	})
	require.NoError(t, err)

	return relations
}

func readFunctions(t *testing.T, tx pgx.Tx) []function {
	t.Helper()

	rows, err := tx.Query(t.Context(), `
		SELECT p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), coalesce(obj_description(p.oid, 'pg_proc'), '')
		FROM pg_proc AS p WHERE p.pronamespace = 'alfred'::regnamespace AND p.proname NOT LIKE 'river%'
		ORDER BY p.proname COLLATE "C", 2`)
	require.NoError(t, err)
	functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
	require.NoError(t, err)

	return functions
}

// raisedStates are the SQLSTATEs of our own that functions raise.
func raisedStates(t *testing.T, tx pgx.Tx) []string {
	t.Helper()

	rows, err := tx.Query(t.Context(), `
		SELECT DISTINCT m[1] FROM pg_proc AS p, regexp_matches(p.prosrc, '\mAL\d{3}\M', 'g') AS m WHERE p.pronamespace = 'alfred'::regnamespace`)
	require.NoError(t, err)
	states, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(states), 5)

	return states
}

func readEnums(t *testing.T, tx pgx.Tx) string {
	t.Helper()

	rows, err := tx.Query(t.Context(), `
		SELECT format(E'- `+"`%s`: %s\\n"+`', y.typname, string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder))
		FROM pg_enum AS e JOIN pg_type AS y ON y.oid = e.enumtypid
		WHERE y.typnamespace = 'alfred'::regnamespace AND y.typname NOT LIKE 'river%' GROUP BY y.typname ORDER BY y.typname COLLATE "C"`)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return strings.Join(slices.Clip(lines), "")
}
