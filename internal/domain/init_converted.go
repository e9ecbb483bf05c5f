package domain

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

var (
	// countedNames are of numbers that may count time since 1970, timeNames of those that can hardly count anything else.
	countedNames = regexp.MustCompile(`(^|_)(at|on|time|date|timestamp|ts|start|end|since|until|due|deadline|expires|expiry)$`)
	timeNames    = regexp.MustCompile(`_(at|on)$`)
)

// The years, in seconds, between which numbers are taken for times.
const (
	year1990 = 631_152_000
	year2100 = 4_102_444_800
)

// readCounts finds numbers that count time since 1970, by their names and by the years that they would mean.
func (w *initWriter) readCounts(ctx context.Context, tx pgx.Tx, t *catalogTable) error {
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *Column) bool {
		return kinds[c.Type] != KindNumber || c.Generated || t.references(c) || !countedNames.MatchString(snake(c.Name))
	})
	if len(numbers) == 0 {
		return nil
	}
	extremes := strings.Join(each(numbers, func(c *Column) string { return fmt.Sprintf("min(%[1]s)::float8, max(%[1]s)::float8", quote(c.Name)) }), ", ")
	var found []*float64
	if err := tx.QueryRow(ctx, fmt.Sprintf("SELECT ARRAY[%s] FROM (SELECT * FROM %s LIMIT 1000) AS t", extremes, t.sql())).Scan(&found); err != nil {
		return fmt.Errorf("init domain: read numbers of %s: %w", t.Name, err)
	}
	for i, c := range numbers {
		w.counted[c] = unitOf(found[2*i], found[2*i+1])
	}

	return nil
}

// unitOf is the unit in which numbers between these two are times, "?" without numbers, "" for others.
func unitOf(least, most *float64) string {
	if least == nil {
		return "?"
	}
	for unit, units := range perSecond {
		if *least >= year1990*float64(units) && *most <= year2100*float64(units) {
			return unit
		}
	}

	return ""
}

// adoptCounts takes what counts for times; where there are no numbers yet, what is named like a time and can count as all others do.
func (w *initWriter) adoptCounts() {
	units := map[string]bool{}
	for c, unit := range w.counted {
		if c.Type == "bigint" && perSecond[unit] > 0 {
			units[unit] = true
		}
	}
	for c, unit := range w.counted {
		if unit == "?" && len(units) == 1 && c.Type == "bigint" && timeNames.MatchString(snake(c.Name)) {
			unit = sortedKeys(units)[0]
			w.counted[c] = unit
		}
		if perSecond[unit] > 0 {
			c.count(perSecond[unit])
		}
	}
}

// Epoch are the columns that count time since 1970, each with its unit.
func (e *initEntity) Epoch() []string {
	counting := namesOf(e.Table.columns, (*Column).counts)

	return each(counting, func(name string) string { return yamlName(name) + ": " + e.counted[e.Table.column(name)] })
}

var (
	// centsNames are of amounts in hundredths, shareNames of what is no amount but a share.
	centsNames = regexp.MustCompile(`^(.+?)(_in)?_(cents?|minor(_units?)?)$`)
	shareNames = regexp.MustCompile(`(^|_)per$`)
)

// adoptCents shows what a column in cents holds. Its name is the amount's from then on.
func (w *initWriter) adoptCents() {
	for _, t := range w.cat.tables {
		for _, c := range t.columns {
			if name := t.amountIn(c); name != "" && t.column(name) == nil {
				c.cents, c.Name, c.FullType = c.Name, name, amountType
			}
		}
	}
}

// amountIn is the name of the amount that a column counts in hundredths, "" if it seems to count none, as a share per cent, the minor
// number of a version, and a key, which keeps its name.
func (t *catalogTable) amountIn(c *Column) string {
	parts := centsNames.FindStringSubmatch(snake(c.Name))
	isMajor := func(other *Column) bool { return snake(other.Name) == parts[1]+"_major" }
	if parts == nil || !c.whole() || t.references(c) || slices.Contains(t.primary, c.Name) || shareNames.MatchString(parts[1]) || slices.ContainsFunc(t.columns, isMajor) {
		return ""
	}

	return parts[1]
}

// Cents are the columns that hold hundredths, each with the name of the amount.
func (e *initEntity) Cents() []string {
	counting := slices.DeleteFunc(slices.Clone(e.Table.columns), func(c *Column) bool { return c.cents == "" })

	return each(counting, func(c *Column) string { return yamlName(c.cents) + ": " + yamlName(c.Name) })
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
