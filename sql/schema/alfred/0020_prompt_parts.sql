-- What prompts have in common is stored once: instructions, tools and schemas for all, what one prompt of a conversation repeats of
-- another for the conversation. A call keeps the rest of its request's text and the hashes of what was taken out of it.

-- +goose Up

CREATE TABLE prompt_parts (
    session_id uuid NOT NULL,
    user_id    uuid NOT NULL,
    hash       uuid NOT NULL,
    month      date NOT NULL,
    text       text NOT NULL,
    CONSTRAINT prompt_parts_pkey PRIMARY KEY (session_id, hash, month, user_id),
    CONSTRAINT prompt_parts_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE
) PARTITION BY RANGE (month);
COMMENT ON TABLE prompt_parts IS 'Pieces of requests to models that a conversation''s prompts have in common, each once a month: it goes with the month, the session and the user. Read requests in v_llm_calls.';
COMMENT ON COLUMN prompt_parts.session_id IS 'The conversation whose prompts hold it.';
COMMENT ON COLUMN prompt_parts.user_id IS 'Owner of the session.';
COMMENT ON COLUMN prompt_parts.hash IS 'First 16 bytes of the text''s SHA-256, as llm_calls.parts names it.';
COMMENT ON COLUMN prompt_parts.month IS 'First day, in UTC, of the month of the calls that name it.';
COMMENT ON COLUMN prompt_parts.text IS 'A piece of the request''s JSON text.';

CREATE TABLE prompt_parts_shared (
    hash  uuid NOT NULL,
    month date NOT NULL,
    text  text NOT NULL,
    CONSTRAINT prompt_parts_shared_pkey PRIMARY KEY (hash, month)
) PARTITION BY RANGE (month);
COMMENT ON TABLE prompt_parts_shared IS 'Pieces of requests to models that come from the program and the declaration alone: instructions, tools, schemas. Nothing of any user stands in them.';
COMMENT ON COLUMN prompt_parts_shared.hash IS 'First 16 bytes of the text''s SHA-256, as llm_calls.parts names it.';
COMMENT ON COLUMN prompt_parts_shared.month IS 'First day, in UTC, of the month of the calls that name it.';
COMMENT ON COLUMN prompt_parts_shared.text IS 'A piece of the request''s JSON text.';

ALTER TABLE llm_calls ALTER COLUMN request DROP NOT NULL;
ALTER TABLE llm_calls ADD COLUMN outline text;
ALTER TABLE llm_calls ADD COLUMN parts uuid[];
ALTER TABLE llm_calls ADD CONSTRAINT llm_calls_asked CHECK (request IS NOT NULL OR outline IS NOT NULL AND parts IS NOT NULL) NOT VALID;
COMMENT ON COLUMN llm_calls.request IS 'What was asked, of a call that holds it whole; null where outline and parts do. v_llm_calls has it of all.';
COMMENT ON COLUMN llm_calls.outline IS 'What was asked, as JSON text in which a line break stands where a part belongs; null where request holds it whole.';
COMMENT ON COLUMN llm_calls.parts IS 'Hashes of the parts in prompt_parts and prompt_parts_shared, in the order of the line breaks.';

-- What is long is compressed fast where the server can. Partitions that are there already are told one by one.
-- +goose StatementBegin
DO $$
DECLARE
    c record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_settings AS s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
        RETURN;
    END IF;
    FOR c IN
        SELECT 'prompt_parts'::regclass AS relation, 'text' AS name
        UNION ALL SELECT 'prompt_parts_shared'::regclass, 'text'
        UNION ALL SELECT 'llm_calls'::regclass, 'outline'
        UNION ALL SELECT i.inhrelid::regclass, 'outline' FROM pg_inherits AS i WHERE i.inhparent = 'llm_calls'::regclass
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION lz4', c.relation, c.name);
    END LOOP;
END
$$;
-- +goose StatementEnd
-- Long values stay in their row as long as that fits into a page, and are all compressed: pieces in another table would be rows of
-- their own. (partitions_ensure says so to new partitions.)
ALTER TABLE prompt_parts ALTER COLUMN text SET STORAGE MAIN;
ALTER TABLE prompt_parts_shared ALTER COLUMN text SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN outline SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN context SET STORAGE MAIN;
ALTER TABLE llm_calls ALTER COLUMN response SET STORAGE MAIN;
-- +goose StatementBegin
DO $$
DECLARE
    part regclass;
BEGIN
    FOR part IN SELECT i.inhrelid::regclass FROM pg_inherits AS i WHERE i.inhparent = 'llm_calls'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 256)', part);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION uuid_v7_month(id uuid) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT date_trunc('month', to_timestamp(('x' || left(replace(uuid_v7_month.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION uuid_v7_month IS 'First day of the month, in UTC, in which a UUID version 7 was made.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION partitions_ensure(months_ahead integer DEFAULT 3) RETURNS integer
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION partitions_old(parent text, before timestamptz) RETURNS SETOF text
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

SELECT partitions_ensure();

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
COMMENT ON VIEW v_llm_calls IS 'Public API. Every call of a model, failed ones included, with its whole request: what it was asked, what it answered, what it cost.';
COMMENT ON COLUMN v_llm_calls.id IS 'llm_calls.id: sorts by time.';
COMMENT ON COLUMN v_llm_calls.session_id IS 'The conversation it was paid for.';
COMMENT ON COLUMN v_llm_calls.user_id IS 'Owner of the session, who paid for it.';
COMMENT ON COLUMN v_llm_calls.turn_id IS 'The turn it was made for; null for compress, which covers many.';
COMMENT ON COLUMN v_llm_calls.position IS 'The decision it was made for.';
COMMENT ON COLUMN v_llm_calls.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN v_llm_calls.step IS 'The plan''s step; null outside act.';
COMMENT ON COLUMN v_llm_calls.call IS 'Which decision of the node (of the step, for act), from 1.';
COMMENT ON COLUMN v_llm_calls.attempt IS 'Which request of that decision, from 1; above 1 it mends the one before.';
COMMENT ON COLUMN v_llm_calls.provider IS 'Who was asked: offline, script, openai, ...';
COMMENT ON COLUMN v_llm_calls.model IS 'The model''s name.';
COMMENT ON COLUMN v_llm_calls.request IS 'What was asked: {system, messages, tools, schema_name, schema, temperature, max_tokens}. Holds no identifier of the database. Null if a part of it is lost.';
COMMENT ON COLUMN v_llm_calls.response IS 'What was answered: {text, tool_calls}; null when nothing was.';
COMMENT ON COLUMN v_llm_calls.context IS 'Why each thing stood in the prompt, in its order: [section, ref, turn number, reason, tokens] each. Read it as context_items.';
COMMENT ON COLUMN v_llm_calls.input_tokens IS 'Tokens in, cached ones included; estimated, as those out, for a stream that was stopped before its provider counted.';
COMMENT ON COLUMN v_llm_calls.output_tokens IS 'Tokens out.';
COMMENT ON COLUMN v_llm_calls.cached_tokens IS 'Tokens in that came from the provider''s prompt cache.';
COMMENT ON COLUMN v_llm_calls.cost_usd IS 'By the price table; 0 for an unknown or free model.';
COMMENT ON COLUMN v_llm_calls.latency_ms IS 'From request to the end of the answer.';
COMMENT ON COLUMN v_llm_calls.error_code IS 'Kind of failure; rejected for an answer that could not be used, cancelled for a call that was stopped; null when the answer was used.';
COMMENT ON COLUMN v_llm_calls.trace_id IS 'Trace the call belongs to, if one was recorded: a turn''s is its id without dashes.';
COMMENT ON COLUMN v_llm_calls.created_at IS 'When the answer arrived.';

CREATE POLICY prompt_parts_tenant ON prompt_parts TO alfred_tenant USING (user_id = (SELECT tenant_id()));
ALTER TABLE prompt_parts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON prompt_parts, prompt_parts_shared, v_llm_calls TO alfred_tenant;
REVOKE EXECUTE ON FUNCTION uuid_v7_month(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION uuid_v7_month(uuid) TO alfred_tenant;

-- +goose Down

UPDATE llm_calls AS c SET request = coalesce(v.request, '{}') FROM v_llm_calls AS v WHERE v.id = c.id AND v.user_id = c.user_id AND c.request IS NULL;
DROP VIEW v_llm_calls;
ALTER TABLE llm_calls DROP CONSTRAINT llm_calls_asked;
ALTER TABLE llm_calls DROP COLUMN parts;
ALTER TABLE llm_calls DROP COLUMN outline;
ALTER TABLE llm_calls ALTER COLUMN request SET NOT NULL;
COMMENT ON COLUMN llm_calls.request IS 'What was asked: {system, messages, tools, schema_name, schema, temperature, max_tokens}. Holds no identifier of the database.';
DROP TABLE prompt_parts_shared;
DROP TABLE prompt_parts;
DROP FUNCTION uuid_v7_month(uuid);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION partitions_ensure(months_ahead integer DEFAULT 3) RETURNS integer
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
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION partitions_old(parent text, before timestamptz) RETURNS SETOF text
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
