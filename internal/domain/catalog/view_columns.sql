-- What the tables below views say of their columns.
SELECT a.attrelid, a.attnum, a.attname::text, format_type(a.atttypid, -1), NOT a.attnotnull, a.atthasdef OR a.attidentity <> '',
       a.attidentity <> '' OR a.attgenerated <> '', a.attgenerated <> '',
       coalesce(col_description(a.attrelid, a.attnum), ''), coalesce(obj_description(a.attrelid, 'pg_class'), ''), n.nspname::text, c.relname::text
FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
