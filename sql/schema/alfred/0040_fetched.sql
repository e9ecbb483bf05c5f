-- A worker that fetches a job does not wait for the disk. The fetch is lost only if the server crashes before any other commit
-- has reached the disk, and then the job is fetched again: what it would have written is lost with it.

-- +goose Up

-- +goose StatementBegin
CREATE FUNCTION job_fetched() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_fetched IS 'Lets the transaction in which River fetches a job commit before it has reached the disk.';
REVOKE EXECUTE ON FUNCTION job_fetched() FROM PUBLIC;
CREATE TRIGGER job_fetched BEFORE UPDATE OF state ON river_job
FOR EACH ROW WHEN (OLD.state = 'available' AND NEW.state = 'running') EXECUTE FUNCTION job_fetched();

-- +goose Down
DROP TRIGGER job_fetched ON river_job;
DROP FUNCTION job_fetched();
