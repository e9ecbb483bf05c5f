-- What a turn has done was read before the turn was locked. A decision that committed in between was left out, so a cancelled
-- turn did not say what it had written. Of an undo, it said "undo: milk".
-- Forgetting a session ended in a deadlock with an undo of one of its turns, or with a turn of one of its forks.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_end(turn uuid, status turn_status, code text, message text) RETURNS boolean
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_deeds(turn uuid) RETURNS text
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION forget_session(session uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    ids uuid[];
BEGIN
    IF NOT EXISTS (SELECT FROM sessions AS s WHERE s.id = forget_session.session AND acts_for(s.user_id)) THEN
        RETURN false;
    END IF;
    -- In three steps, each of which waits only for transactions that wait for nothing of this one. No turn starts from
    -- here on, but a decision that holds its turn can still insert rows that refer to the session. Its forks lose their parent.
    PERFORM FROM sessions AS s
    WHERE s.id = forget_session.session OR s.parent_id = forget_session.session
    ORDER BY s.id FOR NO KEY UPDATE;
    -- Decisions under way end, and no other passes its fence. An answer that is being stored can still refer to its turn.
    -- The running turn comes first: one that takes back another holds itself, then the other.
    PERFORM FROM turns AS t WHERE t.session_id = forget_session.session ORDER BY t.status = 'running' DESC, t.number FOR NO KEY UPDATE;
    -- Nothing refers to the session any more.
    PERFORM FROM sessions AS s WHERE s.id = forget_session.session FOR UPDATE;
    ids := ARRAY(SELECT t.id FROM turns AS t WHERE t.session_id = forget_session.session);
    PERFORM pg_notify('alfred_cancel', t.id::text) FROM turns AS t
    WHERE t.session_id = forget_session.session AND (t.status = 'running' OR t.status = 'succeeded' AND t.summarized_at IS NULL);
    PERFORM jobs_forget(array_append(ids, forget_session.session));
    DELETE FROM embeddings AS e WHERE e.owner_kind = 'turn' AND e.owner_id = ANY (ids::text[]);
    DELETE FROM llm_calls AS c WHERE c.session_id = forget_session.session;
    DELETE FROM sessions AS s WHERE s.id = forget_session.session;
    RETURN FOUND;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION forget_session(session uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    ids uuid[];
BEGIN
    -- In three steps, each of which waits only for transactions that wait for nothing of this one. No turn starts from
    -- here on, but a decision that holds its turn can still insert rows that refer to the session.
    PERFORM FROM sessions AS s
    WHERE s.id = forget_session.session AND acts_for(s.user_id)
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Decisions under way end, and no other passes its fence. An answer that is being stored can still refer to its turn.
    PERFORM FROM turns AS t WHERE t.session_id = forget_session.session ORDER BY t.number FOR NO KEY UPDATE;
    -- Nothing refers to the session any more.
    PERFORM FROM sessions AS s WHERE s.id = forget_session.session FOR UPDATE;
    ids := ARRAY(SELECT t.id FROM turns AS t WHERE t.session_id = forget_session.session);
    PERFORM pg_notify('alfred_cancel', t.id::text) FROM turns AS t
    WHERE t.session_id = forget_session.session AND (t.status = 'running' OR t.status = 'succeeded' AND t.summarized_at IS NULL);
    PERFORM jobs_forget(array_append(ids, forget_session.session));
    DELETE FROM embeddings AS e WHERE e.owner_kind = 'turn' AND e.owner_id = ANY (ids::text[]);
    DELETE FROM llm_calls AS c WHERE c.session_id = forget_session.session;
    DELETE FROM sessions AS s WHERE s.id = forget_session.session;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_deeds(turn uuid) RETURNS text
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
                                   WHEN 'generate' THEN 'drafted' ELSE replace(r.tool, '_', ' ') || ':' END AS verb) AS v
        LEFT JOIN entity_refs AS e ON e.session_id = t.session_id AND e.ref = ANY (r.refs) AND e.entity_type = r.entity_type
        WHERE t.id = turn_deeds.turn AND r.tool NOT IN ('db_read', 'db_analyze', 'recall', 'calculate')
        GROUP BY v.verb
    ) AS d
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_end(turn uuid, status turn_status, code text, message text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    the_session uuid;
    event text := CASE WHEN turn_end.status = 'cancelled' THEN 'turn.cancelled' ELSE 'turn.failed' END;
    -- Whoever is told to try again must know what is done already, or does it twice.
    deeds text := turn_deeds(turn_end.turn);
    told text := turn_end.message || CASE
        WHEN deeds IS NOT NULL THEN ' Done before that, and it stays: ' || deeds || '.'
        WHEN turn_end.status = 'failed' AND EXISTS (SELECT FROM node_runs AS n WHERE n.turn_id = turn_end.turn) THEN ' Nothing was saved or changed.'
        ELSE '' END;
BEGIN
    SELECT t.session_id INTO the_session FROM turns AS t WHERE t.id = turn_end.turn;
    PERFORM FROM sessions AS s WHERE s.id = the_session FOR NO KEY UPDATE;
    UPDATE turns AS t
    SET status = turn_end.status, position = t.position + 1, finished_at = greatest(clock_timestamp(), coalesce(t.started_at, turn_begins(t.session_id))),
        error_code = turn_end.code, error_message = told,
        reply = CASE WHEN turn_end.status = 'failed' OR deeds IS NOT NULL THEN told END, summarized_at = clock_timestamp()
    WHERE t.id = turn_end.turn AND t.status IN ('queued', 'running');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
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
