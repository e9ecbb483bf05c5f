-- Columns that a trigger assigns before a row is inserted, as far as its function's text shows.
SELECT g.tgrelid, a.attname::text
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = g.tgrelid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND NOT a.atthasdef
CROSS JOIN LATERAL (SELECT 'new\."?' || regexp_replace(a.attname, '(\W)', '\\\1', 'g') || '"?' AS name) AS c
WHERE g.tgrelid = ANY ($1::oid[]) AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') AND g.tgtype & 7 = 7 -- each row, before, insert
  AND f.prosrc ~* format('(\m%s\s*:=|(;|\m(begin|then|else))\s*%1$s\s*=|\minto\s+(strict\s+)?([\w."]+\s*,\s*)*%1$s(\s|,|;))', c.name)
