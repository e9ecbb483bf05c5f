-- The query trees of views, and of the views below them.
WITH RECURSIVE views AS (
    SELECT c.oid FROM pg_catalog.pg_class AS c WHERE c.relkind IN ('v', 'm') AND c.oid = ANY ($1::oid[])
    UNION
    SELECT b.oid FROM views AS v
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = v.oid
    JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_catalog.pg_class AS b ON b.oid = d.refobjid AND b.relkind IN ('v', 'm')
)
SELECT r.ev_class, r.ev_action::text FROM views AS v JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
