-- TurnEventListSession is a session's stream: turn after turn, in the order in which they began, which is not that of
-- their numbers when one interrupts. A turn cancelled while it waited stands where it ended; its event is held back while
-- another turn runs, so that a reader who resumes has the order of one who never left.
-- name: TurnEventListSession :many
SELECT e.turn_id, e.seq, e.type, e.data, t.number
FROM turns AS t
JOIN turn_events AS e ON e.turn_id = t.id
LEFT JOIN turns AS seen ON seen.session_id = t.session_id AND seen.number = @after_number
WHERE t.session_id = @session_id
  AND (seen.id IS NULL
       OR (coalesce(t.started_at, t.finished_at), t.number, e.seq)
        > (coalesce(seen.started_at, seen.finished_at), seen.number, @after_seq::integer))
  AND NOT EXISTS (SELECT FROM turns AS r
                  WHERE r.session_id = t.session_id AND r.status = 'running'
                    AND r.started_at < coalesce(t.started_at, t.finished_at))
ORDER BY coalesce(t.started_at, t.finished_at), t.number, e.seq
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
