-- RowEventAdd keeps what was done to rows beside conversations. rows are objects of entity_type, entity_id, label and action.
-- name: RowEventAdd :exec
INSERT INTO row_events (user_id, entity_type, entity_id, label, action, operation)
SELECT @user_id, r.entity_type, r.entity_id, r.label, r.action, sqlc.narg(operation)
FROM jsonb_to_recordset(@rows::jsonb) AS r (entity_type text, entity_id text, label text, action text);

-- RowEventList is who changed a row, newest first.
-- name: RowEventList :many
SELECT v.action, v.operation, v.actor, s.id AS session_id, coalesce(s.title, '')::text AS title, coalesce(v.number, 0)::int AS number, v.at
FROM v_row_events AS v
LEFT JOIN sessions AS s ON s.id = v.session_id
WHERE v.user_id = @user_id AND v.entity_type = @entity_type AND v.entity_id = @entity_id::text
ORDER BY v.at DESC
LIMIT @most_events;
