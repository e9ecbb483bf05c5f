package crud

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"alfred/internal/domain"
)

// position is a row's place in a list: the values of the order's terms, as text. Unlike an offset, it stays valid while
// others write.
type position []*string

// errPosition rejects cursors that List did not issue, or issued for another list.
var errPosition = fail(CodeBadArgument, "This cursor is not one of ours; start again without it.")

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
	if isList(c) {
		return &term{sql: ordered(s, c, c.SQL()), sqlType: "integer", desc: desc}
	}

	return &term{sql: c.SQL(), sqlType: c.Type, desc: desc}
}

func orderSQL(terms []*term) string {
	return joinEach(terms, ", ", func(t *term) string { return t.sql + descends(t.desc) })
}

// positionSQL is the SQL of a row's position.
func positionSQL(terms []*term) string {
	return "ARRAY[" + joinEach(terms, ", ", func(t *term) string { return "(" + t.sql + ")::text" }) + "]"
}

// afterSQL matches the rows after a position: the first term in which they differ sorts later. Nulls sort last.
func afterSQL(s *statement, terms []*term, after position) string {
	ways := []string{"FALSE"}
	same := ""
	for i, t := range terms {
		if after[i] == nil {
			same += t.sql + " IS NULL AND "

			continue
		}
		value := s.cast(*after[i], t.sqlType)
		later := " > "
		if t.desc {
			later = " < "
		}
		ways = append(ways, same+"("+t.sql+later+value+" OR "+t.sql+" IS NULL)")
		same += t.sql + " = " + value + " AND "
	}

	return "(" + strings.Join(ways, " OR ") + ")"
}

// cursor says which list, and where in it. Names says how the first page found names, which the pages behind it go on to do.
type cursor struct {
	Type  string   `json:"type"`
	Query string   `json:"query"`
	At    position `json:"at"`
	Names wording  `json:"names,omitempty"`
}

// encode makes an opaque cursor: clients return it and read nothing in it.
func (c cursor) encode() (string, error) {
	raw, err := jsonRows(c)

	return base64.RawURLEncoding.EncodeToString(raw), err
}

// decodePosition decodes a cursor of the same list; of "" it is zero.
func decodePosition(text string, e *domain.Entity, query string, terms int) (found cursor, _ *Error) {
	if text == "" {
		return found, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &found)
	}
	if err != nil || found.Type != e.Type || found.Query != query || len(found.At) != terms {
		return found, errPosition
	}
	for _, value := range found.At {
		if value != nil && strings.ContainsRune(*value, 0) {
			return found, errPosition
		}
	}

	return found, nil
}
