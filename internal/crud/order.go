package crud

import "alfred/internal/domain"

// term is one term of an order: an expression and its type.
type term struct {
	sql, sqlType string
	desc         bool
}

// defaultOrder is the type's order with the key as the final tie-breaker, so that the same rows always come in the same
// order and get the same refs.
func defaultOrder(s *statement, e *domain.Entity) []*term {
	var terms []*term
	for _, by := range e.Order {
		if c := e.Column(by.Column); c != nil {
			terms = append(terms, termOf(s, c, by.Desc))
		}
	}

	return append(terms, &term{sql: e.Qualified(e.Key), sqlType: e.Key.Type})
}

// termOf orders rows by a column.
func termOf(s *statement, c *domain.Column, desc bool) *term {
	if isClosedList(c) {
		return &term{sql: sortValueSQL(s, c, c.SQL()), sqlType: "integer", desc: desc}
	}

	return &term{sql: c.SQL(), sqlType: c.Type, desc: desc}
}

func orderSQL(terms []*term) string {
	return joinEach(terms, ", ", func(t *term) string {
		if t.desc {
			return t.sql + " DESC NULLS LAST"
		}

		return t.sql + " NULLS LAST"
	})
}

// inOrder orders rows by the place of a column's value in a list.
func inOrder(e *domain.Entity, c *domain.Column, texts []string) func(*statement) []*term {
	return func(s *statement) []*term {
		return []*term{{sql: "array_position(ARRAY(SELECT unnest(" + s.value(texts) + "::text[])::" + c.Type + "), " + e.Qualified(c) + ")"}}
	}
}

// isClosedList reports whether a column holds one of the values of a list, whose order the database does not know.
func isClosedList(c *domain.Column) bool {
	return c.Kind == domain.KindText && len(c.Enum) > 0 && !c.Native
}

// sortValueSQL is a value of a column as it is put in order: one of a list by its place there, since as text high comes before low. An
// enumeration that is read as such has that order, and perhaps an index.
func sortValueSQL(s *statement, c *domain.Column, sql string) string {
	if !isClosedList(c) {
		return sql
	}

	return "array_position(" + s.value(c.Enum) + "::text[], (" + sql + ")::text)"
}
