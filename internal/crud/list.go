package crud

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// ListParams bounds a list. Query, if not "", keeps the rows whose name contains it or, if the name is not a single
// text column, those whose label or line does, as it is written or with its words in another order.
type ListParams struct {
	Limit   int
	After   string // Next of the previous list, "" for the beginning
	Query   string
	Order   string            // a column, prefixed with - for descending; "" is the type's order
	Filters []registry.Filter // all must hold; values are keys, not refs
	Named   bool              // rows say what they are called, as _label, and what they point to, as _<column>_label
}

// RowList is one page of a list.
type RowList struct {
	Rows  []Row
	Total int    // rows on all pages
	Next  string // for the next page; "" on the last
}

// list is ListParams checked against a type.
type list struct {
	entity  *domain.Entity
	params  ListParams
	filters []condition
	order   *domain.Column
	after   position
}

// List returns rows of a type, without children.
func (t *Tools) List(ctx context.Context, tx pgx.Tx, user User, entityType string, params ListParams) (RowList, error) {
	e, fault := t.rowType(entityType)
	if fault != nil {
		return RowList{}, fault
	}
	l, fault := newList(e, params)
	if fault != nil {
		return RowList{}, fault
	}
	limit := min(maxRows, cmp.Or(max(0, params.Limit), maxRows))
	found := &loaded{}
	err := t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) (err error) {
		found, err = l.load(ctx, tenant, limit)

		return err
	})
	if err != nil {
		return RowList{}, err
	}
	answer := RowList{Rows: make([]Row, min(limit, len(found.Rows))), Total: found.total}
	for i := range answer.Rows {
		answer.Rows[i] = found.row(i)
	}
	if len(found.Rows) > limit {
		at := cursor{Type: e.Type, Query: l.name(), At: found.at[limit-1]}
		answer.Next = base64.RawURLEncoding.EncodeToString(encoded(at))
	}

	return answer, nil
}

// load reads a page, and one more row if there is another page.
func (l *list) load(ctx context.Context, tenant pgx.Tx, limit int) (*loaded, error) {
	if err := resolveNames(ctx, tenant, l.entity, l.filters); err != nil {
		return nil, err
	}
	found, err := load(ctx, tenant, l.entity, l.query(limit+1))
	if l.after != nil && nameless(err) {
		return nil, errPosition
	}
	if err == nil && l.params.Named {
		err = addLabels(ctx, tenant, l.entity, found.Rows)
	}

	return found, err
}

func newList(e *domain.Entity, params ListParams) (*list, *Error) {
	l := &list{entity: e, params: params}
	if !utf8.ValidString(params.Query) {
		return nil, fail(CodeBadArgument, "What is searched for is not encoded in UTF-8.")
	}
	var fault *Error
	if l.filters, fault = conditions(e, params.Filters); fault != nil {
		return nil, fault
	}
	if rankingTexts(l.filters) != nil {
		return nil, failColumn(CodeBadFilter, semanticField, "Lists are not ranked by meaning.")
	}
	terms := len(defaultOrder(&statement{}, e))
	if name := strings.TrimPrefix(params.Order, "-"); name != "" {
		if l.order, fault = column(e, name); fault != nil {
			return nil, fault
		}
		if l.order.Kind == domain.KindJSON || l.order.Kind == domain.KindArray {
			return nil, failColumn(CodeBadArgument, name, "Rows cannot be ordered by %s.", name)
		}
		terms++
	} else if l.searched() {
		terms++
	}
	l.after, fault = decodePosition(params.After, e, l.name(), terms)

	return l, fault
}

// name identifies a list: a cursor of one is meaningless in another.
func (l *list) name() string {
	if l.params.Order == "" && len(l.params.Filters) == 0 {
		return l.params.Query
	}

	return fmt.Sprintf("%q %q %v", l.params.Query, l.params.Order, l.params.Filters)
}

// searched reports whether rows are compared with a query.
func (l *list) searched() bool { return l.params.Query != "" }

// searchedSQL is the text that the query is compared with: the column that people name rows by, else everything in a
// row's label and line, including the names of referenced rows.
func searchedSQL(e *domain.Entity) string {
	if names := nameColumns(e); len(names) == 1 {
		return plainLetters(names[0].SQL())
	}
	names := slices.Concat(e.Label.Columns(), e.Display.Columns())

	return plainLetters(wordsSQL(e, slices.Compact(slices.Sorted(slices.Values(names))), furthestName))
}

// wordsSQL is the text of these columns of a row.
func wordsSQL(e *domain.Entity, names []string, deep int) string {
	parts := []string{"' '", "NULL"} // a row may be called by rows that are too far
	for _, name := range names {
		switch c := e.Column(name); {
		case c == nil || c.Hidden:
		case c.FK == nil:
			parts = append(parts, c.SQL()+"::text")
		case c.Target() != nil && c.Target() != e && c.Kind != domain.KindArray && deep > 0:
			other := c.Target()
			parts = append(parts, "(SELECT "+wordsSQL(other, other.Label.Columns(), deep-1)+" FROM "+other.SQL()+
				" WHERE "+other.Qualified(other.Key)+" = "+e.Qualified(c)+" AND "+other.Owned()+")")
		}
	}

	return "concat_ws(" + strings.Join(parts, ", ") + ")"
}

func (l *list) query(limit int) *query {
	q := &query{sel: ownColumns(l.entity), filters: l.filters, limit: limit, paged: true, after: l.after, first: l.first}
	if l.searched() {
		q.where = func(s *statement) string {
			return "(" + strings.Join(inAnyOrder(s, searchedSQL(l.entity), l.params.Query), " OR ") + ")"
		}
	}

	return q
}

// first is the requested order; in a search, rows that begin with the text precede rows that merely contain it.
func (l *list) first(s *statement) []*term {
	switch {
	case l.order != nil:
		return []*term{termOf(s, l.order, strings.HasPrefix(l.params.Order, "-"))}
	case l.searched():
		begins := like(s, searchedSQL(l.entity), likeEscaper.Replace(domain.Unmarked(l.params.Query))+"%")

		return []*term{{sql: "(NOT " + begins + ")", sqlType: "boolean"}}
	default:
		return nil
	}
}

// position is a row's place in a list: the values of the order's terms, as text. Unlike an offset, it stays valid while
// others write.
type position []*string

// errPosition rejects cursors that List did not issue, or issued for another list.
var errPosition = fail(CodeBadArgument, "This cursor is not one of ours; start again without it.")

// positionSQL is the SQL of a row's position.
func positionSQL(terms []*term) string {
	return "ARRAY[" + joinEach(terms, ", ", func(t *term) string { return "(" + t.sql + ")::text" }) + "]"
}

// afterSQL matches the rows after a position: the first term in which they differ sorts later. Nulls sort last. Without a
// position, it matches all.
func afterSQL(s *statement, terms []*term, after position) string {
	if after == nil {
		return "TRUE"
	}
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

// cursor says which list, and where in it.
type cursor struct {
	Type  string   `json:"type"`
	Query string   `json:"query"`
	At    position `json:"at"`
}

// decodePosition decodes a cursor of the same list; of "" it is nil.
func decodePosition(text string, e *domain.Entity, query string, terms int) (position, *Error) {
	if text == "" {
		return nil, nil
	}
	var found cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &found)
	}
	if err != nil || found.Type != e.Type || found.Query != query || len(found.At) != terms {
		return nil, errPosition
	}
	for _, value := range found.At {
		if value != nil && strings.ContainsRune(*value, 0) {
			return nil, errPosition
		}
	}

	return found.At, nil
}
