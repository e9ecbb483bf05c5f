package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readSamples reads what the catalog does not know: rows, which show what programs write into them, of the tables that
// may be read, and the sequences that only programs use.
func (w *initWriter) readSamples(ctx context.Context, tx pgx.Tx) error {
	w.lacking, w.numbers = map[*Column]float64{}, map[*Column][]int{}
	w.keys, w.blank, w.kinds, w.words, w.tongues, w.counted = map[*catalogTable][]string{}, map[*Column]bool{}, map[*catalogTable]map[*catalogTable]string{}, map[*Column][]string{}, map[*Column][]string{}, map[*Column]string{}
	open, err := collect(ctx, tx, pgx.RowTo[uint32], "init domain", "SELECT oid FROM unnest($1::oid[]) AS t (oid) WHERE has_table_privilege(oid, 'SELECT')", w.cat.oids())
	if err != nil {
		return err
	}
	for _, t := range w.cat.tables {
		if t.View || t.Beyond || !slices.Contains(open, t.OID) {
			continue
		}
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return w.readSample(ctx, tx, t) })
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok { // by a policy that wants a setting, or by the server of a foreign partition
			w.Unread = append(w.Unread, fmt.Sprintf("%s (%s)", t.Name, oneLine(refused.Message)))
		} else if err != nil {
			return err
		}
	}
	w.adoptCounts()
	w.sequences, err = collect(ctx, tx, pgx.RowToStructByPos[sequence], "init domain: read sequences", sequencesSQL, []string(w.cat.schemas))

	return err
}

func (w *initWriter) readSample(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	for _, read := range []func(context.Context, pgx.Tx, *catalogTable) error{w.readKeys, w.readBlank, w.readKinds, w.readWords, w.readTongues, w.readCounts, w.readNumbers} {
		if err := read(ctx, tx, t); err != nil {
			return err
		}
	}

	return nil
}

// readKeys samples the keys that are texts: by them, init tells those that programs make up.
func (w *initWriter) readKeys(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	if len(t.primary) != 1 || t.column(t.primary[0]).Kind != KindText {
		return nil
	}
	found, err := collect(ctx, tx, pgx.RowTo[string], "init domain: read keys of "+t.Name,
		fmt.Sprintf("SELECT %s::text FROM %s LIMIT 100", quote(t.primary[0]), t.sql()))
	if err == nil {
		w.keys[t] = found
	}

	return err
}

// readBlank finds in how many rows a text is missing or empty, and the texts that may not be null and are empty in some: programs such
// as Django write "" for nothing.
func (w *initWriter) readBlank(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	texts := slices.DeleteFunc(slices.Clone(t.columns), func(c *Column) bool { return !c.FreeText() || isSecret(c) })
	if len(texts) == 0 {
		return nil
	}
	counted := func(what string) string {
		return strings.Join(each(texts, func(c *Column) string { return fmt.Sprintf(what, quote(c.Name)) }), ", ")
	}
	var empty []bool
	var lacking []float64
	err := tx.QueryRow(ctx, fmt.Sprintf("SELECT ARRAY[%s], ARRAY[%s]::float8[] FROM (SELECT * FROM %s LIMIT 1000) AS t HAVING count(*) > 0",
		counted("coalesce(bool_or(%s::text = ''), false)"), counted("avg(CASE WHEN %s::text <> '' THEN 0 ELSE 1 END)"), t.sql())).Scan(&empty, &lacking)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("init domain: read texts of %s: %w", t.Name, err)
	}
	for i, c := range texts {
		w.blank[c], w.lacking[c] = empty[i] && c.Required() && !t.unique(c.Name), lacking[i]
	}

	return nil
}

// contentTypes is where Django keeps the types that its pairs name by number.
const contentTypes = "django_content_type"

// readKinds finds the types of which rows are named by a type and a key: Blog::Post is one of posts.
func (w *initWriter) readKinds(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	kind, _ := t.loosePair()
	named := w.cat.table(contentTypes)
	var of string
	switch {
	case kind == nil:
		return nil
	case kind.Kind == KindText:
		of = fmt.Sprintf("SELECT DISTINCT %s::text, replace(%[1]s::text, '.', '_') FROM (SELECT * FROM %s LIMIT 1000) AS t WHERE %[1]s IS NOT NULL ORDER BY 1",
			quote(kind.Name), t.sql()) // Odoo's tables are called like their models, with _ for a point
	case named != nil && !named.lacks([]string{"id", "app_label", "model"}):
		of = fmt.Sprintf("SELECT DISTINCT c.id::text, c.app_label || '_' || c.model FROM (SELECT * FROM %s LIMIT 1000) AS t JOIN %s AS c ON c.id = t.%s ORDER BY 1",
			t.sql(), named.sql(), quote(kind.Name))
	default:
		return nil
	}
	found, err := collect(ctx, tx, pgx.RowToStructByPos[struct{ Word, Name string }], "init domain: read types of "+t.Name, of)
	w.kinds[t] = map[*catalogTable]string{}
	for _, one := range found {
		if to := cmp.Or(w.byWord[Fold(snake(one.Name))], w.byWord[Fold(snake(lastWord.FindString(one.Word)))]); to != nil {
			w.kinds[t][to] = one.Word
		}
	}

	return err
}

var lastWord = regexp.MustCompile(`\w*$`)

// wordsSQL reads the words of a column, none if they are many, empty or long, or have few rows each.
const wordsSQL = `SELECT coalesce(array_agg(word ORDER BY word) FILTER (WHERE word IS NOT NULL), '{}')
FROM (SELECT %s::text AS word, count(*) AS rows FROM (SELECT * FROM %s LIMIT 10000) AS t GROUP BY 1) AS t
HAVING count(word) <= 12 AND sum(rows) FILTER (WHERE word IS NOT NULL) >= 5 * count(word) AND bool_and(word IS NULL OR length(word) BETWEEN 1 AND 30)`

// oneLetter is the type of a code: yes or no, how somebody pays.
var oneLetter = regexp.MustCompile(`^character( varying)?\(1\)$`)

// readWords finds what texts may say that only programs close: the status of a row, its kind, and codes of one letter.
func (w *initWriter) readWords(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	for _, c := range t.columns {
		coded, letter := codedNames.MatchString(snake(c.Name)), oneLetter.MatchString(c.FullType)
		if !c.FreeText() || t.unique(c.Name) || t.references(c) || !coded && !letter {
			continue
		}
		found, err := collect(ctx, tx, pgx.RowTo[[]string], "init domain: read words of "+t.Name+"."+c.Name, fmt.Sprintf(wordsSQL, quote(c.Name), t.sql()))
		if err != nil {
			return err
		}
		if len(found) > 0 && (coded || len(found[0]) > 1) { // where all have paid, a no is still to come
			w.words[c] = found[0]
		}
	}

	return nil
}

// Lists are the words of columns that only programs close.
func (e *initEntity) Lists() (lists []string) {
	for _, c := range e.Table.columns {
		if words := e.words[c]; len(words) > 0 && !e.willBeHidden(c) {
			lists = append(lists, yamlName(c.Name)+": ["+strings.Join(each(words, yamlText), ", ")+"]")
		}
	}

	return lists
}

// tonguesSQL reads the keys of a column's objects, the most frequent first, and "" for what is no language or has no text.
const tonguesSQL = `SELECT CASE WHEN key ~ '^[a-z]{2}([_-][A-Za-z]{2,4})?$' AND bool_and(jsonb_typeof(value) = 'string') THEN key ELSE '' END
FROM (SELECT %s::jsonb AS name FROM %s LIMIT 1000) AS t, jsonb_each(CASE jsonb_typeof(name) WHEN 'object' THEN name WHEN 'null' THEN '{}' ELSE '{"": 0}' END)
GROUP BY key ORDER BY count(*) DESC, key`

// readTongues finds names that stand there once for each language, as {"en_US": "Table", "de_DE": "Tisch"}.
func (w *initWriter) readTongues(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	for _, c := range t.columns {
		if c.Kind != KindJSON || !namesRows(c.Name) {
			continue
		}
		found, err := collect(ctx, tx, pgx.RowTo[string], "init domain: read names of "+t.Name, fmt.Sprintf(tonguesSQL, quote(c.Name), t.sql()))
		if err != nil {
			return err
		}
		if !slices.Contains(found, "") {
			w.tongues[c] = found
		}
	}

	return nil
}

// translated is the column of a row's name in several languages, nil if there is none.
func (e *initEntity) translated() *Column {
	return find(e.plain, func(c *Column) bool { return len(e.tongues[c]) > 0 })
}

// Worded is a computed column for it, with which people and models call the row.
func (e *initEntity) Worded() string {
	c := e.translated()
	if c == nil {
		return ""
	}
	said := each(e.tongues[c], func(key string) string { return sqlName(c.Name) + "->>" + literalSQL(key) })

	return fmt.Sprintf("{name: %s, sql: %s}", yamlName(wordedName(c)), yamlText("coalesce("+strings.Join(said, ", ")+")"))
}

func wordedName(c *Column) string { return c.Name + "_text" }

// noTables says in which other schemas there are tables: dumps of a program need not restore into public.
func noTables(ctx context.Context, tx pgx.Tx, schema string) error {
	others, err := collect(ctx, tx, pgx.RowTo[string], "init domain: read schemas",
		`SELECT DISTINCT schemaname::text FROM pg_tables WHERE schemaname NOT IN ('alfred', 'information_schema') AND schemaname NOT LIKE 'pg\_%' ORDER BY 1`)
	if err != nil {
		return err
	}
	if len(others) == 0 {
		others = []string{"none"}
	}

	return fmt.Errorf("init domain: schema %q does not exist or has no tables; schemas with tables: %s", schema, strings.Join(others, ", "))
}
