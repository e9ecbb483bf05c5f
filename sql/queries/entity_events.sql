-- EntityEventListTurns says which refs each of the turns had to do with, and what last happened to them there.
-- name: EntityEventListTurns :many
SELECT DISTINCT ON (v.turn_number, v.ref) v.turn_number, v.ref, v.action
FROM entity_events AS v
WHERE v.session_id = @session_id AND v.turn_number = ANY (@turn_numbers::int[]) AND v.actor <> 'system'
  AND v.action NOT IN ('linked', 'relabelled')
ORDER BY v.turn_number, v.ref, (v.action = 'touched'), v.id DESC;
