-- DecisionListRecent is the decision log up to a turn, newest first.
-- name: DecisionListRecent :many
SELECT turn_id, turn_number, action, ref, reason, actor
FROM decisions
WHERE session_id = @session_id AND turn_number <= @turn_number
ORDER BY turn_number DESC, id DESC
LIMIT @lim;
