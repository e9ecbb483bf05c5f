-- TurnStepResultListTurns is what the tools of these turns returned, oldest first.
-- name: TurnStepResultListTurns :many
SELECT r.turn_id, t.number AS turn_number, r.step, r.call, r.tool, r.entity_type, r.params, r.rows, r.row_count, r.refs, r.error_code, r.error_message
FROM turn_step_results AS r
JOIN turns AS t ON t.id = r.turn_id
WHERE r.turn_id = ANY (@turn_ids::uuid[])
ORDER BY t.number, r.step, r.call;
