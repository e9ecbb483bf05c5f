-- NodeRunListTurn is a turn's decisions in order; of act's output only what ends a step without success.
-- name: NodeRunListTurn :many
SELECT position, node, step, call,
       (CASE WHEN node = 'act' THEN jsonb_build_object('blocked', output -> 'blocked', 'ask_user', output -> 'ask_user',
                                                       'request_schema', output -> 'request_schema')
             ELSE output END)::jsonb AS output
FROM node_runs
WHERE turn_id = @turn_id
ORDER BY position;
