-- The functions of a name in some schemas.
SELECT n.nspname::text, coalesce(obj_description(p.oid, 'pg_proc'), ''), p.proowner::regrole::text, p.prosecdef,
       coalesce(has_function_privilege(to_regrole('alfred_tenant')::oid, p.oid, 'EXECUTE')
            AND has_schema_privilege(to_regrole('alfred_tenant')::oid, p.pronamespace, 'USAGE'), false), p.prokind::text,
       coalesce(p.proargnames[1:p.pronargs], '{}'),
       coalesce(a.types, '{}'), coalesce(a.bases, '{}'), coalesce(a.elems, '{}'), coalesce(a.enums, '{}'), p.pronargdefaults, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), '')
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
CROSS JOIN LATERAL (
    SELECT array_agg(format_type(t.oid, -1) ORDER BY u.n) AS types,
           array_agg(CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, -1) WHEN t.typtype IN ('c', 'p') THEN 'composite' ELSE format_type(t.oid, -1) END ORDER BY u.n) AS bases,
           array_agg(CASE WHEN t.typcategory = 'A' THEN format_type(t.typelem, -1) ELSE '' END ORDER BY u.n) AS elems,
           array_agg(coalesce((SELECT string_agg(e.enumlabel, chr(1) ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum AS e WHERE e.enumtypid IN (u.oid, nullif(t.typelem, 0))), '') ORDER BY u.n) AS enums
    FROM unnest(p.proargtypes) WITH ORDINALITY AS u (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = u.oid) AS a
WHERE p.proname = $2 AND n.nspname = ANY ($1::text[])
