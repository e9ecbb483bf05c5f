-- By view, the tables and columns below it that its owner may no longer read.
-- A view reads with its owner's privileges, of which all that it names has to be readable. The whole table is named if
-- no column of it may be read.
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
ORDER BY 1, 2
