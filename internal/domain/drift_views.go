package domain

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// below is a column of a table that a view shows.
type below struct{ table, column string }

const unreadable = "may not be read any more"

// A view reads with its owner's privileges, of which all that it names has to be readable. The whole table is named if
// no column of it may be read.
const closedBelowSQL = `
WITH RECURSIVE named AS (
    SELECT v.relname::text AS view, v.oid AS over, v.relowner AS reader FROM pg_catalog.pg_class AS v
    WHERE v.relkind = 'v' AND v.relnamespace = to_regnamespace(quote_ident($1)) AND NOT coalesce('security_invoker=true' = ANY (v.reloptions), false)
    UNION
    SELECT n.view, b.oid, b.relowner FROM named AS n
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = n.over AND r.rulename = '_RETURN'
    JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_catalog.pg_class AS b ON b.oid = d.refobjid AND b.oid <> n.over AND b.relkind = 'v'
)
SELECT DISTINCT n.view, b.relname || CASE WHEN has_any_column_privilege(n.reader, b.oid, 'SELECT') THEN '.' || a.attname ELSE '' END
FROM named AS n
JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = n.over AND r.rulename = '_RETURN'
JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> n.over
JOIN pg_catalog.pg_class AS b ON b.oid = d.refobjid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = b.oid AND a.attnum = d.refobjsubid AND a.attnum > 0
WHERE NOT has_column_privilege(n.reader, b.oid, a.attnum, 'SELECT')
ORDER BY 1, 2`

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
	if !t.view || !t.triggers || len(e.Writes) == 0 {
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
