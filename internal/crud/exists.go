package crud

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/registry"
)

// pointing is what exists and not_exists ask about: rows of another table that point to a row.
type pointing struct {
	entity  *domain.Entity
	link    *domain.Column    // of theirs, which holds the row's key
	filters []registry.Filter // all of which one of them meets
	where   []condition       // the filters, checked
}

// existsOp is the operator of a filter that asks about other rows, "" for any other. That no row points here is also said as in a
// join: parts is_null.
func existsOp(e *domain.Entity, filter registry.Filter) string {
	_, links := e.Pointing(filter.Field)
	switch {
	case filter.Op == opExists, filter.Op == opNotExists:
		return filter.Op
	case len(links) == 0 || e.ColumnOrPath(filter.Field) != nil:
		return ""
	default:
		return map[string]string{opIsNull: opNotExists, opIsNotNull: opExists}[filter.Op]
	}
}

// existsCondition checks a filter such as {"field": "parts", "op": "not_exists", "value": ["state = new"]}.
func existsCondition(e *domain.Entity, filter registry.Filter) (condition, *Error) {
	entity, link, err := pointingRows(e, filter.Field)
	if err != nil {
		return condition{}, err
	}
	p := &pointing{entity: entity, link: link}
	if p.filters, err = writtenFilters(filter); err == nil {
		p.where, err = conditions(entity, p.filters)
	}
	if err != nil {
		return condition{}, err
	}
	if slices.ContainsFunc(p.where, func(c condition) bool { return c.pointing != nil || c.distance != "" }) {
		return condition{}, failColumn(CodeBadFilter, filter.Field, "The conditions of %s are on columns.", filter.Op)
	}

	return condition{op: filter.Op, pointing: p}, nil
}

// pointingRows finds the rows that a filter is about, and by which column they point.
func pointingRows(e *domain.Entity, field string) (*domain.Entity, *domain.Column, *Error) {
	entity, links := e.Pointing(field)
	switch {
	case len(links) == 1:
		return entity, links[0], nil
	case len(links) > 1:
		ways := joinEach(links, " or ", func(c *domain.Column) string { return entity.Table + "." + c.Name })

		return nil, nil, failColumn(CodeBadFilter, field, "Rows of %s point to %s in several ways: the field is %s.", entity.Table, e.Table, ways)
	default:
		return nil, nil, failColumn(CodeBadFilter, field, "exists and not_exists take a table whose rows point to %s, or a column of it that does, as the field.", e.Table)
	}
}

// hintExists says how to filter by rows that point here, if a field names such rows.
func hintExists(e *domain.Entity, filter registry.Filter) *Error {
	table, rest, _ := strings.Cut(filter.Field, ".")
	if _, links := e.Pointing(table); len(links) == 0 || e.Column(table) != nil {
		return nil
	}

	return failColumn(CodeBadFilter, filter.Field, `Rows of %s point to %s: ask for {"field": %q, "op": "exists", "value": ["%s %s ..."]}, or not_exists, with all conditions that one row meets.`,
		table, e.Table, table, cmp.Or(registry.Scrub(rest), "column"), filter.Op)
}

// oneCondition is a condition in one text: a column, an operator and a value.
var oneCondition = regexp.MustCompile(`(?is)^\s*(.+?)(?:\s*(>=|<=|!=|<>|==|=|>|<)|\s+(not[_ ]in|in|ilike|is[_ ]null|is[_ ]not[_ ]null|contains|overlaps|similar)\b)\s*(.*?)\s*$`)

// severalConditions is a value behind which another condition seems to follow: taken for a part of the value, it would fit no row.
var severalConditions = regexp.MustCompile(`(?is)^[^"'].*(?:\s(?:and|or)\s|[,&])\s*[\w.]+\s*(?:[=<>!]|\s(?:not|in|is|ilike|contains)\b)`)

// writtenFilters reads the conditions of exists and not_exists, each a text or a filter; none asks for any row.
func writtenFilters(filter registry.Filter) ([]registry.Filter, *Error) {
	var filters []registry.Filter
	for _, item := range asList(filter.Value) {
		switch one := item.(type) {
		case nil:
			continue
		case map[string]any:
			filters = append(filters, registry.Filter{Field: fmt.Sprint(one["field"]), Op: fmt.Sprint(one["op"]), Value: one["value"]})

			continue
		}
		text, _ := item.(string)
		parts := oneCondition.FindStringSubmatch(text)
		switch {
		case item == true || item == "":
		case parts == nil || severalConditions.MatchString(parts[4]):
			return nil, failColumn(CodeBadFilter, filter.Field, `%s takes a list of conditions that one row meets, each a text of its own: ["state = open", "due_on < 2026-02-01"].`, filter.Op)
		default:
			op := cmp.Or(parts[2], strings.ReplaceAll(folded(parts[3]), " ", "_"))
			filters = append(filters, registry.Filter{Field: parts[1], Op: op, Value: writtenValue(op, parts[4])})
		}
	}

	return filters, nil
}

// writtenValue is a value as it stands in a text: in quotes or without, a list also in brackets or without.
func writtenValue(op, text string) any {
	var value any
	switch quoted := strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'") && len(text) > 1; {
	case text == "":
		return nil
	case strings.ContainsAny(text[:1], `"[{`) && exact.Decode([]byte(text), &value) == nil:
		return value
	case op == opIn || op == opNotIn:
		var list []any
		for item := range strings.SplitSeq(strings.Trim(text, "()[]"), ",") {
			list = append(list, writtenValue(opEqual, strings.TrimSpace(item)))
		}

		return list
	case quoted:
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	default:
		return text
	}
}

// existsSQL is the condition that such rows exist, or that none does. They are a relation of their own, in which a table that
// points to itself is no other than the one outside.
func existsSQL(s *statement, e *domain.Entity, c *condition) string {
	p := c.pointing
	sql := "EXISTS (SELECT FROM (SELECT " + p.link.SQL() + ` AS " key" FROM ` + p.entity.SQL() + joinsFor(append(filteredColumns(p.where), p.link)) +
		" WHERE " + p.entity.Owned() + " AND " + where(s, p.entity, p.where, nil) + `) AS " pointing" WHERE " pointing"." key" = ` + e.Qualified(e.Key) + ")"
	if c.op == opNotExists {
		return "NOT " + sql
	}

	return sql
}

// refuseNameLookups refuses a scope of a write that depends on other rows found by name: a name finds what contains it, too.
func refuseNameLookups(list []condition) *Error {
	for _, c := range list {
		if c.pointing != nil && slices.ContainsFunc(c.pointing.where, func(one condition) bool { return one.isLookup(c.pointing.entity) }) {
			return failColumn(CodeBadFilter, c.pointing.entity.Table, "Names of %s find more than is called so: find the rows with db_read and name them.", c.pointing.entity.Table)
		}
	}

	return nil
}
