package domain

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Programs keep some values as no model can use them: times that do not say where or count since 1970, states as numbers, money as
// texts or in hundredths. Views show them in another form, and turn back what is written.

// conversion is how views show such a column.
type conversion struct {
	why string // a function writes its rows
	of  func(s *source, c *Column) bool
	// shown makes the view's value of the table's, both SQL; held the table's of the view's.
	shown, held func(c *Column, value string) string
	// further: the view has the column as it is stored, too, since an index of the table serves what is asked of that.
	further bool
}

var conversions = []*conversion{
	{
		why: "its times are stored in UTC", further: true,
		of:    func(s *source, c *Column) bool { return s.decl.Source.UTC && c.lacksZone() },
		shown: func(_ *Column, value string) string { return value + " AT TIME ZONE 'UTC'" },
		held:  func(_ *Column, value string) string { return value }, // the function runs in UTC
	},
	{
		why: "its times are counted since 1970", further: true,
		of: func(_ *source, c *Column) bool { return c.counts() },
		shown: func(c *Column, value string) string {
			return fmt.Sprintf("to_timestamp(%s / %d.0)", value, c.perSecond)
		},
		held: (*Column).ofType,
	},
	{
		why: "it shows words for numbers", further: true,
		of:    func(_ *source, c *Column) bool { return c.words != nil },
		shown: (*Column).inWords,
		held:  (*Column).inNumbers,
	},
	{
		why:   "it shows amounts of money as numbers", // as texts with a currency, nobody could add them up
		of:    func(_ *source, c *Column) bool { return c.isMoney() },
		shown: func(_ *Column, value string) string { return value + "::numeric" },
		held:  (*Column).ofType,
	},
}

// conversionOf is a column's, nil if the view shows it as it is stored.
func (s *source) conversionOf(c *Column) *conversion {
	return find(conversions, func(to *conversion) bool { return to.of(s, c) })
}

// shownAs is a column as the view shows it and, where that is another form, as it is stored, unless the name for that is too long.
func (s *source) shownAs(c *Column) []string {
	const longest = 63
	value, further := "t."+quote(c.Name), storedPrefix+c.Name
	to := s.conversionOf(c)
	if to == nil {
		return []string{value}
	}
	shown := []string{to.shown(c, value) + " AS " + quote(c.Name)}
	if to.further && len(further) <= longest {
		shown = append(shown, value+" AS "+quote(further))
	}

	return shown
}

// given is a column of the row that a trigger is given, as the table has it.
func (v *viewedType) given(name string) string {
	value, c := "NEW."+quote(name), v.Table.column(name)
	if to := v.conversionOf(c); to != nil {
		return to.held(c, value)
	}

	return value
}

// whyConverted says by which conversion a function has to write rows, "" by none.
func (v *viewedType) whyConverted() string {
	converts := func(to *conversion) bool {
		return slices.ContainsFunc(v.Table.columns, func(c *Column) bool { return to.of(v.source, c) })
	}
	switch to := find(conversions, converts); {
	case to != nil:
		return to.why
	case len(v.Decl.Cents) > 0:
		return "it shows amounts for cents"
	default:
		return ""
	}
}

// convertAsDeclared adopts what a declaration says of columns, and refuses what they cannot be.
func (s *source) convertAsDeclared() {
	for i := range s.decl.Entities {
		e := &s.decl.Entities[i]
		t := s.cat.table(e.Table)
		if t == nil { // its view is refused
			continue
		}
		for _, declared := range []struct {
			field   string
			columns []string
			adopt   func(*catalogTable, *Column) (refusal string)
		}{
			{"epoch", sortedKeys(e.Epoch), e.adoptCount}, {"words", sortedKeys(e.Words), e.adoptWords}, {"cents", sortedKeys(e.Cents), e.checkAmount},
			{"fills", e.Fills.columns(), func(*catalogTable, *Column) string { return "" }},
		} {
			for _, name := range declared.columns {
				refusal := fmt.Sprintf("column %s does not exist in %s", name, t.Name)
				if c := t.column(name); c != nil {
					refusal = declared.adopt(t, c)
				}
				if refusal != "" {
					s.refusef(t.Name, declared.field, "%s: %s", declared.field, refusal)
				}
			}
		}
	}
}

// bindConversions has columns of a view be what those of the table are.
func (b *typeBinder) bindConversions() {
	for name, unit := range b.own.Epoch {
		if c := b.Column(name); c != nil {
			c.perSecond = perSecond[unit]
		}
	}
	for name, words := range b.own.Words {
		if c := b.Column(name); c != nil {
			c.Enum, c.words = b.own.wordsOf(name), words
		}
	}
	for _, name := range sortedKeys(b.own.Cents) {
		if b.columnsExist("cents", name, b.own.Cents[name]) {
			b.Column(b.own.Cents[name]).amountOf(b.Column(name))
		}
	}
}

// perSecond is how many units of a count there are in a second, by what a declaration calls them.
var perSecond = map[string]int{"s": 1, "ms": 1_000, "us": 1_000_000}

func (c *Column) count(perSecond int) { c.perSecond, c.Kind = perSecond, KindTimestamp }
func (c *Column) counts() bool        { return c.perSecond > 0 }

func (e *EntityDecl) adoptCount(_ *catalogTable, c *Column) (refusal string) {
	switch units := perSecond[e.Epoch[c.Name]]; {
	case units == 0:
		return c.Name + " counts one of " + strings.Join(sortedKeys(perSecond), ", ")
	case kinds[c.Type] != KindNumber:
		return c.Name + " is no number"
	default:
		c.count(units)

		return ""
	}
}

// numbered are words by the numbers that stand for them: many programs have such for a state.
type numbered map[int]string

func (e *EntityDecl) adoptWords(_ *catalogTable, c *Column) (refusal string) {
	words := e.wordsOf(c.Name)
	distinct := appendNew(nil, words...)
	switch {
	case !c.whole():
		return c.Name + " is no whole number"
	case len(words) == 0 || len(distinct) < len(words) || slices.Contains(words, ""):
		return "each number of " + c.Name + " needs a word of its own"
	default:
		c.words = e.Words[c.Name]

		return ""
	}
}

// wordsOf are the words for a column's numbers, in the order of these.
func (e *EntityDecl) wordsOf(column string) []string {
	return each(slices.Sorted(maps.Keys(e.Words[column])), func(n int) string { return e.Words[column][n] })
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

func (c *Column) isMoney() bool { return c.Type == "money" }

// amount is a view's column for hundredths, beside these, under a name that does not say cents.
type amount struct{ Name, Cents string }

const amountType = "numeric(20,2)"

func (a amount) sql() string {
	return fmt.Sprintf("(t.%s / 100.0)::%s AS %s", quote(a.Cents), amountType, quote(a.Name))
}

// Amounts are those that a view shows, always in one order.
func (v *viewedType) Amounts() []amount {
	return each(sortedKeys(v.Decl.Cents), func(cents string) amount { return amount{v.Decl.Cents[cents], cents} })
}

// SettableAmounts are those that a writer may set.
func (v *viewedType) SettableAmounts() []amount {
	return slices.DeleteFunc(v.Amounts(), func(a amount) bool { return !slices.Contains(v.settable(), a.Name) })
}

func (e *EntityDecl) checkAmount(t *catalogTable, c *Column) (refusal string) {
	name, named := e.Cents[c.Name], 0
	for _, other := range e.Cents {
		if other == name {
			named++
		}
	}
	switch {
	case !c.whole():
		return c.Name + " is no whole number"
	case name == "":
		return fmt.Sprintf("%q is no name for what %s holds", name, c.Name)
	case t.column(name) != nil:
		return fmt.Sprintf("%s has a column %s of its own", t.Name, name)
	case named > 1:
		return "two columns are to be called " + name
	default:
		return ""
	}
}

var centsWord = regexp.MustCompile(`(?i)\b(cents?|minor|hundredths)\b`)

// amountOf has an amount be what its hundredths are: needed, or filled by a default.
func (c *Column) amountOf(cents *Column) {
	cents.Unfolded, cents.Repeats = true, true
	c.Nullable, c.HasDefault, c.Generated, c.stored = cents.Nullable, cents.HasDefault, cents.Generated, cents
	if !centsWord.MatchString(cents.Comment) {
		c.Comment = cents.Comment
	}
}

// storedPrefix begins the names of the further columns, which nobody else sees.
const storedPrefix = "_alfred_"

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
