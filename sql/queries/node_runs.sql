-- DecisionKeep stores a decision with its events and, unless the turn ends with it, the next node.
-- name: DecisionKeep :exec
SELECT decision_keep(@turn_id::uuid, @position::int, @node::text, sqlc.narg(step)::int, @call::int, @output::jsonb, @river_job_id::bigint,
                     sqlc.narg(llm_call_id)::uuid, @duration_ms::int, sqlc.narg(events)::jsonb, sqlc.narg(next_node)::text, sqlc.narg(goal)::text);

-- NodeRunListMade returns a turn's decisions with their full output.
-- name: NodeRunListMade :many
SELECT position, node, step, call, output, llm_call_id FROM node_runs WHERE turn_id = @turn_id ORDER BY position;
