package domain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// mayCount reports whether a column is named like a number that counts time.
func (t *catalogTable) mayCount(c *Column) bool {
	return kinds[c.Type] == KindNumber && !c.Generated && !t.references(c) && countedNames.MatchString(snake(c.Name))
}

// unitOf is the unit in which numbers would all be times of these years, "" for none.
func unitOf(numbers []string) string {
	for unit, units := range perSecond {
		if !slices.ContainsFunc(numbers, func(text string) bool {
			n, err := strconv.ParseFloat(text, 64)

			return err != nil || n < year1990*float64(units) || n > year2100*float64(units)
		}) {
			return unit
		}
	}

	return ""
}

// adoptCounts takes for times what counts them by its name and its numbers; where there are no numbers yet, what is named like a time and can
// count as all others do.
func (w *initWriter) adoptCounts() {
	units, unknown := map[string]bool{}, []*Column{}
	for _, t := range w.cat.tables {
		for _, c := range t.columns {
			s, read := w.samples[c]
			switch unit := unitOf(s.values); {
			case !read || !t.mayCount(c):
			case len(s.values) == 0:
				unknown = append(unknown, c)
			case unit != "":
				c.count(perSecond[unit])
				units[unit] = units[unit] || c.Type == "bigint"
			}
		}
	}
	maps.DeleteFunc(units, func(_ string, counted bool) bool { return !counted })
	for _, c := range unknown {
		if len(units) == 1 && c.Type == "bigint" && timeNames.MatchString(snake(c.Name)) {
			c.count(perSecond[sortedKeys(units)[0]])
		}
	}
}

// Epoch are the columns that count time since 1970, each with its unit.
func (e *initEntity) Epoch() []string {
	counting := slices.DeleteFunc(slices.Clone(e.Table.columns), func(c *Column) bool { return !c.counts() })

	return each(counting, func(c *Column) string {
		unit := slices.IndexFunc(sortedKeys(perSecond), func(unit string) bool { return perSecond[unit] == c.perSecond })

		return yamlName(c.Name) + ": " + sortedKeys(perSecond)[unit]
	})
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

// seemsCoded reports whether a column holds whole numbers whose name suggests a code, such as a status, and whose meanings nothing tells.
func (c *Column) seemsCoded() bool {
	return c.whole() && len(c.Enum) == 0 && c.Comment == "" && codedNames.MatchString(snake(c.Name))
}

// Coded are the columns that seem to be codes, each with the numbers that rows have, as a declaration says what they stand for.
func (e *initEntity) Coded() (coded []string) {
	for _, c := range e.plain {
		numbers := each(e.samples[c].values, func(text string) int {
			n, _ := strconv.Atoi(text)

			return n
		})
		if !c.seemsCoded() || len(numbers) > mostWords {
			continue
		}
		if slices.Sort(numbers); len(numbers) == 0 {
			numbers = []int{0, 1}
		}
		coded = append(coded, oneLine(yamlName(c.Name))+": {"+strings.Join(each(numbers, func(n int) string { return fmt.Sprintf(`%d: "..."`, n) }), ", ")+"}")
	}

	return coded
}
