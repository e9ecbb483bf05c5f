-- v_queue names who works a job and since when, and why the last attempt failed: while a turn is tried again and again,
-- only the workers' logs said why.

-- +goose Up
-- +goose StatementBegin
DO $$ BEGIN ALTER FUNCTION queue_rows() RENAME TO queue_rows_before; END $$; -- in a block, as sqlc knows no renamed function
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION queue_rows() RETURNS TABLE (job_id bigint, queue text, kind text, state text, attempt integer,
                                            turn_id uuid, session_id uuid, number integer, scheduled_at timestamptz,
                                            attempted_at timestamptz, worker text, error text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    -- Names of machines and texts of errors are nothing for tenants.
    operator boolean := tenant_id() IS NULL;
BEGIN
    RETURN QUERY
    SELECT j.id, j.queue, j.kind, j.state::text, j.attempt::integer,
           t.id, coalesce(t.session_id, s.id), t.number, j.scheduled_at,
           j.attempted_at, CASE WHEN operator THEN j.attempted_by[cardinality(j.attempted_by)] END,
           CASE WHEN operator THEN j.errors[cardinality(j.errors)] ->> 'error' END
    FROM river_job AS j
    -- By key, however many jobs Postgres expects: a hash of all turns costs as much as there are.
    LEFT JOIN LATERAL (SELECT * FROM turns WHERE turns.id = (j.args ->> 'turn_id')::uuid LIMIT 1) AS t ON true
    LEFT JOIN LATERAL (SELECT * FROM sessions WHERE sessions.id = (j.args ->> 'session_id')::uuid LIMIT 1) AS s ON true
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
      AND acts_for(coalesce(t.user_id, s.user_id))
    UNION ALL
    SELECT NULL, 'turns', 'understand', 'queued', 0, t.id, t.session_id, t.number, t.created_at, NULL, NULL, NULL
    FROM turns AS t
    WHERE t.status = 'queued' AND acts_for(t.user_id);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION queue_rows IS 'Unfinished jobs with their turn or session, and waiting turns without a job (state queued); a tenant sees its own, without worker and error.';

-- Replaced, not dropped: views of others may read it, and the function before goes when it no longer does.
CREATE OR REPLACE VIEW v_queue WITH (security_invoker = true) AS
SELECT q.job_id, q.queue, q.kind, q.state, q.attempt, q.session_id, q.turn_id, q.number, q.scheduled_at, q.attempted_at, q.worker, q.error
FROM queue_rows() AS q (job_id, queue, kind, state, attempt, turn_id, session_id, number, scheduled_at, attempted_at, worker, error);
-- +goose StatementBegin
DO $$ BEGIN DROP FUNCTION queue_rows_before(); END $$;
-- +goose StatementEnd
COMMENT ON VIEW v_queue IS 'Public API. Waiting and running jobs with their turns, and turns that wait for other turns of their session or user.';
COMMENT ON COLUMN v_queue.job_id IS 'river_job.id, as River UI shows it; null for a turn without a job.';
COMMENT ON COLUMN v_queue.queue IS 'Its queue: turns or background.';
COMMENT ON COLUMN v_queue.kind IS 'The node it runs, or embed.';
COMMENT ON COLUMN v_queue.state IS 'River''s state, or queued for a turn without a job.';
COMMENT ON COLUMN v_queue.attempt IS 'Attempts so far.';
COMMENT ON COLUMN v_queue.session_id IS 'The conversation it works for.';
COMMENT ON COLUMN v_queue.turn_id IS 'The turn it works for; null for compress.';
COMMENT ON COLUMN v_queue.number IS 'The turn''s number.';
COMMENT ON COLUMN v_queue.scheduled_at IS 'When it may start.';
COMMENT ON COLUMN v_queue.attempted_at IS 'When its last attempt began: while it runs, since when.';
COMMENT ON COLUMN v_queue.worker IS 'Who makes its last attempt, as workers.id; null before the first, and for tenants.';
COMMENT ON COLUMN v_queue.error IS 'Why its last failed attempt failed; null without one, and for tenants.';

REVOKE ALL ON FUNCTION queue_rows() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_rows() TO alfred_tenant;

-- +goose Down
DROP VIEW v_queue;
DROP FUNCTION queue_rows();

-- +goose StatementBegin
CREATE FUNCTION queue_rows() RETURNS TABLE (job_id bigint, queue text, kind text, state text, attempt integer,
                                            turn_id uuid, session_id uuid, number integer, scheduled_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT j.id, j.queue, j.kind, j.state::text, j.attempt::integer,
           t.id, coalesce(t.session_id, s.id), t.number, j.scheduled_at
    FROM river_job AS j
    LEFT JOIN LATERAL (SELECT * FROM turns WHERE turns.id = (j.args ->> 'turn_id')::uuid LIMIT 1) AS t ON true
    LEFT JOIN LATERAL (SELECT * FROM sessions WHERE sessions.id = (j.args ->> 'session_id')::uuid LIMIT 1) AS s ON true
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
      AND acts_for(coalesce(t.user_id, s.user_id))
    UNION ALL
    SELECT NULL, 'turns', 'understand', 'queued', 0, t.id, t.session_id, t.number, t.created_at
    FROM turns AS t
    WHERE t.status = 'queued' AND acts_for(t.user_id);
END
$$;
-- +goose StatementEnd
CREATE VIEW v_queue WITH (security_invoker = true) AS
SELECT q.job_id, q.queue, q.kind, q.state, q.attempt, q.session_id, q.turn_id, q.number, q.scheduled_at
FROM queue_rows() AS q (job_id, queue, kind, state, attempt, turn_id, session_id, number, scheduled_at);
REVOKE ALL ON FUNCTION queue_rows() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_rows() TO alfred_tenant;
GRANT SELECT ON v_queue TO alfred_tenant;
