-- name: TurnStepResultInsert :exec
INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message)
VALUES (@turn_id, (SELECT t.user_id FROM turns AS t WHERE t.id = @turn_id), @step, @call, @tool, sqlc.narg('entity_type'), @params, @rows, @row_count, @refs, sqlc.narg('error_code'), sqlc.narg('error_message'));

-- TurnStepResultLastCall is the number of the step's newest call, 0 before the first.
-- name: TurnStepResultLastCall :one
SELECT coalesce(max(call), 0)::int FROM turn_step_results WHERE turn_id = @turn_id AND step = @step;

-- TurnStepResultListTurns is what the tools of these turns returned, oldest first.
-- name: TurnStepResultListTurns :many
SELECT r.turn_id, t.number AS turn_number, r.step, r.call, r.tool, r.entity_type, r.params, r.rows, r.row_count, r.refs, r.error_code, r.error_message
FROM unnest(@turn_ids::uuid[]) AS wanted(turn_id)
CROSS JOIN LATERAL (SELECT n.number FROM turns AS n WHERE n.id = wanted.turn_id LIMIT 1) AS t
CROSS JOIN LATERAL (SELECT x.* FROM turn_step_results AS x WHERE x.turn_id = wanted.turn_id OFFSET 0) AS r
ORDER BY t.number, r.step, r.call;

-- TurnStepResultPage pages through what a turn's tools were asked and returned, in order.
-- name: TurnStepResultPage :many
SELECT step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message, created_at
FROM turn_step_results
WHERE turn_id = @turn_id AND (step, call) > (@after_step::int, @after_call::int)
ORDER BY step, call
LIMIT @page_size;

-- TurnStepResultWritten counts what a turn's calls have written, by what was done.
-- name: TurnStepResultWritten :many
SELECT tool, coalesce(entity_type, 'row')::text AS entity_type, sum(row_count)::int AS rows
FROM turn_step_results
WHERE turn_id = @turn_id AND tool IN ('db_create', 'db_update', 'db_delete') AND error_code IS NULL AND row_count > 0
GROUP BY 1, 2
ORDER BY 1, 2
LIMIT 20;
