-- The columns of tables and views.
-- A domain type counts as the type below it and those it stands on, with its length and digits; its own name is kept in type. Without a length, character would be character(1)
-- in a cast: format_type(..., -1) calls it bpchar, which is as long as the value.
SELECT c.oid, a.attname::text, format_type(a.atttypid, -1),
       CASE WHEN t.typtypmod <> -1 THEN format_type(b.oid, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END,
       CASE WHEN b.typname = 'citext' THEN 'citext' ELSE format_type(b.oid, -1) END, NOT a.attnotnull AND NOT chain.filled, chain.filled,
       a.atthasdef OR a.attidentity <> '' OR t.typdefault IS NOT NULL,
       a.attidentity <> '' OR a.attgenerated <> '', coalesce(col_description(c.oid, a.attnum), ''),
       coalesce((SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e
                 WHERE e.enumtypid IN (b.oid, nullif(b.typelem, 0))), '{}'),
       CASE WHEN b.typcategory <> 'A' THEN '' WHEN elem.typname = 'citext' THEN 'citext' ELSE format_type(b.typelem, -1) END,
       a.attnum, format_type(b.oid, -1), coalesce(has_schema_privilege(to_regrole('alfred_tenant')::oid,
           CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN (SELECT n.typnamespace FROM pg_catalog.pg_type AS n WHERE n.oid = t.typelem)
                ELSE t.typnamespace END, 'USAGE'), true),
       coalesce(has_column_privilege(to_regrole('alfred_tenant')::oid, c.oid, a.attnum, 'INSERT'), false),
       coalesce(has_column_privilege(to_regrole('alfred_tenant')::oid, c.oid, a.attnum, 'UPDATE'), false),
       coalesce(has_column_privilege(to_regrole('alfred_undo')::oid, c.oid, a.attnum, 'INSERT'), false),
       coalesce(has_column_privilege(to_regrole('alfred_undo')::oid, c.oid, a.attnum, 'UPDATE'), false),
       CASE WHEN a.attgenerated = '' THEN coalesce(pg_get_expr(d.adbin, d.adrelid), pg_get_expr(t.typdefaultbin, 0), '') ELSE '' END, a.attgenerated <> '', chain.rules, b.typtype = 'b' AND b.typcategory <> 'A'
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
CROSS JOIN LATERAL (
    WITH RECURSIVE types AS (
        SELECT t.oid, t.typbasetype, t.typnotnull
        UNION ALL
        SELECT n.oid, n.typbasetype, n.typnotnull FROM types AS o JOIN pg_catalog.pg_type AS n ON n.oid = o.typbasetype)
    SELECT max(oid) FILTER (WHERE typbasetype = 0) AS base, bool_or(typnotnull) AS filled,
           ARRAY(SELECT pg_get_expr(k.conbin, 0, true) FROM pg_catalog.pg_constraint AS k
                 WHERE k.contype = 'c' AND k.contypid IN (SELECT oid FROM types) ORDER BY k.contypid, k.conname) AS rules FROM types) AS chain
JOIN pg_catalog.pg_type AS b ON b.oid = chain.base
LEFT JOIN pg_catalog.pg_type AS elem ON elem.oid = b.typelem
WHERE c.oid = ANY ($1::oid[])
ORDER BY c.oid, a.attnum
