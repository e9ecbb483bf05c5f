-- EntityEventListTurns says which refs each of the turns had to do with, and what last happened to them there.
-- name: EntityEventListTurns :many
SELECT DISTINCT ON (v.turn_number, v.ref) v.turn_number, v.ref, v.action
FROM entity_events AS v
WHERE v.session_id = @session_id AND v.turn_number = ANY (@turn_numbers::int[]) AND v.actor <> 'system'
  AND v.action NOT IN ('linked', 'relabelled')
ORDER BY v.turn_number, v.ref, (v.action = 'touched'), v.id DESC;

-- EntityEventListUser returns the rows that the user changed outside the chat before a turn began, each with what last happened to it.
-- name: EntityEventListUser :many
SELECT DISTINCT ON (e.ref) e.entity_type, e.entity_id, e.label, v.action
FROM entity_events AS v
JOIN entity_refs AS e ON e.session_id = v.session_id AND e.ref = v.ref
WHERE v.session_id = @session_id AND v.turn_number = @turn_number AND v.action IN ('created:user', 'updated:user', 'deleted:user')
  AND e.entity_id IS NOT NULL
ORDER BY e.ref, v.id DESC;
