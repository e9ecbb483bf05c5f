package crud

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// where is the condition of a read: all of filters and, if given, any one of or.
func where(s *statement, e *domain.Entity, filters, or []condition) string {
	sql := func(c condition) string { return conditionSQL(s, e, &c) }
	all := joinEach(filters, " AND ", sql)
	if len(or) > 0 {
		all = strings.TrimPrefix(all+" AND (", " AND ") + joinEach(or, " OR ", sql) + ")"
	}

	return cmp.Or(all, "TRUE")
}

// filteredColumns are the columns that filters look at.
func filteredColumns(lists ...[]condition) (columns []*domain.Column) {
	for _, c := range slices.Concat(lists...) {
		if c.column != nil {
			columns = append(columns, c.column)
		}
		if c.other != nil {
			columns = append(columns, c.other)
		}
	}

	return columns
}

// joinsFor is what a statement joins to the table, each once, for columns of the rows that its rows point to.
func joinsFor(columns []*domain.Column) string {
	var rows []string
	for _, c := range columns {
		rows = append(rows, slices.DeleteFunc(slices.Clone(c.Join), func(row string) bool { return slices.Contains(rows, row) })...)
	}

	return strings.Join(rows, "")
}

func conditionSQL(s *statement, e *domain.Entity, c *condition) string {
	switch {
	case c.distance != "":
		return "TRUE"
	case c.pointing != nil:
		return existsSQL(s, e, c)
	case c.isLookup(e):
		return lookupCondition(s, e, c)
	default:
		return "(" + columnCondition(s, e, c) + storedCondition(s, e, c) + ")"
	}
}

func columnCondition(s *statement, e *domain.Entity, c *condition) string {
	sql, sqlType := c.compared(e)
	operator := cmp.Or(map[string]string{opNotEqual: "<>", opContains: "@>"}[c.op], c.op)
	isArray := c.column.Kind == domain.KindArray
	switch {
	case c.loose != nil && isArray:
		return joinEach(c.loose, " AND ", func(pattern string) string {
			return "EXISTS (SELECT FROM unnest(" + c.column.SQL() + ") AS part WHERE " + like(s, plainLetters("part"), pattern) + ")"
		})
	case c.loose != nil:
		return joinEach(c.loose, " OR ", func(pattern string) string { return like(s, plainLetters(c.column.SQL()), pattern) })
	case c.other != nil:
		return sql + " " + operator + " " + operand(c.other)
	case c.op == opIsNull:
		return sql + " IS NULL"
	case c.op == opIsNotNull:
		return sql + " IS NOT NULL"
	case c.op == opIn:
		return s.anyOf(sql, c.texts, sqlType)
	case c.op == opNotIn:
		return sql + " <> ALL(" + s.castList(c.texts, sqlType) + ")"
	case c.op == opILike:
		return searchable(sql) + " ILIKE " + s.value(c.texts[0])
	case c.op == opContains && c.column.Holds != "" && !isArray:
		return sql + " @> " + s.cast(c.texts[0], c.heldAs())
	case c.op == opOverlaps:
		return sql + " && " + s.cast(c.texts[0], c.heldAs())
	case c.column.Holds != "" && slices.Contains(orderOps, c.op):
		return c.besideSQL(s, sql)
	case c.op == opContains && c.column.Kind == domain.KindJSON && strings.HasPrefix(c.texts[0], `"`):
		return s.textWithin(sql, c.texts[0])
	case c.op == opContains && c.column.Kind != domain.KindJSON && !isArray:
		return searchable(c.column.SQL()) + " ILIKE " + s.value(literal(c.texts[0]))
	}
	if isArray {
		return sql + " " + operator + " " + s.castList(c.texts, sqlType)
	}

	value := s.cast(c.texts[0], sqlType)
	if slices.Contains(orderOps, operator) {
		sql, value = sortValueSQL(s, c.column, sql), sortValueSQL(s, c.column, value)
	}

	return sql + " " + operator + " " + value
}

// textWithin is the condition that some text in a JSON value contains another one, given as JSON: who looks for "red" hardly knows that it
// stands below "color".
func (s *statement) textWithin(sql, given string) string {
	var text string
	_ = json.Unmarshal([]byte(given), &text)

	return "EXISTS (SELECT FROM jsonb_path_query(" + sql + ", '$.**') AS part WHERE jsonb_typeof(part) = 'string' AND " +
		searchable("(part #>> '{}')") + " ILIKE " + s.value(literal(text)) + ")"
}

// heldAs is the type of what a range is compared with: something that it may hold, or another range.
func (c *condition) heldAs() string {
	if c.op == opContains || c.op != opOverlaps && strings.IndexAny(c.texts[0], "[(") != 0 {
		return c.column.Holds
	}

	return rangeOf(c.column)
}

// besideSQL is the condition that a range lies before or after a moment or another range, with all of itself. A day is all of
// that day.
func (c *condition) besideSQL(s *statement, sql string) string {
	if c.heldAs() != c.column.Holds {
		return sql + map[string]string{opLess: " << ", opLessEq: " &< ", opGreater: " >> ", opGreaterEq: " &> "}[c.op] + s.cast(c.texts[0], c.heldAs())
	}
	moment, _ := cutDay(c.texts[0])
	op, day := c.op, strings.HasPrefix(c.column.Holds, "timestamp") && areDays(moment)
	if next := map[string]string{opLessEq: opLess, opGreater: opGreaterEq}[op]; day && next != "" {
		date, _ := time.Parse(time.DateOnly, moment)
		moment, op = date.AddDate(0, 0, 1).Format(time.DateOnly), next
	}
	at := s.cast(moment, c.column.Holds)
	between := func(from, to, bounds string) string {
		return rangeOf(c.column) + "(" + from + ", " + to + ", '" + bounds + "')"
	}
	switch op {
	case opLess:
		return sql + " << " + between(at, "NULL", "[)")
	case opLessEq:
		return sql + " << " + between(at, "NULL", "()")
	case opGreater:
		return sql + " >> " + between("NULL", at, "(]")
	default:
		return sql + " >> " + between("NULL", at, "()")
	}
}

// rangeOf is the type of one range of a column of ranges.
func rangeOf(c *domain.Column) string { return strings.Replace(c.Type, "multirange", "range", 1) }

// compared is what is compared, and the type that its values, or the elements of a list, are compared as.
func (c *condition) compared(e *domain.Entity) (sql, sqlType string) {
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

// conditions replaces refs by keys and checks the filters. A filter may name the row that a column points to. Drafts, which
// the table does not contain, are removed: the call handles them itself.
func (d *decision) conditions(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters []registry.Filter, drafts []string) ([]condition, error) {
	filters = each(filters, spelled)
	list, fault := conditions(e, filters)
	if fault != nil {
		return nil, fault // check the shape first: it needs no lookup and yields a better error
	}
	var rest []registry.Filter
	var exist []condition
	for i, c := range list {
		var err error
		if c.pointing != nil {
			c.pointing.where, err = d.conditions(ctx, tx, c.pointing.entity, c.pointing.filters, drafts)
			exist = append(exist, c)
		} else {
			filters[i], err = nameKeys(ctx, tx, e, filters[i])
			rest = append(rest, filters[i])
		}
		if err != nil {
			return nil, err
		}
	}
	rest, decided := withoutDrafts(e, rest, drafts)
	translated, err := d.registry.TranslateFilters(ctx, e, rest)
	if err != nil {
		return nil, err
	}
	if list, fault = conditions(e, translated); fault != nil {
		return nil, fault
	}

	return slices.Concat(list, decided, exist), nil
}

// writeConditions is conditions for a call that writes: it changes no row for a name that finds more than is called so.
func (d *decision) writeConditions(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters []registry.Filter) ([]condition, error) {
	list, err := d.conditions(ctx, tx, e, filters, nil)
	if fault := refuseNameLookups(list); err == nil && fault != nil {
		return nil, fault
	}

	return list, err
}

// prepareUnranked prepares the conditions of a call that ranks nothing; instead says what to do about one that would.
func prepareUnranked(ctx context.Context, tx pgx.Tx, e *domain.Entity, list []condition, instead string) error {
	if rankingTexts(list) != nil {
		return failColumn(CodeBadFilter, semanticField, "%s ranks rows and excludes none; %s.", semanticField, instead)
	}

	return resolveNames(ctx, tx, e, list)
}
