-- Sequences of schemas that no column takes its default from.
SELECT n.nspname::text, c.relname::text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1::text[]) AND c.relkind = 'S'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i'))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refobjid = c.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_attrdef'::regclass)
ORDER BY 1, 2;
