package domain

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// origin is where a view's column comes from: a column of a relation.
type origin struct {
	relation uint32
	column   int
}

// readOrigins finds the column behind each column of views and of the views below them, in the views'
// rewrite rules. What a view computes comes from the view itself.
func readOrigins(ctx context.Context, tx pgx.Tx, relations []uint32) (direct map[origin]origin, views map[uint32]bool, err error) {
	var (
		view uint32
		rule string
	)
	direct, views = map[origin]origin{}, map[uint32]bool{}

	return direct, views, eachRow(ctx, tx, "rules", viewRulesSQL, []any{relations}, []any{&view, &rule}, func() error {
		views[view] = true
		for number, from := range targetList(rule) {
			direct[origin{view, number}] = from
		}

		return nil
	})
}

var targetEntry = regexp.MustCompile(`(?s)^TARGETENTRY .*:resno (\d+) .*:resorigtbl (\d+) :resorigcol (\d+) `)

// targetList reads a view's own target list from its rule, which is Postgres's text form of a query tree: entries of that
// list are one level below the query, those of subqueries are deeper.
func targetList(rule string) map[int]origin {
	found := map[int]origin{}
	var own strings.Builder // what a node one level below the query says itself, without the nodes in it
	depth := 0
	for i := 0; i < len(rule); i++ {
		switch c := rule[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 2 {
				own.Reset()
			}
		case c == '}':
			if depth--; depth == 1 {
				addTarget(found, own.String()+" ")
			}
		case depth == 2:
			own.WriteByte(c)
		}
	}

	return found
}

// addTarget adds the origin that an entry of a target list names, if it names one.
func addTarget(found map[int]origin, entry string) {
	if parts := targetEntry.FindStringSubmatch(entry); parts != nil && parts[2] != "0" {
		number, _ := strconv.Atoi(parts[1])
		relation, _ := strconv.ParseUint(parts[2], 10, 32)
		column, _ := strconv.Atoi(parts[3])
		found[number] = origin{uint32(relation), column}
	}
}

// viewColumn is one column of a view.
type viewColumn struct {
	view   *catalogTable
	column *Column
}

// readViews gives views what their tables know: nullability, defaults, comments, and the constraints whose columns the
// view shows.
func (c *catalog) readViews(ctx context.Context, tx pgx.Tx) error {
	if !slices.ContainsFunc(c.tables, func(t *catalogTable) bool { return t.View }) {
		return nil
	}
	shown, err := c.traceColumns(ctx, tx)
	if err != nil {
		return err
	}
	bases := each(slices.Collect(maps.Keys(shown)), func(from origin) uint32 { return from.relation })
	var (
		relation                       uint32
		number                         int
		name, comment, relationComment string
		schema, table                  string
		base                           Column
	)
	into := []any{&relation, &number, &name, &base.Type, &base.Nullable, &base.HasDefault, &base.Generated, &base.Derived, &comment, &relationComment, &schema, &table}

	err = eachRow(ctx, tx, "tables of views", viewColumnsSQL, []any{bases}, into, func() error {
		c.attributes[origin{relation, number}] = name
		base.below = below{schema, table, name}
		for _, at := range shown[origin{relation, number}] {
			at.view.inherit(at.column, &base, comment, relationComment)
		}
		for _, at := range shown[origin{}] {
			switch {
			case at.column.Name != name || len(at.view.bases) != 1 || !at.view.bases[relation]:
			case at.addsZone(&base):
				at.view.from[name] = origin{relation, number}
				at.view.inherit(at.column, &base, comment, relationComment)
			case at.rewords(&base): // the table's constraints are about what is there
				at.view.inherit(at.column, &base, comment, relationComment)
			}
		}

		return nil
	})
	for _, t := range c.tables {
		t.setStoredAside()
	}

	return err
}

// traceColumns finds where the columns of views come from; those that a view computes come from nowhere.
func (c *catalog) traceColumns(ctx context.Context, tx pgx.Tx) (map[origin][]viewColumn, error) {
	direct, views, err := readOrigins(ctx, tx, c.oids())
	shown := map[origin][]viewColumn{}
	for _, t := range c.tables {
		for _, col := range t.columns {
			from := direct[origin{t.OID, t.numbers[col.Name]}]
			for next, through := direct[from]; through; next, through = direct[from] {
				from, t.nested = next, true
			}
			if from.relation != 0 && !views[from.relation] {
				t.from[col.Name], t.bases[from.relation] = from, true
			}
			if t.View {
				shown[from] = append(shown[from], viewColumn{t, col})
			}
		}
	}

	return shown, err
}

// addsZone reports whether the view shows a time of the table with a time zone added, or counted since 1970.
func (at viewColumn) addsZone(base *Column) bool {
	return at.column.zoned && (base.lacksZone() || kinds[base.Type] == KindNumber)
}

// rewords reports whether the view shows words for a number of the table, or a number for an amount of money.
func (at viewColumn) rewords(base *Column) bool {
	return at.column.Kind == KindText && base.whole() || at.column.Kind == KindNumber && base.isMoney()
}

// inherit copies what the table says about a column. A view's own comment takes precedence.
func (t *catalogTable) inherit(col, base *Column, comment, relationComment string) {
	col.Nullable = col.Nullable && base.Nullable // a domain type may forbid it too
	col.HasDefault = col.HasDefault || base.HasDefault
	col.Generated, col.Derived, col.below = base.Generated, base.Derived, base.below
	col.Comment = cmp.Or(col.Comment, comment)
	if t.Comment == "" && len(t.bases) == 1 {
		t.Comment = relationComment
	}
}

// addFromTable records one of a table's constraints for a view, if the view shows all its columns. In a view that joins
// tables, a table's row may appear more than once.
func (c *catalog) addFromTable(t *catalogTable, k constraint) {
	own, ok := c.namesInView(t, k.Relation, k.Columns)
	if !ok || len(t.bases) > 1 && (k.Kind == "p" || k.Kind == "u") {
		return
	}
	k.Columns = own
	if k.Kind != "f" {
		t.addConstraint(k)

		return
	}
	if target, theirs := c.viewOf(k.Target, k.Targets); target != nil {
		k.Table, k.Targets = target.Name, theirs
	}
	t.addConstraint(k) // also where no view shows what it leads to: the column holds an identifier, which no model may see
}

// viewOf returns the view that shows these columns of a table and of no other, and its names of them: one over the table
// itself, if there is one, and not over an owner's view of it.
func (c *catalog) viewOf(relation uint32, columns []string) (*catalogTable, []string) {
	var (
		best  *catalogTable
		names []string
	)
	for _, t := range c.tables {
		theirs, ok := c.namesInView(t, relation, columns)
		if t.View && ok && len(t.bases) == 1 && (best == nil || best.nested && !t.nested) {
			best, names = t, theirs
		}
	}

	return best, names
}

// namesInView returns the view's names of a table's columns, and whether it shows all of them.
func (c *catalog) namesInView(t *catalogTable, relation uint32, columns []string) ([]string, bool) {
	names := make([]string, 0, len(columns))
	for _, column := range columns {
		for _, col := range t.columns {
			from := t.from[col.Name]
			if from.relation == relation && c.attributes[from] == column {
				names = append(names, col.Name)

				break
			}
		}
	}

	return names, len(names) == len(columns) && len(names) > 0
}
