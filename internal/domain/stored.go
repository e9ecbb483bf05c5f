package domain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A view that shows a column in another form (words for numbers, times for counts and for times without a zone, amounts) has a further
// one that shows it as it is stored: an index of the table serves what is asked of that.

// storedPrefix begins the names of the further columns, which nobody else sees.
const storedPrefix = "_alfred_"

// inUTC reports whether a column holds UTC without saying so.
func (s *source) inUTC(c *Column) bool { return s.decl.Source.UTC && c.lacksZone() }

// asStored is a column of the table as it is stored, "" if the view shows it so or its name is too long for a longer one.
func (s *source) asStored(c *Column) string {
	const longest = 63
	if !c.counts() && c.words == nil && !s.inUTC(c) || len(storedPrefix+c.Name) > longest {
		return ""
	}

	return "t." + quote(c.Name) + " AS " + quote(storedPrefix+c.Name)
}

// setStoredAside takes such columns out of a view's, for those that show the same in another form.
func (t *catalogTable) setStoredAside() {
	further := func(name string) bool { return t.View && strings.HasPrefix(name, storedPrefix) }
	for _, c := range t.columns {
		c.stored = t.column(storedPrefix + c.Name)
	}
	t.columns = slices.DeleteFunc(t.columns, func(c *Column) bool { return further(c.Name) })
	maps.DeleteFunc(t.from, func(name string, _ origin) bool { return further(name) })
}

// Stored is the further column of a view that has what this one shows as the table holds it, nil if there is none.
func (c *Column) Stored() *Column {
	if c.Expr != "" { // it is elsewhere
		return nil
	}

	return c.stored
}

// Numbers are those that stand for words.
func (c *Column) Numbers(words []string) (numbers []string) {
	for n, word := range c.words {
		if slices.Contains(words, word) {
			numbers = append(numbers, strconv.Itoa(n))
		}
	}

	return numbers
}

// StoredValue is a time or an amount, given as SQL, as the table holds it; a count with so many units more or less, since it is rounded.
func (c *Column) StoredValue(value, margin string) string {
	switch {
	case c.Kind == KindNumber: // no hundredths are beyond these amounts
		return fmt.Sprintf("(least(greatest(%s, -9.2e16), 9.2e16) * 100%s)::bigint", value, margin)
	case !c.counts():
		return value + " AT TIME ZONE 'UTC'"
	}
	as := map[bool]string{true: "bigint"}[c.stored.whole()] // a smaller type could not hold each

	return fmt.Sprintf("(extract(epoch FROM %s) * %d%s)::%s", value, c.perSecond, margin, cmp.Or(as, c.stored.Type))
}
