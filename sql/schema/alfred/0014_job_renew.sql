-- A job that is completed although its decision was not committed.

-- +goose Up

-- River reports how a delivery ended by the job alone. A database that forgot the fetch of that delivery, as a promoted
-- standby may, has delivered the job again meanwhile: the late report then ends the delivery that runs.
-- +goose StatementBegin
CREATE FUNCTION job_renew(turn uuid) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    decides integer;
    newest  record;
BEGIN
    SELECT t.position INTO decides FROM turns AS t WHERE t.id = job_renew.turn AND t.status = 'running' FOR NO KEY UPDATE;
    SELECT * INTO newest FROM river_job AS j
    WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = job_renew.turn::text AND j.queue = 'turns'
    ORDER BY j.id DESC LIMIT 1;
    IF newest.state NOT IN ('cancelled', 'completed', 'discarded') THEN
        RETURN true;
    END IF;
    IF newest.state IS DISTINCT FROM 'completed' OR newest.attempt >= newest.max_attempts
       OR (newest.args ->> 'position')::integer IS DISTINCT FROM decides THEN
        RETURN false;
    END IF;
    INSERT INTO river_job (kind, args, queue, max_attempts, priority, attempt, metadata)
    VALUES (newest.kind, newest.args, newest.queue, newest.max_attempts, newest.priority, newest.attempt, newest.metadata);
    PERFORM queue_wake(newest.queue);
    RETURN true;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION job_renew FROM PUBLIC;
COMMENT ON FUNCTION job_renew IS 'Whether a job will move a running turn again. If its newest one was completed without the turn''s decision, that job gets a successor, which costs it one of its attempts.';

-- +goose Down
DROP FUNCTION job_renew;
