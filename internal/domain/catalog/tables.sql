-- The tables and views of schemas, with what alfred_tenant and alfred_undo may do to their rows, and one of another schema that says who
-- people are. A name that two of the schemas have follows its schema's.
SELECT CASE WHEN x.beyond THEN n.nspname || '.' || c.relname
            WHEN count(*) FILTER (WHERE NOT x.beyond) OVER (PARTITION BY c.relname) > 1 THEN n.nspname || '_' || c.relname
            ELSE c.relname END, n.nspname::text, c.relname::text, x.beyond, coalesce(obj_description(c.oid, 'pg_class'), ''), c.relrowsecurity,
       (SELECT count(*) FROM pg_catalog.pg_policy AS p
        WHERE p.polrelid = c.oid AND (p.polroles = '{0}' OR t.role = ANY (p.polroles)))::int,
       coalesce(has_schema_privilege(t.role, c.relnamespace, 'USAGE'), false),
       coalesce(has_table_privilege(t.role, c.oid, 'SELECT'), false),
       coalesce(has_table_privilege(t.role, c.oid, 'DELETE'), false),
       coalesce(has_table_privilege(t.undo, c.oid, 'DELETE'), false),
       c.oid, c.relkind IN ('v', 'm'), coalesce('security_barrier=true' = ANY (c.reloptions), false), c.relowner::regrole::text,
       EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
       EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgdeferrable),
       EXISTS (SELECT FROM pg_catalog.pg_trigger AS g JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid
               JOIN pg_catalog.pg_language AS l ON l.oid = f.prolang
               CROSS JOIN LATERAL (SELECT regexp_replace(f.prosrc, '''(INSERT|UPDATE|DELETE|TRUNCATE)''', '', 'gi') AS text) AS said
               WHERE NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgconstraint = 0 AND g.tgtype & 66 = 0 -- neither before nor instead
                 AND f.pronamespace IS DISTINCT FROM to_regnamespace('alfred')
                 AND g.tgrelid = ANY (own.relations)
                 AND NOT (l.lanname = 'plpgsql' -- it only checks: but for comparing TG_OP, it names no statement that writes, and no function that may
                          AND said.text !~* '\m(insert|update|delete|merge|truncate|execute|perform|call|copy|notify|pg_notify|set_config|setval|nextval|lo_\w+|dblink\w*)\M'
                          AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc AS other WHERE other.provolatile = 'v' AND other.oid <> f.oid
                                          AND other.pronamespace <> 'pg_catalog'::regnamespace AND strpos(lower(said.text), lower(other.proname)) > 0))),
       EXISTS (SELECT FROM pg_catalog.pg_inherits AS i JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent AND p.relkind = 'r'
               WHERE p.oid = ANY (own.relations))
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN LATERAL (SELECT n.nspname <> ALL ($1::text[]) AS beyond) AS x,
     (SELECT to_regrole('alfred_tenant')::oid AS role, to_regrole('alfred_undo')::oid AS undo) AS t,
     LATERAL (SELECT array_agg(d.refobjid) || c.oid AS relations -- it, and those that a view reads
              FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
              WHERE r.ev_class = c.oid AND d.refclassid = 'pg_class'::regclass) AS own
WHERE (NOT x.beyond OR n.nspname || '.' || c.relname = $2) AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
ORDER BY array_position($1::text[], n.nspname::text), c.relname
