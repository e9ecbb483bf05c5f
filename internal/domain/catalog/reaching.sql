-- The foreign keys by which deleting a row of the given tables deletes or changes others.
SELECT k.confrelid, k.conrelid, k.confdeltype::text, format('%I.%I', n.nspname, c.relname), c.relname::text, k.conkey::int[],
       ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (num, n) JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.num ORDER BY u.n),
       ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (num, n) JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.num ORDER BY u.n)
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd') AND k.conparentid = 0 AND k.confrelid = ANY ($1::oid[])
ORDER BY 4, k.conname
