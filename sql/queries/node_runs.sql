-- name: NodeRunInsert :exec
INSERT INTO node_runs (turn_id, user_id, position, node, step, call, output, river_job_id, llm_call_id, duration_ms)
VALUES (@turn_id, (SELECT t.user_id FROM turns AS t WHERE t.id = @turn_id), @position, @node, sqlc.narg(step), @call, @output, @river_job_id, sqlc.narg(llm_call_id), @duration_ms);

-- NodeRunListMade are a turn's decisions with all that they said.
-- name: NodeRunListMade :many
SELECT position, node, step, call, output, llm_call_id FROM node_runs WHERE turn_id = @turn_id ORDER BY position;
