package domain

import (
	"slices"
	"strings"
)

// Undoing the assistant's changes requires the opposite privileges: alfred_undo gets those and no more. Rows of a type
// may need restoring if they can be deleted, directly or with their parents, or created, since an undo can itself be
// undone.

// returns reports whether rows of a type may need to be restored whole.
func (w *viewWriter) returns(e *EntityDecl) bool { return w.returning(e, map[*EntityDecl]bool{}) }

func (w *viewWriter) returning(e *EntityDecl, seen map[*EntityDecl]bool) bool {
	if e.Reference || seen[e] || w.cat.table(e.Table).View {
		return false
	}
	if e.may(Create) || e.may(Delete) {
		return true
	}
	seen[e] = true

	return slices.ContainsFunc(w.cat.table(e.Table).foreignKeys, func(fk catalogFK) bool {
		parent := w.target(fk)

		return parent != nil && fk.OnDelete == "cascade" && w.returning(parent, seen)
	})
}

func (w *viewWriter) target(fk catalogFK) *EntityDecl {
	if fk.Schema != w.decl.Source.Schema {
		return nil
	}

	return w.entities[fk.Table]
}

// released are the view's columns that are set to null when the row they reference is deleted.
func (w *viewWriter) released(t *catalogTable) []string {
	var names []string
	for _, fk := range t.foreignKeys {
		parent := w.target(fk)
		if t.View || parent == nil || !strings.HasPrefix(fk.OnDelete, "set ") || !w.returns(parent) {
			continue
		}
		if len(fk.Columns) == 1 {
			names = appendNew(names, fk.Columns[0])
		}
		for _, folded := range w.foldedKeys(t) {
			if slices.Equal(folded.Columns, fk.Columns) {
				names = appendNew(names, w.foldedName(t, folded))
			}
		}
	}

	return names
}

// wholeRow are the table's columns with which a row is restored.
func wholeRow(t *catalogTable) []string {
	var names []string
	for _, c := range t.columns {
		if !c.Derived {
			names = append(names, c.Name)
		}
	}

	return names
}

// restored are the view's columns with which a row of the type is restored; none if it never has to be.
func (w *viewWriter) restored(t *catalogTable, e *EntityDecl) []string {
	if !w.returns(e) {
		return nil
	}
	names := wholeRow(t)
	if w.folded(t) {
		names = append(names, w.keyColumn(t))
	}
	for _, fk := range w.foldedKeys(t) {
		names = append(names, w.foldedName(t, fk))
	}

	return names
}

// settable are the view's columns that a writer may set, updatable those of existing rows.
func (w *viewWriter) settable(t *catalogTable, e *EntityDecl) []string {
	return appendNew(slices.Clone(e.Columns), w.released(t)...)
}

func (w *viewWriter) updatable(t *catalogTable, e *EntityDecl) []string {
	if e.may(Update) {
		return w.settable(t, e)
	}

	return w.released(t)
}
