package domain

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// below is a column of a table that a view shows.
type below struct{ table, column string }

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
