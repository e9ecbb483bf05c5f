-- name: TurnStepResultInsert :exec
INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message)
VALUES (@turn_id, (SELECT t.user_id FROM turns AS t WHERE t.id = @turn_id), @step, @call, @tool, sqlc.narg('entity_type'), @params, @rows, @row_count, @refs, sqlc.narg('error_code'), sqlc.narg('error_message'));

-- TurnStepResultLastCall returns the number of the step's newest call, 0 before the first.
-- name: TurnStepResultLastCall :one
SELECT coalesce(max(call), 0)::int FROM turn_step_results WHERE turn_id = @turn_id AND step = @step;

-- TurnStepResultListWindow returns the tool results of a turn and of the last turns that ended before it, oldest first.
-- name: TurnStepResultListWindow :many
WITH wanted AS (
    SELECT p.id, p.number FROM (
        SELECT t.id, t.number, t.finished_at FROM turns AS t
        WHERE t.session_id = @session_id AND t.number <> @current_turn::int AND t.finished_at <= @before
          AND t.number BETWEEN 0 AND 2147483647 -- so that the index which gives the order is taken, whatever is known of the table
        ORDER BY t.number DESC
        LIMIT 80) AS p
    ORDER BY p.finished_at DESC, p.number DESC
    LIMIT @turns_window
)
SELECT r.turn_id, w.number AS turn_number, r.step, r.call, r.tool, r.entity_type, r.params, r.rows, r.row_count, r.refs, r.error_code, r.error_message
FROM (SELECT id, number FROM wanted UNION ALL SELECT @turn_id::uuid, @current_turn::int) AS w
CROSS JOIN LATERAL (SELECT x.* FROM turn_step_results AS x WHERE x.turn_id = w.id OFFSET 0) AS r
ORDER BY w.number, r.step, r.call;

-- TurnStepResultPage pages through a turn's tool calls with their results, in order.
-- name: TurnStepResultPage :many
SELECT step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message, created_at
FROM turn_step_results
WHERE turn_id = @turn_id AND (step, call) > (@after_step::int, @after_call::int)
ORDER BY step, call
LIMIT @page_size;

