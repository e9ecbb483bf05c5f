-- How a turn is carried on: what a decision leaves behind, and how turns start and end.
--
-- Lock order everywhere: session, turn, river_job.
--
-- Functions that a turn calls are in PL/pgSQL where SQL would do: their statements are planned once a connection. One in SQL with
-- settings of its own is parsed and planned at every call.

-- +goose Up

-- +goose StatementBegin
CREATE FUNCTION turn_events_append(turn uuid, events jsonb) RETURNS integer
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    at   timestamptz := clock_timestamp();
    base integer;
    t    record;
BEGIN
    SELECT coalesce(max(e.seq), 0) INTO base FROM turn_events AS e WHERE e.turn_id = turn_events_append.turn;
    SELECT turns.user_id, turns.number INTO t FROM turns WHERE turns.id = turn_events_append.turn;
    INSERT INTO turn_events (turn_id, user_id, seq, type, data, created_at)
    SELECT turn_events_append.turn, t.user_id, base + x.n, x.event ->> 'type',
           coalesce(x.event -> 'data', '{}') || jsonb_build_object('seq', base + x.n, 'turn_id', turn_events_append.turn,
                                                                   'number', t.number, 'type', x.event ->> 'type', 'at', at), at
    FROM jsonb_array_elements(turn_events_append.events) WITH ORDINALITY AS x (event, n);
    RETURN base + jsonb_array_length(turn_events_append.events);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_events_append IS 'Appends events [{type, data?}] to a turn''s stream and returns the last seq. The caller holds the turn''s row lock.';

-- Parts are inserted by hash, so that of two calls with the same new ones one waits for the other, never both.
-- +goose StatementBegin
CREATE FUNCTION llm_call_keep(call jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    made    llm_calls := jsonb_populate_record(NULL::llm_calls, call);
    made_in date      := uuid_v7_month(made.id);
BEGIN
    SELECT s.user_id INTO made.user_id FROM sessions AS s WHERE s.id = made.session_id;
    IF call ? 'own_parts' THEN
        INSERT INTO prompt_parts (session_id, user_id, hash, month, text)
        SELECT made.session_id, made.user_id, p.hash, made_in, p.text
        FROM jsonb_to_recordset(call -> 'own_parts') AS p (hash uuid, text text) WHERE made.user_id IS NOT NULL
        ORDER BY p.hash
        ON CONFLICT DO NOTHING;
    END IF;
    IF call ? 'shared_parts' THEN
        INSERT INTO prompt_parts_shared (hash, month, text)
        SELECT p.hash, made_in, p.text
        FROM jsonb_to_recordset(call -> 'shared_parts') AS p (hash uuid, text text) WHERE made.user_id IS NOT NULL
        ORDER BY p.hash
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO llm_calls (id, session_id, user_id, turn_id, position, node, step, call, attempt, provider, model, outline, parts, response, context,
                           input_tokens, output_tokens, cached_tokens, cost_usd, latency_ms, error_code, trace_id)
    VALUES (made.id, made.session_id, made.user_id, made.turn_id, made.position, made.node, made.step, made.call, made.attempt, made.provider, made.model,
            made.outline, made.parts, made.response, made.context, made.input_tokens, made.output_tokens, made.cached_tokens, made.cost_usd, made.latency_ms,
            made.error_code, made.trace_id)
    ON CONFLICT ON CONSTRAINT llm_calls_pkey DO NOTHING;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION llm_call_keep IS 'Stores a model''s call, {column of llm_calls: value, own_parts, shared_parts: [{hash, text}]}, and those parts of its request that are not stored yet. An existing call is kept.';

-- +goose StatementBegin
CREATE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
                              duration_ms integer, events jsonb, next_node text, goal text, wrote boolean DEFAULT false,
                              outcome step_outcome DEFAULT NULL, summary text DEFAULT NULL, conclusions text DEFAULT NULL, note text DEFAULT NULL,
                              plan jsonb DEFAULT NULL, llm_call jsonb DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    owner   uuid;
    version bigint;
BEGIN
    IF llm_call IS NOT NULL THEN
        PERFORM llm_call_keep(decision_keep.llm_call);
    END IF;
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
    IF plan IS NOT NULL THEN
        INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, refs, needs, calls, outcome, summary)
        SELECT decision_keep.turn, owner, s.step, s.step_type, s.subdomain, s.description, s.refs, s.needs, s.calls, s.outcome, s.summary
        FROM jsonb_to_recordset(decision_keep.plan) AS s (step integer, step_type step_type, subdomain text, description text, refs text[], needs text,
                                                          calls jsonb, outcome step_outcome, summary text);
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
COMMENT ON FUNCTION decision_keep IS 'Writes what every decision leaves, once it has passed the fence: its row in node_runs, the call it came from and the plan it made, [{column of turn_steps: value}] (null for none), its events (null for none) without a replied turn''s pieces, the end of its step if it has an outcome, and for a turn that continues its next position and node and, unless null, the goal. The first decision marks the turn''s inputs as applied. wrote raises the user''s version; the function returns it.';

-- A fence travels in one batch with what follows it. It fails by itself, so that nothing after it is written.
-- +goose StatementBegin
CREATE FUNCTION fence_passed(turns bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    IF fence_passed.turns = 0 THEN
        RAISE EXCEPTION 'the turn has moved on' USING ERRCODE = 'AL007';
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION fence_passed IS 'Fails unless a decision''s fence found its turn where the decision expects it. SQLSTATE AL007 as in job_complete.';

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

-- +goose StatementBegin
CREATE FUNCTION turn_event_append(turn uuid, type text, data jsonb DEFAULT '{}') RETURNS integer
LANGUAGE sql
SET search_path = alfred, public, pg_temp
AS $$
    SELECT turn_events_append(turn_event_append.turn,
        jsonb_build_array(jsonb_build_object('type', turn_event_append.type, 'data', turn_event_append.data)))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_event_append IS 'Appends one event to a turn''s stream and returns its seq. The caller holds the turn''s row lock.';

-- +goose StatementBegin
CREATE FUNCTION turn_summary_write_facts(turn uuid, words jsonb DEFAULT NULL, model text DEFAULT 'none') RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    INSERT INTO turn_summaries (turn_id, session_id, user_id, turn_number, user_message, goal, steps, curation_summary,
                                retained_refs, demoted_refs, excluded_refs, analysis_conclusions, response_summary,
                                conversation_phase, tone, what_user_expressed, what_we_acknowledged, natural_next, model)
    SELECT t.id, t.session_id, t.user_id, t.number, t.message, coalesce(t.goal, ''),
           coalesce(s.steps, '[]'), coalesce(u.output ->> 'curation_summary', ''),
           coalesce(d.retained, '{}'), coalesce(d.demoted, '{}'), coalesce(d.excluded, '{}'),
           coalesce(s.conclusions, ''),
           coalesce(w.response_summary, CASE WHEN char_length(t.reply) > 400 THEN left(t.reply, 300) || '…' ELSE coalesce(t.reply, '') END),
           coalesce(w.conversation_phase, CASE WHEN s.wrote THEN 'executing' WHEN s.generated THEN 'confirming' WHEN s.analyzed THEN 'narrowing'
                                               WHEN d.excluded IS NOT NULL THEN 'narrowing' ELSE 'exploring' END),
           coalesce(w.tone, CASE WHEN EXISTS (SELECT FROM questions AS q WHERE q.turn_id = t.id) THEN 'clarifying' ELSE 'collaborative' END),
           coalesce(w.what_user_expressed, left(t.message, 200)), coalesce(w.what_we_acknowledged, ''), coalesce(w.natural_next, ''),
           turn_summary_write_facts.model
    FROM turns AS t
    CROSS JOIN jsonb_populate_record(NULL::turn_summaries, coalesce(turn_summary_write_facts.words, '{}')) AS w
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object(
                   'step', p.step, 'step_type', p.step_type, 'subdomain', p.subdomain, 'description', p.description,
                   'status', p.outcome, 'outcome', p.summary, 'note', p.note,
                   'entities_affected', coalesce((SELECT jsonb_agg(DISTINCT ref) FROM turn_step_results AS r, unnest(r.refs) AS ref
                                                  WHERE r.turn_id = p.turn_id AND r.step = p.step), '[]')) ORDER BY p.step) AS steps,
               string_agg(coalesce(p.conclusions, p.summary), E'\n' ORDER BY p.step) FILTER (WHERE p.step_type = 'analyze') AS conclusions,
               bool_or(p.step_type = 'write' AND p.outcome IN ('ok', 'partial')) AS wrote,
               bool_or(p.step_type = 'generate' AND p.outcome IN ('ok', 'partial')) AS generated,
               bool_or(p.step_type = 'analyze') AS analyzed
        FROM turn_steps AS p WHERE p.turn_id = t.id
    ) AS s ON true
    LEFT JOIN LATERAL (
        SELECT array_agg(x.ref ORDER BY x.id) FILTER (WHERE x.action = 'retain') AS retained,
               array_agg(x.ref ORDER BY x.id) FILTER (WHERE x.action = 'demote') AS demoted,
               array_agg(x.ref ORDER BY x.id) FILTER (WHERE x.action = 'exclude') AS excluded
        FROM decisions AS x WHERE x.turn_id = t.id
    ) AS d ON true
    LEFT JOIN node_runs AS u ON u.turn_id = t.id AND u.node = 'understand'
    WHERE t.id = turn_summary_write_facts.turn
    ON CONFLICT ON CONSTRAINT turn_summaries_pkey DO UPDATE
    SET response_summary = excluded.response_summary, conversation_phase = excluded.conversation_phase, tone = excluded.tone,
        what_user_expressed = excluded.what_user_expressed, what_we_acknowledged = excluded.what_we_acknowledged,
        natural_next = excluded.natural_next, model = excluded.model
    WHERE turn_summary_write_facts.words IS NOT NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_summary_write_facts IS 'Writes a turn''s summary from its rows, if it has none. Summarize''s words, {response_summary, ...}, replace both the text from rows and an earlier text.';

-- +goose StatementBegin
CREATE FUNCTION user_is_busy(owner uuid) RETURNS boolean
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
COMMENT ON FUNCTION user_is_busy IS 'Whether this user already runs as many turns as allowed at a time (setting alfred.user_turns, 16 by default, 0: no limit), or this database does not serve the user, or not for long. Further turns wait, so that one user with many sessions cannot occupy all workers.';

-- +goose StatementBegin
CREATE FUNCTION turn_begins(session uuid) RETURNS timestamptz
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
COMMENT ON FUNCTION turn_begins IS 'When a turn of this session begins that begins now, or ends that never began: always after whatever began or ended before it, so that none loses its past to a clock that was set back, and readers who follow in that order miss none.';

-- +goose StatementBegin
CREATE FUNCTION turn_start_next(session uuid, wake boolean DEFAULT true) RETURNS uuid
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
        IF last_done.replied_at BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds' THEN
            RETURN NULL; -- its summarize starts the next turn, or whoever looks again after 3 s
        END IF;
        PERFORM turn_summary_write_facts(last_done.id);
    END LOOP;
    UPDATE turns AS t SET status = 'running', started_at = turn_begins(turn_start_next.session), current_node = 'understand'
    WHERE t.id = next_turn;
    PERFORM turn_events_append(next_turn, '[{"type": "turn.started"}, {"type": "node.started", "data": {"node": "understand"}}]');
    PERFORM job_insert('understand', jsonb_build_object('turn_id', next_turn, 'position', 1, 'version', 1), wake => turn_start_next.wake);
    RETURN next_turn;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_start_next IS 'Starts the session''s next queued turn if none runs, the last one is summarized or 3 s old and its user is not busy. Returns its id, or null. Without wake the caller wakes the workers after its commit.';

-- +goose StatementBegin
CREATE FUNCTION turn_summary_finish(turn uuid) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    the_session uuid;
BEGIN
    SELECT t.session_id INTO the_session FROM turns AS t WHERE t.id = turn_summary_finish.turn;
    PERFORM FROM sessions AS s WHERE s.id = the_session FOR NO KEY UPDATE;
    UPDATE turns AS t SET summarized_at = clock_timestamp(), position = t.position + 1
    WHERE t.id = turn_summary_finish.turn AND t.status = 'succeeded' AND t.summarized_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM turn_summary_write_facts(turn_summary_finish.turn);
    PERFORM turn_start_next(the_session);
    RETURN true;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_summary_finish IS 'Finishes a turn''s summary from facts alone, if no summarize job will come, and starts the next turn.';

-- +goose StatementBegin
CREATE FUNCTION sessions_to_start(lim integer DEFAULT 100) RETURNS SETOF uuid
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    -- Round robin: the first waiting session of each user, then the second of each.
    SELECT w.session_id
    FROM (SELECT q.session_id, min(q.id::text) AS oldest, row_number() OVER (PARTITION BY q.user_id ORDER BY min(q.id::text)) AS place
          FROM turns AS q
          WHERE q.status = 'queued'
            AND NOT EXISTS (SELECT FROM turns AS r WHERE r.user_id = q.user_id AND r.session_id = q.session_id AND r.status = 'running')
            AND NOT EXISTS (SELECT FROM turns AS s WHERE s.session_id = q.session_id AND s.status = 'succeeded'
                            AND s.summarized_at IS NULL AND s.replied_at BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds')
            AND NOT user_is_busy(q.user_id)
          GROUP BY q.user_id, q.session_id) AS w
    ORDER BY w.place, w.oldest
    LIMIT sessions_to_start.lim
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION sessions_to_start IS 'Sessions with a queued turn that nothing holds back any more, in starting order: their last summarize is late or was lost, or their user was busy.';

-- +goose StatementBegin
CREATE FUNCTION turn_deeds(turn uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT string_agg(d.verb || ' ' || CASE WHEN d.labels IS NULL THEN d.rows || ' rows'
                      ELSE array_to_string(d.labels[1:5], ', ') || coalesce(' and ' || nullif(greatest(cardinality(d.labels) - 5, 0), 0) || ' more', '') END,
                      '; ' ORDER BY d.first)
    FROM (
        SELECT v.verb, min(r.step * 1000 + r.call) AS first, sum(r.row_count) AS rows, array_agg(DISTINCT e.label) FILTER (WHERE e.label IS NOT NULL) AS labels
        FROM turns AS t
        JOIN turn_step_results AS r ON r.turn_id = t.id AND r.step > 0 AND r.error_code IS NULL AND r.row_count > 0
        CROSS JOIN LATERAL (SELECT CASE r.tool WHEN 'db_create' THEN 'saved' WHEN 'db_update' THEN 'changed' WHEN 'db_delete' THEN 'deleted'
                                   WHEN 'generate' THEN 'drafted' WHEN 'undo' THEN 'undid changes to' ELSE replace(r.tool, '_', ' ') || ':' END AS verb) AS v
        LEFT JOIN entity_refs AS e ON e.session_id = t.session_id AND e.ref = ANY (r.refs) AND e.entity_type = r.entity_type
        WHERE t.id = turn_deeds.turn AND r.tool NOT IN ('db_read', 'db_analyze', 'recall', 'calculate')
        GROUP BY v.verb
    ) AS d
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_deeds IS 'What a turn has saved, changed, deleted and drafted, by the rows'' names; null for nothing. This stays if the turn fails.';

-- +goose StatementBegin
CREATE FUNCTION turn_end(turn uuid, status turn_status, code text, message text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    the_session uuid;
    event text := CASE WHEN turn_end.status = 'cancelled' THEN 'turn.cancelled' ELSE 'turn.failed' END;
    deeds text;
    told text;
BEGIN
    SELECT t.session_id INTO the_session FROM turns AS t WHERE t.id = turn_end.turn;
    PERFORM FROM sessions AS s WHERE s.id = the_session FOR NO KEY UPDATE;
    PERFORM FROM turns AS t WHERE t.id = turn_end.turn AND t.status IN ('queued', 'running') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Whoever is told to try again must know what is done already, or does it twice.
    deeds := turn_deeds(turn_end.turn);
    told := turn_end.message || CASE
        WHEN deeds IS NOT NULL THEN ' Done before that, and it stays: ' || deeds || '.'
        WHEN turn_end.status = 'failed' AND EXISTS (SELECT FROM node_runs AS n WHERE n.turn_id = turn_end.turn) THEN ' Nothing was saved or changed.'
        ELSE '' END;
    UPDATE turns AS t
    SET status = turn_end.status, position = t.position + 1, finished_at = greatest(clock_timestamp(), coalesce(t.started_at, turn_begins(t.session_id))),
        error_code = turn_end.code, error_message = told,
        reply = CASE WHEN turn_end.status = 'failed' OR deeds IS NOT NULL THEN told END, summarized_at = clock_timestamp()
    WHERE t.id = turn_end.turn;
    UPDATE turn_steps AS p SET outcome = 'skipped' WHERE p.turn_id = turn_end.turn AND p.outcome IS NULL;
    PERFORM turn_event_append(turn_end.turn, event,
        jsonb_build_object('error', jsonb_build_object('code', turn_end.code, 'message', told)));
    IF EXISTS (SELECT FROM node_runs AS n WHERE n.turn_id = turn_end.turn) THEN
        PERFORM turn_summary_write_facts(turn_end.turn);
    END IF;
    -- After the append: the seq of a pruned delta must not be given again, readers are past it.
    DELETE FROM turn_events AS e WHERE e.turn_id = turn_end.turn AND e.type IN ('reply.delta', 'reply.reset');
    PERFORM jobs_discard(turn_end.turn);
    PERFORM turn_start_next(the_session);
    RETURN true;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_end IS 'Ends a turn that failed or was cancelled, with a reply that says why and what stays, and starts the next one. False if it had already ended.';

-- Told from the rows: a reply may claim anything, in any language.
-- +goose StatementBegin
CREATE FUNCTION turn_unwritten(turn_id uuid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM turns AS t
        WHERE t.id = turn_unwritten.turn_id AND t.status = 'succeeded' AND t.undo IS NULL
          AND NOT EXISTS (SELECT FROM questions AS q WHERE q.turn_id = t.id)
          AND CASE WHEN EXISTS (SELECT FROM turn_steps AS s WHERE s.turn_id = t.id)
              THEN (SELECT bool_and(s.outcome IN ('empty', 'failed', 'skipped')) FROM turn_steps AS s WHERE s.turn_id = t.id AND s.step_type = 'write')
              ELSE EXISTS (SELECT FROM node_runs AS n WHERE n.turn_id = t.id AND n.node = 'understand' AND n.output ->> 'intent' = 'write')
                   AND NOT EXISTS (SELECT FROM decisions AS d WHERE d.turn_id = t.id)
                   AND NOT EXISTS (SELECT FROM constraints AS c WHERE c.session_id = t.session_id AND c.source_turn = t.number)
              END
    )
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_unwritten(uuid) IS 'Public API. Whether a turn was to write but saved, changed or deleted no row, whatever its reply says. False while it runs, if it asked something, and for turns that were not to write.';

-- +goose Down
DROP FUNCTION turn_unwritten;
DROP FUNCTION turn_end;
DROP FUNCTION turn_deeds;
DROP FUNCTION sessions_to_start;
DROP FUNCTION turn_summary_finish;
DROP FUNCTION turn_start_next;
DROP FUNCTION turn_begins;
DROP FUNCTION user_is_busy;
DROP FUNCTION turn_summary_write_facts;
DROP FUNCTION turn_event_append;
DROP FUNCTION row_changes_keep;
DROP FUNCTION fence_passed;
DROP FUNCTION decision_keep;
DROP FUNCTION llm_call_keep;
DROP FUNCTION turn_events_append;
