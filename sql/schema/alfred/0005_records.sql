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
COMMENT ON TABLE turn_step_results IS 'Every tool call and its result, translated to refs. Kept whole; shown to models for 2 turns.';
COMMENT ON COLUMN turn_step_results.turn_id IS 'The turn of the tool call; its UUID v7 decides the monthly partition.';
COMMENT ON COLUMN turn_step_results.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN turn_step_results.step IS 'The plan''s step; 0 for UI changes and mentions.';
COMMENT ON COLUMN turn_step_results.call IS 'Which call of the step, from 1.';
COMMENT ON COLUMN turn_step_results.tool IS 'db_read, db_create, ..., ui_change or mention.';
COMMENT ON COLUMN turn_step_results.entity_type IS 'Type of the rows; null if the tool has none.';
COMMENT ON COLUMN turn_step_results.params IS 'The arguments as the model wrote them.';
COMMENT ON COLUMN turn_step_results.rows IS 'The rows as models see them: refs instead of keys, with labels.';
COMMENT ON COLUMN turn_step_results.row_count IS 'Rows that matched, which may be more than rows holds.';
COMMENT ON COLUMN turn_step_results.refs IS 'Refs of the rows, in order.';
COMMENT ON COLUMN turn_step_results.error_code IS 'Why the call failed; null if it succeeded.';
COMMENT ON COLUMN turn_step_results.error_message IS 'The sentence that the model was told.';
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
COMMENT ON TABLE row_changes IS 'What a turn did to domain rows, with just the old values that an undo needs. Pruned by month, deleted with the session.';
COMMENT ON COLUMN row_changes.turn_id IS 'The turn that wrote; its UUID v7 decides the monthly partition.';
COMMENT ON COLUMN row_changes.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN row_changes.seq IS 'Order of the turn''s writes, from 1; undo reverses it. Rows deleted by a cascade come before the row that caused it.';
COMMENT ON COLUMN row_changes.step IS 'The plan''s step that wrote; with call it names the decision, whose writes were committed together.';
COMMENT ON COLUMN row_changes.call IS 'Which decision of the step, as in node_runs.';
COMMENT ON COLUMN row_changes.entity_type IS 'Type of the row, as the domain declares it.';
COMMENT ON COLUMN row_changes.entity_id IS 'Key of the row, as text.';
COMMENT ON COLUMN row_changes.action IS 'created, updated or deleted; called for an owner''s operation, whose effects only its inverse undoes.';
COMMENT ON COLUMN row_changes.before IS 'updated: the old values of the columns that were written and changed. deleted: the row. called: {operation, args}, keys in args. Null for created.';
COMMENT ON COLUMN row_changes.after IS 'A short hash of each column''s value as the decision left it, except for columns that the database sets by itself. Null for a deleted row.';
COMMENT ON COLUMN row_changes.draft IS 'The ref of the draft that was saved as this row; null for other rows.';
COMMENT ON COLUMN row_changes.lost IS 'What cannot be restored, as a sentence; null if nothing is lost.';
COMMENT ON COLUMN row_changes.created_at IS 'By the database''s clock, within the commit that wrote.';

-- What is done to the domain's rows beside conversations. What conversations do is in their registry's history; v_row_events says both.
CREATE TABLE row_events (
    id          uuid        NOT NULL DEFAULT uuid_v7(),
    user_id     uuid        NOT NULL,
    entity_type text        NOT NULL,
    entity_id   text        NOT NULL,
    label       text        NOT NULL DEFAULT '',
    action      text        NOT NULL,
    operation   text,
    actor       text        NOT NULL DEFAULT 'user',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT row_events_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT row_events_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT row_events_action_known CHECK (action IN ('created', 'updated', 'deleted', 'called')),
    CONSTRAINT row_events_actor_known CHECK (actor IN ('user', 'system')),
    CONSTRAINT row_events_called CHECK (action <> 'called' OR operation IS NOT NULL)
);
CREATE INDEX row_events_row_idx ON row_events (user_id, entity_type, entity_id);
COMMENT ON TABLE row_events IS 'Append-only: changes of rows made through Alfred outside conversations. Those of conversations are in entity_events.';
COMMENT ON COLUMN row_events.id IS 'Time-ordered id.';
COMMENT ON COLUMN row_events.user_id IS 'Owner of the row.';
COMMENT ON COLUMN row_events.entity_type IS 'Type of the row.';
COMMENT ON COLUMN row_events.entity_id IS 'Key of the row.';
COMMENT ON COLUMN row_events.label IS 'The row''s label at that time; may be empty.';
COMMENT ON COLUMN row_events.action IS 'created, updated, deleted, or called (by an owner''s operation).';
COMMENT ON COLUMN row_events.operation IS 'The operation; null if the row itself was written.';
COMMENT ON COLUMN row_events.actor IS 'Who did it: user (a person or a program with their key) or system.';
COMMENT ON COLUMN row_events.created_at IS 'By the database''s clock, within that transaction.';

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
COMMENT ON COLUMN turn_events.data IS 'Always seq, turn_id, number, type, at; further fields depend on the type.';
COMMENT ON COLUMN turn_events.created_at IS 'By the database''s clock; the same time as in data.at.';

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
    request       jsonb,
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
    outline       text,
    parts         uuid[],
    CONSTRAINT llm_calls_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT llm_calls_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT llm_calls_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT llm_calls_answered CHECK (response IS NOT NULL OR error_code IS NOT NULL),
    CONSTRAINT llm_calls_asked CHECK (request IS NOT NULL OR outline IS NOT NULL AND parts IS NOT NULL),
    CONSTRAINT llm_calls_reasons_known CHECK (
        jsonb_path_query_array(context, 'strict $[*] ? (@.size() == 3)[1]') <@ jsonb '["recent", "retained", "generated", "excluded", "linked",
            "mentioned", "recalled", "pinned", "current", "window", "summary", "constraint", "question", "profile", "snapshot", "schema"]')
) PARTITION BY RANGE (id);
CREATE INDEX llm_calls_turn_idx ON llm_calls (turn_id, position);
CREATE INDEX llm_calls_session_idx ON llm_calls (session_id, id);
COMMENT ON TABLE llm_calls IS 'Every model call, including failed ones: request, response, cost.';
COMMENT ON COLUMN llm_calls.id IS 'UUID v7: decides the monthly partition, and the order of a session''s calls.';
COMMENT ON COLUMN llm_calls.session_id IS 'The conversation it was made for.';
COMMENT ON COLUMN llm_calls.user_id IS 'Owner of the session.';
COMMENT ON COLUMN llm_calls.turn_id IS 'The turn it was made for; null for compress, which covers many.';
COMMENT ON COLUMN llm_calls.position IS 'The decision it was made for: a stored answer is reused, not bought again.';
COMMENT ON COLUMN llm_calls.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN llm_calls.step IS 'The plan''s step; null outside act.';
COMMENT ON COLUMN llm_calls.call IS 'Which decision of the node (of the step, for act), from 1.';
COMMENT ON COLUMN llm_calls.attempt IS 'Which request of that decision, from 1; above 1 it is a repair.';
COMMENT ON COLUMN llm_calls.provider IS 'The provider: offline, script, openai, ...';
COMMENT ON COLUMN llm_calls.model IS 'The model''s name.';
COMMENT ON COLUMN llm_calls.request IS 'The request, if it is stored whole; null if outline and parts are. v_llm_calls shows it for all calls.';
COMMENT ON COLUMN llm_calls.response IS 'The response: {text, tool_calls}; null if there was none.';
COMMENT ON COLUMN llm_calls.context IS 'Why each item was in the prompt, in order: [section, reason, "turn number:tokens:ref, ..."] for items in a row; older programs wrote [section, ref, turn number, reason, tokens] each. Read it as context_items.';
COMMENT ON COLUMN llm_calls.input_tokens IS 'Input tokens, including cached ones; estimated, like output tokens, for a stream that was stopped before the provider counted.';
COMMENT ON COLUMN llm_calls.output_tokens IS 'Output tokens.';
COMMENT ON COLUMN llm_calls.cached_tokens IS 'Input tokens read from the provider''s prompt cache.';
COMMENT ON COLUMN llm_calls.cost_usd IS 'Cost by the price table; 0 for an unknown or free model.';
COMMENT ON COLUMN llm_calls.latency_ms IS 'From request to the end of the answer.';
COMMENT ON COLUMN llm_calls.error_code IS 'Kind of failure; rejected for an unusable answer, cancelled for a stopped call; null if the answer was used.';
COMMENT ON COLUMN llm_calls.trace_id IS 'Trace of the call, if one was recorded: the turn''s id without dashes.';
COMMENT ON COLUMN llm_calls.created_at IS 'When the answer arrived.';
COMMENT ON COLUMN llm_calls.outline IS 'The request as JSON text with a line break in place of each part; null if request has it whole.';
COMMENT ON COLUMN llm_calls.parts IS 'Hashes of the parts in prompt_parts and prompt_parts_shared, in the order of the line breaks.';

-- What prompts have in common is stored once: instructions, tools and schemas for all, what one prompt of a conversation repeats of
-- another for the conversation. A call keeps the rest of its request's text and the hashes of what was taken out of it.
CREATE TABLE prompt_parts (
    session_id uuid NOT NULL,
    user_id    uuid NOT NULL,
    hash       uuid NOT NULL,
    month      date NOT NULL,
    text       text NOT NULL,
    CONSTRAINT prompt_parts_pkey PRIMARY KEY (session_id, hash, month, user_id),
    CONSTRAINT prompt_parts_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE
) PARTITION BY RANGE (month);
COMMENT ON TABLE prompt_parts IS 'Parts of model requests that a conversation''s prompts share, each stored once per month and deleted with the month, the session or the user. Read requests in v_llm_calls.';
COMMENT ON COLUMN prompt_parts.session_id IS 'The conversation whose prompts contain it.';
COMMENT ON COLUMN prompt_parts.user_id IS 'Owner of the session.';
COMMENT ON COLUMN prompt_parts.hash IS 'First 16 bytes of the text''s SHA-256, as llm_calls.parts names it.';
COMMENT ON COLUMN prompt_parts.month IS 'First day, in UTC, of the month of the calls that use it.';
COMMENT ON COLUMN prompt_parts.text IS 'A part of the request''s JSON text.';

CREATE TABLE prompt_parts_shared (
    hash  uuid NOT NULL,
    month date NOT NULL,
    text  text NOT NULL,
    CONSTRAINT prompt_parts_shared_pkey PRIMARY KEY (hash, month)
) PARTITION BY RANGE (month);
COMMENT ON TABLE prompt_parts_shared IS 'Parts of model requests that come only from the program and the declaration: instructions, tools, schemas. They contain nothing of any user.';
COMMENT ON COLUMN prompt_parts_shared.hash IS 'First 16 bytes of the text''s SHA-256, as llm_calls.parts names it.';
COMMENT ON COLUMN prompt_parts_shared.month IS 'First day, in UTC, of the month of the calls that use it.';
COMMENT ON COLUMN prompt_parts_shared.text IS 'A part of the request''s JSON text.';

-- One value in the call's row, not a row each: a prompt has a dozen items, which nobody writes or deletes alone.
CREATE VIEW context_items WITH (security_invoker = true) AS
SELECT c.id AS llm_call_id, i.position::integer AS position, i.section::text AS section, i.ref::text AS ref,
       i.turn_number::integer AS turn_number, i.reason::text AS reason, i.tokens::integer AS tokens
FROM llm_calls AS c
CROSS JOIN LATERAL (
    SELECT row_number() OVER (ORDER BY g.n, m.n) AS position, g.items ->> 0 AS section, nullif(split_part(m.item, ':', 3), '') AS ref,
           nullif(split_part(m.item, ':', 1), '') AS turn_number, g.items ->> o.reason AS reason, split_part(m.item, ':', 2) AS tokens
    FROM jsonb_array_elements(c.context) WITH ORDINALITY AS g (items, n)
    CROSS JOIN LATERAL (SELECT CASE jsonb_array_length(g.items) WHEN 5 THEN 3 ELSE 1 END AS reason) AS o
    CROSS JOIN LATERAL string_to_table(CASE o.reason WHEN 1 THEN g.items ->> 2
        ELSE concat(g.items ->> 2, ':', g.items ->> 4, ':', g.items ->> 1) END, ', ') WITH ORDINALITY AS m (item, n)) AS i;
COMMENT ON VIEW context_items IS 'Public API. Why each item was in a prompt: llm_calls.context, item by item.';
COMMENT ON COLUMN context_items.llm_call_id IS 'llm_calls.id of the prompt that contained the item.';
COMMENT ON COLUMN context_items.position IS 'Order in the prompt, from 1.';
COMMENT ON COLUMN context_items.section IS 'The section''s heading.';
COMMENT ON COLUMN context_items.ref IS 'The entity; null for other items.';
COMMENT ON COLUMN context_items.turn_number IS 'The turn it comes from; null if it belongs to none.';
COMMENT ON COLUMN context_items.reason IS 'Why it was there.';
COMMENT ON COLUMN context_items.tokens IS 'Its size, estimated.';

CREATE VIEW v_llm_calls WITH (security_invoker = true) AS
SELECT c.id, c.session_id, c.user_id, c.turn_id, c.position, c.node, c.step, c.call, c.attempt, c.provider, c.model,
       coalesce(c.request, (
           SELECT CASE WHEN bool_and(piece.hash IS NULL OR own.text IS NOT NULL OR shared.text IS NOT NULL)
                       THEN string_agg(piece.text || coalesce(own.text, shared.text, ''), '' ORDER BY piece.n)::jsonb END
           FROM unnest(string_to_array(c.outline, E'\n'), c.parts) WITH ORDINALITY AS piece (text, hash, n)
           LEFT JOIN prompt_parts AS own
               ON own.session_id = c.session_id AND own.user_id = c.user_id AND own.hash = piece.hash AND own.month = uuid_v7_month(c.id)
           LEFT JOIN prompt_parts_shared AS shared ON shared.hash = piece.hash AND shared.month = uuid_v7_month(c.id)
       )) AS request,
       c.response, c.context, c.input_tokens, c.output_tokens, c.cached_tokens, c.cost_usd, c.latency_ms, c.error_code, c.trace_id, c.created_at
FROM llm_calls AS c;
COMMENT ON VIEW v_llm_calls IS 'Public API. Every model call, including failed ones, with its whole request, its response and its cost.';
COMMENT ON COLUMN v_llm_calls.id IS 'llm_calls.id: sorts by time.';
COMMENT ON COLUMN v_llm_calls.session_id IS 'The conversation it was made for.';
COMMENT ON COLUMN v_llm_calls.user_id IS 'Owner of the session.';
COMMENT ON COLUMN v_llm_calls.turn_id IS 'The turn it was made for; null for compress, which covers many.';
COMMENT ON COLUMN v_llm_calls.position IS 'The decision it was made for.';
COMMENT ON COLUMN v_llm_calls.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN v_llm_calls.step IS 'The plan''s step; null outside act.';
COMMENT ON COLUMN v_llm_calls.call IS 'Which decision of the node (of the step, for act), from 1.';
COMMENT ON COLUMN v_llm_calls.attempt IS 'Which request of that decision, from 1; above 1 it is a repair.';
COMMENT ON COLUMN v_llm_calls.provider IS 'The provider: offline, script, openai, ...';
COMMENT ON COLUMN v_llm_calls.model IS 'The model''s name.';
COMMENT ON COLUMN v_llm_calls.request IS 'The request: {system, messages, tools, schema_name, schema, temperature, max_tokens}. Contains no database identifiers. Null if a part of it is lost.';
COMMENT ON COLUMN v_llm_calls.response IS 'The response: {text, tool_calls}; null if there was none.';
COMMENT ON COLUMN v_llm_calls.context IS 'Why each item was in the prompt, as in llm_calls.context. Read it as context_items.';
COMMENT ON COLUMN v_llm_calls.input_tokens IS 'Input tokens, including cached ones; estimated, like output tokens, for a stream that was stopped before the provider counted.';
COMMENT ON COLUMN v_llm_calls.output_tokens IS 'Output tokens.';
COMMENT ON COLUMN v_llm_calls.cached_tokens IS 'Input tokens read from the provider''s prompt cache.';
COMMENT ON COLUMN v_llm_calls.cost_usd IS 'Cost by the price table; 0 for an unknown or free model.';
COMMENT ON COLUMN v_llm_calls.latency_ms IS 'From request to the end of the answer.';
COMMENT ON COLUMN v_llm_calls.error_code IS 'Kind of failure; rejected for an unusable answer, cancelled for a stopped call; null if the answer was used.';
COMMENT ON COLUMN v_llm_calls.trace_id IS 'Trace of the call, if one was recorded: the turn''s id without dashes.';
COMMENT ON COLUMN v_llm_calls.created_at IS 'When the answer arrived.';

-- +goose StatementBegin
CREATE FUNCTION partitions_ensure(months_ahead integer DEFAULT 3) RETURNS integer
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    parent text;
    month  timestamp; -- in UTC
    part   text;
    lower  text;
    upper  text;
    extra  text;
    made   integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('alfred.partitions'));
    FOREACH parent IN ARRAY ARRAY['turn_step_results', 'row_changes', 'turn_events', 'llm_calls', 'prompt_parts', 'prompt_parts_shared'] LOOP
        extra := CASE parent WHEN 'llm_calls' THEN ' WITH (toast_tuple_target = 256)' ELSE '' END; -- what is long is compressed
        FOR month IN
            SELECT generate_series(date_trunc('month', now() AT TIME ZONE 'UTC'),
                                   date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => months_ahead),
                                   interval '1 month')
        LOOP
            part := parent || to_char(month, '"_y"YYYY"m"MM');
            CONTINUE WHEN to_regclass('alfred.' || part) IS NOT NULL;
            lower := month::date;
            upper := (month + interval '1 month')::date;
            IF parent NOT IN ('prompt_parts', 'prompt_parts_shared') THEN -- the month is in the id
                lower := uuid_v7_floor(lower::timestamp AT TIME ZONE 'UTC');
                upper := uuid_v7_floor(upper::timestamp AT TIME ZONE 'UTC');
            END IF;
            EXECUTE format('CREATE TABLE alfred.%I PARTITION OF alfred.%I FOR VALUES FROM (%L) TO (%L)' || extra, part, parent, lower, upper);
            made := made + 1;
        END LOOP;
        IF to_regclass('alfred.' || parent || '_other') IS NULL THEN
            EXECUTE format('CREATE TABLE alfred.%I PARTITION OF alfred.%I DEFAULT' || extra, parent || '_other', parent);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION partitions_ensure IS 'Creates the missing monthly partitions from this month on, and returns how many. Workers call it at startup and daily.';

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
      AND p.relname IN ('turn_step_results', 'row_changes', 'turn_events', 'llm_calls', 'prompt_parts', 'prompt_parts_shared')
      AND c.relname ~ '_y\d{4}m\d{2}$'
      AND right(c.relname, 8) < to_char(partitions_old.before AT TIME ZONE 'UTC', '"y"YYYY"m"MM')
    ORDER BY c.relname
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION partitions_old IS 'A table''s monthly partitions before the month of the given time.';

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
COMMENT ON FUNCTION partition_drop IS 'Drops a monthly partition of a past month. SQLSTATE 55P03: it is in use; try again.';

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
        WHERE a.attrelid IN ('turn_step_results'::regclass, 'row_changes'::regclass, 'turn_events'::regclass, 'llm_calls'::regclass,
                             'prompt_parts'::regclass, 'prompt_parts_shared'::regclass)
          AND (a.atttypid = 'jsonb'::regtype OR a.attname IN ('outline', 'text')) AND a.attnum > 0 AND NOT a.attisdropped
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION lz4', c.relation, c.attname);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- Long values stay in their row as long as that fits into a page, and are all compressed: pieces in another table would be rows of
-- their own. partitions_ensure sets toast_tuple_target for the same reason.
ALTER TABLE prompt_parts ALTER COLUMN text SET STORAGE MAIN;
ALTER TABLE prompt_parts_shared ALTER COLUMN text SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN outline SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN parts SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN context SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN response SET STORAGE MAIN;

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
        SELECT s.id, s.forked_at_turn, today.start, today.first_id FROM today
        JOIN sessions AS s ON s.user_id = today.user_id AND s.last_activity_at >= today.start
    )
    -- From the newest turn backwards, so that only today's are looked at, however long the conversation is.
    -- What a fork began with was used by its parent.
    SELECT coalesce(sum(greatest(coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at <= usage_today.until ORDER BY t.number DESC LIMIT 1), 0)
                      - greatest((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at < a.start ORDER BY t.number DESC LIMIT 1), a.forked_at_turn, 0), 0)), 0)::bigint,
           coalesce(sum(c.tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0)::double precision
    FROM active AS a
    CROSS JOIN LATERAL (SELECT sum(l.input_tokens + l.output_tokens) AS tokens, sum(l.cost_usd) AS cost_usd
                        FROM llm_calls AS l WHERE l.session_id = a.id AND l.id >= a.first_id) AS c
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION usage_today IS 'What a session''s user has used today, in the user''s time zone and over all sessions: turns created up to a given time, and tokens and cost of all calls.';

-- +goose Down
DROP FUNCTION usage_today;
DROP FUNCTION partition_drop;
DROP FUNCTION partitions_old;
DROP FUNCTION partitions_ensure;
DROP VIEW v_llm_calls;
DROP VIEW context_items;
DROP TABLE prompt_parts_shared;
DROP TABLE prompt_parts;
DROP TABLE llm_calls;
DROP TABLE turn_events;
DROP TABLE row_events;
DROP TABLE row_changes;
DROP TABLE turn_step_results;
