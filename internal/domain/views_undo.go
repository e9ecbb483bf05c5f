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
	if e.Reference || seen[e] || w.cat.table(e.Table).view {
		return false
	}
	if e.may(Create) || e.may(Delete) {
		return true
	}
	seen[e] = true

	return slices.ContainsFunc(w.cat.table(e.Table).foreignKeys, func(fk catalogFK) bool {
		parent := w.target(fk)

		return parent != nil && fk.onDelete == "cascade" && w.returning(parent, seen)
	})
}

func (w *viewWriter) target(fk catalogFK) *EntityDecl {
	if fk.schema != w.decl.Source.Schema {
		return nil
	}

	return w.entities[fk.table]
}

// released are the view's columns that are set to null when the row they reference is deleted.
func (w *viewWriter) released(t *catalogTable) []string {
	var names []string
	for _, fk := range t.foreignKeys {
		parent := w.target(fk)
		if t.view || parent == nil || !strings.HasPrefix(fk.onDelete, "set ") || !w.returns(parent) {
			continue
		}
		if len(fk.columns) == 1 {
			names = appendNew(names, fk.columns[0])
		}
		for _, folded := range w.foldedKeys(t) {
			if slices.Equal(folded.columns, fk.columns) {
				names = appendNew(names, w.foldedName(t, folded))
			}
		}
	}

	return names
}

// whole are the table's columns with which a row is restored.
func (*viewWriter) whole(t *catalogTable) []string {
	var names []string
	for _, c := range t.columns {
		if !c.Derived {
			names = append(names, c.Name)
		}
	}

	return names
}

// undoing grants alfred_undo what it needs on a type's view.
func (w *viewWriter) undoing(t *catalogTable, e *EntityDecl) {
	if w.returns(e) {
		names := w.whole(t)
		if w.folded(t) {
			names = append(names, w.keyColumn(t))
		}
		for _, fk := range w.foldedKeys(t) {
			names = append(names, w.foldedName(t, fk))
		}
		w.linef("GRANT DELETE, INSERT (%s) ON %s TO alfred_undo; -- takes back what the assistant did, no more", quoteAll(names), w.view(t))
	}
	if names := w.released(t); len(names) > 0 {
		w.linef("GRANT UPDATE (%s) ON %s TO alfred_undo; -- likewise", quoteAll(names), w.view(t))
	}
}

// restore allows inserting a row as it was, for the undo role.
func (w *viewWriter) restore(t *catalogTable) {
	names := w.whole(t)
	w.linef("    IF TG_OP = 'INSERT' AND current_setting('role') = 'alfred_undo' THEN")
	w.linef("        INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s);", w.relation(t), quoteAll(names), fromNew(names))
	w.seen(t)
	w.linef("        RETURN NEW;")
	w.linef("    END IF;")
}

// written reports whether rows of the type are ever written, by the assistant or by an undo.
func (w *viewWriter) written(t *catalogTable, e *EntityDecl) bool {
	return len(e.Writes) > 0 || w.returns(e) || len(w.released(t)) > 0
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
