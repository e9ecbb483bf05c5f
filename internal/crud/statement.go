package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// givenRow is an alias of rows that a statement brings along. No table has such a name: an owner's of the same name would be
// ambiguous beside it.
const givenRow = `" given"`

// statement is SQL under construction. Values enter it only through value, so that nothing a model wrote can become
// SQL.
type statement struct {
	strings.Builder
	args []any
}

// add appends SQL that this package or the catalog produced.
func (s *statement) add(parts ...string) {
	for _, part := range parts {
		s.WriteString(part)
	}
}

// value adds a parameter and returns its placeholder.
func (s *statement) value(v any) string {
	s.args = append(s.args, v)

	return "$" + strconv.Itoa(len(s.args))
}

// cast adds a parameter given as text and cast to the type. Postgres parses it, enums and domains included, without any
// type being registered with pgx.
func (s *statement) cast(text, sqlType string) string {
	return s.value(text) + "::text::" + sqlType
}

// castList is cast for a list.
func (s *statement) castList(texts []string, sqlType string) string {
	return s.value(texts) + "::text[]::" + sqlType + "[]"
}

// anyOf is the condition that a column, given as SQL, has one of the values, which the planner sees.
func (s *statement) anyOf(column string, texts []string, sqlType string) string {
	return column + " = ANY(" + s.castList(texts, sqlType) + ")"
}

// in is the condition that a column, given as SQL, has one of the values. As a subquery their number is unknown to the
// planner, which would otherwise plan for each number anew, at a third of a statement's cost.
func (s *statement) in(column string, texts []string, sqlType string) string {
	return column + " = ANY(ARRAY(SELECT unnest(" + s.value(texts) + "::text[])::" + sqlType + "))"
}

// keyIn is the condition that a row has one of the keys.
func (s *statement) keyIn(e *domain.Entity, keys []string) string {
	return s.in(e.Qualified(e.Key), keys, e.Key.Type)
}

// each runs the query and calls read for each row, once it is scanned into the given variables.
func (s *statement) each(ctx context.Context, tx pgx.Tx, into []any, read func() error) error {
	rows, err := tx.Query(ctx, s.String(), s.args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, read)

	return err
}

// texts runs a query that returns one text.
func (s *statement) texts(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, s.String(), s.args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// queueByKey adds a query that returns keys, each with something of its row. take gets these by key.
func queueByKey[T any](reads *pg.Batch, what string, s *statement, take func(map[string]T)) {
	reads.Query(what, s.String(), s.args, func(rows pgx.Rows) error {
		var (
			key string
			one T
		)
		found := map[string]T{}
		_, err := pgx.ForEachRow(rows, []any{&key, &one}, func() error {
			found[key], one = one, *new(T)

			return nil
		})
		take(found)

		return err
	})
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// columnList is the SQL list of columns, each under its own name.
func columnList(columns []*domain.Column) string {
	return joinEach(columns, ", ", func(c *domain.Column) string { return trimPadding(c, c.SQL()) + " AS " + quoted(c.Name) })
}

var padded = regexp.MustCompile(`^numeric\(\d+,(\d\d|[4-9])\)$`)

// trimPadding is a value without the zeros that its column pads it with, where those say nothing: a price of Prisma's has thirty, one
// that is computed as cents / 100.0 sixteen.
func trimPadding(c *domain.Column, value string) string {
	if padded.MatchString(c.FullType) || c.Generated && c.FullType == "numeric" {
		return "trim_scale(" + value + ")"
	}

	return value
}

// encoded is a value as JSON. All of it was JSON before, or is made of texts and numbers.
func encoded(value any) json.RawMessage {
	raw, _ := json.Marshal(value) //nolint:errchkjson // nothing of that kind fails

	return raw
}

// joinEach joins a text of each element.
func joinEach[T any](list []T, separator string, text func(T) string) string {
	return strings.Join(each(list, text), separator)
}

// each is what is made of every element.
func each[T, R any](list []T, what func(T) R) []R {
	made := make([]R, len(list))
	for i, one := range list {
		made[i] = what(one)
	}

	return made
}

// only is what fits of a list.
func only[T any](list []T, fits func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !fits(one) })
}

// searchable is a value as the text in which patterns are looked for: there are none for a collation to which different
// texts are equal.
func searchable(sql string) string { return sql + `::text COLLATE "default"` }

// plainLetters is a value as [domain.Plain] has it, as far as the database's locale knows capitals. Parts of letters are put together again:
// no kana and no hangul holds another. All rows are looked through, and ASCII needs a tenth of the time; OFFSET has a name by other
// rows looked up once.
func plainLetters(sql string) string {
	letters := "lower(normalize(v, NFKD))"
	for one := range slices.Chunk(domain.Spellings, 2) {
		letters = "replace(" + letters + ", '" + one[0] + "', '" + one[1] + "')"
	}

	return `(SELECT CASE WHEN octet_length(v) = char_length(v) THEN lower(v COLLATE "C") COLLATE "default" ELSE normalize(regexp_replace(` + letters +
		`, '[\u0300-\u036f]', '', 'g'), NFC) END FROM (SELECT ` + searchable(sql) + ` OFFSET 0) AS said (v))`
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// literal is a LIKE pattern that finds the text anywhere, taken literally.
func literal(text string) string { return "%" + likeEscaper.Replace(text) + "%" }

// withTimeout runs statements each of which may take only so long. After an error the setting ends with the transaction or its savepoint.
func withTimeout(ctx context.Context, tx pgx.Tx, timeout string, run func() error) error {
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '"+timeout+"'"); err != nil {
		return fmt.Errorf("bound a statement: %w", err)
	}
	if err := run(); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout TO DEFAULT"); err != nil {
		return fmt.Errorf("unbound a statement: %w", err)
	}

	return nil
}
