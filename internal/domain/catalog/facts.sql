-- What holds for the whole database.
SELECT to_regrole('alfred_tenant') IS NOT NULL,
       EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgdeferrable) OR EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE condeferrable),
       ARRAY(SELECT DISTINCT n.nspname::text FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
             WHERE n.nspname NOT IN ('pg_catalog', 'public') ORDER BY 1)
