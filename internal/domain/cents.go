package domain

import (
	"fmt"
	"regexp"
	"slices"
)

// Many programs keep money in whole hundredths. Views show the amount beside them, under a name that does not say cents, and turn
// what is written there back into hundredths.

// amount is the view's column for hundredths.
type amount struct{ Name, Cents string }

// Amounts are those that a view shows, always in one order.
func (v *viewedType) Amounts() []amount {
	return each(sortedKeys(v.Decl.Cents), func(cents string) amount { return amount{v.Decl.Cents[cents], cents} })
}

// settableAmounts are those that a writer may set.
func (v *viewedType) SettableAmounts() []amount {
	return slices.DeleteFunc(v.Amounts(), func(a amount) bool { return !slices.Contains(v.settable(), a.Name) })
}

const amountType = "numeric(20,2)"

func (a amount) sql() string {
	return fmt.Sprintf("(t.%s / 100.0)::%s AS %s", quote(a.Cents), amountType, quote(a.Name))
}

func (v *viewedType) checkCents() error {
	var names []string
	for _, a := range v.Amounts() {
		switch c := v.Table.column(a.Cents); {
		case c == nil:
			return fmt.Errorf("%s: cents: column %s does not exist in %s", v.Decl.Type, a.Cents, v.Table.Name)
		case !c.whole():
			return fmt.Errorf("%s: cents: %s is no whole number", v.Decl.Type, a.Cents)
		case a.Name == "":
			return fmt.Errorf("%s: cents: %q is no name for what %s holds", v.Decl.Type, a.Name, a.Cents)
		case v.Table.column(a.Name) != nil:
			return fmt.Errorf("%s: cents: %s has a column %s of its own", v.Decl.Type, v.Table.Name, a.Name)
		case slices.Contains(names, a.Name):
			return fmt.Errorf("%s: cents: two columns are to be called %s", v.Decl.Type, a.Name)
		}
		names = append(names, a.Name)
	}

	return nil
}

// bindCents has an amount be what its hundredths are: needed, or filled by a default.
func (b *typeBinder) bindCents() {
	if len(b.own.Cents) > 0 && b.decl.Source.Schema == nil {
		b.problemf("cents", "cents: only views of Alfred's show amounts for hundredths; declare a view of yours")

		return
	}
	for _, name := range sortedKeys(b.own.Cents) {
		if !b.columnsExist("cents", name, b.own.Cents[name]) {
			continue
		}
		cents, shown := b.Column(name), b.Column(b.own.Cents[name])
		cents.Unfolded, cents.Repeats = true, true
		shown.Nullable, shown.HasDefault, shown.Generated, shown.stored = cents.Nullable, cents.HasDefault, cents.Generated, cents
		if !centsWord.MatchString(cents.Comment) {
			shown.Comment = cents.Comment
		}
	}
}

var (
	centsWord  = regexp.MustCompile(`(?i)\b(cents?|minor|hundredths)\b`)
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
