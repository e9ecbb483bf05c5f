-- What people do with conversations: start, say something, cancel, take back, fork, forget.
--
-- Lock order everywhere: session, turn, river_job.
-- Errors a caller decides on carry SQLSTATE AL001..AL009.

-- +goose Up

-- +goose StatementBegin
CREATE FUNCTION cancel_turn(turn uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM turns AS t WHERE t.id = cancel_turn.turn AND acts_for(t.user_id)) THEN
        RAISE EXCEPTION 'turn not found' USING ERRCODE = 'AL001';
    END IF;
    IF NOT turn_end(cancel_turn.turn, 'cancelled', 'cancelled', 'You cancelled this request.') THEN
        RETURN false;
    END IF;
    PERFORM pg_notify('alfred_cancel', cancel_turn.turn::text);
    PERFORM pg_notify('alfred_events', cancel_turn.turn::text);
    RETURN true;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION cancel_turn IS 'Public API. Cancels a queued or running turn and starts the next one. False if it had already ended.';

-- With the owner's rights, as enqueueing and cancelling: a program whose role is not the owner's may be granted it.
-- +goose StatementBegin
CREATE FUNCTION start_session(user_name text DEFAULT 'demo', title text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    owner   uuid;
    session uuid;
BEGIN
    INSERT INTO users (name) VALUES (start_session.user_name) ON CONFLICT (name) DO NOTHING;
    SELECT u.id INTO owner FROM users AS u WHERE u.name = start_session.user_name;
    INSERT INTO sessions (user_id, title) VALUES (owner, coalesce(start_session.title, '')) RETURNING id INTO session;
    RETURN session;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION start_session IS 'Public API. Starts a conversation for the user of that name, who is created if missing. Returns the session''s id.';

CREATE FUNCTION title_of(words text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = alfred, public, pg_temp
RETURN left(btrim(regexp_replace(regexp_replace(title_of.words, '@\[([^]\n]*)\]\([^()\s]*\)', '\1', 'g'), '\s+', ' ', 'g')), 60);
COMMENT ON FUNCTION title_of IS 'A conversation''s title from a message or goal: mentions by name, on one line, at most 60 characters.';

-- +goose StatementBegin
CREATE FUNCTION turn_enqueue(
    session uuid, message text, idempotency_key text, mode text, if_busy text, ui_changes jsonb, mentioned_entities jsonb,
    answer jsonb,
    OUT turn_id uuid, OUT number integer, OUT status turn_status, OUT existing boolean
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    the_session sessions;
    busy        uuid;
    asked       questions;
BEGIN
    existing := false;
    IF coalesce(turn_enqueue.message, '') !~ '\S' THEN
        RAISE EXCEPTION 'the message is empty' USING ERRCODE = 'AL005';
    END IF;
    IF octet_length(turn_enqueue.message) > 32768 THEN
        RAISE EXCEPTION 'the message has % bytes, at most 32768 are taken', octet_length(turn_enqueue.message) USING ERRCODE = 'AL006';
    END IF;
    IF turn_enqueue.mode NOT IN ('quick', 'plan', 'create') THEN
        RAISE EXCEPTION 'unknown mode "%": use quick, plan or create', turn_enqueue.mode USING ERRCODE = 'AL005';
    END IF;
    IF coalesce(turn_enqueue.if_busy, '') NOT IN ('enqueue', 'reject', 'interrupt') THEN
        RAISE EXCEPTION 'unknown if_busy "%": use enqueue, reject or interrupt', turn_enqueue.if_busy USING ERRCODE = 'AL005';
    END IF;
    IF coalesce(jsonb_typeof(turn_enqueue.ui_changes), '') <> 'array' OR coalesce(jsonb_typeof(turn_enqueue.mentioned_entities), '') <> 'array' THEN
        RAISE EXCEPTION 'ui_changes and mentioned_entities are lists' USING ERRCODE = 'AL005';
    END IF;

    SELECT * INTO the_session FROM sessions AS s
    WHERE s.id = turn_enqueue.session AND acts_for(s.user_id)
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session not found' USING ERRCODE = 'AL001';
    END IF;
    SELECT t.id, t.number, t.status INTO turn_id, number, status FROM turns AS t
    WHERE t.session_id = the_session.id AND t.idempotency_key = turn_enqueue.idempotency_key;
    IF FOUND THEN
        existing := true;
        RETURN;
    END IF;
    IF the_session.archived_at IS NOT NULL THEN
        RAISE EXCEPTION 'the session is archived: reopen it to go on' USING ERRCODE = 'AL002';
    END IF;

    IF turn_enqueue.answer IS NOT NULL THEN
        IF NOT coalesce(turn_enqueue.answer ?& ARRAY['question_id', 'option_id'], false) THEN
            RAISE EXCEPTION 'answer is {question_id, option_id}' USING ERRCODE = 'AL005';
        END IF;
        SELECT * INTO asked FROM questions AS q
        WHERE q.session_id = the_session.id AND q.id::text = lower(turn_enqueue.answer ->> 'question_id');
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no such question in this session' USING ERRCODE = 'AL005';
        END IF;
        IF NOT EXISTS (SELECT FROM jsonb_array_elements(asked.payload -> 'options') AS o
                       WHERE o ->> 'id' = turn_enqueue.answer ->> 'option_id') THEN
            RAISE EXCEPTION 'the question has no such option' USING ERRCODE = 'AL005';
        END IF;
        IF asked.status <> 'open' THEN
            RAISE EXCEPTION 'the question is % and can no longer be answered', asked.status USING ERRCODE = 'AL008';
        END IF;
    END IF;
    SELECT t.id INTO busy FROM turns AS t
    WHERE t.session_id = the_session.id AND t.status IN ('running', 'queued')
    ORDER BY t.status = 'running' DESC, t.number LIMIT 1;
    IF busy IS NOT NULL AND turn_enqueue.if_busy = 'reject' THEN
        RAISE EXCEPTION 'a turn is running in this session' USING ERRCODE = 'AL003', DETAIL = busy::text;
    END IF;
    IF (SELECT count(*) FROM turns AS t WHERE t.session_id = the_session.id AND t.status = 'queued') >= 20 THEN
        RAISE EXCEPTION 'this session has 20 messages waiting: wait for an answer' USING ERRCODE = 'AL004';
    END IF;

    INSERT INTO turns (session_id, user_id, number, idempotency_key, message, ui_changes, mentioned_entities, answer, mode, interrupts)
    VALUES (the_session.id, the_session.user_id, the_session.last_turn + 1, turn_enqueue.idempotency_key, turn_enqueue.message,
            turn_enqueue.ui_changes, turn_enqueue.mentioned_entities, turn_enqueue.answer, coalesce(turn_enqueue.mode, the_session.mode),
            turn_enqueue.if_busy = 'interrupt')
    RETURNING id INTO turn_id;
    UPDATE sessions AS s
    SET last_turn = s.last_turn + 1, last_activity_at = clock_timestamp(),
        title = CASE WHEN s.title = '' THEN title_of(turn_enqueue.message) ELSE s.title END
    WHERE s.id = the_session.id;

    IF turn_enqueue.if_busy = 'interrupt' THEN
        SELECT t.id INTO busy FROM turns AS t WHERE t.session_id = the_session.id AND t.status = 'running';
        IF busy IS NOT NULL THEN
            PERFORM cancel_turn(busy); -- starts this turn
        END IF;
    END IF;
    PERFORM turn_start_next(the_session.id);
    SELECT t.number, t.status INTO number, status FROM turns AS t WHERE t.id = turn_id;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_enqueue IS 'enqueue_turn for callers who want to know whether the idempotency key was seen before.';

-- +goose StatementBegin
CREATE FUNCTION enqueue_turn(
    session uuid, message text, idempotency_key text DEFAULT NULL, mode text DEFAULT NULL,
    if_busy text DEFAULT 'enqueue', ui_changes jsonb DEFAULT '[]', mentioned_entities jsonb DEFAULT '[]',
    answer jsonb DEFAULT NULL
) RETURNS uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    SELECT e.turn_id
    FROM turn_enqueue(enqueue_turn.session, enqueue_turn.message, enqueue_turn.idempotency_key, enqueue_turn.mode,
                      enqueue_turn.if_busy, enqueue_turn.ui_changes, enqueue_turn.mentioned_entities, enqueue_turn.answer) AS e
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION enqueue_turn IS 'Public API. Enqueues a message in the caller''s transaction; the turn starts when that commits. Returns the turn''s id; the same idempotency_key returns the first one. if_busy: enqueue, reject (SQLSTATE AL003, detail = the running turn) or interrupt.';

-- +goose StatementBegin
CREATE FUNCTION turn_undo(
    turn uuid, idempotency_key text, if_busy text,
    OUT turn_id uuid, OUT session_id uuid, OUT number integer, OUT status turn_status, OUT existing boolean
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    target turns;
BEGIN
    SELECT t.* INTO target FROM turns AS t WHERE t.id = turn_undo.turn AND acts_for(t.user_id);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn not found' USING ERRCODE = 'AL001';
    END IF;
    IF NOT EXISTS (SELECT FROM turns AS t WHERE t.session_id = target.session_id AND t.idempotency_key = turn_undo.idempotency_key) THEN
        IF target.status IN ('queued', 'running') THEN
            RAISE EXCEPTION 'This turn has not ended yet.' USING ERRCODE = 'AL009';
        ELSIF target.undo IS NULL THEN
            RAISE EXCEPTION 'This turn has written nothing that could be taken back.' USING ERRCODE = 'AL009';
        ELSIF target.undo = 'done' THEN
            RAISE EXCEPTION 'This turn has been taken back already.' USING ERRCODE = 'AL009';
        ELSIF target.undo = 'impossible' THEN
            RAISE EXCEPTION '%', target.undo_reason USING ERRCODE = 'AL009';
        END IF;
    END IF;
    SELECT e.turn_id, e.number, e.status, e.existing INTO turn_id, number, status, existing
    FROM turn_enqueue(target.session_id, 'Undo: ' || coalesce(nullif(title_of(target.message), ''), 'turn ' || target.number),
                      turn_undo.idempotency_key, 'quick', turn_undo.if_busy, '[]', '[]', NULL) AS e;
    session_id := target.session_id;
    IF NOT existing THEN
        UPDATE turns AS t SET undoes = target.id WHERE t.id = turn_undo.turn_id;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_undo IS 'undo_turn for callers who want to know the new turn''s number and status.';

-- +goose StatementBegin
CREATE FUNCTION undo_turn(turn uuid, idempotency_key text DEFAULT NULL, if_busy text DEFAULT 'enqueue') RETURNS uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    SELECT u.turn_id FROM turn_undo(undo_turn.turn, undo_turn.idempotency_key, undo_turn.if_busy) AS u
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION undo_turn IS 'Public API. Enqueues a turn that undoes another one''s writes without a model, and returns its id. Whether the rows are still as they were left is checked when it runs; its reply says so. SQLSTATE AL009: the turn wrote nothing, has not ended, was already undone, or cannot be undone.';

-- +goose StatementBegin
CREATE FUNCTION fork_session(session uuid, turn integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    parent  sessions;
    fork    uuid := uuid_v7();
    covered integer;
    first   integer;
    turn_of jsonb;
    held    jsonb;
    one     record;
BEGIN
    SELECT s.* INTO parent FROM sessions AS s WHERE s.id = fork_session.session AND acts_for(s.user_id);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session not found' USING ERRCODE = 'AL001';
    END IF;
    IF coalesce(fork_session.turn, -1) NOT BETWEEN 0 AND parent.last_turn THEN
        RAISE EXCEPTION 'this session has the turns 1 to %, and 0 for its beginning', parent.last_turn USING ERRCODE = 'AL005';
    END IF;
    -- How it stood within what a fork has of its parent, only the parent knows.
    WHILE fork_session.turn BETWEEN 1 AND parent.forked_at_turn - 1 LOOP
        SELECT s.* INTO parent FROM sessions AS s WHERE s.id = parent.parent_id AND acts_for(s.user_id);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the conversation that had this turn has been forgotten' USING ERRCODE = 'AL009';
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM turns AS t WHERE t.session_id = parent.id AND t.number <= fork_session.turn AND t.status IN ('queued', 'running')) THEN
        RAISE EXCEPTION 'This turn has not ended yet.' USING ERRCODE = 'AL009';
    END IF;
    INSERT INTO sessions (id, user_id, domain, title, mode, last_turn, parent_id, forked_at_turn)
    VALUES (fork, parent.user_id, parent.domain, left(parent.title, 200), parent.mode, fork_session.turn, parent.id, fork_session.turn);

    -- The last five turns, and further back those that no summary of older ones covers, within bounds.
    SELECT coalesce(min(k.to_turn), 0) INTO covered
    FROM (SELECT coalesce((SELECT max(h.to_turn) FROM history_summaries AS h
                           WHERE h.session_id = parent.id AND h.kind = kinds.kind AND h.to_turn <= fork_session.turn), 0) AS to_turn
          FROM (VALUES ('conversation'), ('narrative')) AS kinds (kind)) AS k;
    first := greatest(least(fork_session.turn - 4, covered + 1), fork_session.turn - 49, 1);
    INSERT INTO history_summaries (session_id, user_id, kind, from_turn, to_turn, text, model, prompt_version)
    SELECT DISTINCT ON (h.kind) fork, h.user_id, h.kind, h.from_turn, h.to_turn, h.text, h.model, h.prompt_version
    FROM history_summaries AS h WHERE h.session_id = parent.id AND h.to_turn <= fork_session.turn
    ORDER BY h.kind, h.to_turn DESC, h.id DESC;

    SELECT coalesce(jsonb_object_agg(t.id, uuid_v7()), '{}') INTO turn_of
    FROM turns AS t WHERE t.session_id = parent.id AND t.number BETWEEN first AND fork_session.turn;
    INSERT INTO turns (id, session_id, user_id, number, message, ui_changes, mentioned_entities, mode, status, current_node, position, goal, reply,
                       inputs_applied_at, replied_at, summarized_at, error_code, error_message, created_at, started_at, finished_at)
    SELECT (turn_of ->> t.id::text)::uuid, fork, t.user_id, t.number, t.message, t.ui_changes, t.mentioned_entities, t.mode, t.status, t.current_node, t.position,
           t.goal, t.reply, t.inputs_applied_at, t.replied_at, coalesce(t.summarized_at, t.finished_at), t.error_code, t.error_message, t.created_at, t.started_at, t.finished_at
    FROM turns AS t WHERE t.session_id = parent.id AND t.number BETWEEN first AND fork_session.turn;
    INSERT INTO node_runs (turn_id, user_id, position, node, step, call, output, duration_ms, created_at)
    SELECT (turn_of ->> r.turn_id::text)::uuid, r.user_id, r.position, r.node, r.step, r.call, r.output, r.duration_ms, r.created_at
    FROM node_runs AS r WHERE r.turn_id IN (SELECT k::uuid FROM jsonb_object_keys(turn_of) AS k);
    INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, refs, needs, schema_tables, outcome, summary, conclusions, note)
    SELECT (turn_of ->> p.turn_id::text)::uuid, p.user_id, p.step, p.step_type, p.subdomain, p.description, p.refs, p.needs, p.schema_tables, p.outcome, p.summary, p.conclusions, p.note
    FROM turn_steps AS p WHERE p.turn_id IN (SELECT k::uuid FROM jsonb_object_keys(turn_of) AS k);
    INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message, created_at)
    SELECT (turn_of ->> r.turn_id::text)::uuid, r.user_id, r.step, r.call, r.tool, r.entity_type, r.params, r.rows, r.row_count, r.refs, r.error_code, r.error_message, r.created_at
    FROM turn_step_results AS r WHERE r.turn_id IN (SELECT k::uuid FROM jsonb_object_keys(turn_of) AS k);
    INSERT INTO turn_events (turn_id, user_id, seq, type, data, created_at)
    SELECT (turn_of ->> e.turn_id::text)::uuid, e.user_id, e.seq, e.type, e.data || jsonb_build_object('turn_id', turn_of ->> e.turn_id::text), e.created_at
    FROM turn_events AS e WHERE e.turn_id IN (SELECT k::uuid FROM jsonb_object_keys(turn_of) AS k);
    INSERT INTO turn_summaries (turn_id, session_id, user_id, turn_number, user_message, goal, steps, curation_summary, retained_refs, demoted_refs, excluded_refs,
                                analysis_conclusions, response_summary, conversation_phase, tone, what_user_expressed, what_we_acknowledged, natural_next, model, created_at)
    SELECT (turn_of ->> s.turn_id::text)::uuid, fork, s.user_id, s.turn_number, s.user_message, s.goal, s.steps, s.curation_summary, s.retained_refs, s.demoted_refs, s.excluded_refs,
           s.analysis_conclusions, s.response_summary, s.conversation_phase, s.tone, s.what_user_expressed, s.what_we_acknowledged, s.natural_next, s.model, s.created_at
    FROM turn_summaries AS s WHERE s.turn_id IN (SELECT k::uuid FROM jsonb_object_keys(turn_of) AS k);
    FOR one IN SELECT t.id FROM turns AS t WHERE t.session_id = fork AND t.status = 'succeeded' ORDER BY t.number LOOP
        PERFORM turn_summary_write_facts(one.id);
    END LOOP;
    INSERT INTO questions (session_id, user_id, turn_id, kind, payload, status, answered_by_turn, created_at)
    SELECT fork, q.user_id, (turn_of ->> q.turn_id::text)::uuid, q.kind, q.payload,
           CASE WHEN q.answered_by_turn <= fork_session.turn THEN 'answered'
                WHEN lead(q.id) OVER (ORDER BY t.number, q.id) IS NOT NULL THEN 'superseded'
                WHEN q.status = 'expired' AND t.number < fork_session.turn - 2 THEN 'expired' ELSE 'open' END,
           CASE WHEN q.answered_by_turn <= fork_session.turn THEN q.answered_by_turn END, q.created_at
    FROM questions AS q JOIN turns AS t ON t.id = q.turn_id
    WHERE q.session_id = parent.id AND turn_of ? q.turn_id::text;

    -- Constraints of this conversation get rows of their own; lasting ones hold anyway.
    SELECT coalesce(jsonb_object_agg(c.id, uuid_v7()), '{}') INTO held
    FROM constraints AS c WHERE c.session_id = parent.id AND c.scope = 'session' AND c.source_turn <= fork_session.turn;
    INSERT INTO constraints (id, user_id, session_id, text, kind, value, scope, source_turn, expires_at, ended_turn, created_at)
    SELECT (held ->> c.id::text)::uuid, c.user_id, fork, c.text, c.kind, c.value, c.scope, c.source_turn, c.expires_at,
           CASE WHEN c.ended_turn <= fork_session.turn THEN c.ended_turn END, c.created_at
    FROM constraints AS c WHERE held ? c.id::text;
    UPDATE constraints AS n SET replaced_by = (held ->> c.replaced_by::text)::uuid
    FROM constraints AS c WHERE held ? c.id::text AND n.id = (held ->> c.id::text)::uuid AND held ? c.replaced_by::text;
    INSERT INTO decisions (session_id, user_id, turn_id, turn_number, action, ref, reason, actor, created_at)
    SELECT fork, d.user_id, (turn_of ->> d.turn_id::text)::uuid, d.turn_number, d.action, d.ref, d.reason, d.actor, d.created_at
    FROM decisions AS d WHERE d.session_id = parent.id AND d.turn_number <= fork_session.turn ORDER BY d.id;

    -- The registry as it stood, one event for each ref.
    WITH newest AS (
        SELECT DISTINCT ON (v.ref) v.* FROM entity_events AS v
        WHERE v.session_id = parent.id AND v.turn_number <= fork_session.turn
        ORDER BY v.ref, v.id DESC
    ), made AS (
        INSERT INTO entity_refs (session_id, user_id, ref, entity_type, entity_id, state, action, label, label_is_placeholder, source_step, source_call, turn_created,
            turn_last_ref, turn_promoted, active_reason, retain_confidence, pinned, excluded_reason, excluded_constraint_id, demoted_at_turn, deleted_at_turn, loaded, row_version)
        SELECT fork, parent.user_id, r.ref, r.entity_type, r.entity_id, r.state, r.action, r.label, coalesce(r.label_is_placeholder, false), r.source_step, r.source_call, r.turn_created,
               r.turn_last_ref, r.turn_promoted, r.active_reason, r.retain_confidence, coalesce(r.pinned, false), r.excluded_reason,
               coalesce((held ->> r.excluded_constraint_id::text)::uuid, (SELECT c.id FROM constraints AS c WHERE c.id = r.excluded_constraint_id AND c.scope = 'lasting')),
               r.demoted_at_turn, r.deleted_at_turn, coalesce(r.loaded, '{}'), r.row_version
        FROM newest AS n CROSS JOIN LATERAL jsonb_populate_record(NULL::entity_refs, n.data) AS r
        RETURNING entity_refs.ref, entity_state(entity_refs) AS data
    )
    INSERT INTO entity_events (session_id, user_id, ref, turn_number, step, action, actor, data, created_at)
    SELECT fork, n.user_id, n.ref, n.turn_number, n.step, n.action, n.actor, m.data, n.created_at
    FROM newest AS n JOIN made AS m ON m.ref = n.ref ORDER BY n.id;
    INSERT INTO ref_counters (session_id, user_id, kind, entity_type, last_number)
    SELECT fork, parent.user_id, CASE WHEN starts_with(e.ref, 'gen_') THEN 'gen' ELSE 'row' END, e.entity_type, max(e.number)::integer
    FROM entity_refs AS e WHERE e.session_id = fork GROUP BY 3, 4;
    INSERT INTO artifacts (session_id, user_id, ref, version, content, turn_number, step, created_at)
    SELECT fork, a.user_id, a.ref, a.version, a.content, a.turn_number, a.step, a.created_at
    FROM artifacts AS a JOIN entity_refs AS e ON e.session_id = fork AND e.ref = a.ref
    WHERE a.session_id = parent.id AND a.turn_number <= fork_session.turn;
    RETURN fork;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION fork_session IS 'Public API. A new session that begins as another stood at the end of one of its turns (0: before the first), with registry, drafts, constraints, decisions, summaries and the last five turns. Domain rows are the current ones. Returns its id. SQLSTATE AL009: the turn has not ended.';

-- +goose StatementBegin
CREATE FUNCTION forget_session(session uuid) RETURNS boolean
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
COMMENT ON FUNCTION forget_session IS 'Public API. Deletes a session and everything it left, including jobs. Domain rows stay. False if there is no such session.';

-- +goose Down
DROP FUNCTION forget_session;
DROP FUNCTION fork_session;
DROP FUNCTION undo_turn;
DROP FUNCTION turn_undo;
DROP FUNCTION enqueue_turn;
DROP FUNCTION turn_enqueue;
DROP FUNCTION title_of;
DROP FUNCTION start_session;
DROP FUNCTION cancel_turn;
