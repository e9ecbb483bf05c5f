-- The statements that drop the views and the functions made for them.
SELECT coalesce(string_agg(drop, '; '), '') FROM (
    SELECT format('DROP VIEW IF EXISTS %s CASCADE', c.oid::regclass) AS drop FROM pg_catalog.pg_class AS c
    WHERE c.relkind = 'v' AND c.relnamespace = to_regnamespace(quote_ident($1))
    UNION ALL
    SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure) FROM pg_catalog.pg_proc AS p
    WHERE (p.prorettype = 'trigger'::regtype OR p.proname LIKE 'do\_%' OR p.proname LIKE 'preview\_%' OR p.proname = 'settle') AND p.pronamespace = to_regnamespace(quote_ident($1))
) AS x
