-- name: NodeRunInsert :exec
INSERT INTO node_runs (turn_id, user_id, position, node, step, call, output, river_job_id, llm_call_id, duration_ms)
VALUES (@turn_id, (SELECT t.user_id FROM turns AS t WHERE t.id = @turn_id), @position, @node, sqlc.narg(step), @call, @output, @river_job_id, sqlc.narg(llm_call_id), @duration_ms);

-- NodeRunListMade are a turn's decisions with all that they said.
-- name: NodeRunListMade :many
SELECT position, node, step, call, output FROM node_runs WHERE turn_id = @turn_id ORDER BY position;

-- NodeRunListTurn is a turn's decisions in order; of act's output only what ends a step without success.
-- name: NodeRunListTurn :many
SELECT position, node, step, call,
       (CASE WHEN node = 'act' THEN jsonb_build_object('blocked', output -> 'blocked', 'ask_user', output -> 'ask_user',
                                                       'request_schema', output -> 'request_schema')
             ELSE output END)::jsonb AS output
FROM node_runs
WHERE turn_id = @turn_id
ORDER BY position;
