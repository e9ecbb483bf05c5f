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
COMMENT ON TABLE user_places IS 'Whether this database serves a user, if several databases share the users. A user without a row is served, so without a directory the table is empty.';
COMMENT ON COLUMN user_places.user_id IS 'The user; the row outlives theirs in users, so that a database they left never takes them for new.';
COMMENT ON COLUMN user_places.epoch IS 'How often the directory has assigned the user a database: of two databases, the one with the higher number is right.';
COMMENT ON COLUMN user_places.attempt IS 'Attempt of a move that wrote this last. Older ones are refused, so that a mover that was presumed dead changes nothing.';
COMMENT ON COLUMN user_places.state IS 'here: served. leaving: what runs may end, nothing new starts. away: refused, another database has the user. coming: refused, the rows are being copied to this one.';
COMMENT ON COLUMN user_places.changed_at IS 'When the state was last set, by the database''s clock.';

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
COMMENT ON FUNCTION user_place_state IS 'Whether this database serves a user, for a transaction that is about to write for them; it stays so until the transaction ends.';

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
COMMENT ON FUNCTION user_place_set IS 'Sets whether this database serves a user from this transaction''s commit on. When it returns, all earlier writes for the user are committed. False: a later attempt has set something since. SQLSTATE 55P03: a transaction that writes for them has not ended for 5 s.';

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
COMMENT ON FUNCTION user_admit IS 'Refuses writes for a user whom this database does not serve: SQLSTATE AL010, with the state as detail. The caller then asks for the user''s database again.';

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

-- +goose Down
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
DROP FUNCTION user_admit;
DROP FUNCTION user_place_set;
DROP FUNCTION user_place_state;
DROP TABLE user_places;
