package domain

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Difference is a table or column that has changed since the domain was bound to it.
type Difference struct {
	Table  string
	Column string // "" for the table itself
	Change string // "is gone", "is integer now, it was text"
}

// String names the place and the change.
func (d Difference) String() string {
	if d.Column == "" {
		return d.Table + " " + d.Change
	}

	return d.Table + "." + d.Column + " " + d.Change
}

// Drift reports how the tables differ from those d was bound to, as far as d's statements would fail: what is gone, has
// another type or is no longer accessible to the tenant. Additions are not differences.
func Drift(ctx context.Context, db DB, d *Domain) ([]Difference, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the tables with the domain: %w", err)
	}
	defer rollback(ctx, tx)
	cat, err := readCatalog(ctx, tx, Schemas{d.Schema}, "")
	if err != nil {
		return nil, err
	}
	closed, err := closedBelow(ctx, tx, d.Schema)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for _, e := range d.Entities {
		found = append(found, e.drift(cat.table(e.Table), closed[e.Table])...)
	}

	return found, nil
}

func (e *Entity) drift(t *catalogTable, closed []string) []Difference {
	switch {
	case t == nil:
		return []Difference{{Table: e.Table, Change: "is gone"}}
	case !t.TenantSelect || slices.Contains(closed, e.Table):
		return []Difference{{Table: e.Table, Change: unreadable}}
	case len(closed) > 0:
		return []Difference{{Table: e.Table, Change: "cannot be read: " + closed[0] + " " + unreadable}}
	}
	found := e.renamed(t)
	if e.May(Delete) && !t.TenantDelete {
		found = append(found, Difference{Table: e.Table, Change: "may not be deleted from any more"})
	}
	for _, c := range e.Columns {
		if c.Expr != "" {
			continue
		}
		if change := e.driftOf(c, t); change != "" {
			found = append(found, Difference{Table: e.Table, Column: c.Name, Change: change})
		}
	}

	return found
}

func (e *Entity) driftOf(c *Column, t *catalogTable) string {
	switch now := t.column(c.Name); {
	case now == nil:
		return "is gone"
	case now.Type != c.Type:
		return "is " + now.Type + " now, it was " + c.Type
	case c.Writable && e.May(Create) && !slices.Contains(t.insertable, c.Name):
		return "may not be set in new rows any more"
	case c.Writable && e.May(Update) && !slices.Contains(t.updatable, c.Name):
		return "may not be changed any more"
	}

	return ""
}

// below is a column of a table that a view shows.
type below struct{ schema, table, column string }

const unreadable = "may not be read any more"

// closedBelow returns, by view, the tables and columns below it that its owner may no longer read.
func closedBelow(ctx context.Context, tx pgx.Tx, schema string) (map[string][]string, error) {
	closed, view, name := map[string][]string{}, "", ""

	return closed, eachRow(ctx, tx, "privileges below views", closedBelowSQL, []any{schema}, []any{&view, &name}, func() error {
		closed[view] = append(closed[view], name)

		return nil
	})
}

// renamed are the differences of names below a view that is written by a function: the view follows a renamed table or
// column by itself, the function names it as it was called when it was made.
func (e *Entity) renamed(t *catalogTable) []Difference {
	if !t.View || !t.Triggers || len(e.Writes) == 0 {
		return nil
	}
	var found []Difference
	for _, c := range e.Columns {
		now := t.column(c.Name)
		switch {
		case now == nil || now.below == c.below || c.below == below{}:
		case now.below.table != c.below.table:
			return []Difference{{Table: e.Table, Change: "is " + now.below.table + " now: it cannot be written before its view is made anew"}}
		default:
			found = append(found, Difference{Table: e.Table, Column: c.Name, Change: "is " + now.below.column + " now: the rows cannot be written before their view is made anew"})
		}
	}

	return found
}
