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

// Reached is a column by name, or by a path one of the row that a column points to: issue_id.state,
// issue_id.project_id.name. Such a column is read, never written. It returns nil if there is none.
func (e *Entity) Reached(name string) *Column { return e.reached(name, maxReach) }

func (e *Entity) reached(name string, far int) *Column {
	link, rest, isPath := strings.Cut(name, ".")
	via := e.Column(link)
	if c := e.Column(name); c != nil || !isPath || far == 0 || via == nil || via.Hidden || via.Expr != "" || via.Kind == KindArray || via.Target() == nil {
		return c
	}
	target := via.Target()
	inner := target.reached(rest, far-1)
	switch {
	case rest == KeyField, inner == target.Key && inner != nil:
		return via
	case inner == nil:
		return nil
	}
	c, own := *inner, apart(name)
	c.Name, c.Generated, c.Writable, c.cast, c.Expr = name, true, false, "", own+`." value"`
	c.Join = ` LEFT JOIN (SELECT ` + inner.SQL() + ` AS " value", ` + target.Key.SQL() + ` AS " key" FROM ` + target.SQL() + inner.Join + ` WHERE ` + target.Owned() +
		`) AS ` + own + ` ON ` + own + `." key" = ` + e.Qualified(via)

	return &c
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
	if c := from.Reached(path); isPath && leadsHere(c) {
		return from, []*Column{c}
	} else if isPath {
		return from, nil
	}

	return from, slices.DeleteFunc(slices.Clone(from.Columns), func(c *Column) bool { return !leadsHere(c) })
}

// apart is a name in a statement that no table has, so that the table's name outside still means the row that points, and that is
// not too long.
func apart(path string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(path))

	return fmt.Sprintf(`" far %x"`, sum.Sum64())
}
