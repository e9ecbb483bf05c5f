-- Users that another database serves. Where a map spreads users over several databases, each of them knows which it serves, and
-- refuses what is written for a user whom it does not: whoever has an old map can then write nowhere but where the user is.

-- +goose Up

CREATE TABLE user_places (
    user_id    uuid        NOT NULL,
    epoch      bigint      NOT NULL,
    attempt    integer     NOT NULL DEFAULT 0,
    state      text        NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT user_places_pkey PRIMARY KEY (user_id),
    CONSTRAINT user_places_epoch_positive CHECK (epoch >= 1),
    CONSTRAINT user_places_state_known CHECK (state IN ('here', 'leaving', 'away', 'coming'))
);
COMMENT ON TABLE user_places IS 'Whether this database serves a user, where several databases share them. A user without a row is served, so without a directory the table is empty.';
COMMENT ON COLUMN user_places.user_id IS 'The user; the row outlives theirs in users, so that the place they left never takes them for new.';
COMMENT ON COLUMN user_places.epoch IS 'How often the user has been given a place, as the directory counts: of two databases the one with the higher number is right.';
COMMENT ON COLUMN user_places.attempt IS 'Which attempt of a move wrote this last. An older one is refused, so that a mover that was taken for dead changes nothing.';
COMMENT ON COLUMN user_places.state IS 'here: served. leaving: what runs may end, nothing new starts. away: refused, another database has the user. coming: refused, the rows are being copied to this one.';
COMMENT ON COLUMN user_places.changed_at IS 'When the state was last set, by the database''s clock.';
ALTER TABLE user_places ENABLE ROW LEVEL SECURITY; -- and no policy: no tenant reads it

-- What writes for a user shares a lock until its transaction ends, and looks at the place behind it: whoever has taken the lock alone
-- knows that what was written before is committed, and that nothing after has looked at an older row.
-- +goose StatementBegin
CREATE FUNCTION user_place_state(owner uuid) RETURNS text
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('alfred.user:' || user_place_state.owner, 0));
    RETURN coalesce((SELECT p.state FROM user_places AS p WHERE p.user_id = user_place_state.owner), 'here');
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_place_state IS 'How this database stands to a user, for a transaction that is about to write for them: it stays so until that ends.';

-- +goose StatementBegin
CREATE FUNCTION user_place_set(owner uuid, epoch bigint, attempt integer, state text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    PERFORM set_config('alfred.admitted', '', true); -- what this transaction has seen is no longer so
    -- Without queueing: whoever waits behind a waiting lock of this kind may hold what the lock's holders wait for.
    FOR i IN 1..500 LOOP
        IF pg_try_advisory_xact_lock(hashtextextended('alfred.user:' || user_place_set.owner, 0)) THEN
            INSERT INTO user_places AS p (user_id, epoch, attempt, state)
            VALUES (user_place_set.owner, user_place_set.epoch, user_place_set.attempt, user_place_set.state)
            ON CONFLICT (user_id) DO UPDATE
            SET epoch = excluded.epoch, attempt = excluded.attempt, state = excluded.state, changed_at = clock_timestamp()
            WHERE (p.epoch, p.attempt) <= (excluded.epoch, excluded.attempt);
            RETURN FOUND;
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE EXCEPTION 'what is being written for this user does not end' USING ERRCODE = 'lock_not_available';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_place_set IS 'Says how this database stands to a user from this transaction''s commit on; when it returns, all that was written for them before is committed. False: a later attempt has said something since. SQLSTATE 55P03: a transaction that writes for them has not ended for 5 s.';

-- +goose StatementBegin
CREATE FUNCTION user_admit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    owner uuid;
    state text;
BEGIN
    IF TG_RELNAME = 'users' THEN
        owner := CASE WHEN TG_OP = 'DELETE' THEN OLD.id ELSE NEW.id END;
    ELSE
        owner := CASE WHEN TG_OP = 'DELETE' THEN OLD.user_id ELSE NEW.user_id END;
    END IF;
    IF owner IS NOT NULL THEN
        state := user_place_state(owner);
        IF state IN ('away', 'coming') OR state = 'leaving' AND TG_OP = 'INSERT' AND TG_RELNAME = 'turns' THEN
            RAISE EXCEPTION 'this user is moving to another database, or has moved' USING ERRCODE = 'AL010', DETAIL = state;
        END IF;
        IF state = 'here' THEN -- and stays so until the transaction ends, which holds the lock
            PERFORM set_config('alfred.admitted', owner::text, true);
        END IF;
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_admit IS 'Refuses what is written for a user whom this database does not serve: SQLSTATE AL010, and the state as detail. Whoever gets it looks for the user''s place again.';

-- Every transaction that writes for a user writes one of these: a decision moves its turn's fence, a message makes a turn, rows and
-- drafts raise the version of user or session. What moves a user says so and is let through; replication calls no triggers. A
-- transaction asks once for each user: WHEN spares the other rows the call, which would be a quarter of an update.
-- +goose StatementBegin
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['users', 'api_keys', 'sessions', 'turns', 'feedback', 'llm_calls', 'history_summaries'] LOOP
        EXECUTE format('CREATE TRIGGER user_admit BEFORE INSERT OR UPDATE ON %I FOR EACH ROW '
            'WHEN (current_setting(''alfred.moving'', true) IS DISTINCT FROM ''on'' AND current_setting(''alfred.admitted'', true) IS DISTINCT FROM NEW.%I::text) '
            'EXECUTE FUNCTION user_admit()', t, CASE t WHEN 'users' THEN 'id' ELSE 'user_id' END);
        EXECUTE format('CREATE TRIGGER user_admit_delete BEFORE DELETE ON %I FOR EACH ROW '
            'WHEN (current_setting(''alfred.moving'', true) IS DISTINCT FROM ''on'') EXECUTE FUNCTION user_admit()', t);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- Rows that come as they were are not worded anew.
DROP TRIGGER turn_summaries_words ON turn_summaries;
CREATE TRIGGER turn_summaries_words BEFORE INSERT OR UPDATE OF user_message, goal, response_summary ON turn_summaries
    FOR EACH ROW WHEN (current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION turn_summary_words();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION user_is_busy(owner uuid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT n > 0 AND (SELECT count(*) >= n FROM turns AS t WHERE t.user_id = user_is_busy.owner AND t.status = 'running')
        OR EXISTS (SELECT FROM user_places AS p WHERE p.user_id = user_is_busy.owner AND p.state <> 'here')
    FROM (SELECT coalesce(nullif(current_setting('alfred.user_turns', true), '')::integer, 16) AS n) AS setting
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_is_busy IS 'Do as many turns of this user run as may at a time (setting alfred.user_turns, 16 by default, 0: no limit), or does this database not serve the user, or not for long? Others wait, so that one user with many sessions keeps nobody from the workers.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_start_next(session uuid, wake boolean DEFAULT true) RETURNS uuid
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    next_turn uuid;
    owner     uuid;
    last_done record;
BEGIN
    SELECT s.user_id INTO owner FROM sessions AS s WHERE s.id = turn_start_next.session FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM turns AS t WHERE t.session_id = turn_start_next.session AND t.status = 'running') THEN
        RETURN NULL;
    END IF;
    SELECT t.id INTO next_turn FROM turns AS t
    WHERE t.session_id = turn_start_next.session AND t.status = 'queued'
    ORDER BY t.interrupts DESC, t.number LIMIT 1
    FOR NO KEY UPDATE;
    IF next_turn IS NULL OR user_place_state(owner) <> 'here' OR user_is_busy(owner) THEN
        RETURN NULL; -- a worker's scan starts what waits for the user's other turns, here or where the user is then
    END IF;
    FOR last_done IN
        SELECT t.id, t.replied_at FROM turns AS t
        WHERE t.session_id = turn_start_next.session AND t.status = 'succeeded' AND t.summarized_at IS NULL
    LOOP
        IF last_done.replied_at > clock_timestamp() - interval '3 seconds' THEN
            RETURN NULL; -- its summarize starts the next turn, or whoever looks again after 3 s
        END IF;
        PERFORM turn_summary_write_facts(last_done.id);
    END LOOP;
    UPDATE turns AS t SET status = 'running', started_at = clock_timestamp(), current_node = 'understand'
    WHERE t.id = next_turn;
    PERFORM turn_events_append(next_turn, '[{"type": "turn.started"}, {"type": "node.started", "data": {"node": "understand"}}]');
    PERFORM job_insert('understand', jsonb_build_object('turn_id', next_turn, 'position', 1, 'version', 1), wake => turn_start_next.wake);
    RETURN next_turn;
END
$$;
-- +goose StatementEnd

-- What is being copied to this database, or is about to be deleted in it, is not its own to recover.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turns_abandoned(lim integer DEFAULT 100) RETURNS TABLE (turn_id uuid, job_state text)
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
    WHERE t.status = 'running' AND t.started_at < clock_timestamp() - interval '2 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT turns_abandoned.lim;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION summaries_abandoned(lim integer DEFAULT 100) RETURNS SETOF uuid
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
    WHERE t.status = 'succeeded' AND t.summarized_at IS NULL AND t.replied_at < clock_timestamp() - interval '3 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT summaries_abandoned.lim;
END
$$;
-- +goose StatementEnd

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
COMMENT ON FUNCTION jobs_of_user IS 'The jobs about a user''s turns and sessions that are not done: where the user moves to they are made anew.';

REVOKE EXECUTE ON FUNCTION user_place_state(uuid), user_place_set(uuid, bigint, integer, text), user_admit(), jobs_of_user(uuid) FROM PUBLIC;

-- +goose Down
DROP FUNCTION jobs_of_user(uuid);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turns_abandoned(lim integer DEFAULT 100) RETURNS TABLE (turn_id uuid, job_state text)
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
    WHERE t.status = 'running' AND t.started_at < clock_timestamp() - interval '2 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
    LIMIT turns_abandoned.lim;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION summaries_abandoned(lim integer DEFAULT 100) RETURNS SETOF uuid
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
    WHERE t.status = 'succeeded' AND t.summarized_at IS NULL AND t.replied_at < clock_timestamp() - interval '3 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
    LIMIT summaries_abandoned.lim;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_start_next(session uuid, wake boolean DEFAULT true) RETURNS uuid
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    next_turn uuid;
    owner     uuid;
    last_done record;
BEGIN
    SELECT s.user_id INTO owner FROM sessions AS s WHERE s.id = turn_start_next.session FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM turns AS t WHERE t.session_id = turn_start_next.session AND t.status = 'running') THEN
        RETURN NULL;
    END IF;
    SELECT t.id INTO next_turn FROM turns AS t
    WHERE t.session_id = turn_start_next.session AND t.status = 'queued'
    ORDER BY t.interrupts DESC, t.number LIMIT 1
    FOR NO KEY UPDATE;
    IF next_turn IS NULL OR user_is_busy(owner) THEN
        RETURN NULL; -- a worker's scan starts what waits for the user's other turns
    END IF;
    FOR last_done IN
        SELECT t.id, t.replied_at FROM turns AS t
        WHERE t.session_id = turn_start_next.session AND t.status = 'succeeded' AND t.summarized_at IS NULL
    LOOP
        IF last_done.replied_at > clock_timestamp() - interval '3 seconds' THEN
            RETURN NULL; -- its summarize starts the next turn, or whoever looks again after 3 s
        END IF;
        PERFORM turn_summary_write_facts(last_done.id);
    END LOOP;
    UPDATE turns AS t SET status = 'running', started_at = clock_timestamp(), current_node = 'understand'
    WHERE t.id = next_turn;
    PERFORM turn_events_append(next_turn, '[{"type": "turn.started"}, {"type": "node.started", "data": {"node": "understand"}}]');
    PERFORM job_insert('understand', jsonb_build_object('turn_id', next_turn, 'position', 1, 'version', 1), wake => turn_start_next.wake);
    RETURN next_turn;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION user_is_busy(owner uuid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT n > 0 AND (SELECT count(*) >= n FROM turns AS t WHERE t.user_id = user_is_busy.owner AND t.status = 'running')
    FROM (SELECT coalesce(nullif(current_setting('alfred.user_turns', true), '')::integer, 16) AS n) AS setting
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_is_busy IS 'Do as many turns of this user run as may at a time (setting alfred.user_turns, 16 by default, 0: no limit)? Others wait, so that one user with many sessions keeps nobody from the workers.';
DROP TRIGGER turn_summaries_words ON turn_summaries;
CREATE TRIGGER turn_summaries_words BEFORE INSERT OR UPDATE OF user_message, goal, response_summary ON turn_summaries
    FOR EACH ROW EXECUTE FUNCTION turn_summary_words();
-- +goose StatementBegin
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['users', 'api_keys', 'sessions', 'turns', 'feedback', 'llm_calls', 'history_summaries'] LOOP
        EXECUTE format('DROP TRIGGER user_admit ON %I', t);
        EXECUTE format('DROP TRIGGER user_admit_delete ON %I', t);
    END LOOP;
END
$$;
-- +goose StatementEnd
DROP FUNCTION user_admit();
DROP FUNCTION user_place_set(uuid, bigint, integer, text);
DROP FUNCTION user_place_state(uuid);
DROP TABLE user_places;
