-- Where workers are fewer than the turns that one user may run, those turns stand in River's queue in the order in which
-- they came, and another user's turn behind all of them. River fetches by priority first.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_insert(kind text, args jsonb, queue text DEFAULT 'turns', wake boolean DEFAULT true) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    job_id bigint;
    -- A turn that begins stands behind those of users who have fewer of them running, this one among them. One that has
    -- begun goes on before all that have not.
    rank   smallint := 1;
BEGIN
    IF kind = 'understand' THEN
        SELECT greatest(1, least(4, count(*))) INTO rank
        FROM turns AS t JOIN turns AS r ON r.user_id = t.user_id AND r.status = 'running'
        WHERE t.id = (job_insert.args ->> 'turn_id')::uuid;
    END IF;
    INSERT INTO river_job (kind, args, queue, max_attempts, priority)
    VALUES (job_insert.kind, job_insert.args, job_insert.queue, 6, rank)
    RETURNING id INTO job_id;
    IF wake THEN
        PERFORM queue_wake(job_insert.queue);
    END IF;
    RETURN job_id;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_insert IS 'Inserts a job as River''s client would and wakes the workers at commit. Without wake they find it at their next poll, within a second. The first job of a turn has a priority of 1 to 4, by how many turns its user has running: 1 goes first.';

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_insert(kind text, args jsonb, queue text DEFAULT 'turns', wake boolean DEFAULT true) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    job_id bigint;
BEGIN
    INSERT INTO river_job (kind, args, queue, max_attempts, priority)
    VALUES (job_insert.kind, job_insert.args, job_insert.queue, 6, 1)
    RETURNING id INTO job_id;
    IF wake THEN
        PERFORM queue_wake(job_insert.queue);
    END IF;
    RETURN job_id;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_insert IS 'Inserts a job as River''s client would and wakes the workers at commit. Without wake they find it at their next poll, within a second.';
