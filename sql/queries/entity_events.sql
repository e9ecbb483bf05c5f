-- EntityEventListWindow returns the refs touched by each of the last turns that ended before a turn, with each ref's
-- last event there.
-- name: EntityEventListWindow :many
WITH wanted AS (
    SELECT p.number FROM (
        SELECT t.number, t.finished_at FROM turns AS t
        WHERE t.session_id = @session_id AND t.number <> @current_turn::int AND t.finished_at <= @before
          AND t.number BETWEEN 0 AND 2147483647 -- so that the index which gives the order is taken, whatever is known of the table
        ORDER BY t.number DESC
        LIMIT 80) AS p
    ORDER BY p.finished_at DESC, p.number DESC
    LIMIT @turns_window
)
SELECT DISTINCT ON (v.turn_number, v.ref) v.turn_number, v.ref, v.action
FROM wanted AS w
CROSS JOIN LATERAL (SELECT e.* FROM entity_events AS e WHERE e.session_id = @session_id AND e.turn_number = w.number OFFSET 0) AS v
WHERE v.actor <> 'system' AND v.action NOT IN ('linked', 'relabelled')
ORDER BY v.turn_number, v.ref, (v.action = 'touched'), v.id DESC;

-- EntityEventListUser returns the rows that the user changed outside the chat before a turn began, each with its last
-- event.
-- name: EntityEventListUser :many
SELECT DISTINCT ON (e.ref) e.entity_type, e.entity_id, e.label, v.action
FROM entity_events AS v
JOIN entity_refs AS e ON e.session_id = v.session_id AND e.ref = v.ref
WHERE v.session_id = @session_id AND v.turn_number = @turn_number AND v.action IN ('created:user', 'updated:user', 'deleted:user')
  AND e.entity_id IS NOT NULL
ORDER BY e.ref, v.id DESC;
