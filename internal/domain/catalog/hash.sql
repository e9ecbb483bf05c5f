-- A digest of everything that decides who may do what in the given schemas.
SELECT coalesce(md5(string_agg(line, E'\n' ORDER BY line COLLATE "C")), '') FROM (
    SELECT concat_ws('|', c.oid::regclass, c.relkind, c.relowner::regrole, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relacl,
        a.attname, a.atttypid::regtype, a.atttypmod, a.attnotnull, a.attacl, pg_get_expr(d.adbin, d.adrelid)) AS line
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND c.relnamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT pg_get_viewdef(c.oid) FROM pg_catalog.pg_class AS c WHERE c.relkind IN ('v', 'm') AND c.relnamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT concat_ws('|', p.polrelid::regclass, p.polname, p.polcmd, p.polpermissive, p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    FROM pg_catalog.pg_policy AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.polrelid WHERE c.relnamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT concat_ws('|', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_catalog.pg_constraint WHERE connamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT concat_ws('|', pg_get_functiondef(oid), proowner::regrole, proacl) FROM pg_catalog.pg_proc WHERE prokind = 'f' AND pronamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT pg_get_triggerdef(t.oid) FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace = ANY ($1::regnamespace[])
    UNION ALL
    SELECT concat_ws('|', nspname, nspacl) FROM pg_catalog.pg_namespace WHERE oid = ANY ($1::regnamespace[])
) AS facts
