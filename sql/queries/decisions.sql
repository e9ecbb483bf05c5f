-- DecisionInsert logs decisions of one kind about refs; refs and reasons are parallel.
-- name: DecisionInsert :exec
INSERT INTO decisions (session_id, user_id, turn_id, turn_number, action, ref, reason, actor)
SELECT @session_id::uuid, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id::uuid), sqlc.narg(turn_id)::uuid, @turn_number::int, @action::text, unnest(@refs::text[]), unnest(@reasons::text[]), @actor::text;

-- DecisionInsertClearAll logs a fresh start, which concerns no ref.
-- name: DecisionInsertClearAll :exec
INSERT INTO decisions (session_id, user_id, turn_id, turn_number, action, reason, actor)
VALUES (@session_id, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id), sqlc.narg(turn_id), @turn_number, 'clear_all', @reason, @actor);

-- DecisionListRecent returns the decision log up to a turn, newest first.
-- name: DecisionListRecent :many
SELECT turn_id, turn_number, action, ref, reason, actor
FROM decisions
WHERE session_id = @session_id AND turn_number <= @turn_number
ORDER BY turn_number DESC, created_at DESC, id DESC
LIMIT @lim;

-- DecisionPage pages through the decision log, oldest first.
-- name: DecisionPage :many
SELECT id, turn_number, action, ref, reason, actor, created_at
FROM decisions
WHERE session_id = @session_id AND (sqlc.narg(after_id)::uuid IS NULL OR id > sqlc.narg(after_id)::uuid)
ORDER BY id
LIMIT @page_size;
