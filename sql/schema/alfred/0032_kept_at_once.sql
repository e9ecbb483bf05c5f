-- What a decision leaves behind is one call, and what each turn calls is planned once a connection: a function in plain SQL
-- with settings of its own is parsed and planned at every call.

-- +goose Up

-- Names are bound when they are made, so they need no search_path of their own.
CREATE OR REPLACE FUNCTION uuid_v7(at timestamptz DEFAULT clock_timestamp()) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN encode(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;

CREATE OR REPLACE FUNCTION uuid_v7_month(id uuid) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('month', to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_begins(session uuid) RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    RETURN greatest(clock_timestamp(),
        (SELECT max(greatest(t.started_at, t.finished_at, t.summarized_at)) + interval '1 microsecond' FROM turns AS t
         WHERE t.session_id = turn_begins.session AND t.number > (SELECT s.last_turn - 21 FROM sessions AS s WHERE s.id = turn_begins.session)),
        (SELECT max(h.created_at) FROM unnest(ARRAY['conversation', 'narrative']) AS kinds (kind)
         CROSS JOIN LATERAL (SELECT n.created_at FROM history_summaries AS n WHERE n.session_id = turn_begins.session AND n.kind = kinds.kind
                             ORDER BY n.to_turn DESC, n.id DESC LIMIT 16) AS h
         WHERE h.created_at > clock_timestamp()));
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION user_is_busy(owner uuid) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    allowed integer := coalesce(nullif(current_setting('alfred.user_turns', true), '')::integer, 16);
BEGIN
    RETURN allowed > 0 AND (SELECT count(*) >= allowed FROM turns AS t WHERE t.user_id = user_is_busy.owner AND t.status = 'running')
        OR EXISTS (SELECT FROM user_places AS p WHERE p.user_id = user_is_busy.owner AND p.state <> 'here');
END
$$;
-- +goose StatementEnd

DROP FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text);
-- +goose StatementBegin
CREATE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
                              duration_ms integer, events jsonb, next_node text, goal text, wrote boolean DEFAULT false,
                              outcome step_outcome DEFAULT NULL, summary text DEFAULT NULL, conclusions text DEFAULT NULL, note text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    owner   uuid;
    version bigint;
BEGIN
    INSERT INTO node_runs (turn_id, user_id, position, node, step, call, output, river_job_id, llm_call_id, duration_ms)
    SELECT t.id, t.user_id, decision_keep.at_position, decision_keep.node, decision_keep.step, decision_keep.call, decision_keep.output,
           decision_keep.job_id, decision_keep.llm_call_id, decision_keep.duration_ms
    FROM turns AS t WHERE t.id = decision_keep.turn
    RETURNING node_runs.user_id INTO owner;
    IF outcome IS NOT NULL THEN
        UPDATE turn_steps AS s
        SET outcome = decision_keep.outcome, summary = decision_keep.summary, conclusions = decision_keep.conclusions, note = decision_keep.note
        WHERE s.turn_id = decision_keep.turn AND s.step = decision_keep.step;
    END IF;
    IF events IS NOT NULL THEN
        PERFORM turn_events_append(decision_keep.turn, decision_keep.events);
    END IF;
    IF node = 'reply' THEN -- after the last append: the seq of a deleted event must not be used again, because readers are past it
        DELETE FROM turn_events AS e WHERE e.turn_id = decision_keep.turn AND e.type IN ('reply.delta', 'reply.reset');
    END IF;
    IF next_node IS NOT NULL THEN
        UPDATE turns AS t
        SET position = decision_keep.at_position + 1, current_node = decision_keep.next_node, goal = coalesce(decision_keep.goal, t.goal),
            inputs_applied_at = coalesce(t.inputs_applied_at, clock_timestamp())
        WHERE t.id = decision_keep.turn;
    END IF;
    IF wrote THEN
        UPDATE users AS u SET version = u.version + 1 WHERE u.id = owner RETURNING u.version INTO version;
    ELSE
        SELECT u.version INTO version FROM users AS u WHERE u.id = owner;
    END IF;
    RETURN version;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION decision_keep IS 'Writes what every decision leaves, once it has passed the fence: its row in node_runs, its events (null for none) without a replied turn''s pieces, the end of its step if it has an outcome, and for a turn that continues its next position and node and, unless null, the goal. The first decision marks the turn''s inputs as applied. wrote raises the user''s version; the function returns it.';
REVOKE EXECUTE ON FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text) FROM PUBLIC;

-- A generic plan: with partitions, the planner would take the time to make one for each turn.
-- +goose StatementBegin
CREATE FUNCTION row_changes_keep(turn uuid, step integer, call integer, changes jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    WITH added AS (
        INSERT INTO row_changes (turn_id, user_id, seq, step, call, entity_type, entity_id, action, before, after, draft, lost)
        SELECT t.id, t.user_id,
               coalesce((SELECT max(r.seq) FROM row_changes AS r WHERE r.turn_id = t.id), 0) + c.n, row_changes_keep.step, row_changes_keep.call,
               c.change ->> 'entity_type', c.change ->> 'entity_id', c.change ->> 'action',
               nullif(c.change -> 'before', 'null'), nullif(c.change -> 'after', 'null'), c.change ->> 'draft', c.change ->> 'lost'
        FROM turns AS t, jsonb_array_elements(row_changes_keep.changes) WITH ORDINALITY AS c (change, n)
        WHERE t.id = row_changes_keep.turn
        RETURNING row_changes.seq, row_changes.lost
    )
    UPDATE turns AS t
    SET undo = CASE WHEN t.undo = 'impossible' OR lost.reason IS NOT NULL THEN 'impossible' ELSE 'possible' END,
        undo_reason = coalesce(t.undo_reason, lost.reason)
    FROM (SELECT (array_agg(a.lost ORDER BY a.seq) FILTER (WHERE a.lost IS NOT NULL))[1]::text AS reason FROM added AS a) AS lost
    WHERE t.id = row_changes_keep.turn;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_changes_keep IS 'Stores in row_changes what a call wrote, [{entity_type, entity_id, action, before, after, draft, lost}] in that order, and whether its turn can be undone.';
REVOKE EXECUTE ON FUNCTION row_changes_keep(uuid, integer, integer, jsonb) FROM PUBLIC;

-- +goose Down
DROP FUNCTION row_changes_keep(uuid, integer, integer, jsonb);
DROP FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text);
-- +goose StatementBegin
CREATE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
                              duration_ms integer, events jsonb, next_node text, goal text) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    INSERT INTO node_runs (turn_id, user_id, position, node, step, call, output, river_job_id, llm_call_id, duration_ms)
    SELECT t.id, t.user_id, decision_keep.at_position, decision_keep.node, decision_keep.step, decision_keep.call, decision_keep.output,
           decision_keep.job_id, decision_keep.llm_call_id, decision_keep.duration_ms
    FROM turns AS t WHERE t.id = decision_keep.turn;
    IF events IS NOT NULL THEN
        PERFORM turn_events_append(decision_keep.turn, decision_keep.events);
    END IF;
    IF next_node IS NOT NULL THEN
        UPDATE turns AS t
        SET position = decision_keep.at_position + 1, current_node = decision_keep.next_node, goal = coalesce(decision_keep.goal, t.goal),
            inputs_applied_at = coalesce(t.inputs_applied_at, clock_timestamp())
        WHERE t.id = decision_keep.turn;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION decision_keep IS 'What every decision leaves behind, once it has passed the fence: its row in node_runs, its events (null for none), and for a turn that goes on its next position and node and, unless null, the goal. By the first decision, the turn''s inputs have been applied.';
REVOKE EXECUTE ON FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text) FROM PUBLIC;
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
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_begins(session uuid) RETURNS timestamptz
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
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION uuid_v7_month(id uuid) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT date_trunc('month', to_timestamp(('x' || left(replace(uuid_v7_month.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION uuid_v7(at timestamptz DEFAULT clock_timestamp()) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3)
            FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;
-- +goose StatementEnd
