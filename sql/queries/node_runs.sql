-- DecisionEnd stores a decision with its events and, unless the turn ends with it, the next node, and completes its job.
-- name: DecisionEnd :exec
SELECT job_complete(@river_job_id::bigint, @attempt::int)
FROM decision_keep(@turn_id::uuid, @position::int, @node::text, sqlc.narg(step)::int, @call::int, @output::jsonb, @river_job_id::bigint,
                   sqlc.narg(llm_call_id)::uuid, @duration_ms::int, sqlc.narg(events)::jsonb, sqlc.narg(next_node)::text, sqlc.narg(goal)::text) AS kept;

-- DecisionHandOff is DecisionEnd for a worker that continues with the turn: it returns the next job. What the commit
-- reads after it for the next decision is planned as LoadPlans says.
-- name: DecisionHandOff :one
SELECT job_hand_off(@river_job_id::bigint, @attempt::int, @client::text, @kind::text, @args::jsonb)::bigint AS next_id,
       set_config('plan_cache_mode', 'force_generic_plan', true) AS plans, set_config('enable_seqscan', 'off', true) AS scans
FROM decision_keep(@turn_id::uuid, @position::int, @node::text, sqlc.narg(step)::int, @call::int, @output::jsonb, @river_job_id::bigint,
                   sqlc.narg(llm_call_id)::uuid, @duration_ms::int, sqlc.narg(events)::jsonb, sqlc.narg(next_node)::text, sqlc.narg(goal)::text) AS kept;

-- NodeRunListMade returns a turn's decisions with their full output.
-- name: NodeRunListMade :many
SELECT position, node, step, call, output, llm_call_id FROM node_runs WHERE turn_id = @turn_id ORDER BY position;
