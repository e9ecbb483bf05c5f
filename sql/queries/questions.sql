-- QuestionAnswer closes the open question as answered by a turn.
-- name: QuestionAnswer :one
UPDATE questions SET status = 'answered', answered_by_turn = @turn_number::int
WHERE session_id = @session_id AND status = 'open'
RETURNING id, turn_id, kind, payload;

-- QuestionAnswered is the question that a turn answered.
-- name: QuestionAnswered :one
SELECT q.* FROM turns AS t
JOIN questions AS q ON q.session_id = t.session_id AND q.answered_by_turn = t.number AND q.status = 'answered'
WHERE t.id = @turn_id
ORDER BY q.id DESC
LIMIT 1;

-- QuestionExpire ends an open question that so many later turns left unanswered.
-- name: QuestionExpire :execrows
UPDATE questions AS q SET status = 'expired'
FROM turns AS t
WHERE q.session_id = @session_id AND q.status = 'open' AND t.id = q.turn_id AND t.number + @open_turns::int < @turn_number::int;

-- QuestionGetCurrent is the question that a turn has to do with: the one it answered or asked, else the open one. asked_intent is what
-- Understand made of the turn that asked.
-- name: QuestionGetCurrent :one
SELECT q.id, q.turn_id, q.kind, q.payload, q.status, q.answered_by_turn, t.number AS asked_turn,
       coalesce((SELECT n.output ->> 'intent' FROM node_runs AS n WHERE n.turn_id = q.turn_id AND n.node = 'understand'
                 ORDER BY n.position DESC LIMIT 1), '')::text AS asked_intent
FROM questions AS q
JOIN turns AS t ON t.id = q.turn_id
WHERE q.session_id = @session_id AND (q.status = 'open' OR q.answered_by_turn = @turn_number::int OR q.turn_id = @turn_id)
ORDER BY q.turn_id = @turn_id DESC, q.answered_by_turn IS NOT NULL DESC, q.id DESC
LIMIT 1;

-- QuestionInsert asks; supersede the open question first.
-- name: QuestionInsert :one
INSERT INTO questions (session_id, user_id, turn_id, kind, payload)
VALUES (@session_id, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id), @turn_id, @kind, @payload)
RETURNING id;

-- name: QuestionOpen :one
SELECT * FROM questions WHERE session_id = @session_id AND status = 'open';

-- name: QuestionSupersede :execrows
UPDATE questions SET status = 'superseded' WHERE session_id = @session_id AND status = 'open';
