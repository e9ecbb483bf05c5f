-- What grows with every call: step results, events, model calls and what they cost. Partitioned by the
-- month in their UUID v7, so that pruning drops partitions instead of deleting rows.

-- +goose Up

CREATE TABLE turn_step_results (
    turn_id       uuid        NOT NULL,
    user_id       uuid        NOT NULL,
    step          integer     NOT NULL,
    call          integer     NOT NULL,
    tool          text        NOT NULL,
    entity_type   text,
    params        jsonb       NOT NULL DEFAULT '{}',
    rows          jsonb       NOT NULL DEFAULT '[]',
    row_count     integer     NOT NULL DEFAULT 0,
    refs          text[]      NOT NULL DEFAULT '{}',
    error_code    text,
    error_message text,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT turn_step_results_pkey PRIMARY KEY (turn_id, step, call, user_id),
    CONSTRAINT turn_step_results_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turn_step_results_step_positive CHECK (step >= 0 AND call >= 1),
    CONSTRAINT turn_step_results_row_count_positive CHECK (row_count >= 0)
) PARTITION BY RANGE (turn_id);
COMMENT ON TABLE turn_step_results IS 'Every tool call and what it returned, translated to refs. Kept whole, shown to models for 2 turns.';
COMMENT ON COLUMN turn_step_results.turn_id IS 'The turn whose tool call this is; its UUID v7 decides the monthly partition.';
COMMENT ON COLUMN turn_step_results.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN turn_step_results.step IS 'The plan''s step; 0 for what UI changes and mentions brought in.';
COMMENT ON COLUMN turn_step_results.call IS 'Which call of the step, from 1.';
COMMENT ON COLUMN turn_step_results.tool IS 'db_read, db_create, ..., ui_change or mention.';
COMMENT ON COLUMN turn_step_results.entity_type IS 'Type of the rows; null where the tool has none.';
COMMENT ON COLUMN turn_step_results.params IS 'The arguments as the model wrote them.';
COMMENT ON COLUMN turn_step_results.rows IS 'The rows as models see them: refs for keys, labels beside them.';
COMMENT ON COLUMN turn_step_results.row_count IS 'Rows that matched, which may be more than rows holds.';
COMMENT ON COLUMN turn_step_results.refs IS 'Refs of the rows, in order.';
COMMENT ON COLUMN turn_step_results.error_code IS 'Why the call failed; null when it did not.';
COMMENT ON COLUMN turn_step_results.error_message IS 'The sentence the model was told.';
COMMENT ON COLUMN turn_step_results.created_at IS 'When it ran.';

CREATE TABLE row_changes (
    turn_id     uuid    NOT NULL,
    user_id     uuid    NOT NULL,
    seq         integer NOT NULL,
    step        integer NOT NULL,
    call        integer NOT NULL,
    entity_type text    NOT NULL,
    entity_id   text    NOT NULL,
    action      text    NOT NULL,
    before      jsonb,
    after       jsonb,
    draft       text,
    lost        text,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT row_changes_pkey PRIMARY KEY (turn_id, seq, user_id),
    CONSTRAINT row_changes_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT row_changes_seq_positive CHECK (seq >= 1 AND step >= 0 AND call >= 0),
    CONSTRAINT row_changes_action_known CHECK (action IN ('created', 'updated', 'deleted', 'called')),
    CONSTRAINT row_changes_before_when_there CHECK ((action = 'created') = (before IS NULL)),
    CONSTRAINT row_changes_after_when_there CHECK (action <> 'deleted' OR after IS NULL)
) PARTITION BY RANGE (turn_id);
CREATE INDEX row_changes_row_idx ON row_changes (entity_id, entity_type, turn_id);
COMMENT ON TABLE row_changes IS 'What a turn did to rows of the domain, with what taking it back needs of the old values and no more. Pruned by month, gone with the session.';
COMMENT ON COLUMN row_changes.turn_id IS 'The turn that wrote; its UUID v7 decides the monthly partition.';
COMMENT ON COLUMN row_changes.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN row_changes.seq IS 'Order of the turn''s writes, from 1; undo goes through them backwards. What goes with a row by a cascade stands before it.';
COMMENT ON COLUMN row_changes.step IS 'The plan''s step that wrote; with call it names the decision, whose writes were committed together.';
COMMENT ON COLUMN row_changes.call IS 'Which decision of the step, as in node_runs.';
COMMENT ON COLUMN row_changes.entity_type IS 'Type of the row, as the domain declares it.';
COMMENT ON COLUMN row_changes.entity_id IS 'Key of the row, as text.';
COMMENT ON COLUMN row_changes.action IS 'created, updated or deleted; called for an operation of the owner''s, whose effects only its inverse takes back.';
COMMENT ON COLUMN row_changes.before IS 'updated: the old values of the columns that were written and changed. deleted: the row. called: {operation, args}, keys in args. Null for created.';
COMMENT ON COLUMN row_changes.after IS 'How the decision left the row: a short hash of each column''s value, but for columns that the database sets by itself. Null for a row that is gone.';
COMMENT ON COLUMN row_changes.draft IS 'The ref of the draft that was saved as this row; null for other rows.';
COMMENT ON COLUMN row_changes.lost IS 'What cannot be brought back, as a sentence; null where nothing is lost.';
COMMENT ON COLUMN row_changes.created_at IS 'By the databases clock, within the commit that wrote.';

CREATE TABLE turn_events (
    turn_id    uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    seq        integer     NOT NULL,
    type       text        NOT NULL,
    data       jsonb       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT turn_events_pkey PRIMARY KEY (turn_id, seq, user_id),
    CONSTRAINT turn_events_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turn_events_seq_positive CHECK (seq >= 1),
    CONSTRAINT turn_events_type_known CHECK (type IN ('turn.started', 'node.started', 'node.waiting', 'node.finished', 'plan',
        'step.started', 'tool.called', 'step.finished', 'entities', 'reply.delta', 'reply.reset', 'reply', 'question',
        'turn.finished', 'turn.failed', 'turn.cancelled'))
) PARTITION BY RANGE (turn_id);
COMMENT ON TABLE turn_events IS 'The event stream of a turn; ends with turn.finished, turn.failed or turn.cancelled.';
COMMENT ON COLUMN turn_events.turn_id IS 'The turn whose stream this is; its UUID v7 decides the monthly partition.';
COMMENT ON COLUMN turn_events.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN turn_events.seq IS 'Order in the turn, from 1; the id of the server-sent event. Deltas leave gaps when they are pruned.';
COMMENT ON COLUMN turn_events.type IS 'What happened.';
COMMENT ON COLUMN turn_events.data IS 'Always seq, turn_id, number, type, at; more by type.';
COMMENT ON COLUMN turn_events.created_at IS 'By the databases clock; the same moment stands in data.at.';

CREATE TABLE llm_calls (
    id            uuid           NOT NULL DEFAULT uuid_v7(),
    session_id    uuid           NOT NULL,
    user_id       uuid           NOT NULL,
    turn_id       uuid,
    position      integer,
    node          text           NOT NULL,
    step          integer,
    call          integer        NOT NULL DEFAULT 1,
    attempt       integer        NOT NULL DEFAULT 1,
    provider      text           NOT NULL,
    model         text           NOT NULL,
    request       jsonb          NOT NULL,
    response      jsonb,
    context       jsonb          NOT NULL DEFAULT '[]',
    input_tokens  integer        NOT NULL DEFAULT 0,
    output_tokens integer        NOT NULL DEFAULT 0,
    cached_tokens integer        NOT NULL DEFAULT 0,
    cost_usd      numeric(12, 6) NOT NULL DEFAULT 0,
    latency_ms    integer        NOT NULL DEFAULT 0,
    error_code    text,
    trace_id      text,
    created_at    timestamptz    NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT llm_calls_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT llm_calls_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT llm_calls_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT llm_calls_answered CHECK (response IS NOT NULL OR error_code IS NOT NULL),
    CONSTRAINT llm_calls_reasons_known CHECK (jsonb_path_query_array(context, '$[*][3]') <@ jsonb '["recent", "retained", "generated",
        "excluded", "linked", "mentioned", "recalled", "pinned", "current", "window", "summary", "constraint", "question", "profile",
        "snapshot", "schema"]')
) PARTITION BY RANGE (id);
CREATE INDEX llm_calls_turn_idx ON llm_calls (turn_id, position);
CREATE INDEX llm_calls_session_idx ON llm_calls (session_id, id);
COMMENT ON TABLE llm_calls IS 'Every call of a model, failed ones included: what it was asked, what it answered, what it cost.';
COMMENT ON COLUMN llm_calls.id IS 'UUID v7: decides the monthly partition, and the order of a sessions calls.';
COMMENT ON COLUMN llm_calls.session_id IS 'The conversation it was paid for; usage per user and day is counted by it.';
COMMENT ON COLUMN llm_calls.user_id IS 'Owner of the session, who paid for it.';
COMMENT ON COLUMN llm_calls.turn_id IS 'The turn it was made for; null for compress, which covers many.';
COMMENT ON COLUMN llm_calls.position IS 'The decision it was made for: an answer stored under it is used, not bought again.';
COMMENT ON COLUMN llm_calls.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN llm_calls.step IS 'The plan''s step; null outside act.';
COMMENT ON COLUMN llm_calls.call IS 'Which decision of the node (of the step, for act), from 1.';
COMMENT ON COLUMN llm_calls.attempt IS 'Which request of that decision, from 1; above 1 it mends the one before.';
COMMENT ON COLUMN llm_calls.provider IS 'Who was asked: offline, script, openai, ...';
COMMENT ON COLUMN llm_calls.model IS 'The model''s name.';
COMMENT ON COLUMN llm_calls.request IS 'What was asked: {system, messages, tools, schema_name, schema, temperature, max_tokens}. Holds no identifier of the database.';
COMMENT ON COLUMN llm_calls.response IS 'What was answered: {text, tool_calls}; null when nothing was.';
COMMENT ON COLUMN llm_calls.context IS 'Why each thing stood in the prompt, in its order: [section, ref, turn number, reason, tokens] each. Read it as context_items.';
COMMENT ON COLUMN llm_calls.input_tokens IS 'Tokens in, cached ones included; estimated, as those out, for a stream that was stopped before its provider counted.';
COMMENT ON COLUMN llm_calls.output_tokens IS 'Tokens out.';
COMMENT ON COLUMN llm_calls.cached_tokens IS 'Tokens in that came from the provider''s prompt cache.';
COMMENT ON COLUMN llm_calls.cost_usd IS 'By the price table; 0 for an unknown or free model.';
COMMENT ON COLUMN llm_calls.latency_ms IS 'From request to the end of the answer.';
COMMENT ON COLUMN llm_calls.error_code IS 'Kind of failure; rejected for an answer that could not be used, cancelled for a call that was stopped; null when the answer was used.';
COMMENT ON COLUMN llm_calls.trace_id IS 'Trace the call belongs to, if one was recorded: a turn''s is its id without dashes.';
COMMENT ON COLUMN llm_calls.created_at IS 'When the answer arrived.';

-- One value in the call's row, not a row each: a prompt has a dozen items, which nobody writes or deletes alone.
CREATE VIEW context_items WITH (security_invoker = true) AS
SELECT c.id AS llm_call_id, i.position::integer AS position, (i.item ->> 0)::text AS section, (i.item ->> 1)::text AS ref,
       (i.item ->> 2)::integer AS turn_number, (i.item ->> 3)::text AS reason, (i.item ->> 4)::integer AS tokens
FROM llm_calls AS c
CROSS JOIN LATERAL jsonb_array_elements(c.context) WITH ORDINALITY AS i (item, position);
COMMENT ON VIEW context_items IS 'Public API. Why each thing stood in a prompt: llm_calls.context, item by item.';
COMMENT ON COLUMN context_items.llm_call_id IS 'llm_calls.id of the prompt that held the item.';
COMMENT ON COLUMN context_items.position IS 'Order in the prompt, from 1.';
COMMENT ON COLUMN context_items.section IS 'The heading it stood under.';
COMMENT ON COLUMN context_items.ref IS 'The entity; null for what is no entity.';
COMMENT ON COLUMN context_items.turn_number IS 'The turn it comes from; null for what belongs to none.';
COMMENT ON COLUMN context_items.reason IS 'Why it was there.';
COMMENT ON COLUMN context_items.tokens IS 'What it cost, estimated.';

-- +goose StatementBegin
CREATE FUNCTION partitions_ensure(months_ahead integer DEFAULT 3) RETURNS integer
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    parent text;
    month  timestamptz;
    part   text;
    made   integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('alfred.partitions'));
    FOREACH parent IN ARRAY ARRAY['turn_step_results', 'row_changes', 'turn_events', 'llm_calls'] LOOP
        FOR month IN
            SELECT m AT TIME ZONE 'UTC'
            FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC'),
                                 date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => months_ahead),
                                 interval '1 month') AS m
        LOOP
            part := parent || to_char(month AT TIME ZONE 'UTC', '"_y"YYYY"m"MM');
            IF to_regclass('alfred.' || part) IS NULL THEN
                EXECUTE format('CREATE TABLE alfred.%I PARTITION OF alfred.%I FOR VALUES FROM (%L) TO (%L)',
                    part, parent, uuid_v7_floor(month),
                    uuid_v7_floor((month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'));
                made := made + 1;
            END IF;
        END LOOP;
        IF to_regclass('alfred.' || parent || '_other') IS NULL THEN
            EXECUTE format('CREATE TABLE alfred.%I PARTITION OF alfred.%I DEFAULT', parent || '_other', parent);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION partitions_ensure IS 'Makes the monthly partitions from this month on that are missing, and returns how many. Workers call it at start and daily.';

-- +goose StatementBegin
CREATE FUNCTION partitions_old(parent text, before timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT c.relname::text
    FROM pg_inherits AS i
    JOIN pg_class AS c ON c.oid = i.inhrelid
    JOIN pg_class AS p ON p.oid = i.inhparent
    WHERE p.relnamespace = 'alfred'::regnamespace
      AND p.relname = partitions_old.parent
      AND p.relname IN ('turn_step_results', 'row_changes', 'turn_events', 'llm_calls')
      AND c.relname ~ '_y\d{4}m\d{2}$'
      AND right(c.relname, 8) < to_char(partitions_old.before AT TIME ZONE 'UTC', '"y"YYYY"m"MM')
    ORDER BY c.relname
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION partitions_old IS 'A table''s monthly partitions of the months before the one that a moment lies in.';

-- Dropping locks the table and what it refers to against everybody. Waiting for such a lock makes others wait behind
-- it, so it gives up almost at once, and the caller comes again.
-- +goose StatementBegin
CREATE FUNCTION partition_drop(part text) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
SET lock_timeout = '100ms'
AS $$
DECLARE
    parent text := regexp_replace(partition_drop.part, '_y\d{4}m\d{2}$', '');
BEGIN
    IF partition_drop.part NOT IN (SELECT partitions_old(parent, now())) THEN
        RAISE EXCEPTION '% is no monthly partition of a past month', partition_drop.part USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('alfred.partitions'));
    EXECUTE format('DROP TABLE alfred.%I', partition_drop.part);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION partition_drop IS 'Drops a monthly partition of a past month. SQLSTATE 55P03: it is in use at the moment, try again.';

-- What is long is compressed in a third of the time, a tenth larger, where the server was built with it. Partitions have it from
-- their table.
-- +goose StatementBegin
DO $$
DECLARE
    c record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_settings AS s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
        RETURN;
    END IF;
    FOR c IN
        SELECT a.attrelid::regclass AS relation, a.attname
        FROM pg_attribute AS a
        WHERE a.attrelid IN ('turn_step_results'::regclass, 'row_changes'::regclass, 'turn_events'::regclass, 'llm_calls'::regclass)
          AND a.atttypid = 'jsonb'::regtype AND a.attnum > 0 AND NOT a.attisdropped
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION lz4', c.relation, c.attname);
    END LOOP;
END
$$;
-- +goose StatementEnd

SELECT partitions_ensure();

-- +goose StatementBegin
CREATE FUNCTION usage_today(session uuid, until timestamptz DEFAULT 'infinity')
RETURNS TABLE (turns bigint, tokens bigint, cost_usd double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH today AS (
        SELECT s.user_id, d.start, uuid_v7_floor(d.start) AS first_id
        FROM sessions AS s
        JOIN users AS u ON u.id = s.user_id
        CROSS JOIN LATERAL (SELECT date_trunc('day', now() AT TIME ZONE u.timezone) AT TIME ZONE u.timezone AS start) AS d
        WHERE s.id = usage_today.session AND acts_for(s.user_id)
    ),
    active AS (
        SELECT s.id, today.start, today.first_id FROM today
        JOIN sessions AS s ON s.user_id = today.user_id AND s.last_activity_at >= today.start
    )
    -- From the newest turn backwards, so that only today's are looked at, however long the conversation is.
    SELECT coalesce(sum(coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at <= usage_today.until ORDER BY t.number DESC LIMIT 1), 0)
                      - coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at < a.start ORDER BY t.number DESC LIMIT 1), 0)), 0)::bigint,
           coalesce(sum(c.tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0)::double precision
    FROM active AS a
    CROSS JOIN LATERAL (SELECT sum(l.input_tokens + l.output_tokens) AS tokens, sum(l.cost_usd) AS cost_usd
                        FROM llm_calls AS l WHERE l.session_id = a.id AND l.id >= a.first_id) AS c
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION usage_today IS 'What the user of a session has used on this day of the user''s time zone, in all sessions: turns created up to a moment, tokens and cost of all calls.';

-- +goose Down
DROP FUNCTION usage_today(uuid, timestamptz);
DROP FUNCTION partition_drop(text);
DROP FUNCTION partitions_old(text, timestamptz);
DROP FUNCTION partitions_ensure(integer);
DROP VIEW context_items;
DROP TABLE llm_calls;
DROP TABLE turn_events;
DROP TABLE row_changes;
DROP TABLE turn_step_results;
