package domain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// FillsDecl is SQL for what the owner's programs write into rows by themselves and no default does: keys, times. Create
// is for new rows; Update is for every change, and for new rows that nothing else fills.
type FillsDecl struct {
	Create map[string]string `yaml:"create"`
	Update map[string]string `yaml:"update"`
}

// columns are those that are filled, in order.
func (f *FillsDecl) columns() []string {
	return appendNew(sortedKeys(f.Create), sortedKeys(f.Update)...)
}

// initialSQL is the SQL for a column of a new row, "" for none.
func (f *FillsDecl) initialSQL(c *Column) string {
	if c.Default == "" || f.Create[c.Name] != "" {
		return cmp.Or(f.Create[c.Name], f.Update[c.Name])
	}

	return c.Default
}

// ofType is an expression as a value of the column's type: without the cast, a text that says 5 would be a number.
func (c *Column) ofType(expr string) string {
	if c.counts() && expr != c.Default {
		return fmt.Sprintf("(extract(epoch FROM (%s)::timestamptz) * %d)::%s", expr, c.perSecond, c.Type)
	}

	return fmt.Sprintf("(%s)::%s", expr, c.Type)
}

// Changed is what a change of a row sets: the columns that a writer may set, and those that are filled.
func (v *viewedType) Changed() string {
	set := each(v.Set(), func(name string) string { return quote(name) + " = " + v.given(name) })

	return strings.Join(append(set, v.changed()...), ", ")
}

// changed is what is filled at every change of a row.
func (v *viewedType) changed() []string {
	return each(sortedKeys(v.Decl.Fills.Update), func(name string) string {
		return quote(name) + " = " + v.Table.column(name).ofType(v.Decl.Fills.Update[name])
	})
}

// bindViewed adopts what the views of Alfred's do, and refuses it where there are none.
func (b *typeBinder) bindViewed() {
	if b.decl.Source.Schema != nil {
		b.bindFills()
		b.bindGone()
		b.bindConversions()

		return
	}
	for _, asked := range []struct {
		field, does string
		is          bool
	}{
		{"fills", "fill columns; let " + strings.Join(b.own.Fills.columns(), ", ") + " have a default", len(b.own.Fills.columns()) > 0},
		{"gone", "leave rows out; let a policy do it", b.own.Gone != ""},
		{"where", "leave rows out; let a policy do it", b.own.Where != ""},
		{"epoch", "show counts as times; declare a view of yours", len(b.own.Epoch) > 0},
		{"words", "show words for numbers; declare a view of yours", len(b.own.Words) > 0},
		{"cents", "show amounts for hundredths; declare a view of yours", len(b.own.Cents) > 0},
	} {
		if asked.is {
			b.problemf(asked.field, "%s: only views of Alfred's %s", asked.field, asked.does)
		}
	}
}

// bindFills adopts what views fill, and has Postgres look at it: inside a function, a slip would show only when a row is written.
func (b *typeBinder) bindFills() {
	for _, name := range sortedKeys(b.own.Fills.Update) {
		b.bindFill("fills.update."+name, Update, name, b.own.Fills.Update[name])
	}
	for _, name := range sortedKeys(b.own.Fills.Create) {
		b.bindFill("fills.create."+name, Create, name, b.own.Fills.Create[name])
	}
}

func (b *typeBinder) bindFill(field string, verb Verb, name, expr string) {
	if !b.columnsExist(field, name) {
		return
	}
	c := b.Column(name)
	_, refused := b.describe("SELECT " + c.ofType(expr) + b.filledFrom(verb, c))
	switch {
	case c.Generated:
		b.problemf(field, "fills: %s is computed", name)
	case name == cmp.Or(b.own.Owner, b.decl.Owner):
		b.problemf(field, "fills: %s is the owner, which the view fills", name)
	case verb == Update && (name == b.keyName() || slices.Contains(b.own.Columns, name)):
		b.problemf(field, "fills: every change would set %s, which is the key or one of columns", name)
	case refused != "":
		b.problemf(field, "fills: %s: %s", name, refused)
	default:
		c.kept = c.kept || verb == Update
		c.HasDefault, c.Default = true, cmp.Or(c.Default, expr)
	}
}

// filledFrom is what an expression sees: a change the row as it was, a new row nothing.
func (b *typeBinder) filledFrom(verb Verb, c *Column) string {
	if fresh := b.own.may(Create) && !c.HasDefault && b.own.Fills.Create[c.Name] == ""; verb == Create || fresh {
		return ""
	}

	return " FROM " + b.SQL()
}
