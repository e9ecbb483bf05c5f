-- name: TurnStepEnd :exec
UPDATE turn_steps
SET outcome = @outcome::step_outcome, summary = @summary::text, conclusions = sqlc.narg(conclusions), note = sqlc.narg(note)
WHERE turn_id = @turn_id AND step = @step;

-- name: TurnStepInsert :exec
INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, refs, needs, calls)
VALUES (@turn_id, (SELECT t.user_id FROM turns AS t WHERE t.id = @turn_id), @step, @step_type, @subdomain, @description, @refs, @needs, sqlc.narg(calls));

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
