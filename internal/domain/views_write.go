package domain

import (
	"fmt"
	"slices"
	"strings"
)

func quoteAll(names []string) string { return listed(names, "%s", ", ") }

// fromNew are the columns of the row that a trigger is given.
func fromNew(names []string) string { return listed(names, "NEW.%s", ", ") }

// whyByFunction says why rows have to be written by a function, "" if they do not.
func (v *viewedType) whyByFunction() string {
	switch {
	case v.Table.Triggers:
		return "it has triggers, which run with the rights of who writes"
	case slices.ContainsFunc(v.Table.columns, func(c *Column) bool { return strings.Contains(c.Default, "nextval(") }):
		return "a default takes a number from a sequence"
	case v.Decl.Gone != "" && v.Decl.may(Delete):
		return "it marks rows instead of deleting them"
	case (v.Decl.may(Create) || v.Decl.may(Update)) && len(v.Decl.Fills.columns()) > 0:
		return "it fills columns as the owner's programs do"
	case v.Decl.may(Create) && len(v.writers()) > 0:
		return "it names who writes a row"
	case v.foldsKey(v.Table) || len(v.foldedKeys(v.Table)) > 0:
		return "it shows a key of several columns, or of another row, in a column of its own"
	case slices.ContainsFunc(v.Table.columns, func(c *Column) bool { return c.Generated }):
		return "it numbers its rows"
	case v.Decl.may(Create) && v.columns[v.Table] == "":
		return "whose a row is depends on another table"
	case len(v.guardedKeys()) > 0:
		return "its rows point at rows of people"
	default:
		return v.whyConverted()
	}
}

// pointing is a foreign key of a row that is being written, as SQL.
type pointing struct {
	Column        string // the composite key that it is split from, "" for none
	Into, Targets string // columns of the row, and of the row it points at
	Was           string // the same columns before
	Target        *catalogTable
	Rows          string // those that it may point at
	Still         string // of a key to one of several types, that it is to this one; "" for any other
}

// Unfolded are the composite keys that a writer may set.
func (v *viewedType) Unfolded() []pointing {
	var found []pointing
	for _, fk := range v.foldedKeys(v.Table) {
		if slices.Contains(v.settable(), fk.Name) {
			p := pointing{Column: quote(fk.Name), Into: fromNew(fk.Columns), Targets: listed(fk.Targets, "p.%s", ", "), Target: v.cat.table(fk.Table)}
			if fk.By != "" {
				by := fromNew([]string{fk.By})
				p.Into, p.Targets, p.Still = p.Into+", "+by, p.Targets+", "+literalSQL(fk.Word), by+" = "+literalSQL(fk.Word)
			}
			found = append(found, p)
		}
	}

	return found
}

// Guards are the keys whose rows the user has to see, other than those split from a composite key.
func (v *viewedType) Guards() []pointing {
	var found []pointing
	for _, fk := range v.guardedKeys() {
		if !slices.ContainsFunc(fk.Columns, func(name string) bool { return slices.Contains(v.Decl.Columns, name) }) {
			continue
		}
		target := v.cat.table(fk.Table)
		rows := v.view(target)
		if v.entities[fk.Table] == nil {
			rows = fmt.Sprintf("%s AS p WHERE %s", target.sql(), v.ownedSQL(target, "p", 1))
		}
		found = append(found, pointing{Into: fromNew(fk.Columns), Was: listed(fk.Columns, "OLD.%s", ", "), Targets: quoteAll(fk.Targets), Target: target, Rows: rows})
	}

	return found
}

// Set are the table's columns that a writer may set, including those behind combined keys.
func (v *viewedType) Set() []string {
	var names []string
	for _, name := range v.settable() {
		if v.Table.column(name) != nil {
			names = appendNew(names, name)
		}
	}
	for _, fk := range v.foldedKeys(v.Table) {
		if slices.Contains(v.settable(), fk.Name) {
			names = appendNew(names, append(fk.Columns, nonEmpty(fk.By)...)...)
		}
	}

	return appendNew(names, each(v.SettableAmounts(), func(a amount) string { return a.Cents })...)
}

// SettableKey are those of the columns that are part of the key.
func (v *viewedType) SettableKey() []string {
	set := v.Set()

	return slices.DeleteFunc(slices.Clone(v.viewKey(v.Table)), func(name string) bool { return !slices.Contains(set, name) })
}

// writers are the columns that name who writes a row, by a default that only the owner's programs can answer, as Supabase's auth.uid().
func (v *viewedType) writers() []string {
	return slices.DeleteFunc(v.accountColumns(v.Table), func(name string) bool {
		c, owner := v.Table.column(name), name == v.columns[v.Table]

		return c.Nullable || !strings.Contains(c.Default, "(") || owner && !slices.Contains(v.Set(), name)
	})
}

// initialSQL is the SQL for a column of a new row, "" for none.
func (v *viewedType) initialSQL(c *Column) string {
	initial := v.Decl.Fills.initialSQL(c)
	switch {
	case slices.Contains(v.writers(), c.Name):
		return fmt.Sprintf("coalesce(%s, %s())", c.ofType(initial), v.function("account"))
	case initial == "" && c.Name == v.columns[v.Table]:
		return v.function("account") + "()"
	default:
		return initial
	}
}

// Inserted is what a new row is made of, and where its key is put.
func (v *viewedType) Inserted() struct{ Names, Values, Key, Into string } {
	var names, values []string
	for _, name := range v.Set() {
		value, c := v.given(name), v.Table.column(name)
		if initial := v.initialSQL(c); initial != "" {
			value = fmt.Sprintf("coalesce(%s, %s)", value, c.ofType(initial))
		}
		names, values = append(names, quote(name)), append(values, value)
	}
	for _, name := range without(appendNew(v.Decl.Fills.columns(), v.writers()...), v.Set()) {
		if c := v.Table.column(name); v.initialSQL(c) != c.Default {
			names, values = append(names, quote(name)), append(values, c.ofType(v.initialSQL(c)))
		}
	}
	if owner := v.columns[v.Table]; owner != "" && !slices.Contains(names, quote(owner)) {
		names, values = append(names, quote(owner)), append(values, v.function("account")+"()")
	}
	key := v.viewKey(v.Table)
	returning, into := listed(key, "t.%s", ", "), fromNew(key)
	if v.foldsKey(v.Table) {
		returning += ", " + foldSQL("t", v.Table, key, key)
		into += ", NEW." + quote(v.keyColumn(v.Table))
	}

	return struct{ Names, Values, Key, Into string }{strings.Join(names, ", "), strings.Join(values, ", "), returning, into}
}

// Undoing the assistant's changes requires the opposite privileges: alfred_undo gets those and no more. Rows of a type
// may need restoring if they can be deleted, directly or with their parents, or created, since an undo can itself be
// undone.

// mayBeRestored reports whether whole rows of a type may have to be restored.
func (s *source) mayBeRestored(e *EntityDecl) bool { return s.returning(e, map[*EntityDecl]bool{}) }

func (s *source) returning(e *EntityDecl, seen map[*EntityDecl]bool) bool {
	if e.Reference || seen[e] || s.cat.table(e.Table).View {
		return false
	}
	if e.may(Create) || e.may(Delete) {
		return true
	}
	seen[e] = true

	return slices.ContainsFunc(s.cat.table(e.Table).foreignKeys, func(fk catalogFK) bool {
		parent := s.declOf(fk)

		return parent != nil && fk.OnDelete == "cascade" && s.returning(parent, seen)
	})
}

func (s *source) declOf(fk catalogFK) *EntityDecl { return s.entities[fk.Table] }

// Released are the view's columns that are set to null when the row they reference is deleted. What is shared and nobody's is not
// written to set them again.
func (v *viewedType) Released() []string {
	var names []string
	if v.Decl.Reference && !v.begins(v.Table) && v.above[v.Table] == nil {
		return nil
	}
	for _, fk := range v.Table.foreignKeys {
		parent := v.declOf(fk)
		if v.Table.View || parent == nil || !strings.HasPrefix(fk.OnDelete, "set ") || !v.mayBeRestored(parent) {
			continue
		}
		if len(fk.Columns) == 1 {
			names = appendNew(names, fk.Columns[0])
		}
		if name := v.foldedName(v.Table, fk); name != "" {
			names = appendNew(names, name)
		}
	}

	return names
}

// Whole are the table's columns with which a row is restored, WholeGiven their values.
func (v *viewedType) Whole() []string {
	return namesOf(v.Table.columns, func(c *Column) bool { return !c.Derived })
}

func (v *viewedType) WholeGiven() string { return strings.Join(each(v.Whole(), v.given), ", ") }

// restoredColumns are the view's columns with which a row of the type is restored; none if it never has to be.
func (v *viewedType) restoredColumns() []string {
	if !v.mayBeRestored(v.Decl) {
		return nil
	}

	return append(v.Whole(), v.combinedColumns()...)
}

// settable are the view's columns that a writer may set.
func (v *viewedType) settable() []string {
	return appendNew(slices.Clone(v.Decl.Columns), v.Released()...)
}

// Updatable are those of existing rows.
func (v *viewedType) Updatable() []string {
	if v.Decl.may(Update) {
		return v.settable()
	}

	return v.Released()
}

// guardedKeys are the foreign keys that could be set to reference another person's row.
func (v *viewedType) guardedKeys() []catalogFK {
	var found []catalogFK
	for _, fk := range v.Table.foreignKeys {
		target := v.cat.table(fk.Table)
		if target == nil || !v.hasOwner(target) {
			continue
		}
		set := func(name string) bool { return slices.Contains(v.Decl.Columns, name) }
		if slices.ContainsFunc(fk.Columns, set) || set(v.foldedName(v.Table, fk)) {
			found = append(found, fk)
		}
	}

	return found
}
