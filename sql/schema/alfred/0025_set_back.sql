-- What a database whose clock was set back does with times that have yet to come.

-- +goose Up
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
COMMENT ON FUNCTION clock_set_back IS 'After the database''s clock was set back: jobs that were made or begun at a time yet to come are due now, leases renewed then expire as usual, and so does the term of River''s leader. Otherwise all of them would wait until the clock is there again. Returns how many there were.';
REVOKE EXECUTE ON FUNCTION clock_set_back() FROM PUBLIC;

-- +goose StatementBegin
CREATE FUNCTION turn_begins(session uuid) RETURNS timestamptz
LANGUAGE sql
SET search_path = alfred, public, pg_temp
AS $$
    SELECT greatest(clock_timestamp(),
        (SELECT max(greatest(t.started_at, t.finished_at, t.summarized_at)) + interval '1 microsecond' FROM turns AS t
         WHERE t.session_id = turn_begins.session AND t.number > (SELECT s.last_turn - 21 FROM sessions AS s WHERE s.id = turn_begins.session)),
        (SELECT max(h.created_at) FROM unnest(ARRAY['conversation', 'narrative']) AS kinds (kind)
         CROSS JOIN LATERAL (SELECT n.created_at FROM history_summaries AS n WHERE n.session_id = turn_begins.session AND n.kind = kinds.kind
                             ORDER BY n.to_turn DESC, n.id DESC LIMIT 16) AS h
         WHERE h.created_at > clock_timestamp()))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_begins IS 'When a turn of this session begins that begins now, or ends that never began: always after whatever began or ended before it, so that none loses its past to a clock that was set back, and readers who follow in that order miss none.';
REVOKE EXECUTE ON FUNCTION turn_begins(uuid) FROM PUBLIC;

COMMENT ON COLUMN turn_steps.calls IS 'The calls, [{tool, args}], that the plan wrote out for the step or that an earlier step''s answer held, step_complete among those; code carries them out. Null where Act decides.';

-- A turn that began, or was replied to, at a time yet to come did so long ago, and the next one begins no earlier.
-- +goose StatementBegin
DO $$
DECLARE
    change record;
    old    text;
    new    text;
BEGIN
    FOR change IN SELECT * FROM (VALUES
        ('turns_abandoned(integer)', 't.started_at < clock_timestamp() - interval ''2 seconds''',
         't.started_at NOT BETWEEN clock_timestamp() - interval ''2 seconds'' AND clock_timestamp() + interval ''2 seconds'''),
        ('summaries_abandoned(integer)', 't.replied_at < clock_timestamp() - interval ''3 seconds''',
         't.replied_at NOT BETWEEN clock_timestamp() - interval ''3 seconds'' AND clock_timestamp() + interval ''3 seconds'''),
        ('sessions_to_start(integer)', 's.replied_at > clock_timestamp() - interval ''3 seconds''',
         's.replied_at BETWEEN clock_timestamp() - interval ''3 seconds'' AND clock_timestamp() + interval ''3 seconds'''),
        ('turn_start_next(uuid, boolean)', 'last_done.replied_at > clock_timestamp() - interval ''3 seconds''',
         'last_done.replied_at BETWEEN clock_timestamp() - interval ''3 seconds'' AND clock_timestamp() + interval ''3 seconds'''),
        ('turn_start_next(uuid, boolean)', 'started_at = clock_timestamp()', 'started_at = turn_begins(turn_start_next.session)'),
        ('turn_end(uuid, turn_status, text, text)', 'finished_at = clock_timestamp()', 'finished_at = greatest(clock_timestamp(), coalesce(t.started_at, turn_begins(t.session_id)))')
    ) AS c (function, before, after) LOOP
        old := pg_get_functiondef(change.function::regprocedure);
        new := replace(old, change.before, change.after);
        IF new = old THEN
            RAISE EXCEPTION '% is not as expected', change.function;
        END IF;
        EXECUTE new;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
    function text;
BEGIN
    FOREACH function IN ARRAY ARRAY['turns_abandoned(integer)', 'summaries_abandoned(integer)', 'sessions_to_start(integer)', 'turn_start_next(uuid, boolean)', 'turn_end(uuid, turn_status, text, text)'] LOOP
        EXECUTE regexp_replace(regexp_replace(replace(replace(pg_get_functiondef(function::regprocedure),
            'turn_begins(turn_start_next.session)', 'clock_timestamp()'), 'greatest(clock_timestamp(), coalesce(t.started_at, turn_begins(t.session_id)))', 'clock_timestamp()'),
            '_at NOT BETWEEN (clock_timestamp\(\) - interval ''\d seconds'') AND clock_timestamp\(\) \+ interval ''\d seconds''', '_at < \1'),
            '_at BETWEEN (clock_timestamp\(\) - interval ''\d seconds'') AND clock_timestamp\(\) \+ interval ''\d seconds''', '_at > \1');
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON COLUMN turn_steps.calls IS 'The calls that the plan wrote out for the step, [{tool, args}], which code carries out; null where Act decides.';
DROP FUNCTION turn_begins(uuid);
DROP FUNCTION clock_set_back();
