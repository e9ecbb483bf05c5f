package crud

import (
	"slices"
	"strings"

	"alfred/internal/domain"
)

// where writes the conditions of a read: all of filters and, if given, any one of or. Without conditions it writes
// TRUE.
func (t *Tools) where(s *statement, e *domain.Entity, filters, or []condition) {
	s.add("TRUE")
	for i := range filters {
		s.add(" AND ")
		t.condition(s, e, &filters[i])
	}
	if len(or) == 0 {
		return
	}
	for i := range or {
		s.add(map[bool]string{true: " AND (", false: " OR "}[i == 0])
		t.condition(s, e, &or[i])
	}
	s.add(")")
}

func (t *Tools) condition(s *statement, e *domain.Entity, c *condition) {
	switch {
	case c.none:
		s.add("FALSE")
	case c.all || c.distance != "":
		s.add("TRUE")
	case c.isLookup(e):
		t.lookupCondition(s, e, c)
	default:
		s.add("(")
		columnCondition(s, e, c)
		s.add(")")
	}
}

func columnCondition(s *statement, e *domain.Entity, c *condition) {
	sql, sqlType := c.compared(s, e)
	switch c.op {
	case opIsNull:
		s.add(sql, " IS NULL")
	case opIsNotNull:
		s.add(sql, " IS NOT NULL")
	case opIn:
		s.add(sql, " = ANY(", s.castList(c.texts, sqlType), ")")
	case opNotIn:
		s.add(sql, " <> ALL(", s.castList(c.texts, sqlType), ")")
	case opILike:
		s.add(searchable(sql), " ILIKE ", s.value(c.texts[0]))
	case opContains:
		switch {
		case c.column.Kind == domain.KindArray, c.column.Kind == domain.KindJSON:
			s.add(sql, " @> ", comparand(s, c, sqlType))
		case c.column.Holds != "":
			s.add(sql, " @> ", s.cast(c.texts[0], c.column.Holds))
		default:
			s.add(searchable(c.column.SQL()), " ILIKE ", s.value(literal(c.texts[0])))
		}
	default:
		s.add(sql, " ", map[bool]string{true: "<>", false: c.op}[c.op == opNotEqual], " ", comparand(s, c, sqlType))
	}
}

// compared is what is compared, and the type that its values, or the elements of a list, are compared as.
func (c *condition) compared(s *statement, e *domain.Entity) (sql, sqlType string) {
	if c.ofDraft && holdsRefs(e, c.column) {
		return s.draftRefs(c.column), "text"
	}
	if c.column.Kind == domain.KindTimestamp && c.kind == domain.KindDate {
		return c.column.SQL() + "::date", "date"
	}

	return operand(c.column), comparedAs(e, c.column)
}

// textTypes hold plain text, which is compared by code point.
var textTypes = []string{"text", "character varying", "bpchar"}

// operand is the column as it is compared. Text is ordered by code point, the same on every server; json has no
// equality operator, jsonb has; a real is the number that its row shows, of which a conversion to a wider type has others.
func operand(c *domain.Column) string {
	switch {
	case c.Kind == domain.KindJSON:
		return c.SQL() + "::jsonb"
	case c.Type == "real":
		return c.SQL() + "::text::numeric"
	case c.Fold && c.Kind == domain.KindArray:
		return "lower(" + c.SQL() + "::text)::" + c.Type
	case c.Fold:
		return "lower(" + c.SQL() + ") COLLATE \"C\""
	case slices.Contains(textTypes, c.Type):
		return c.SQL() + ` COLLATE "C"`
	default:
		return c.SQL()
	}
}

// comparedAs is the type a value, or an element of a list, is compared as: numbers as numeric, because the column's own
// type would round or reject what it cannot hold.
func comparedAs(e *domain.Entity, c *domain.Column) string {
	switch {
	case c.Kind == domain.KindNumber && c.FK == nil && c != e.Key:
		return "numeric"
	case c.Kind == domain.KindJSON:
		return "jsonb"
	default:
		return strings.TrimSuffix(c.Type, "[]")
	}
}

func comparand(s *statement, c *condition, sqlType string) string {
	if c.column.Kind == domain.KindArray {
		return s.castList(c.texts, sqlType)
	}

	return s.cast(c.texts[0], sqlType)
}
