-- name: TurnEventListSession :many
SELECT e.turn_id, e.seq, e.type, e.data, t.number
FROM turns AS t
JOIN turn_events AS e ON e.turn_id = t.id
WHERE t.session_id = @session_id AND (t.number, e.seq) > (@after_number::integer, @after_seq::integer)
ORDER BY t.number, e.seq
LIMIT @page_size;

-- name: TurnEventListTurn :many
SELECT seq, type, data
FROM turn_events
WHERE turn_id = @turn_id AND seq > @after_seq
ORDER BY seq
LIMIT @page_size;

-- TurnEventPrune removes the pieces of a reply. It comes after the last append: the seq of a pruned event must not be
-- given again, readers are past it.
-- name: TurnEventPrune :exec
DELETE FROM turn_events WHERE turn_id = @turn_id AND type IN ('reply.delta', 'reply.reset');
