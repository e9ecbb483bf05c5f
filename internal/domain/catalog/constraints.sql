-- The constraints and unique indexes of relations. The filter must be inside: outside, Postgres would first assemble the
-- columns of every constraint in the database, which takes seconds. A foreign key to a partitioned table has a copy for
-- each partition, which is left out, as are an index's columns that are only carried along. One that only the partitions
-- of a table have is the table's: their rows are its rows.
SELECT x.conrelid, x.contype::text, x.expr, x.confrelid, x.columns, coalesce(fn.nspname || '.' || f.relname, ''), x.targets, x.confdeltype::text
FROM (
    SELECT k.conrelid, k.confrelid, k.contype, k.confdeltype,
           (SELECT array_agg(a.attname::text ORDER BY u.n) FROM unnest(k.conkey) WITH ORDINALITY AS u (num, n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.num) AS columns,
           coalesce((SELECT array_agg(a.attname::text ORDER BY u.n) FROM unnest(k.confkey) WITH ORDINALITY AS u (num, n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.num), '{}') AS targets,
           coalesce(pg_get_expr(k.conbin, k.conrelid, true), '') AS expr
    FROM pg_catalog.pg_constraint AS k WHERE k.contype IN ('p', 'u', 'f', 'c') AND k.conrelid = ANY ($1::oid[])
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS whole WHERE whole.oid = k.conparentid AND whole.conrelid = k.conrelid)
    UNION ALL
    SELECT DISTINCT i.inhparent, k.confrelid, k.contype, k.confdeltype,
           (SELECT array_agg(a.attname::text ORDER BY u.n) FROM unnest(k.conkey) WITH ORDINALITY AS u (num, n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.num),
           (SELECT array_agg(a.attname::text ORDER BY u.n) FROM unnest(k.confkey) WITH ORDINALITY AS u (num, n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.num), ''
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS whole ON whole.oid = i.inhparent AND whole.relkind = 'p'
    JOIN pg_catalog.pg_constraint AS k ON k.conrelid = i.inhrelid AND k.contype = 'f' AND k.conparentid = 0
    WHERE i.inhparent = ANY ($1::oid[])
    UNION ALL
    SELECT i.indrelid, 0, 'u', ' ',
           (SELECT array_agg(a.attname::text) FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1])), '{}', ''
    FROM pg_catalog.pg_index AS i
    WHERE i.indisunique AND i.indisvalid AND NOT i.indisprimary AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indrelid = ANY ($1::oid[])
) AS x
LEFT JOIN pg_catalog.pg_class AS f ON f.oid = x.confrelid
LEFT JOIN pg_catalog.pg_namespace AS fn ON fn.oid = f.relnamespace
WHERE x.columns IS NOT NULL
ORDER BY x.conrelid, x.contype, x.columns
