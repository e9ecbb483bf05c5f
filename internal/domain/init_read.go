package domain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readSamples reads what the catalog does not know: rows, which show what programs write into them, of the tables that
// may be read, and the sequences that only programs use.
func (w *initWriter) readSamples(ctx context.Context, tx pgx.Tx) error {
	w.samples, w.models, w.kinds = map[*Column]sample{}, map[string]string{}, map[*catalogTable]map[*catalogTable]string{}
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
	for _, t := range w.cat.tables {
		w.kinds[t] = w.kindsIn(t)
	}
	w.adoptCounts()
	w.sequences, err = collect(ctx, tx, pgx.RowToStructByPos[sequence], "init domain: read sequences", sequencesSQL, []string(w.cat.schemas))

	return err
}

// sample is what some rows of a table have in a column.
type sample struct {
	rows, lacking int      // of them, those with null or ""
	empty         bool     // some with ""
	values        []string // the most frequent others
}

// sampleSQL counts the values of columns: how often each stands there, and in how many rows. Of codes, more rows are looked at: some are
// rare.
const sampleSQL = `SELECT i - 1, value, n, rows FROM (
	SELECT *, sum(n) OVER (PARTITION BY i) AS rows, row_number() OVER (PARTITION BY i ORDER BY coalesce(value, '') = '' DESC, n DESC, value) AS place FROM (
		SELECT u.i, u.value, count(*) AS n
		FROM (SELECT row_number() OVER () <= 1000 AS " first", * FROM (SELECT * FROM %s LIMIT 10000) AS t) AS t, unnest(ARRAY[%s]) WITH ORDINALITY AS u (value, i)
		WHERE " first" OR i = ANY ($1::int[]) GROUP BY 1, 2) AS v) AS v
WHERE place <= 200 ORDER BY i, place`

// readSample samples a table, of long texts their beginnings, and reads Django's types if it holds these.
func (w *initWriter) readSample(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	columns := slices.DeleteFunc(slices.Clone(t.columns), func(c *Column) bool { return !w.tells(t, c) })
	if len(columns) == 0 {
		return nil
	}
	found := make([]sample, len(columns))
	var (
		at, n, rows int
		value       *string
		id, name    string
	)
	texts, codes := t.sampled(columns)
	err := eachRow(ctx, tx, "init domain: read rows of "+t.Name, fmt.Sprintf(sampleSQL, t.sql(), texts), []any{codes}, []any{&at, &value, &n, &rows}, func() error {
		s := &found[at]
		if s.rows = rows; value == nil || *value == "" {
			s.lacking, s.empty = s.lacking+n, s.empty || value != nil
		} else {
			s.values = append(s.values, *value)
		}

		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range columns {
		w.samples[c] = found[i]
	}
	if t.Name != contentTypes || t.lacks([]string{"id", "app_label", "model"}) {
		return nil
	}

	return eachRow(ctx, tx, "init domain: read types", "SELECT id::text, app_label || '_' || model FROM "+t.sql(), nil, []any{&id, &name}, func() error {
		w.models[id] = name

		return nil
	})
}

// sampled are columns as texts, and the places of the codes among them.
func (t *catalogTable) sampled(columns []*Column) (texts string, codes []int) {
	kind, _ := t.loosePair()
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "t." + quote(c.Name) + "::text"
		if c.Kind != KindJSON {
			list[i] = "left(" + list[i] + ", 100)"
		}
		if c == kind || isCode(c) {
			codes = append(codes, i+1)
		} else {
			list[i] = `CASE WHEN " first" THEN ` + list[i] + " END"
		}
	}

	return strings.Join(list, ", "), codes
}

// tells reports whether init looks at a column's values: at texts, but for what opens doors, at keys, codes and counts of time, at names in several
// languages, and at what says of which type a row is.
func (w *initWriter) tells(t *catalogTable, c *Column) bool {
	kind, _ := t.loosePair()
	key := c.Kind == KindText && slices.Equal(t.primary, []string{c.Name})

	return key || c == kind || c.FreeText() && !isSecret(c) || c.seemsCoded() || t.mayCount(c) || c.Kind == KindJSON && namesRows(c.Name)
}

// lacks is the share of rows without a text, 0 where none could be read.
func (w *initWriter) lacks(c *Column) float64 {
	return float64(w.samples[c].lacking) / float64(max(1, w.samples[c].rows))
}

// isBlank reports whether a text that may not be null is empty in some rows: programs such as Django write "" for nothing.
func (e *initEntity) isBlank(c *Column) bool {
	return e.samples[c].empty && c.Required() && !e.Table.unique(c.Name)
}

// contentTypes is where Django keeps the types that its pairs name by number.
const contentTypes = "django_content_type"

// kindsIn are the tables whose rows a table's name by a type and a key, with their types: Blog::Post is one of posts.
func (w *initWriter) kindsIn(t *catalogTable) map[*catalogTable]string {
	found := map[*catalogTable]string{}
	if kind, _ := t.loosePair(); kind != nil {
		for _, word := range slices.Sorted(slices.Values(w.samples[kind].values)) {
			name := cmp.Or(w.models[word], strings.ReplaceAll(word, ".", "_")) // Odoo's tables are called like their models, with _ for a point
			if to := cmp.Or(w.byWord[Fold(snake(name))], w.byWord[Fold(snake(lastWord.FindString(word)))]); to != nil {
				found[to] = word
			}
		}
	}

	return found
}

var lastWord = regexp.MustCompile(`\w*$`)

// oneLetter is the type of a code: yes or no, how somebody pays.
var oneLetter = regexp.MustCompile(`^character( varying)?\(1\)$`)

// isCode reports whether a column is named like a code, or holds one of a letter.
func isCode(c *Column) bool {
	return codedNames.MatchString(snake(c.Name)) || oneLetter.MatchString(c.FullType)
}

// mostWords is how many words or numbers at most are taken for all that a column may hold, longestWord how long they are.
const (
	mostWords   = 12
	longestWord = 30
)

// Lists are the words of columns that only programs close: the status of a row, its kind, and codes of one letter.
func (e *initEntity) Lists() (lists []string) {
	for _, c := range e.Table.columns {
		s, words := e.samples[c], slices.Sorted(slices.Values(e.samples[c].values))
		long := slices.ContainsFunc(words, func(word string) bool { return utf8.RuneCountInString(word) > longestWord })
		few := len(words) > 0 && len(words) <= mostWords && s.rows-s.lacking >= 5*len(words) && (len(words) > 1 || codedNames.MatchString(snake(c.Name))) // where all have paid, a no is still to come
		closed := few && isCode(c) && !long && !s.empty && c.FreeText() && !e.Table.unique(c.Name) && !e.Table.references(c)
		if closed && !e.willBeHidden(c) {
			lists = append(lists, yamlName(c.Name)+": ["+strings.Join(each(words, yamlText), ", ")+"]")
		}
	}

	return lists
}

var tongueForm = regexp.MustCompile(`^[a-z]{2}([_-][A-Za-z]{2,4})?$`)

// tongues are the languages in which a name stands there, the most frequent first, as {"en_US": "Table", "de_DE": "Tisch"}; none for any
// other value.
func (w *initWriter) tongues(c *Column) []string {
	times := map[string]int{}
	for _, value := range w.samples[c].values {
		var said map[string]any
		if c.Kind != KindJSON || json.Unmarshal([]byte(value), &said) != nil {
			return nil
		}
		for key, text := range said {
			if _, isText := text.(string); !isText || !tongueForm.MatchString(key) {
				return nil
			}
			times[key]++
		}
	}

	return slices.SortedStableFunc(slices.Values(sortedKeys(times)), func(a, b string) int { return times[b] - times[a] })
}

// translated is the column of a row's name in several languages, nil if there is none.
func (e *initEntity) translated() *Column {
	return find(e.plain, func(c *Column) bool { return len(e.tongues(c)) > 0 })
}

// Worded is a computed column for it, with which people and models call the row.
func (e *initEntity) Worded() string {
	c := e.translated()
	if c == nil {
		return ""
	}
	said := each(e.tongues(c), func(key string) string { return sqlName(c.Name) + "->>" + literalSQL(key) })

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
