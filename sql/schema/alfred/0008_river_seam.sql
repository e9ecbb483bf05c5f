-- The one place that knows River's table. Every statement that names river_job stands
-- here and nothing else does; a test holds the rows it writes to those that River's own client writes.

-- +goose Up

-- A job is looked up by what it is about. River's own GIN indexes over args and metadata would do, but are a tenth of
-- the WAL of a turn, and nothing of River or River UI needs them. Nor do its workers look for a kind.
DROP INDEX IF EXISTS river_job_args_index;
DROP INDEX IF EXISTS river_job_metadata_index;
DROP INDEX IF EXISTS river_job_kind;

CREATE INDEX river_job_about_idx ON river_job (coalesce(args ->> 'turn_id', args ->> 'session_id'));

-- +goose StatementBegin
CREATE FUNCTION queue_wake(queue text) RETURNS void
LANGUAGE sql
SET search_path = alfred, public, pg_temp
AS $$
    SELECT pg_notify('alfred.river_insert', json_build_object('queue', queue_wake.queue)::text)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION queue_wake IS 'Wakes idle workers to look at a queue when the transaction commits. A transaction that notifies makes all others on the server wait for its flush, so decisions call this in a separate one.';

-- River fetches by priority first. Without one, another user's turn would stand behind all those that one user may run.
-- +goose StatementBegin
CREATE FUNCTION job_insert(kind text, args jsonb, queue text DEFAULT 'turns', wake boolean DEFAULT true) RETURNS bigint
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

-- A fetch is lost only if the server crashes before any other commit has reached the disk. Then the job is fetched again: what it
-- would have written is lost with it.
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

CREATE TRIGGER job_fetched BEFORE UPDATE OF state ON river_job
FOR EACH ROW WHEN (OLD.state = 'available' AND NEW.state = 'running') EXECUTE FUNCTION job_fetched();

-- +goose StatementBegin
CREATE FUNCTION job_complete(job_id bigint, attempt integer) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    UPDATE river_job AS j
    SET state = 'completed', finalized_at = clock_timestamp()
    WHERE j.id = job_complete.job_id AND j.state = 'running' AND j.attempt = job_complete.attempt
      AND NOT j.metadata ? 'cancel_attempted_at';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the job was taken over or cancelled' USING ERRCODE = 'AL007';
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_complete IS 'Completes a running job. SQLSTATE AL007 if this attempt no longer owns it, or if it was cancelled by hand.';

-- +goose StatementBegin
CREATE FUNCTION job_hand_off(job_id bigint, attempt integer, client text, kind text, args jsonb) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    next_id bigint;
BEGIN
    PERFORM job_complete(job_hand_off.job_id, job_hand_off.attempt);
    INSERT INTO river_job (kind, args, queue, max_attempts, priority, state, attempt, attempted_at, attempted_by)
    VALUES (job_hand_off.kind, job_hand_off.args, 'turns', 6, 1, 'running', 1, clock_timestamp(), ARRAY[job_hand_off.client])
    RETURNING id INTO next_id;
    RETURN next_id;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_hand_off IS 'Completes a running job and inserts its turn''s next one, already running on the same worker: River sees one row per node, and none waits. SQLSTATE AL007 as in job_complete.';

-- +goose StatementBegin
CREATE FUNCTION job_release(job_id bigint, attempt integer, state text, pause double precision DEFAULT 0, error text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    final  boolean := job_release.state IN ('completed', 'cancelled');
    snooze boolean := job_release.state = 'scheduled';
    queue  text;
BEGIN
    UPDATE river_job AS j
    SET state = CASE WHEN job_release.state = 'completed' AND j.metadata ? 'cancel_attempted_at' THEN 'cancelled'
                     -- River looks at scheduled and retryable jobs every 5 s; what is due before is available with a time.
                     WHEN NOT final AND pause <= 5 THEN 'available' ELSE job_release.state END::river_job_state,
        finalized_at = CASE WHEN final THEN clock_timestamp() END,
        scheduled_at = CASE WHEN final THEN j.scheduled_at ELSE clock_timestamp() + make_interval(secs => pause) END,
        attempt = CASE WHEN snooze THEN greatest(j.attempt - 1, 0) ELSE j.attempt END,
        metadata = CASE WHEN snooze THEN j.metadata || jsonb_build_object('snoozes', coalesce((j.metadata ->> 'snoozes')::integer, 0) + 1) ELSE j.metadata END,
        errors = CASE WHEN job_release.error IS NULL THEN j.errors
                      ELSE array_append(j.errors, jsonb_build_object('at', clock_timestamp(), 'attempt', j.attempt, 'error', job_release.error, 'trace', '')) END
    WHERE j.id = job_release.job_id AND j.state = 'running' AND j.attempt = job_release.attempt
    RETURNING j.queue INTO queue;
    IF FOUND AND NOT final AND pause = 0 THEN
        PERFORM queue_wake(queue);
    END IF;
    RETURN queue IS NOT NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION job_release IS 'Does what River''s client does when a job ends without its commit, for a job that River''s client does not know: retryable (with an error), scheduled (a pause, which spends no attempt), completed, cancelled. pause is in seconds. False if this attempt no longer owns it.';

-- +goose StatementBegin
CREATE FUNCTION jobs_supersede(client text, reason text, working bigint[] DEFAULT '{}', age interval DEFAULT '0') RETURNS integer
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    old       record;
    takeovers integer;
    pause     double precision;
    made      integer := 0;
BEGIN
    FOR old IN
        SELECT * FROM river_job AS j
        WHERE j.state = 'running' AND j.attempted_by[array_upper(j.attempted_by, 1)] = jobs_supersede.client
          AND j.attempted_at <= clock_timestamp() - jobs_supersede.age AND j.id <> ALL (jobs_supersede.working)
        ORDER BY j.id
        FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE river_job AS j
        SET state = 'discarded', finalized_at = clock_timestamp(),
            errors = array_append(j.errors, jsonb_build_object('at', clock_timestamp(), 'attempt', j.attempt,
                                                               'error', jobs_supersede.reason, 'trace', ''))
        WHERE j.id = old.id;
        -- A takeover is no fault of the job, so its attempts are not spent by it. The cap is for the one that kills every
        -- process that works it; the pauses keep that one from killing them one after the other, and let all others
        -- outlast a minute in which every worker loses its lease again and again.
        takeovers := coalesce((old.metadata ->> 'takeovers')::integer, 0) + 1;
        IF takeovers <= 10 THEN
            pause := CASE WHEN takeovers > 3 THEN least(2 ^ (takeovers - 4), 30) ELSE 0 END;
            -- Available with a time, however long it is: no leader is needed to make it so, and leaders die too.
            INSERT INTO river_job (kind, args, queue, max_attempts, priority, attempt, scheduled_at, metadata)
            VALUES (old.kind, old.args, old.queue, old.max_attempts, old.priority, greatest(old.attempt - 1, 0), clock_timestamp() + make_interval(secs => pause),
                    old.metadata || jsonb_build_object('takeovers', takeovers));
            PERFORM queue_wake(old.queue);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION jobs_supersede IS 'Replaces a client''s running jobs by new rows with the same attempts, so that a late report of the client finds a finished row: all jobs of a dead client, and those of a living one that are older than age and that it does not work on. From the fourth takeover on, a job first waits for 1 to 30 s; at the 11th it ends instead. Returns how many continue.';

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
COMMENT ON FUNCTION clients_dead IS 'Clients with running jobs whose lease has expired by the database''s clock or was deleted, or whose advisory lock is free. Asking acquires the lock of a client whose lease is fresh, so that one scan at a time declares it dead; of one whose lease has expired, several may. Dead workers without jobs are left out, so that any number of them delays nobody.';

-- +goose StatementBegin
CREATE FUNCTION clock_set_back() RETURNS bigint
LANGUAGE sql
SET search_path = alfred, public, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT j.id FROM river_job AS j
        WHERE (j.state IN ('available', 'retryable', 'scheduled') AND j.scheduled_at > clock_timestamp() OR j.state = 'running')
          AND greatest(j.created_at, j.attempted_at) > clock_timestamp()
        ORDER BY j.id
        FOR UPDATE SKIP LOCKED
    ), jobs AS (
        UPDATE river_job AS j
        SET scheduled_at = least(j.scheduled_at, clock_timestamp()), attempted_at = least(j.attempted_at, clock_timestamp()), created_at = least(j.created_at, clock_timestamp())
        FROM found WHERE j.id = found.id
        RETURNING j.id
    ), leases AS (
        UPDATE workers AS w SET beat_at = clock_timestamp() WHERE w.beat_at > clock_timestamp() + interval '3 seconds' RETURNING w.id
    ), leaders AS (
        UPDATE river_leader AS l SET expires_at = clock_timestamp() WHERE l.expires_at > clock_timestamp() + interval '1 minute' RETURNING l.leader_id
    )
    SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM leases) + (SELECT count(*) FROM leaders)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION clock_set_back IS 'After the database''s clock was set back: makes jobs created or started in what is now the future due now, and lets leases and the term of River''s leader expire as usual. Otherwise all of them would wait until the clock is there again. Returns how many there were.';

-- +goose StatementBegin
CREATE FUNCTION jobs_discard(turn uuid) RETURNS integer
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    n integer;
BEGIN
    UPDATE river_job AS j
    SET state = 'cancelled', finalized_at = clock_timestamp()
    WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = jobs_discard.turn::text
      AND j.state IN ('available', 'pending', 'retryable', 'scheduled');
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION jobs_discard IS 'Cancels a turn''s waiting jobs; the fence refuses running ones.';

-- +goose StatementBegin
CREATE FUNCTION jobs_forget(about uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    jobs bigint[] := ARRAY(SELECT j.id FROM river_job AS j
                           WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = ANY (jobs_forget.about::text[]));
BEGIN
    PERFORM FROM river_job AS j WHERE j.id = ANY (jobs) ORDER BY j.id FOR UPDATE;
    DELETE FROM river_job AS j WHERE j.id = ANY (jobs);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION jobs_forget IS 'Deletes every job of these turns and sessions, in any state.';

-- +goose StatementBegin
CREATE FUNCTION jobs_of_user(owner uuid) RETURNS TABLE (kind text, args jsonb, queue text)
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT j.kind, j.args, j.queue
    FROM (SELECT t.id FROM turns AS t WHERE t.user_id = jobs_of_user.owner
          UNION ALL SELECT s.id FROM sessions AS s WHERE s.user_id = jobs_of_user.owner) AS about
    JOIN river_job AS j ON coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = about.id::text
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION jobs_of_user IS 'The unfinished jobs of a user''s turns and sessions, which are created again where the user moves.';

-- What is being copied to this database, or is about to be deleted in it, is not its own to recover.
-- +goose StatementBegin
CREATE FUNCTION turns_abandoned(lim integer DEFAULT 100) RETURNS TABLE (turn_id uuid, job_state text)
LANGUAGE plpgsql STABLE
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT t.id, newest.state::text
    FROM turns AS t
    LEFT JOIN LATERAL (
        SELECT j.state FROM river_job AS j
        WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = t.id::text AND j.queue = 'turns'
        ORDER BY j.id DESC LIMIT 1
    ) AS newest ON true
    WHERE t.status = 'running' AND t.started_at NOT BETWEEN clock_timestamp() - interval '2 seconds' AND clock_timestamp() + interval '2 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT turns_abandoned.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turns_abandoned IS 'Running turns that no job will move again, because their newest job ended without a successor.';

-- +goose StatementBegin
CREATE FUNCTION summaries_abandoned(lim integer DEFAULT 100) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT t.id
    FROM turns AS t
    LEFT JOIN LATERAL (
        SELECT j.state FROM river_job AS j
        WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = t.id::text AND j.queue = 'turns'
        ORDER BY j.id DESC LIMIT 1
    ) AS newest ON true
    WHERE t.status = 'succeeded' AND t.summarized_at IS NULL AND t.replied_at NOT BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT summaries_abandoned.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION summaries_abandoned IS 'Turns with a reply whose summarize job is gone.';

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

-- +goose Down
DROP FUNCTION queue_rows;
DROP FUNCTION summaries_abandoned;
DROP FUNCTION turns_abandoned;
DROP FUNCTION jobs_of_user;
DROP FUNCTION jobs_forget;
DROP FUNCTION jobs_discard;
DROP FUNCTION clock_set_back;
DROP FUNCTION clients_dead;
DROP FUNCTION jobs_supersede;
DROP FUNCTION job_release;
DROP FUNCTION job_hand_off;
DROP FUNCTION job_complete;
DROP TRIGGER job_fetched ON river_job;
DROP FUNCTION job_fetched;
DROP FUNCTION job_insert;
DROP FUNCTION queue_wake;
DROP INDEX river_job_about_idx;
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_metadata_index ON river_job USING gin (metadata);
CREATE INDEX river_job_args_index ON river_job USING gin (args);
