-- TurnStepList is a turn's plan.
-- name: TurnStepList :many
SELECT * FROM turn_steps WHERE turn_id = @turn_id ORDER BY step;

-- name: TurnStepListTurn :many
SELECT step, step_type, subdomain, description, refs, outcome, summary, note
FROM turn_steps
WHERE turn_id = @turn_id
ORDER BY step;
