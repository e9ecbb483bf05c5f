-- ConstraintEnd ends constraints in force; replaced_by names their replacement.
-- name: ConstraintEnd :many
UPDATE constraints SET ended_turn = @turn_number::int, replaced_by = sqlc.narg(replaced_by)::uuid
WHERE user_id = @user_id AND id = ANY(@ids::uuid[]) AND ended_turn IS NULL
RETURNING id;

-- ConstraintInsert stores a constraint stated by the user.
-- name: ConstraintInsert :one
INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn, expires_at)
VALUES (@user_id, @session_id, @text, @kind, @value, @scope, @source_turn, sqlc.narg(expires_at))
RETURNING id;

-- ConstraintListInForce lists what holds at a moment: the session's own constraints and the user's lasting ones.
-- name: ConstraintListInForce :many
SELECT text, kind, value, scope, source_turn, expires_at, session_id
FROM constraints
WHERE (session_id = @session_id OR (scope = 'lasting' AND user_id = @user_id))
  AND ended_turn IS NULL AND (expires_at IS NULL OR expires_at > @at)
ORDER BY created_at, id;

-- ConstraintListLive returns those in force in a session, the user's lasting ones included, oldest first.
-- name: ConstraintListLive :many
SELECT * FROM constraints
WHERE user_id = @user_id AND ended_turn IS NULL AND (session_id = @session_id OR scope = 'lasting')
ORDER BY source_turn, id;

-- ConstraintPage pages through a session's constraints and its user's lasting ones, ended ones included, oldest first.
-- name: ConstraintPage :many
SELECT id, session_id, text, kind, value, scope, source_turn, expires_at, ended_turn, replaced_by, created_at,
       (ended_turn IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))::boolean AS in_force
FROM constraints
WHERE (session_id = @session_id OR (scope = 'lasting' AND user_id = @user_id))
  AND (sqlc.narg(after_id)::uuid IS NULL OR id > sqlc.narg(after_id)::uuid)
ORDER BY id
LIMIT @page_size;
