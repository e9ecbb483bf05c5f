-- What Attach makes in a schema: each view with its columns and rights, each function, and what defines it; under '', what it says
-- of what they were made from.
SELECT '', coalesce(obj_description(to_regnamespace(quote_ident($1)), 'pg_namespace'), '')
UNION ALL
SELECT 'view ' || c.relname, md5(concat_ws('|', c.relowner::regrole, c.reloptions, c.relacl, pg_get_viewdef(c.oid), columns.defined))
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL (
    SELECT string_agg(concat_ws('|', a.attname, a.attacl, pg_get_expr(d.adbin, d.adrelid)), E'\n' ORDER BY a.attnum) AS defined
    FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0
) AS columns
WHERE c.relkind = 'v' AND c.relnamespace = to_regnamespace(quote_ident($1))
UNION ALL
SELECT 'function ' || p.proname, md5(string_agg(concat_ws('|', p.proowner::regrole, p.proacl, pg_get_functiondef(p.oid)), E'\n' ORDER BY p.oid::regprocedure::text))
FROM pg_catalog.pg_proc AS p
WHERE p.prokind = 'f' AND p.pronamespace = to_regnamespace(quote_ident($1))
GROUP BY p.proname
