-- QuestionAnswer closes the open question as answered by a turn.
-- name: QuestionAnswer :one
UPDATE questions SET status = 'answered', answered_by_turn = @turn_number::int
WHERE session_id = @session_id AND status = 'open'
RETURNING id, turn_id, kind, payload;

-- QuestionExpire ends an open question that was left unanswered for so many turns.
-- name: QuestionExpire :execrows
UPDATE questions AS q SET status = 'expired'
FROM turns AS t
WHERE q.session_id = @session_id AND q.status = 'open' AND t.id = q.turn_id AND t.number + @open_turns::int < @turn_number::int;

-- QuestionInsert asks a question; supersede the open one first.
-- name: QuestionInsert :exec
INSERT INTO questions (id, session_id, user_id, turn_id, kind, payload)
VALUES (@id, @session_id, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id), @turn_id, @kind, @payload);

-- QuestionListTurn returns a turn's questions: the one it asked, the one it answered, the open one.
-- name: QuestionListTurn :many
SELECT q.id, q.turn_id, q.kind, q.payload, q.status, q.answered_by_turn, t.number AS asked_turn
FROM questions AS q
JOIN turns AS t ON t.id = q.turn_id
WHERE q.session_id = @session_id AND (q.status = 'open' OR q.answered_by_turn = @turn_number::int OR q.turn_id = @turn_id)
ORDER BY q.turn_id = @turn_id DESC, q.answered_by_turn IS NOT NULL DESC, q.id DESC;

-- QuestionMoot closes the open question if everything it offers to write is gone: dropped, rejected, deleted, or saved
-- by now.
-- name: QuestionMoot :exec
UPDATE questions AS q SET status = 'superseded'
WHERE q.session_id = @session_id AND q.status = 'open' AND jsonb_array_length(coalesce(q.payload -> 'writes', '[]')) > 0
  AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(q.payload -> 'writes') AS w (offer)
      WHERE w.offer -> 'refs' = '[]'
         OR EXISTS (
             SELECT FROM entity_refs AS e
             WHERE e.session_id = q.session_id AND w.offer -> 'refs' ? e.ref AND e.excluded_reason IS NULL
               AND (e.state IN ('pending', 'stored') OR e.state = 'promoted' AND NOT coalesce((w.offer ->> 'save')::boolean, false))));

-- name: QuestionSupersede :execrows
UPDATE questions SET status = 'superseded' WHERE session_id = @session_id AND status = 'open';
