-- RefCounterAdvance reserves the next numbers of types and returns the last of each; types and counts are parallel.
-- name: RefCounterAdvance :many
INSERT INTO ref_counters (session_id, user_id, kind, entity_type, last_number)
SELECT @session_id::uuid, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id::uuid), @kind::text, unnest(@entity_types::text[]), unnest(@counts::int[])
ON CONFLICT (session_id, kind, entity_type, user_id) DO UPDATE SET last_number = ref_counters.last_number + excluded.last_number
RETURNING entity_type, last_number;
