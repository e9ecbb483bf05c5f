package domain

import (
	"fmt"
	"slices"
	"strings"
)

func quoteAll(names []string) string { return listed(names, "%s", ", ") }

// fromNew are the columns of the row that a trigger is given.
func fromNew(names []string) string { return listed(names, "NEW.%s", ", ") }

// pointing is a foreign key of a row that is being written, as SQL.
type pointing struct {
	Column        string // the composite key that it is split from, "" for none
	Into, Targets string // columns of the row, and of the row it points at
	Target        *catalogTable
	Rows          string // those that it may point at
}

// unfolded are the composite keys that a writer may set.
func (w *viewWriter) unfolded(t *catalogTable, e *EntityDecl) []pointing {
	var found []pointing
	for _, fk := range w.foldedKeys(t) {
		if name := w.foldedName(t, fk); slices.Contains(w.settable(t, e), name) {
			found = append(found, pointing{Column: quote(name), Into: fromNew(fk.Columns), Targets: listed(fk.Targets, "p.%s", ", "), Target: w.cat.table(fk.Table)})
		}
	}

	return found
}

// guards are the keys whose rows the user has to see, other than those split from a composite key.
func (w *viewWriter) guards(t *catalogTable, e *EntityDecl) []pointing {
	var found []pointing
	for _, fk := range w.guarded(t, e) {
		if !slices.ContainsFunc(fk.Columns, func(name string) bool { return slices.Contains(e.Columns, name) }) {
			continue
		}
		target := w.cat.table(fk.Table)
		rows := w.view(target)
		if w.entities[fk.Table] == nil {
			condition, err := w.belongs(target, "p", 1)
			if err != nil {
				continue
			}
			rows = fmt.Sprintf("%s AS p WHERE %s", w.relation(target), condition)
		}
		found = append(found, pointing{Into: fromNew(fk.Columns), Targets: quoteAll(fk.Targets), Target: target, Rows: rows})
	}

	return found
}

// set are the table's columns that a writer may set, including those behind combined keys.
func (w *viewWriter) set(t *catalogTable, e *EntityDecl) []string {
	var names []string
	for _, name := range w.settable(t, e) {
		if t.column(name) != nil {
			names = appendNew(names, name)
		}
	}
	for _, fk := range w.foldedKeys(t) {
		if slices.Contains(w.settable(t, e), w.foldedName(t, fk)) {
			names = appendNew(names, fk.Columns...)
		}
	}

	return names
}

// settableKey are those of the columns that are part of the key.
func (w *viewWriter) settableKey(t *catalogTable, e *EntityDecl) []string {
	set := w.set(t, e)

	return slices.DeleteFunc(slices.Clone(w.key(t)), func(name string) bool { return !slices.Contains(set, name) })
}

// inserted is what a new row is made of, and where its key is put.
func (w *viewWriter) inserted(t *catalogTable, e *EntityDecl) struct{ Names, Values, Key, Into string } {
	var names, values []string
	for _, name := range w.set(t, e) {
		value := "NEW." + quote(name)
		if expression := t.column(name).Default; expression != "" {
			value = fmt.Sprintf("coalesce(%s, %s)", value, expression)
		}
		names, values = append(names, quote(name)), append(values, value)
	}
	if owner := w.ownerColumn(t); owner != "" && !slices.Contains(names, quote(owner)) {
		names, values = append(names, quote(owner)), append(values, w.function("account")+"()")
	}
	key := w.key(t)
	returning, into := listed(key, "t.%s", ", "), fromNew(key)
	if w.folded(t) {
		returning += ", " + fold("t", t, key, key)
		into += ", NEW." + quote(w.keyColumn(t))
	}

	return struct{ Names, Values, Key, Into string }{strings.Join(names, ", "), strings.Join(values, ", "), returning, into}
}
