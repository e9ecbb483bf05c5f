-- Keeps what a node asked and was answered, what it read and what it streamed, in one statement. Of the prompt's parts those are
-- inserted that are not there yet.
WITH own AS (
    INSERT INTO kept_parts (session, hash, text)
    SELECT $1, p.hash, p.text FROM unnest($8::uuid[], $9::text[]) AS p (hash, text)
    ORDER BY p.hash
    ON CONFLICT DO NOTHING
), shared AS (
    INSERT INTO kept_parts_shared (hash, text)
    SELECT p.hash, p.text FROM unnest($10::uuid[], $11::text[]) AS p (hash, text)
    ORDER BY p.hash
    ON CONFLICT DO NOTHING
), call AS (
    INSERT INTO kept_calls (session, turn, n, node, outline, parts, response)
    SELECT $1, $2, $3, $4, $5, $6::uuid[], $7::jsonb
    WHERE $5::text IS NOT NULL
    ON CONFLICT DO NOTHING
), results AS (
    INSERT INTO kept_results (session, turn, step, call, tool, params, rows)
    SELECT $1, $2, r.step, r.call, r.tool, r.params, r.rows
    FROM jsonb_to_recordset($12::jsonb) AS r (step integer, call integer, tool text, params jsonb, rows jsonb)
    ON CONFLICT DO NOTHING
)
INSERT INTO kept_events (session, turn, seq, type, data)
SELECT $1, $2, e.seq, e.data ->> 'type', e.data
FROM jsonb_to_recordset($13::jsonb) AS e (seq integer, data jsonb)
ON CONFLICT DO NOTHING
