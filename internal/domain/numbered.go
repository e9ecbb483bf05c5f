package domain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Programs of many frameworks keep a state as a number for which only they have a word. Views show the words.

// numbered are words by the numbers that stand for them.
type numbered map[int]string

// wordAsDeclared has columns be words of which a declaration says which numbers they stand for.
func (s *source) wordAsDeclared() error {
	for _, e := range s.decl.Entities {
		for _, name := range sortedKeys(e.Words) {
			words := e.wordsOf(name)
			distinct := appendNew(nil, words...)
			switch c := s.columnOf(&e, name); {
			case c == nil:
				return fmt.Errorf("%s: words: column %s does not exist in %s", e.Type, name, e.Table)
			case !c.whole():
				return fmt.Errorf("%s: words: %s is no whole number", e.Type, name)
			case len(words) == 0 || len(distinct) < len(words) || slices.Contains(words, ""):
				return fmt.Errorf("%s: words: each number of %s needs a word of its own", e.Type, name)
			default:
				c.words = e.Words[name]
			}
		}
	}

	return nil
}

// wordsOf are the words for a column's numbers, in the order of these.
func (e *EntityDecl) wordsOf(column string) []string {
	return each(slices.Sorted(maps.Keys(e.Words[column])), func(n int) string { return e.Words[column][n] })
}

// columnOf is a column of a type's table, nil for none.
func (s *source) columnOf(e *EntityDecl, name string) *Column {
	if t := s.cat.table(e.Table); t != nil {
		return t.column(name)
	}

	return nil
}

// inWords is the word for a column's number; what has none is shown as it is.
func (c *Column) inWords(value string) string {
	return c.matched(value, func(n int) (string, string) { return strconv.Itoa(n), literalSQL(c.words[n]) }) + value + "::text END"
}

// inNumbers is the number that a word stands for.
func (c *Column) inNumbers(value string) string {
	return c.matched(value, func(n int) (string, string) { return literalSQL(c.words[n]), strconv.Itoa(n) }) + c.ofType(value) + " END"
}

func (c *Column) matched(value string, pair func(n int) (from, to string)) string {
	var cases strings.Builder
	for _, n := range slices.Sorted(maps.Keys(c.words)) {
		from, to := pair(n)
		cases.WriteString(" WHEN " + from + " THEN " + to)
	}

	return "CASE " + value + cases.String() + " ELSE "
}

// bindNumbered closes the lists of words that stand for numbers.
func (b *typeBinder) bindNumbered() {
	if len(b.own.Words) > 0 && b.decl.Source.Schema == nil {
		b.problemf("words", "words: only views of Alfred's show words for numbers; declare a view of yours")

		return
	}
	for name := range b.own.Words {
		if c := b.Column(name); c != nil {
			c.Enum, c.words = b.own.wordsOf(name), b.own.Words[name]
		}
	}
}

// mostNumbers is how many numbers at most are taken for words.
const mostNumbers = 12

// numbersSQL reads the numbers of a column.
const numbersSQL = `SELECT DISTINCT %[1]s::bigint FROM (SELECT * FROM %[2]s LIMIT 10000) AS t WHERE %[1]s IS NOT NULL ORDER BY 1 LIMIT %[3]d`

// readNumbers reads the numbers of columns that are named like a code.
func (w *initWriter) readNumbers(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	for _, c := range t.columns {
		if !c.seemsCoded() {
			continue
		}
		found, err := collect(ctx, tx, pgx.RowTo[int], "init domain: read numbers of "+t.Name+"."+c.Name, fmt.Sprintf(numbersSQL, quote(c.Name), t.sql(), mostNumbers+1))
		if err != nil {
			return err
		}
		w.numbers[c] = found
	}

	return nil
}

// seemsCoded reports whether a column holds whole numbers whose name suggests a code, such as a status, and whose meanings nothing tells.
func (c *Column) seemsCoded() bool {
	return c.whole() && len(c.Enum) == 0 && c.Comment == "" && codedNames.MatchString(snake(c.Name))
}

// Coded are the columns that seem to be codes, each with the numbers that rows have, as a declaration says what they stand for.
func (e *initEntity) Coded() []string {
	names := namesOf(e.plain, func(c *Column) bool { return c.seemsCoded() && len(e.numbers[c]) <= mostNumbers })

	return each(names, func(name string) string {
		numbers := e.numbers[e.Table.column(name)]
		if len(numbers) == 0 {
			numbers = []int{0, 1}
		}

		return oneLine(yamlName(name)) + ": {" + strings.Join(each(numbers, func(n int) string { return fmt.Sprintf(`%d: "..."`, n) }), ", ") + "}"
	})
}
