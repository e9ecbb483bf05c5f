package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Databases that came from a phone or a browser count time since 1970 in whole numbers, which no model can turn into days. Views
// show them as times.

// perSecond is how many units of a count there are in a second, by what a declaration calls them.
var perSecond = map[string]int{"s": 1, "ms": 1_000, "us": 1_000_000}

// countAsDeclared takes the columns for times of which a declaration says that they count since 1970.
func (s *source) countAsDeclared() error {
	for _, e := range s.decl.Entities {
		for _, name := range sortedKeys(e.Epoch) {
			c := s.columnOf(&e, name)
			switch units := perSecond[e.Epoch[name]]; {
			case c == nil:
				return fmt.Errorf("%s: epoch: column %s does not exist in %s", e.Type, name, e.Table)
			case units == 0:
				return fmt.Errorf("%s: epoch: %s counts one of %s", e.Type, name, strings.Join(slices.Sorted(maps.Keys(perSecond)), ", "))
			case kinds[c.Type] != KindNumber:
				return fmt.Errorf("%s: epoch: %s is no number", e.Type, name)
			default:
				c.count(units)
			}
		}
	}

	return nil
}

// bindEpoch says of times what the table counts, and refuses what only views can do.
func (b *typeBinder) bindEpoch() {
	for name, unit := range b.own.Epoch {
		if c := b.Column(name); c != nil {
			c.perSecond = perSecond[unit]
		}
	}
	if len(b.own.Epoch) > 0 && b.decl.Source.Schema == nil {
		b.problemf("epoch", "epoch: only views of Alfred's show counts as times; declare a view of yours")
	}
}

func (c *Column) count(perSecond int) { c.perSecond, c.Kind = perSecond, KindTimestamp }

func (c *Column) counts() bool { return c.perSecond > 0 }

// given is a column of the row that a trigger is given, as the table has it.
func (v *viewedType) given(name string) string {
	value := "NEW." + quote(name)
	switch c := v.Table.column(name); {
	case c.counts(), c.isMoney():
		return c.ofType(value)
	case c.words != nil:
		return c.inNumbers(value)
	default:
		return value
	}
}

// WholeGiven are the values with which a row is restored.
func (v *viewedType) WholeGiven() string { return strings.Join(each(v.Whole(), v.given), ", ") }
