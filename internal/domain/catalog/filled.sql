-- Columns that a trigger assigns before a row is inserted, as far as its function's text shows. What it makes of the column
-- itself fills none, unless it says what stands for null.
SELECT g.tgrelid, a.attname::text
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = g.tgrelid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND NOT a.atthasdef
CROSS JOIN LATERAL (SELECT 'new\."?' || regexp_replace(a.attname, '(\W)', '\\\1', 'g') || '"?' AS name) AS c
CROSS JOIN LATERAL (SELECT format('(?!(?=[^;]*\m%s(\W|$))(?![^;]*\m(coalesce|null)\M))', c.name) AS otherwise) AS o
WHERE g.tgrelid = ANY ($1::oid[]) AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') AND g.tgtype & 7 = 7 -- each row, before, insert
  AND f.prosrc ~* format('(\m%1$s\s*:=%2$s|(;|\m(begin|then|else))\s*%1$s\s*=%2$s|\minto\s+(strict\s+)?([\w."]+\s*,\s*)*%1$s(\s|,|;))', c.name, o.otherwise)
