package domain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// catalogFunction is a function as the catalog has it.
type catalogFunction struct {
	oid       uint32
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
SELECT p.oid, coalesce(obj_description(p.oid, 'pg_proc'), ''), p.proowner::regrole::text, p.prosecdef,
       coalesce(has_function_privilege(to_regrole('alfred_tenant')::oid, p.oid, 'EXECUTE')
            AND has_schema_privilege(to_regrole('alfred_tenant')::oid, p.pronamespace, 'USAGE'), false), p.prokind::text,
       coalesce(p.proargnames[1:p.pronargs], '{}'),
       coalesce((SELECT array_agg(format_type(t.oid, -1) ORDER BY a.n) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = a.oid), '{}'),
       coalesce((SELECT array_agg(CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, -1) WHEN t.typtype IN ('c', 'p') THEN 'composite' ELSE format_type(t.oid, -1) END ORDER BY a.n)
                 FROM unnest(p.proargtypes) WITH ORDINALITY AS a (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = a.oid), '{}'),
       coalesce((SELECT array_agg(CASE WHEN t.typcategory = 'A' THEN format_type(t.typelem, -1) ELSE '' END ORDER BY a.n)
                 FROM unnest(p.proargtypes) WITH ORDINALITY AS a (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = a.oid), '{}'),
       coalesce((SELECT array_agg(coalesce((SELECT string_agg(e.enumlabel, chr(1) ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e WHERE e.enumtypid IN (a.oid, nullif(t.typelem, 0))), '') ORDER BY a.n)
                 FROM unnest(p.proargtypes) WITH ORDINALITY AS a (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = a.oid), '{}'),
       p.pronargdefaults, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), '')
FROM pg_catalog.pg_proc AS p
WHERE p.proname = $2 AND p.pronamespace = to_regnamespace(quote_ident($1))`

// functions finds the functions of a name: none, one, or several overloads.
func functions(ctx context.Context, tx pgx.Tx, schema, name string) ([]*catalogFunction, error) {
	rows, err := tx.Query(ctx, functionSQL, schema, name)
	if err != nil {
		return nil, fmt.Errorf("read function %s: %w", name, err)
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*catalogFunction, error) {
		f := &catalogFunction{}

		return f, row.Scan(&f.oid, &f.comment, &f.owner, &f.definer, &f.callable, &f.kind, &f.names, &f.types, &f.bases, &f.elems, &f.enums,
			&f.defaults, &f.arguments, &f.result)
	})
}
