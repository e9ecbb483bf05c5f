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
