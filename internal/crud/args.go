package crud

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// semanticField is the pseudo-column of a semantic search.
const semanticField = "_semantic"

type readArgs struct {
	orderArgs

	Table     string            `json:"table"`
	Filters   []registry.Filter `json:"filters"`
	OrFilters []registry.Filter `json:"or_filters"`
	Columns   []string          `json:"columns"`
	Detail    string            `json:"detail"`
}

// orderArgs are in which order results come, and how many of them.
type orderArgs struct {
	Limit    int    `json:"limit"` // 0: not given
	OrderBy  string `json:"order_by"`
	OrderDir string `json:"order_dir"`
}

func (o *orderArgs) check() *Error {
	o.OrderDir = folded(o.OrderDir)
	switch {
	case o.Limit < 0:
		return fail(CodeBadArgument, "limit has to be at least 1.")
	case !slices.Contains([]string{"", "asc", "desc"}, o.OrderDir):
		return fail(CodeBadArgument, "order_dir is asc or desc.")
	default:
		return nil
	}
}

// order is one column of an order.
type order struct {
	name string
	desc bool
}

var (
	orderForm = regexp.MustCompile(`(?i)^(.+?)(?:\s+(asc|desc))?$`)
	// lowerForm matches the beginning of a range, by which ranges are ordered anyway, or a name in lower case.
	lowerForm = regexp.MustCompile(`(?i)^lower\(([^()]+)\)$`)
)

// orders are the columns that order_by names, as SQL does; order_dir is the direction of those that say none.
func (o *orderArgs) orders() []order {
	var list []order
	for one := range strings.SplitSeq(o.OrderBy, ",") {
		if parts := orderForm.FindStringSubmatch(strings.TrimSpace(one)); parts != nil {
			list = append(list, order{lowerForm.ReplaceAllString(parts[1], "$1"), strings.EqualFold(cmp.Or(parts[2], o.OrderDir), "desc")})
		}
	}

	return list
}

// limit bounds how many rows a read returns.
func (a *readArgs) limit() int {
	switch {
	case a.Limit > 0:
		return min(maxRows, a.Limit)
	case a.ranks() && a.OrderBy == "":
		return rankedRows
	default:
		return maxRows
	}
}

// ranks reports whether a read asks for what is like a text.
func (a *readArgs) ranks() bool {
	return slices.ContainsFunc(a.allFilters(), func(f registry.Filter) bool { return f.Field == semanticField || f.Op == opSimilar })
}

// allFilters are both kinds of filters.
func (a *readArgs) allFilters() []registry.Filter { return slices.Concat(a.Filters, a.OrFilters) }

// rankedNeeded is how many rows of a search a read needs, 0 for all of them: further filters may refuse any number of the
// best. It includes a few more than the read returns, because some may be deleted before they are read.
func (a *readArgs) rankedNeeded() int {
	const spare = 20
	if len(a.Filters) != 1 || len(a.OrFilters) > 0 || a.OrderBy != "" {
		return 0
	}

	return max(0, a.limit()+spare)
}

// searches are the searches by meaning that the filters ask for.
func (a *readArgs) searches() (list []search) {
	for _, filter := range a.allFilters() {
		if text, ok := filter.Value.(string); ok && filter.Field == semanticField && text != "" {
			list = append(list, a.search(text))
		}
	}

	return list
}

// search is a search by meaning among the rows of the table.
func (a *readArgs) search(text string) search {
	return search{tool: vocab.ToolRead, table: a.Table, text: text, most: a.rankedNeeded()}
}

type createArgs struct {
	changeArgs

	Table   string         `json:"table"`
	Rows    []rowArgs      `json:"rows"`
	Data    any            `json:"data"`
	FromRef string         `json:"from_ref"`
	Patch   map[string]any `json:"patch"`
}

type updateArgs struct {
	changeArgs

	Table   string            `json:"table"`
	Filters []registry.Filter `json:"filters"`
	Data    map[string]any    `json:"data"`
}

type deleteArgs struct {
	Table   string            `json:"table"`
	Filters []registry.Filter `json:"filters"`
}

type analyzeArgs struct {
	orderArgs

	Table      string            `json:"table"`
	Aggregates []aggregate       `json:"aggregates"`
	GroupBy    []string          `json:"group_by"`
	Filters    []registry.Filter `json:"filters"`
}

type aggregate struct {
	Fn     string `json:"fn"`
	Column string `json:"column"`
	As     string `json:"as"`

	column  *domain.Column   // nil: rows are counted
	factors []*domain.Column // whose product the column is; nil if it is one of the table's
	unit    string           // in which it counts time, "" if it does not
}

type generateArgs struct {
	Creates []generateCreate `json:"creates"`
	Updates []generateUpdate `json:"updates"`
}

type generateCreate struct {
	changeArgs

	Type    string         `json:"type"`
	Content map[string]any `json:"content"`
}

type generateUpdate struct {
	changeArgs

	Ref     string         `json:"ref"`
	Content map[string]any `json:"content"`
}

type calculateArgs struct {
	Expressions []string `json:"expressions"`
}

type recallArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit"` // 0: not given
}

// search is the search of the past for the query.
func (a *recallArgs) search() search {
	return search{tool: vocab.ToolRecall, text: a.Query, most: max(1, min(maxHits, cmp.Or(a.Limit, defaultHits)))}
}

// parse decodes a call's arguments strictly: an unknown argument is an error, because ignoring it would widen the
// query. All faults are reported at once.
func parse(call vocab.Call, into any) *Error {
	if err := answer.Decode(call.Args, into); err != nil {
		return fail(CodeBadArgument, "The arguments of %s cannot be used: %s.", call.Tool, registry.Scrub(err.Error()))
	}

	return nil
}

// readsOnly is the verb of a call that writes nothing.
const readsOnly domain.Verb = ""

// begin parses a call and finds its table, checking that the declaration and the step allow what it does.
func (d *decision) begin(s *step, args any, table *string, verb domain.Verb) *Error {
	err := parse(s.call, args)
	if err != nil {
		return err
	}
	e, err := d.tools.entity(*table, d.bounds.Tables)
	if err == nil && verb != readsOnly {
		err = allowed(e, verb)
	}
	if err != nil {
		return err
	}
	if writable := d.bounds.Writable; verb != readsOnly && writable != nil && !slices.Contains(writable[s.call.Tool], e.Table) && !d.tools.childOf(e, writable[s.call.Tool]) {
		return fail(CodeWrongStep, "This step may read %s, but write only %s.", e.Table, cmp.Or(strings.Join(writable[s.call.Tool], ", "), "nothing"))
	}
	s.entity = e

	return nil
}

// entity finds the table a call names, by table, type or alias, and checks that the step may name it.
func (t *Tools) entity(name string, tables []string) (*domain.Entity, *Error) {
	e := t.domain.Entity(name)
	if e == nil && tables != nil && len(tables) == 0 { // a plan made under another declaration
		return nil, fail(CodeUnknownTable, "There is no table %q any more, and no other that this step is about.", registry.Scrub(name))
	}
	if e == nil {
		if tables == nil {
			tables = each(t.domain.Entities, func(e *domain.Entity) string { return e.Table })
		}

		return nil, fail(CodeUnknownTable, "There is no table %q. Tables: %s.", registry.Scrub(name), strings.Join(tables, ", "))
	}
	if tables != nil && !slices.Contains(tables, e.Table) && !t.childOf(e, tables) {
		return nil, fail(CodeUnknownTable, "Table %s is not part of this step, which may use %s.", e.Table, strings.Join(tables, ", "))
	}

	return e, nil
}

// childOf reports whether the entity's rows belong to rows of one of the tables.
func (t *Tools) childOf(e *domain.Entity, tables []string) bool {
	return slices.ContainsFunc(tables, func(name string) bool {
		parent := t.domain.ByTable(name)

		return parent != nil && parent.Child(e.Table) != nil
	})
}

// column finds a column that a model may see, by name; "id" is the key.
func column(e *domain.Entity, name string) (*domain.Column, *Error) {
	if name == domain.KeyField {
		return e.Key, nil
	}
	c := e.Column(name)
	if c == nil || c.Hidden && c != e.Key {
		return nil, failColumn(CodeUnknownColumn, name, "%s has no column %q."+columnsAre+"%s.",
			e.Table, registry.Scrub(name), visibleNames(e))
	}

	return c, nil
}

// columnOrPath is [column] for reading, where a path may also lead to a column of the row that a column points to.
func columnOrPath(e *domain.Entity, name string) (*domain.Column, *Error) {
	link, rest, isPath := strings.Cut(name, ".")
	via := e.Column(link)
	if !isPath || via == nil || via.Target() == nil {
		c, err := column(e, name)
		if err == nil {
			return c, nil
		}
		if paths := e.PathsTo(name); len(paths) > 0 {
			err.Message += " What it points to has: " + strings.Join(paths, ", ") + "."
		}

		return nil, err
	}
	if c := e.ColumnOrPath(name); c != nil && !c.Hidden {
		return c, nil
	}
	if _, err := columnOrPath(via.Target(), rest); err != nil {
		return nil, err // it lists the columns there
	}

	return column(e, name)
}

func visible(e *domain.Entity) []*domain.Column {
	return only(e.Columns, func(c *domain.Column) bool { return c == e.Key || !c.Hidden })
}

func visibleNames(e *domain.Entity) string { return joinEach(visible(e), ", ", columnName) }

func columnName(c *domain.Column) string { return c.Name }
