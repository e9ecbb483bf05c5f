package crud

import (
	"cmp"
	"slices"
	"strings"

	"alfred/internal/domain"
)

// Where a view shows a column of a table in another form, no index of the table serves a condition on it. So what the condition asks
// is asked of the table's column too, never more narrowly.

// storedCondition is what a condition asks of the table's column besides; "" for nothing.
func storedCondition(s *statement, e *domain.Entity, c *condition) string {
	stored, equal := c.column.Stored(), c.op == opEqual || c.op == opIn
	switch {
	case c.other != nil:
		return ""
	case c.column.Pair != nil && equal:
		return s.pairIn(e, c.column.Pair, c.texts, s.anyOf)
	case stored == nil:
		return ""
	case c.op == opIsNull:
		return " AND " + e.Qualified(stored) + " IS NULL"
	case c.column.Kind == domain.KindTimestamp, c.column.Kind == domain.KindNumber:
		return storedBounds(s, e, c)
	case equal:
		return " AND " + s.anyOf(e.Qualified(stored), c.column.Numbers(c.texts), "bigint")
	default:
		return ""
	}
}

// storedBounds asks for times or amounts within a condition's bounds. What is about days looks further than the day, whatever the
// time zone.
func storedBounds(s *statement, e *domain.Entity, c *condition) (sql string) {
	for _, bound := range []struct{ ops, operator, margin string }{{"= > >=", " >= ", " - 1"}, {"= < <=", " <= ", " + 2"}} {
		if !slices.Contains(strings.Fields(bound.ops), c.op) {
			continue
		}
		value := s.cast(c.texts[0], cmp.Or(map[domain.Kind]string{domain.KindDate: "date", domain.KindNumber: "numeric"}[c.kind], c.column.Type))
		if c.kind == domain.KindDate {
			value = "(" + value + bound.margin + ")::timestamptz"
		}
		sql += " AND " + e.Qualified(c.column.Stored()) + bound.operator + c.column.StoredValue(value, bound.margin)
	}

	return sql
}

// pointsAt is the condition that a column names rows with these keys.
func (s *statement) pointsAt(e *domain.Entity, c *domain.Column, keys []string) string {
	sql := s.in(e.Qualified(c), keys, c.Type)
	if c.Pair != nil {
		sql += s.pairIn(e, c.Pair, keys, s.in)
	}

	return sql
}

// pairIn is the condition that a pair names rows with these keys. A uuid that stands there as a text may be in capitals.
func (s *statement) pairIn(e *domain.Entity, p *domain.Pair, keys []string, in func(column string, texts []string, sqlType string) string) string {
	if p.Key.Kind == domain.KindText {
		keys = append(slices.Clone(keys), each(keys, strings.ToUpper)...)
	}

	return " AND " + e.Qualified(p.By) + " = " + s.cast(p.Word, p.By.Type) + " AND " + in(e.Qualified(p.Key), keys, p.Key.Type)
}
