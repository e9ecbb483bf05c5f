-- TurnStepCarry keeps the calls that were written out for a step together with those of an earlier one.
-- name: TurnStepCarry :exec
UPDATE turn_steps SET calls = @calls WHERE turn_id = @turn_id AND step = @step;

-- TurnStepList returns a turn's plan.
-- name: TurnStepList :many
SELECT * FROM turn_steps WHERE turn_id = @turn_id ORDER BY step;

-- name: TurnStepListTurn :many
SELECT step, step_type, subdomain, description, refs, outcome, summary, note
FROM turn_steps
WHERE turn_id = @turn_id
ORDER BY step;

-- name: TurnStepSchemaAdd :exec
UPDATE turn_steps SET schema_tables = array_append(schema_tables, @table_name::text)
WHERE turn_id = @turn_id AND step = @step AND NOT @table_name::text = ANY (schema_tables);

-- TurnStepSkipRest skips the steps that have not begun, except those to keep.
-- name: TurnStepSkipRest :exec
UPDATE turn_steps SET outcome = 'skipped'
WHERE turn_id = @turn_id AND outcome IS NULL AND NOT step = ANY (@keep::int[]);
