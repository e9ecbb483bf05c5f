-- What holds for the whole database, whether a schema of views has a function that runs deferred triggers, and which
-- schema of Alfred's own extensions its tenants may not use.
SELECT to_regrole('alfred_tenant') IS NOT NULL,
       EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgdeferrable) OR EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE condeferrable),
       to_regprocedure(quote_ident($1) || '.settle()') IS NOT NULL,
       ARRAY(SELECT DISTINCT n.nspname::text FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
             WHERE n.nspname NOT IN ('pg_catalog', 'public') ORDER BY 1),
       (SELECT min(n.nspname::text) FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
        WHERE e.extname IN ('pg_trgm', 'vector') AND NOT pg_catalog.has_schema_privilege(to_regrole('alfred_tenant'), n.oid, 'USAGE'))
