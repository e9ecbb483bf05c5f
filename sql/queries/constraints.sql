-- ConstraintListInForce is what holds at a moment: the session's own and the user's lasting ones.
-- name: ConstraintListInForce :many
SELECT text, kind, value, scope, source_turn, expires_at, session_id
FROM constraints
WHERE (session_id = @session_id OR (scope = 'lasting' AND user_id = @user_id))
  AND ended_turn IS NULL AND (expires_at IS NULL OR expires_at > @at)
ORDER BY created_at, id;
