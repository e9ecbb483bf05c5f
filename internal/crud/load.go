package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/registry"
)

const (
	// maxRows bounds what one result holds; further matches are only counted.
	maxRows = 500

	setRows    = "rows"
	setSummary = "summary"
	setText    = "text"
	detailFull = "full"
)

// selection is which columns and children a read returns.
type selection struct {
	columns  []*domain.Column
	children []*domain.Child
}

// wholeRow is everything visible of a type, children included.
func wholeRow(e *domain.Entity) selection {
	return selection{columns: visible(e), children: e.Children}
}

// ownColumns is everything visible of a type, without children.
func ownColumns(e *domain.Entity) selection { return selection{columns: visible(e)} }

// selected is what detail or columns ask for. Key and label columns are always included: without them a row has neither
// ref nor name.
func selected(e *domain.Entity, detail string, columns []string) (selection, *Error) {
	if len(columns) > 0 {
		return selectedColumns(e, columns)
	}
	switch detail {
	case "", setSummary:
		return ofSet(e, setSummary, nil), nil
	case setText:
		return ofSet(e, setText, nil), nil
	case setRows:
		return ofSet(e, setSummary, e.Children), nil
	case detailFull:
		return wholeRow(e), nil
	default:
		return selection{}, fail(CodeBadArgument, "detail is summary, text, rows or full.")
	}
}

// ofSet is a column set, the summary for a type without it, and the key.
func ofSet(e *domain.Entity, set string, children []*domain.Child) selection {
	names := e.Sets[set]
	if names == nil {
		names = e.Sets[setSummary]
	}
	sel := selection{children: children}
	for _, c := range e.Columns {
		if slices.Contains(names, c.Name) || c == e.Key {
			sel.columns = append(sel.columns, c)
		}
	}

	return sel
}

func selectedColumns(e *domain.Entity, names []string) (selection, *Error) {
	sel := selection{columns: []*domain.Column{e.Key}}
	for _, name := range append(e.Label.Columns(), names...) {
		child := slices.IndexFunc(e.Children, func(c *domain.Child) bool { return c.Entity.Table == name })
		if child >= 0 {
			sel.children = append(sel.children, e.Children[child])

			continue
		}
		c, err := shownColumn(e, name)
		if err != nil {
			return sel, err
		}
		if !slices.Contains(sel.columns, c) {
			sel.columns = append(sel.columns, c)
		}
	}

	return sel, nil
}

// shownColumn is column for what a read shows. What a row that a column points to is called stands beside that column.
func shownColumn(e *domain.Entity, name string) (*domain.Column, *Error) {
	link, rest, isPath := strings.Cut(name, ".")
	via := e.Column(link)
	if !isPath || via == nil || via.Target() == nil {
		return column(e, name)
	}
	if _, err := columnOrPath(e, name); err != nil {
		return nil, err
	}
	if to := via.Target(); !slices.Contains(to.Label.Columns(), rest) {
		return nil, failColumn(CodeUnknownColumn, name, "A read shows columns of its own table: read %s for %s, by the refs in %s.", to.Table, rest, link)
	}

	return column(e, link)
}

// shows reports whether the selection has a column or children of that name.
func (sel selection) shows(name string) bool {
	return slices.ContainsFunc(sel.columns, func(c *domain.Column) bool { return c.Name == name }) ||
		slices.ContainsFunc(sel.children, func(child *domain.Child) bool { return child.Entity.Table == name })
}

// sets returns the column sets that the selection contains completely.
func (sel selection) sets(e *domain.Entity) []string {
	var sets []string
	for _, set := range []string{setSummary, setText} {
		names, has := e.Sets[set]
		whole := has && !slices.ContainsFunc(names, func(name string) bool { return !sel.shows(name) })
		if whole {
			sets = append(sets, set)
		}
	}
	if len(sel.children) > 0 && len(sel.children) == len(e.Children) {
		sets = append(sets, setRows)
	}

	return sets
}

// dropUnrequested leaves out of a row, and of its parts, what only a read has that asks for it.
func dropUnrequested(e *domain.Entity, row map[string]any, asked bool) {
	for i, one := range rowsWithin(e, row) {
		maps.DeleteFunc(one.row, func(name string, _ any) bool {
			c := one.entity.Column(name)

			return (!asked || i > 0) && c != nil && !one.entity.InSets(c) && !c.Writable
		})
	}
}

// loaded are rows as stored, with their keys.
type loaded struct {
	registry.Result

	total int        // rows that matched
	at    []position // of each row, for a query with a page
}

// keys returns the rows' keys as text, in order.
func (l *loaded) keys() []string { return textsIn(l.Rows, l.Entity.Key) }

// textsIn returns the values that rows have in a column, as text.
func textsIn(rows []map[string]any, c *domain.Column) []string {
	texts := make([]string, 0, len(rows))
	for _, row := range rows {
		if row[c.Name] != nil {
			texts = append(texts, fmt.Sprint(row[c.Name]))
		}
	}

	return texts
}

// byKey returns the rows by their keys.
func (l *loaded) byKey() map[string]map[string]any {
	rows := make(map[string]map[string]any, len(l.Rows))
	for _, row := range l.Rows {
		rows[keyText(row, l.Entity)] = row
	}

	return rows
}

// after returns the rows for the registry, once this was done to them.
func (l *loaded) after(action string) registry.Result {
	result := l.Result
	result.Action = action

	return result
}

func keyText(row map[string]any, e *domain.Entity) string { return fmt.Sprint(row[e.Key.Name]) }

// query is a read: what to select, from which rows, in which order.
type query struct {
	sel selection
	// all of filters has to hold and, if given, any one of or.
	filters, or []condition

	keys  []string                 // only rows with these keys; nil: any
	best  bool                     // keys are the best of all rows: those are counted, not only these
	where func(*statement) string  // a further condition; nil for none
	join  func(*statement) string  // what is joined to the table; nil for nothing
	first func(*statement) []*term // what precedes the type's order; nil for nothing
	by    []*domain.Column         // the columns in it
	limit int                      // 0: no limit
	paged bool                     // with each row's position
	after position                 // only rows after it; nil: from the beginning
	lock  bool
}

// load runs a query and reads the children of what it found: one statement, plus one per child type.
func load(ctx context.Context, tx pgx.Tx, e *domain.Entity, q *query) (*loaded, error) {
	s := loadSQL(e, q)
	versions := map[string]string{}
	result := &loaded{Result: registry.Result{Entity: e, Sets: q.sel.sets(e), Versions: map[string]map[string]string{e.Type: versions}}}
	var (
		raw     []byte
		version string
		at      position
	)
	err := s.each(ctx, tx, []any{&raw, &version, &result.total, &at}, func() error {
		var row map[string]any
		if err := exact.Decode(raw, &row); err != nil {
			return err
		}
		result.Rows = append(result.Rows, row)
		versions[keyText(row, e)] = version
		result.at = append(result.at, at)

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Table, suspectFilters(err, e, slices.Concat(q.filters, q.or)...))
	}
	for _, child := range q.sel.children {
		if err := loadChildren(ctx, tx, child, result); err != nil {
			return nil, err
		}
	}

	return result, nil
}

// loadSQL returns rows as JSON, which keeps every type exact, along with each row's version and position and the number
// of matching rows.
func loadSQL(e *domain.Entity, q *query) *statement {
	s := &statement{}
	terms := defaultOrder(s, e)
	if q.first != nil {
		terms = append(q.first(s), terms...)
	}
	at := "NULL::text[]"
	if q.paged {
		at = positionSQL(terms)
	}
	s.add(`SELECT to_jsonb(r.*) - ARRAY[' version', ' total', ' at', ' after'], " version", " total", " at" FROM (SELECT `, // names of no column
		columnList(q.sel.columns), ", ", e.VersionSQL(), ` AS " version", `, at, ` AS " at", `, totalSQL(e, q), ` AS " total", `, afterSQL(s, terms, q.after), ` AS " after"`,
		" FROM ", e.SQL(), joinsFor(append(filteredColumns(q.filters, q.or), q.by...)))
	if q.join != nil {
		s.add(q.join(s))
	}
	whereSQL(s, e, q)
	s.add(" ORDER BY ", orderSQL(terms))
	if q.locks(e) {
		s.add(" FOR UPDATE OF ", quoted(e.Table))
	}
	s.add(") AS r")
	if q.after != nil { // out here, because earlier pages are counted too
		s.add(` WHERE " after"`)
	}
	if q.limit > 0 {
		s.add(" LIMIT ", s.value(q.limit))
	}

	return s
}

func (q *query) locks(e *domain.Entity) bool { return q.lock && e.Lockable }

// totalSQL is how many rows match, 0 where they are locked: FOR UPDATE cannot be combined with a window function.
func totalSQL(e *domain.Entity, q *query) string {
	switch {
	case q.locks(e):
		return "0::bigint"
	case q.best:
		return "(SELECT count(*) FROM " + e.SQL() + " WHERE " + e.Owned() + ")"
	default:
		return "count(*) OVER ()"
	}
}

// whereSQL says which rows a query reads.
func whereSQL(s *statement, e *domain.Entity, q *query) {
	s.add(" WHERE ", e.Owned(), " AND ", where(s, e, q.filters, q.or))
	if q.keys != nil {
		s.add(" AND ", s.keyIn(e, q.keys))
	}
	if q.where != nil {
		s.add(" AND ", q.where(s))
	}
}

// byKeys loads rows by key.
func byKeys(ctx context.Context, tx pgx.Tx, e *domain.Entity, sel selection, keys []string) (*loaded, error) {
	q := queryByKeys(e, keys)
	q.sel = sel

	return load(ctx, tx, e, q)
}

// queryByKeys selects rows by key, in the order of the keys; without keys, none.
func queryByKeys(e *domain.Entity, keys []string) *query {
	return &query{keys: noneIfEmpty(keys), first: inOrder(e, e.Key, keys)}
}

// noneIfEmpty are keys of which none mean no row: nil would mean every row.
func noneIfEmpty(keys []string) []string { return append([]string{}, keys...) }

// lockRows selects rows by key and locks them.
func lockRows(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) (*loaded, error) {
	return load(ctx, tx, e, &query{sel: ownColumns(e), keys: noneIfEmpty(keys), lock: true})
}

// versions returns the versions of the user's rows, by type and key. which is the condition on rows of a type, "" if none
// of it are wanted. There is one query per type; they are sent together.
func (t *Tools) versions(ctx context.Context, tx pgx.Tx, which func(*domain.Entity, *statement) string) (map[string]map[string]string, error) {
	versions, reads := map[string]map[string]string{}, &pg.Batch{}
	for _, e := range t.domain.Entities {
		s := &statement{}
		if condition := which(e, s); condition != "" {
			s.add("SELECT ", e.Qualified(e.Key), "::text, ", e.VersionSQL(), " FROM ", e.SQL(), " WHERE ", e.Owned(), " AND ", condition)
			queueByKey(reads, "read versions", s, func(found map[string]string) { versions[e.Type] = found })
		}
	}

	return versions, reads.Send(ctx, tx)
}

// loadChildren puts the child rows of all parents under the child table's name.
func loadChildren(ctx context.Context, tx pgx.Tx, child *domain.Child, parents *loaded) error {
	byPlace := make(map[string]map[string]any, len(parents.Rows))
	for i, parent := range parents.Rows {
		parent[child.Entity.Table] = []any{}
		byPlace[strconv.Itoa(i+1)] = parent
	}
	if len(parents.Rows) == 0 {
		return nil
	}
	keys := parents.keys()
	found, err := load(ctx, tx, child.Entity, &query{
		sel:   wholeRow(child.Entity),
		where: func(s *statement) string { return s.pointsAt(child.Entity, child.FK, keys) },
		first: inOrder(child.Entity, child.FK, keys), // the reference may be hidden, or be written differently from the key that it equals
		paged: true,
	})
	if err != nil {
		return err
	}
	maps.Copy(parents.Versions, found.Versions)
	for i, row := range found.Rows {
		parent := byPlace[*found.at[i][0]]
		parent[child.Entity.Table] = append(parent[child.Entity.Table].([]any), row)
	}

	return nil
}
