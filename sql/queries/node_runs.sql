-- DecisionKeep stores a decision with what it leaves behind. It completes the job, or with a client hands the turn on to it:
-- then it returns the next job and the versions that others' writes raise. What the commit of a turn that goes on reads after
-- it for the next decision is planned as LoadPlans says.
-- name: DecisionKeep :one
SELECT CASE WHEN sqlc.narg(client)::text IS NULL THEN (SELECT 0 FROM job_complete(@river_job_id::bigint, @attempt::int))
            ELSE job_hand_off(@river_job_id::bigint, @attempt::int, sqlc.narg(client)::text, @kind::text, @args::jsonb) END::bigint AS next_id,
       (SELECT s.version FROM sessions AS s WHERE s.id = @session_id::uuid)::bigint AS session_version, k.user_version::bigint AS user_version,
       CASE WHEN sqlc.narg(next_node)::text IS NOT NULL
            THEN set_config('plan_cache_mode', 'force_generic_plan', true) || set_config('enable_seqscan', 'off', true) END AS plans
FROM decision_keep(@turn_id::uuid, @position::int, @node::text, sqlc.narg(step)::int, @call::int, @output::jsonb, @river_job_id::bigint,
                   sqlc.narg(llm_call_id)::uuid, @duration_ms::int, sqlc.narg(events)::jsonb, sqlc.narg(next_node)::text, sqlc.narg(goal)::text,
                   @wrote::boolean, sqlc.narg(outcome)::step_outcome, sqlc.narg(summary)::text, sqlc.narg(conclusions)::text, sqlc.narg(note)::text,
                   sqlc.narg(plan)::jsonb, sqlc.narg(llm_call)::jsonb) AS k (user_version);

-- NodeRunListMade returns a turn's decisions with their full output.
-- name: NodeRunListMade :many
SELECT position, node, step, call, output, llm_call_id FROM node_runs WHERE turn_id = @turn_id ORDER BY position;
