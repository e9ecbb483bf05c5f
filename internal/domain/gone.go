package domain

import (
	"fmt"
	"slices"
	"strings"
)

// Rows that programs mark as deleted, by a time or by true, are left out of the views, as are those for which a condition of the owner's
// is not true. To delete one is to mark it: nothing goes with it, and to take that back is to take the mark away.

// marksGone reports whether a column can say of rows that they are deleted.
func marksGone(c *Column) bool {
	return c != nil && (c.Kind == KindBool || c.Nullable && (c.Kind == KindTimestamp || c.Kind == KindDate))
}

// presentSQL is the SQL condition that a row is not marked as deleted and one of those that the declaration shows, "" if all are.
func (s *source) presentSQL(t *catalogTable, alias string) string {
	e := s.entities[t.Name]
	if e == nil {
		return ""
	}
	var conditions []string
	if e.Where != "" {
		conditions = append(conditions, "("+e.Where+") IS TRUE")
	}
	switch column := alias + "." + quote(e.Gone); {
	case !marksGone(t.column(e.Gone)):
	case t.column(e.Gone).Kind == KindBool:
		conditions = append(conditions, column+" IS NOT TRUE")
	default:
		conditions = append(conditions, column+" IS NULL")
	}

	return strings.Join(conditions, " AND ")
}

// unmarkedAncestorsSQL returns SQL conditions: no row by whose deletion this one would be deleted is marked as deleted. The row's
// owner is not asked: who owns the row says that already. Where rows hang on rows of their own table, only the next one is.
func (s *source) unmarkedAncestorsSQL(t *catalogTable, alias string, below ...*catalogTable) (conditions []string) {
	for _, fk := range t.foreignKeys {
		parent := s.cat.table(fk.Table)
		if fk.OnDelete != "cascade" || s.declOf(fk) == nil || parent == nil || slices.Contains(below, parent) || s.ownsBy(t, fk) {
			continue
		}
		above := fmt.Sprintf("g%d", len(below)+1)
		there := append(nonEmpty(s.presentSQL(parent, above)), s.unmarkedAncestorsSQL(parent, above, append(below, t)...)...)
		if len(there) > 0 {
			conditions = append(conditions, fmt.Sprintf("NOT EXISTS (SELECT FROM %s AS %s WHERE %s = %s AND NOT (%s))",
				parent.sql(), above, tuple(above, fk.Targets), tuple(alias, fk.Columns), strings.Join(there, " AND ")))
		}
	}

	return conditions
}

// ownsBy reports whether rows are somebody's by a foreign key.
func (s *source) ownsBy(t *catalogTable, fk catalogFK) bool {
	by := s.owningKey(t)

	return by != nil && s.shared[t] == nil && slices.Equal(by.Columns, fk.Columns)
}

// Marked is what marks a row as deleted, with what every change fills.
func (v *viewedType) Marked() string {
	mark := "now()"
	if v.Table.column(v.Decl.Gone).Kind == KindBool {
		mark = "true"
	}

	return v.marking(v.Table.column(v.Decl.Gone).ofType(mark))
}

// Unmarked takes the mark away: the row is as it was given.
func (v *viewedType) Unmarked() string { return v.marking(v.given(v.Decl.Gone)) }

func (v *viewedType) marking(mark string) string {
	return strings.Join(append([]string{quote(v.Decl.Gone) + " = " + mark}, v.changed()...), ", ")
}

// bindGone hides the column that marks rows, of which a view shows those without a mark.
func (b *typeBinder) bindGone() {
	if b.own.Gone != "" && b.columnsExist("gone", b.own.Gone) {
		c := b.Column(b.own.Gone)
		c.kept, b.Marks = true, true
	}
}
