-- RowChangeInsert keeps what a decision wrote, in order, and notes at the turn whether it can be taken back. changes is [{entity_type, entity_id, action, before, after, draft, lost}].
-- name: RowChangeInsert :exec
WITH added AS (
    INSERT INTO row_changes (turn_id, user_id, seq, step, call, entity_type, entity_id, action, before, after, draft, lost)
    SELECT t.id, t.user_id,
           coalesce((SELECT max(r.seq) FROM row_changes AS r WHERE r.turn_id = t.id), 0) + c.n, @step, @call,
           c.change ->> 'entity_type', c.change ->> 'entity_id', c.change ->> 'action',
           nullif(c.change -> 'before', 'null'), nullif(c.change -> 'after', 'null'), c.change ->> 'draft', c.change ->> 'lost'
    FROM turns AS t, jsonb_array_elements(@changes::jsonb) WITH ORDINALITY AS c (change, n)
    WHERE t.id = @turn_id
    RETURNING row_changes.seq, row_changes.lost
)
UPDATE turns AS t
SET undo = CASE WHEN t.undo = 'impossible' OR lost.reason IS NOT NULL THEN 'impossible' ELSE 'possible' END,
    undo_reason = coalesce(t.undo_reason, lost.reason)
FROM (SELECT (array_agg(a.lost ORDER BY a.seq) FILTER (WHERE a.lost IS NOT NULL))[1]::text AS reason FROM added AS a) AS lost
WHERE t.id = @turn_id;
