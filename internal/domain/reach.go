package domain

import "strings"

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
	switch inner {
	case nil:
		return nil
	case target.Key:
		return via
	}
	c := *inner
	c.Name, c.Generated, c.Writable, c.cast = name, true, false, ""
	// The subquery has a name of its own, which no table has, so that the table's name outside of it still means the row that points.
	c.Expr = `SELECT " far".value FROM (SELECT ` + inner.SQL() + ` AS value, ` + target.Key.SQL() + ` AS key FROM ` + target.SQL() + ` WHERE ` + target.Owned() +
		`) AS " far" WHERE " far".key = ` + e.Qualified(via)

	return &c
}
