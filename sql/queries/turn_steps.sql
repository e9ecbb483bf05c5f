-- TurnStepCarry keeps the calls that were written out for a step together with those of an earlier one.
-- name: TurnStepCarry :exec
UPDATE turn_steps SET calls = @calls WHERE turn_id = @turn_id AND step = @step;

-- TurnStepInsert appends a plan; a step that has an outcome will not be done.
-- name: TurnStepInsert :exec
INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, refs, needs, calls, outcome, summary)
SELECT t.id, t.user_id, s.step, s.step_type, s.subdomain, s.description, s.refs, s.needs, s.calls, s.outcome, s.summary
FROM turns AS t
CROSS JOIN jsonb_to_recordset(@steps::jsonb) AS s (step integer, step_type step_type, subdomain text, description text, refs text[], needs text,
                                                   calls jsonb, outcome step_outcome, summary text)
WHERE t.id = @turn_id;

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
