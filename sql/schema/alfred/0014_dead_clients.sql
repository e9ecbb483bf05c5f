-- Which clients' jobs are to be taken over.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION clients_dead(self text, lim integer DEFAULT 100) RETURNS SETOF text
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.client
    FROM (SELECT DISTINCT j.attempted_by[array_upper(j.attempted_by, 1)] AS client FROM river_job AS j
          WHERE j.state = 'running' AND j.queue IN ('background', 'turns')) AS c
    LEFT JOIN workers AS w ON w.id = c.client
    WHERE c.client <> clients_dead.self
      AND CASE WHEN w.beat_at >= clock_timestamp() - interval '3 seconds' THEN pg_try_advisory_xact_lock(hashtextextended('alfred.worker:' || c.client, 0)) ELSE true END
    ORDER BY c.client
    LIMIT clients_dead.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION clients_dead IS 'Clients with running jobs whose lease has expired by the database''s clock or was deleted, or whose advisory lock is free. Asking acquires that lock, so that only one scan at a time declares a worker dead. Dead workers without jobs are left out, so that any number of them delays nobody.';
REVOKE EXECUTE ON FUNCTION clients_dead(text, integer) FROM PUBLIC;

-- +goose Down
DROP FUNCTION clients_dead(text, integer);
