package domain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// catalogFunction is a function as the catalog has it.
type catalogFunction struct {
	comment   string
	owner     string
	definer   bool
	callable  bool   // by alfred_tenant
	kind      string // f is a plain function, p a procedure, which has no result
	names     []string
	types     []string
	bases     []string
	elems     []string
	enums     []string // labels of an enumeration, joined by \x01
	defaults  int
	arguments string
	result    string
}

const functionSQL = `
SELECT coalesce(obj_description(p.oid, 'pg_proc'), ''), p.proowner::regrole::text, p.prosecdef,
       coalesce(has_function_privilege(to_regrole('alfred_tenant')::oid, p.oid, 'EXECUTE')
            AND has_schema_privilege(to_regrole('alfred_tenant')::oid, p.pronamespace, 'USAGE'), false), p.prokind::text,
       coalesce(p.proargnames[1:p.pronargs], '{}'),
       coalesce(a.types, '{}'), coalesce(a.bases, '{}'), coalesce(a.elems, '{}'), coalesce(a.enums, '{}'), p.pronargdefaults, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), '')
FROM pg_catalog.pg_proc AS p
CROSS JOIN LATERAL (
    SELECT array_agg(format_type(t.oid, -1) ORDER BY u.n) AS types,
           array_agg(CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, -1) WHEN t.typtype IN ('c', 'p') THEN 'composite' ELSE format_type(t.oid, -1) END ORDER BY u.n) AS bases,
           array_agg(CASE WHEN t.typcategory = 'A' THEN format_type(t.typelem, -1) ELSE '' END ORDER BY u.n) AS elems,
           array_agg(coalesce((SELECT string_agg(e.enumlabel, chr(1) ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e WHERE e.enumtypid IN (u.oid, nullif(t.typelem, 0))), '') ORDER BY u.n) AS enums
    FROM unnest(p.proargtypes) WITH ORDINALITY AS u (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = u.oid) AS a
WHERE p.proname = $2 AND p.pronamespace = to_regnamespace(quote_ident($1))`

// functions finds the functions of a name: none, one, or several overloads.
func functions(ctx context.Context, tx pgx.Tx, schema, name string) ([]*catalogFunction, error) {
	rows, _ := tx.Query(ctx, functionSQL, schema, name) // a failed query shows when its rows are collected
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*catalogFunction, error) {
		f := &catalogFunction{}

		return f, row.Scan(&f.comment, &f.owner, &f.definer, &f.callable, &f.kind, &f.names, &f.types, &f.bases, &f.elems, &f.enums,
			&f.defaults, &f.arguments, &f.result)
	})
	if err != nil {
		return nil, fmt.Errorf("read function %s: %w", name, err)
	}

	return found, nil
}
