package domain

import (
	"slices"
	"strings"
)

// Undoing the assistant's changes requires the opposite privileges: alfred_undo gets those and no more. Rows of a type
// may need restoring if they can be deleted, directly or with their parents, or created, since an undo can itself be
// undone.

// returns reports whether rows of a type may need to be restored whole.
func (s *source) returns(e *EntityDecl) bool { return s.returning(e, map[*EntityDecl]bool{}) }

func (s *source) returning(e *EntityDecl, seen map[*EntityDecl]bool) bool {
	if e.Reference || seen[e] || s.cat.table(e.Table).View {
		return false
	}
	if e.may(Create) || e.may(Delete) {
		return true
	}
	seen[e] = true

	return slices.ContainsFunc(s.cat.table(e.Table).foreignKeys, func(fk catalogFK) bool {
		parent := s.target(fk)

		return parent != nil && fk.OnDelete == "cascade" && s.returning(parent, seen)
	})
}

func (s *source) target(fk catalogFK) *EntityDecl {
	if fk.Schema != s.decl.Source.Schema {
		return nil
	}

	return s.entities[fk.Table]
}

// Released are the view's columns that are set to null when the row they reference is deleted.
func (v *viewedType) Released() []string {
	var names []string
	for _, fk := range v.Table.foreignKeys {
		parent := v.target(fk)
		if v.Table.View || parent == nil || !strings.HasPrefix(fk.OnDelete, "set ") || !v.returns(parent) {
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

// Whole are the table's columns with which a row is restored.
func (v *viewedType) Whole() []string {
	return namesOf(v.Table.columns, func(c *Column) bool { return !c.Derived })
}

// restored are the view's columns with which a row of the type is restored; none if it never has to be.
func (v *viewedType) restored() []string {
	if !v.returns(v.Decl) {
		return nil
	}
	names := v.Whole()
	if v.folded(v.Table) {
		names = append(names, v.keyColumn(v.Table))
	}
	for _, fk := range v.foldedKeys(v.Table) {
		names = append(names, fk.Name)
	}

	return names
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
