package domain

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// KeyField is the models' name for the key, whatever its column is called.
const KeyField = "id"

// maxReach is how many rows away a column may be.
const maxReach = 3

// ColumnOrPath is a column by name, or by a path one of the row that a column points to: issue_id.state,
// issue_id.project_id.name. Such a column is read, never written. It returns nil if there is none.
func (e *Entity) ColumnOrPath(name string) *Column {
	c, at, rest := e.Column(name), place{entity: e}, name
	for c == nil && len(at.joins) < maxReach {
		link, further, isPath := strings.Cut(rest, ".")
		via := at.entity.Column(link)
		if !isPath || via == nil || !via.leads() {
			return nil
		}
		if further == KeyField || further == via.Target().Key.Name {
			c = via
		} else {
			at = at.next(via, joinAlias(strings.TrimSuffix(name, "."+further)))
			c, rest = at.entity.Column(further), further
		}
	}
	switch {
	case c == nil || len(at.joins) == 0:
		return c
	case c.Hidden:
		return nil
	}
	reached := *c
	reached.Name, reached.Generated, reached.Writable, reached.cast = name, true, false, ""
	reached.Expr, reached.Join = at.sql(c), at.joins

	return &reached
}

// Whoever names a column that is elsewhere is told of a few paths, to rows that are near.
const (
	mostPaths = 4
	nearReach = 2
)

// PathsTo are paths to what is called so in rows that columns point to: of a payment's title that is enrolment_id.course_id.title.
// Their type may stand for the column: course.title. Those that every row has come first: through one that may be missing, a total
// would leave rows out.
func (e *Entity) PathsTo(name string) []string {
	type stop struct {
		prefix string
		entity *Entity
		sure   bool
	}
	var sure, perhaps []string
	first, rest, isPath := strings.Cut(name, ".")
	for at := []stop{{"", e, true}}; len(at) > 0; at = at[1:] {
		for _, via := range at[0].entity.Columns {
			if !via.leads() || via.Target() == e || strings.Count(at[0].prefix, ".") == nearReach {
				continue
			}
			next := stop{at[0].prefix + via.Name + ".", via.Target(), at[0].sure && !via.Nullable}
			at = append(at, next)
			path := next.prefix + name
			if isPath && (first == via.Target().Type || first == via.Target().Table) {
				path = next.prefix + rest
			}
			switch {
			case e.ColumnOrPath(path) == nil:
			case next.sure:
				sure = append(sure, path)
			default:
				perhaps = append(perhaps, path)
			}
		}
	}

	return slices.Concat(sure, perhaps)[:min(len(sure)+len(perhaps), mostPaths)]
}

// leads reports whether a path may lead on through the column.
func (c *Column) leads() bool {
	return c.Target() != nil && !c.Hidden && c.Expr == "" && c.Kind != KindArray
}

// place is a row on a path: the table's own, or one that is joined to it.
type place struct {
	entity *Entity
	alias  string   // "" for the table's own row
	joins  []string // up to here
}

// sql is a column of the row.
func (p place) sql(c *Column) string {
	if p.alias == "" {
		return p.entity.Qualified(c)
	}

	return p.alias + "." + p.entity.numberedName(c)
}

// next joins the row that a column points to, with all that may be read of it: each row once, whichever columns are reached.
func (p place) next(via *Column, alias string) place {
	e := via.Target()
	columns := []string{e.Key.SQL() + ` AS " key"`}
	for _, c := range e.Columns {
		if !c.Hidden {
			columns = append(columns, c.SQL()+" AS "+e.numberedName(c))
		}
	}
	join := ` LEFT JOIN (SELECT ` + strings.Join(columns, ", ") + ` FROM ` + e.SQL() + ` WHERE ` + e.Owned() + `) AS ` + alias + ` ON ` + alias + `." key" = ` + p.sql(via)

	return place{e, alias, append(slices.Clone(p.joins), join)}
}

// numberedName is what a column is called where its row is joined: no table has such a name, and columns outside are
// not qualified.
func (e *Entity) numberedName(c *Column) string {
	return fmt.Sprintf(`" %d"`, slices.Index(e.Columns, c))
}

// Pointing finds the rows that point to those of this type, by their table or by a path that begins with it: issue_labels,
// issue_labels.issue_id or issue_labels.issue_id.project_id. It returns their type, nil for none, and the column that holds the key: several
// or none, if the name does not say which.
func (e *Entity) Pointing(name string) (*Entity, []*Column) {
	table, path, isPath := strings.Cut(name, ".")
	from := e.tables[table]
	if from == nil {
		return nil, nil
	}
	part := e.Child(table)
	leadsHere := func(c *Column) bool {
		return c != nil && c.Target() == e && c.Kind != KindArray && (!c.Hidden || part != nil && c == part.FK)
	}
	if c := from.ColumnOrPath(path); isPath && leadsHere(c) {
		return from, []*Column{c}
	} else if isPath {
		return from, nil
	}

	return from, slices.DeleteFunc(slices.Clone(from.Columns), func(c *Column) bool { return !leadsHere(c) })
}

// joinAlias is the name of a joined row in a statement. No table has such a name, or the table's own name would no
// longer mean the row that points; hashed, it is never too long.
func joinAlias(path string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(path))

	return fmt.Sprintf(`" far %x"`, sum.Sum64())
}
