-- The functions of schema alfred as all migrations together leave them, written by make generate. Nothing runs this file.
-- To change a function, replace it in a new migration (sql/schema/alfred); what changed is then the difference of this file.
-- Functions of one expression (RETURN ...) are not here: Postgres does not keep them as they were written.

CREATE OR REPLACE FUNCTION alfred.active_entities(session uuid, turns_window integer DEFAULT retention_window())
 RETURNS SETOF v_entities
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT a.* FROM sessions AS s, entities_at(s.id, s.last_turn, active_entities.turns_window) AS a
    WHERE s.id = active_entities.session
$function$;

CREATE OR REPLACE FUNCTION alfred.acts_for(owner uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT CASE WHEN tenant_id() IS NOT NULL THEN tenant_id() = acts_for.owner
                ELSE current_setting('role') NOT IN ('alfred_tenant', 'alfred_undo') AND session_user <> 'alfred_tenant' END
$function$;

CREATE OR REPLACE FUNCTION alfred.cancel_turn(turn uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.clients_dead(self text, lim integer DEFAULT 100)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.client
    FROM (SELECT DISTINCT j.attempted_by[array_upper(j.attempted_by, 1)] AS client FROM river_job AS j
          WHERE j.state = 'running' AND j.queue IN ('background', 'turns')) AS c
    LEFT JOIN workers AS w ON w.id = c.client
    WHERE c.client <> clients_dead.self
      AND CASE WHEN w.beat_at >= clock_timestamp() - interval '3 seconds' THEN pg_try_advisory_xact_lock(hashtextextended('alfred.worker:' || c.client, 0)) ELSE true END
    ORDER BY c.client
    LIMIT clients_dead.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.clock_set_back()
 RETURNS bigint
 LANGUAGE sql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid, duration_ms integer, events jsonb, next_node text, goal text, wrote boolean DEFAULT false, outcome step_outcome DEFAULT NULL::step_outcome, summary text DEFAULT NULL::text, conclusions text DEFAULT NULL::text, note text DEFAULT NULL::text, plan jsonb DEFAULT NULL::jsonb, llm_call jsonb DEFAULT NULL::jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.embedding_index(owner uuid, model text, dimensions integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT 'embeddings_of_' || md5(owner::text || ' ' || model || ' ' || dimensions) $function$;

CREATE OR REPLACE FUNCTION alfred.embedding_indexes_due(more_than integer, at_most integer)
 RETURNS TABLE(name text, stands boolean, wanted boolean, user_id uuid, model text, dimensions integer)
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    WITH standing AS (
        SELECT c.relname::text AS name, i.indisvalid AS valid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'embeddings'::regclass AND c.relname ~ '^embeddings_(of|hnsw)_' -- hnsw: of earlier versions, with all users' vectors of a model
    ), owners AS (
        SELECT o.user_id, m.model, m.dimensions, o.vectors, embedding_index(o.user_id, m.model, m.dimensions) AS name
        FROM embedded_models AS m
        CROSS JOIN LATERAL (SELECT e.user_id, count(*) AS vectors FROM embeddings AS e
                            WHERE e.model = m.model AND e.dimensions = m.dimensions AND e.user_id IS NOT NULL GROUP BY 1) AS o
    ), large AS ( -- the vectors of one that stands whole count double, so that none comes and goes
        SELECT o.*
        FROM owners AS o
        LEFT JOIN standing AS s ON s.name = o.name AND s.valid
        CROSS JOIN LATERAL (SELECT CASE WHEN s.name IS NULL THEN o.vectors ELSE 2 * o.vectors END AS vectors) AS w
        WHERE w.vectors > embedding_indexes_due.more_than
        ORDER BY w.vectors DESC, o.name LIMIT embedding_indexes_due.at_most
    )
    SELECT coalesce(s.name, l.name), s.name IS NOT NULL, l.name IS NOT NULL, l.user_id, l.model, l.dimensions
    FROM standing AS s FULL JOIN large AS l ON l.name = s.name
    WHERE l.name IS NULL OR s.valid IS NOT TRUE
    ORDER BY l.name IS NOT NULL, 1
$function$;

CREATE OR REPLACE FUNCTION alfred.embedding_models()
 RETURNS TABLE(model text, dimensions integer)
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT m.model, m.dimensions FROM embedded_models AS m
    -- A worker of the version before deletes an earlier model's vectors and knows nothing of its row. Where nothing is to embed, none has any.
    WHERE NOT EXISTS (SELECT FROM embedded_models AS o WHERE o.model <> m.model)
       OR EXISTS (SELECT FROM embeddings AS e WHERE e.model = m.model AND e.dimensions = m.dimensions OFFSET 0)
    ORDER BY m.completed_at DESC, m.model
$function$;

CREATE OR REPLACE FUNCTION alfred.enqueue_turn(session uuid, message text, idempotency_key text DEFAULT NULL::text, mode text DEFAULT NULL::text, if_busy text DEFAULT 'enqueue'::text, ui_changes jsonb DEFAULT '[]'::jsonb, mentioned_entities jsonb DEFAULT '[]'::jsonb, answer jsonb DEFAULT NULL::jsonb)
 RETURNS uuid
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT e.turn_id
    FROM turn_enqueue(enqueue_turn.session, enqueue_turn.message, enqueue_turn.idempotency_key, enqueue_turn.mode,
                      enqueue_turn.if_busy, enqueue_turn.ui_changes, enqueue_turn.mentioned_entities, enqueue_turn.answer) AS e
$function$;

CREATE OR REPLACE FUNCTION alfred.entities_at(session uuid, current_turn integer, turns_window integer DEFAULT retention_window())
 RETURNS SETOF v_entities
 LANGUAGE plpgsql
 STABLE ROWS 100
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET max_parallel_workers_per_gather TO '0'
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.session_id, e.ref, e.entity_type, e.entity_id, e.label, e.state, e.action, x.tier,
           e.turn_created, e.turn_last_ref, e.turn_promoted, e.active_reason, e.excluded_reason, e.loaded, e.number
    FROM entity_refs AS e
    CROSS JOIN LATERAL (SELECT entity_tier(e.state, e.action, e.excluded_reason, e.demoted_at_turn, e.turn_last_ref,
                                           e.active_reason, entities_at.current_turn, entities_at.turns_window) AS tier) AS x
    WHERE e.session_id = entities_at.session
      AND e.active_turn >= entities_at.current_turn - entities_at.turns_window
    ORDER BY tier_rank(x.tier), e.entity_type, NOT starts_with(e.ref, 'gen_'), e.number;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.entity_state(r entity_refs)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    SELECT jsonb_strip_nulls(to_jsonb(r) - '{session_id,user_id,active_turn,created_at,updated_at}'::text[])
$function$;

CREATE OR REPLACE FUNCTION alfred.entity_tier(state ref_state, action text, excluded_reason text, demoted_at_turn integer, turn_last_ref integer, active_reason text, current_turn integer, turns_window integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT CASE
        WHEN state IN ('dropped', 'deleted') OR action = 'linked' THEN 'hidden'
        WHEN excluded_reason IS NOT NULL THEN 'excluded'
        WHEN state = 'pending' THEN 'generated'
        WHEN demoted_at_turn IS NOT NULL THEN 'hidden'
        WHEN current_turn - turn_last_ref <= turns_window THEN 'recent'
        WHEN active_reason IS NOT NULL THEN 'retained'
        ELSE 'background'
    END
$function$;

CREATE OR REPLACE FUNCTION alfred.fence_passed(turns bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    IF fence_passed.turns = 0 THEN
        RAISE EXCEPTION 'the turn has moved on' USING ERRCODE = 'AL007';
    END IF;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.forget_session(session uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.fork_session(session uuid, turn integer)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.is_timezone(name text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
BEGIN
    PERFORM timestamptz 'epoch' AT TIME ZONE is_timezone.name, set_config('TimeZone', is_timezone.name, true);
    RETURN current_setting('TimeZone') = is_timezone.name -- else it is written in another way
        AND (is_timezone.name !~ '\d' OR is_timezone.name ~ '^(Etc/GMT([+-]?\d\d?)|GMT[+-]?0|(EST5E|CST6C|MST7M|PST8P)DT)$'); -- else it is a rule
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.job_complete(job_id bigint, attempt integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    UPDATE river_job AS j
    SET state = 'completed', finalized_at = clock_timestamp()
    WHERE j.id = job_complete.job_id AND j.state = 'running' AND j.attempt = job_complete.attempt
      AND NOT j.metadata ? 'cancel_attempted_at';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the job was taken over or cancelled' USING ERRCODE = 'AL007';
    END IF;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.job_fetched()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.job_hand_off(job_id bigint, attempt integer, client text, kind text, args jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    next_id bigint;
BEGIN
    PERFORM job_complete(job_hand_off.job_id, job_hand_off.attempt);
    INSERT INTO river_job (kind, args, queue, max_attempts, priority, state, attempt, attempted_at, attempted_by)
    VALUES (job_hand_off.kind, job_hand_off.args, 'turns', 6, 1, 'running', 1, clock_timestamp(), ARRAY[job_hand_off.client])
    RETURNING id INTO next_id;
    RETURN next_id;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.job_insert(kind text, args jsonb, queue text DEFAULT 'turns'::text, wake boolean DEFAULT true)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    job_id bigint;
    -- A turn that begins stands behind those of users who have fewer of them running, this one among them. One that has
    -- begun goes on before all that have not.
    rank   smallint := 1;
BEGIN
    IF kind = 'understand' THEN
        SELECT greatest(1, least(4, count(*))) INTO rank
        FROM turns AS t JOIN turns AS r ON r.user_id = t.user_id AND r.status = 'running'
        WHERE t.id = (job_insert.args ->> 'turn_id')::uuid;
    END IF;
    INSERT INTO river_job (kind, args, queue, max_attempts, priority)
    VALUES (job_insert.kind, job_insert.args, job_insert.queue, 6, rank)
    RETURNING id INTO job_id;
    IF wake THEN
        PERFORM queue_wake(job_insert.queue);
    END IF;
    RETURN job_id;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.job_release(job_id bigint, attempt integer, state text, pause double precision DEFAULT 0, error text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    final  boolean := job_release.state IN ('completed', 'cancelled');
    snooze boolean := job_release.state = 'scheduled';
    queue  text;
BEGIN
    UPDATE river_job AS j
    SET state = CASE WHEN job_release.state = 'completed' AND j.metadata ? 'cancel_attempted_at' THEN 'cancelled'
                     -- River looks at scheduled and retryable jobs every 5 s; what is due before is available with a time.
                     WHEN NOT final AND pause <= 5 THEN 'available' ELSE job_release.state END::river_job_state,
        finalized_at = CASE WHEN final THEN clock_timestamp() END,
        scheduled_at = CASE WHEN final THEN j.scheduled_at ELSE clock_timestamp() + make_interval(secs => pause) END,
        attempt = CASE WHEN snooze THEN greatest(j.attempt - 1, 0) ELSE j.attempt END,
        metadata = CASE WHEN snooze THEN j.metadata || jsonb_build_object('snoozes', coalesce((j.metadata ->> 'snoozes')::integer, 0) + 1) ELSE j.metadata END,
        errors = CASE WHEN job_release.error IS NULL THEN j.errors
                      ELSE array_append(j.errors, jsonb_build_object('at', clock_timestamp(), 'attempt', j.attempt, 'error', job_release.error, 'trace', '')) END
    WHERE j.id = job_release.job_id AND j.state = 'running' AND j.attempt = job_release.attempt
    RETURNING j.queue INTO queue;
    IF FOUND AND NOT final AND pause = 0 THEN
        PERFORM queue_wake(queue);
    END IF;
    RETURN queue IS NOT NULL;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.jobs_discard(turn uuid)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    n integer;
BEGIN
    UPDATE river_job AS j
    SET state = 'cancelled', finalized_at = clock_timestamp()
    WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = jobs_discard.turn::text
      AND j.state IN ('available', 'pending', 'retryable', 'scheduled');
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.jobs_forget(about uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    jobs bigint[] := ARRAY(SELECT j.id FROM river_job AS j
                           WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = ANY (jobs_forget.about::text[]));
BEGIN
    PERFORM FROM river_job AS j WHERE j.id = ANY (jobs) ORDER BY j.id FOR UPDATE;
    DELETE FROM river_job AS j WHERE j.id = ANY (jobs);
END
$function$;

CREATE OR REPLACE FUNCTION alfred.jobs_of_user(owner uuid)
 RETURNS TABLE(kind text, args jsonb, queue text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT j.kind, j.args, j.queue
    FROM (SELECT t.id FROM turns AS t WHERE t.user_id = jobs_of_user.owner
          UNION ALL SELECT s.id FROM sessions AS s WHERE s.user_id = jobs_of_user.owner) AS about
    JOIN river_job AS j ON coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = about.id::text
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
$function$;

CREATE OR REPLACE FUNCTION alfred.jobs_supersede(client text, reason text, working bigint[] DEFAULT '{}'::bigint[], age interval DEFAULT '00:00:00'::interval)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    old       record;
    takeovers integer;
    pause     double precision;
    made      integer := 0;
BEGIN
    FOR old IN
        SELECT * FROM river_job AS j
        WHERE j.state = 'running' AND j.attempted_by[array_upper(j.attempted_by, 1)] = jobs_supersede.client
          AND j.attempted_at <= clock_timestamp() - jobs_supersede.age AND j.id <> ALL (jobs_supersede.working)
        ORDER BY j.id
        FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE river_job AS j
        SET state = 'discarded', finalized_at = clock_timestamp(),
            errors = array_append(j.errors, jsonb_build_object('at', clock_timestamp(), 'attempt', j.attempt,
                                                               'error', jobs_supersede.reason, 'trace', ''))
        WHERE j.id = old.id;
        -- A takeover is no fault of the job, so its attempts are not spent by it. The cap is for the one that kills every
        -- process that works it; the pauses keep that one from killing them one after the other, and let all others
        -- outlast a minute in which every worker loses its lease again and again.
        takeovers := coalesce((old.metadata ->> 'takeovers')::integer, 0) + 1;
        IF takeovers <= 10 THEN
            pause := CASE WHEN takeovers > 3 THEN least(2 ^ (takeovers - 4), 30) ELSE 0 END;
            -- Available with a time, however long it is: no leader is needed to make it so, and leaders die too.
            INSERT INTO river_job (kind, args, queue, max_attempts, priority, attempt, scheduled_at, metadata)
            VALUES (old.kind, old.args, old.queue, old.max_attempts, old.priority, greatest(old.attempt - 1, 0), clock_timestamp() + make_interval(secs => pause),
                    old.metadata || jsonb_build_object('takeovers', takeovers));
            PERFORM queue_wake(old.queue);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.llm_call_keep(call jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.partition_drop(part text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
DECLARE
    parent text := regexp_replace(partition_drop.part, '_y\d{4}m\d{2}$', '');
BEGIN
    IF partition_drop.part NOT IN (SELECT partitions_old(parent, now())) THEN
        RAISE EXCEPTION '% is no monthly partition of a past month', partition_drop.part USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('alfred.partitions'));
    EXECUTE format('DROP TABLE alfred.%I', partition_drop.part);
END
$function$;

CREATE OR REPLACE FUNCTION alfred.partitions_ensure(months_ahead integer DEFAULT 3)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.partitions_old(parent text, before timestamp with time zone)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.queue_rows()
 RETURNS TABLE(job_id bigint, queue text, kind text, state text, attempt integer, turn_id uuid, session_id uuid, number integer, scheduled_at timestamp with time zone, attempted_at timestamp with time zone, worker text, error text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    -- Names of machines and texts of errors are nothing for tenants.
    operator boolean := tenant_id() IS NULL;
BEGIN
    RETURN QUERY
    SELECT j.id, j.queue, j.kind, j.state::text, j.attempt::integer,
           t.id, coalesce(t.session_id, s.id), t.number, j.scheduled_at,
           j.attempted_at, CASE WHEN operator THEN j.attempted_by[cardinality(j.attempted_by)] END,
           CASE WHEN operator THEN j.errors[cardinality(j.errors)] ->> 'error' END
    FROM river_job AS j
    -- By key, however many jobs Postgres expects: a hash of all turns costs as much as there are.
    LEFT JOIN LATERAL (SELECT * FROM turns WHERE turns.id = (j.args ->> 'turn_id')::uuid LIMIT 1) AS t ON true
    LEFT JOIN LATERAL (SELECT * FROM sessions WHERE sessions.id = (j.args ->> 'session_id')::uuid LIMIT 1) AS s ON true
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
      AND acts_for(coalesce(t.user_id, s.user_id))
    UNION ALL
    SELECT NULL, 'turns', 'understand', 'queued', 0, t.id, t.session_id, t.number, t.created_at, NULL, NULL, NULL
    FROM turns AS t
    WHERE t.status = 'queued' AND acts_for(t.user_id);
END
$function$;

CREATE OR REPLACE FUNCTION alfred.queue_wake(queue text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT pg_notify('alfred.river_insert', json_build_object('queue', queue_wake.queue)::text)
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_changes(tables text[])
 RETURNS TABLE(changes bigint, horizon text)
 LANGUAGE sql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    WITH RECURSIVE below AS (
        SELECT t.place, t.name::regclass::oid AS relation FROM unnest(recall_changes.tables) WITH ORDINALITY AS t (name, place)
        UNION
        SELECT b.place, r.relation
        FROM below AS b
        CROSS JOIN LATERAL (
            SELECT i.inhrelid AS relation FROM pg_inherits AS i WHERE i.inhparent = b.relation
            UNION ALL
            SELECT d.refobjid FROM pg_rewrite AS w
            JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
            WHERE w.ev_class = b.relation) AS r
    )
    SELECT sum(pg_stat_get_tuples_inserted(b.relation) + pg_stat_get_tuples_updated(b.relation) + pg_stat_get_tuples_deleted(b.relation))::bigint,
           pg_snapshot_xmin(pg_current_snapshot())::xid::text
    FROM below AS b GROUP BY b.place ORDER BY b.place
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_found(query text, kinds text[], since timestamp with time zone[], until timestamp with time zone[], session uuid, shown_from integer, named_kinds text[], named_sources text[], named_keys text[], named_owners text[], named_names text[], vector text, model text, dimensions integer, compared_up_to integer, meaning double precision, beside double precision, day double precision, lim integer)
 RETURNS TABLE(kind text, id text, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 50
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
DECLARE
    me     uuid   := tenant_id();
    wanted vector := recall_found.vector::vector;
BEGIN
    RETURN QUERY
    WITH worded AS MATERIALIZED (
        SELECT t.kind, t.id, t.score, t.likeness
        FROM recall_turns(CASE WHEN 'turn' = ANY (recall_found.kinds) THEN recall_found.query ELSE '' END,
                          recall_found.vector, recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to,
                          recall_found.since, recall_found.until, recall_found.session, recall_found.shown_from, recall_found.beside, recall_found.day, 50) AS t
        UNION ALL
        SELECT r.owner_kind, r.owner_id, r.score, NULL FROM recall_rows(recall_found.query, recall_found.kinds, false, recall_found.model, 50) AS r
        UNION ALL
        SELECT m.owner_kind, m.owner_id, m.score, NULL
        FROM recall_names(recall_found.named_kinds, recall_found.named_sources, recall_found.named_keys, recall_found.named_owners, recall_found.named_names,
                          recall_found.query, 50) AS m
    ),
    found AS (
        SELECT w.kind, w.id, w.score AS words, coalesce(w.likeness, e.likeness) AS likeness
        FROM worded AS w
        LEFT JOIN LATERAL (
            SELECT 1 - (v.embedding <=> wanted) AS likeness FROM embeddings AS v
            WHERE v.owner_kind = w.kind AND v.owner_id = w.id AND v.model = recall_found.model AND v.user_id = me AND v.dimensions = recall_found.dimensions AND w.likeness IS NULL LIMIT 1) AS e ON true
        UNION ALL -- a vector alone scores no more than meaning: where so many words score more, none is looked for
        SELECT n.owner_kind, n.owner_id, 0, n.likeness
        FROM recall_nearest(CASE WHEN (SELECT count(DISTINCT (w.kind, w.id)) FROM worded AS w WHERE w.score >= recall_found.meaning) < least(recall_found.lim, 50)
                                 AND NOT EXISTS (SELECT FROM worded AS w WHERE w.likeness IS NOT NULL) THEN recall_found.vector END,
                            recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    )
    SELECT f.kind, f.id, max(f.words) + recall_found.meaning * greatest(max(f.likeness), 0)
    FROM found AS f GROUP BY f.kind, f.id ORDER BY 3 DESC, f.kind <> 'turn', f.id LIMIT recall_found.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_lexeme(word text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$ SELECT ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery $function$;

CREATE OR REPLACE FUNCTION alfred.recall_names(kinds text[], sources text[], key_columns text[], owner_columns text[], name_columns text[], query text, lim integer)
 RETURNS TABLE(owner_kind text, owner_id text, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 50
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    words text[] := ARRAY(
        SELECT DISTINCT w.word FROM regexp_split_to_table(lower(left(recall_names.query, 1000)), '[^[:alnum:]]+') AS w (word)
        WHERE char_length(w.word) >= 3 AND to_tsvector('english', w.word) <> '' LIMIT 20);
BEGIN
    FOR n IN 1 .. CASE WHEN cardinality(words) > 0 THEN coalesce(cardinality(recall_names.kinds), 0) ELSE 0 END LOOP
        RETURN QUERY EXECUTE format(
            'SELECT $4, r.%2$I::text, sum(strict_word_similarity(w.word, r.%4$I::text))::double precision / cardinality($1)
             FROM unnest($1) AS w (word) JOIN %1$s AS r ON r.%4$I %%>> w.word
             WHERE r.%3$I = $2 GROUP BY r.%2$I ORDER BY 3 DESC, 2 LIMIT $3',
            recall_names.sources[n]::regclass, recall_names.key_columns[n], recall_names.owner_columns[n], recall_names.name_columns[n])
        USING words, tenant_id(), recall_names.lim, recall_names.kinds[n];
    END LOOP;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_nearest(vector text, model text, dimensions integer, kinds text[], compared_up_to integer, lim integer)
 RETURNS TABLE(owner_kind text, owner_id text, likeness double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
DECLARE
    me     uuid   := tenant_id();
    wanted vector := recall_nearest.vector::vector; -- once, not at each row
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    ELSIF NOT EXISTS (SELECT FROM pg_index AS i
                      WHERE i.indexrelid = to_regclass(embedding_index(me, recall_nearest.model, recall_nearest.dimensions)) AND i.indisvalid) THEN
        RETURN QUERY
        SELECT n.owner_kind, n.owner_id, 1 - n.distance
        FROM (SELECT e.owner_kind, e.owner_id, e.embedding <=> wanted AS distance FROM embeddings AS e
              WHERE e.user_id = me AND e.model = recall_nearest.model AND e.dimensions = recall_nearest.dimensions
                AND e.owner_kind = ANY (recall_nearest.kinds)
              ORDER BY 3 LIMIT recall_nearest.lim) AS n;
        RETURN;
    END IF;
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true);
    RETURN QUERY EXECUTE format( -- with the user and the model as literals, by which the index is known
        'SELECT e.owner_kind, e.owner_id, 1 - (e.embedding::vector(%1$s) <=> $1) FROM embeddings AS e
         WHERE e.user_id = %2$L AND e.model = %3$L AND e.dimensions = %1$s AND e.owner_kind = ANY ($3)
         ORDER BY e.embedding::vector(%1$s) <=> $1 LIMIT $2',
        recall_nearest.dimensions, me, recall_nearest.model)
    USING wanted, recall_nearest.lim, recall_nearest.kinds;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_order(query text, kind text, shared boolean, vector text, model text, dimensions integer, weight double precision, lim integer)
 RETURNS TABLE(owner_id text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
DECLARE
    me     uuid   := CASE WHEN NOT recall_order.shared THEN tenant_id() END;
    wanted vector := recall_order.vector::vector; -- once, not at each row
BEGIN
    RETURN QUERY
    WITH alike AS MATERIALIZED ( -- without it the planner joins, and sorts, rows with their vectors
        SELECT o.owner_id, coalesce(recall_order.weight * (1 - (o.embedding <=> wanted)), 0) AS score FROM embeddings AS o
        WHERE o.user_id = me AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
        UNION ALL
        SELECT o.owner_id, coalesce(recall_order.weight * (1 - (o.embedding <=> wanted)), 0) FROM embeddings AS o
        WHERE recall_order.shared AND o.user_id IS NULL
          AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
    )
    SELECT a.owner_id
    FROM alike AS a
    LEFT JOIN recall_rows(recall_order.query, ARRAY[recall_order.kind], recall_order.shared, recall_order.model, 2000) AS w ON w.owner_id = a.owner_id
    ORDER BY coalesce(w.score, 0) + a.score DESC, a.owner_id
    LIMIT recall_order.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_presence(frequency real, size double precision, average double precision)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT 2.2 * frequency / (frequency + 0.0607927 * 1.2 * (0.25 + 0.75 * size / greatest(average, 1))) $function$;

CREATE OR REPLACE FUNCTION alfred.recall_rarity(texts double precision, holders double precision)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT ln(1 + (greatest(texts, holders) - holders + 0.5) / (holders + 0.5)) $function$;

CREATE OR REPLACE FUNCTION alfred.recall_rows(query text, kinds text[], shared boolean, model text, lim integer)
 RETURNS TABLE(owner_kind text, owner_id text, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 50
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
DECLARE
    owner   uuid      := CASE WHEN NOT recall_rows.shared THEN tenant_id() END;
    mine    tsquery   := recall_lexeme(' ' || coalesce(owner::text, ''));
    wanted  text[]    := array_remove(recall_rows.kinds, 'turn'); -- their words stand in turn_summaries
    asked   text[]    := (tsvector_to_array(to_tsvector('english', left(recall_rows.query, 1000))))[:24];
    lexemes tsquery[] := ARRAY(SELECT recall_lexeme(w.word) FROM unnest(asked) WITH ORDINALITY AS w (word, place) ORDER BY w.place);
    texts   double precision;
BEGIN
    IF cardinality(wanted) = 0 OR cardinality(asked) = 0 OR owner IS NULL AND NOT recall_rows.shared THEN
        RETURN;
    END IF;
    texts := (SELECT sum(few.texts) FROM unnest(wanted) AS k (kind) CROSS JOIN LATERAL (
                  SELECT count(*) AS texts FROM (
                      SELECT FROM embeddings AS e WHERE e.user_id = owner AND e.model = recall_rows.model AND e.owner_kind = k.kind
                      UNION ALL
                      SELECT FROM embeddings AS e WHERE recall_rows.shared AND e.user_id IS NULL AND e.model = recall_rows.model AND e.owner_kind = k.kind
                      LIMIT 10000) AS rows) AS few);
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT a.word, h.*
        FROM unnest(asked, lexemes) AS a (word, lexeme)
        CROSS JOIN LATERAL (
            SELECT e.owner_kind, e.owner_id, ts_rank(e.search, a.lexeme) AS frequency, length(e.search) AS size
            FROM embeddings AS e
            WHERE e.search @@ (mine && a.lexeme) AND e.owner_kind = ANY (wanted) AND e.model = recall_rows.model LIMIT 4000) AS h
    ),
    forms AS MATERIALIZED (
        SELECT h.word, recall_rarity(texts, count(*)) AS rarity, avg(h.size)::double precision AS size FROM held AS h GROUP BY 1
    ),
    whole AS (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(texts, 0))), 1) AS score FROM unnest(asked) AS a (word) LEFT JOIN forms AS f ON f.word = a.word
    )
    SELECT h.owner_kind, h.owner_id, sum(f.rarity * recall_presence(h.frequency, h.size, f.size)) / w.score
    FROM held AS h JOIN forms AS f ON f.word = h.word CROSS JOIN whole AS w
    GROUP BY h.owner_kind, h.owner_id, w.score
    ORDER BY 3 DESC, 1, 2 LIMIT recall_rows.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.recall_turns(query text, vector text, model text, dimensions integer, kinds text[], compared_up_to integer, since timestamp with time zone[], until timestamp with time zone[], session uuid, shown_from integer, beside double precision, day double precision, lim integer)
 RETURNS TABLE(kind text, id text, score double precision, likeness double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
DECLARE
    me      uuid      := tenant_id();
    mine    tsquery   := recall_lexeme(' ' || me);
    asked   text[]    := (tsvector_to_array(to_tsvector('english', left(recall_turns.query, 1000))))[:24];
    lexemes tsquery[] := ARRAY(SELECT recall_lexeme(w.word) FROM unnest(asked) WITH ORDINALITY AS w (word, place) ORDER BY w.place);
    listed  boolean   := EXISTS (SELECT FROM user_words AS w WHERE w.user_id = me AND w.word = ''); -- all that the user's turns hold
    turns   double precision;
BEGIN
    IF cardinality(asked) = 0 AND coalesce(cardinality(recall_turns.since), 0) = 0 THEN
        RETURN;
    END IF;
    turns := (SELECT coalesce(sum(s.last_turn), 0) FROM sessions AS s WHERE s.user_id = me);
    RETURN QUERY
    WITH said AS MATERIALIZED ( -- who holds a word: bounded, because a word of so many turns tells none of them apart
        SELECT a.place::integer AS form, h.*
        FROM unnest(lexemes) WITH ORDINALITY AS a (lexeme, place)
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, a.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (mine && a.lexeme) AND s.user_id = me LIMIT 4000) AS h
        UNION ALL -- and the few that have been answered a moment ago
        SELECT a.place::integer, t.session_id, t.number, ts_rank(v.search, a.lexeme), length(v.search)
        FROM turns AS t
        CROSS JOIN LATERAL (SELECT to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))) AS search) AS v
        JOIN unnest(lexemes) WITH ORDINALITY AS a (lexeme, place) ON v.search @@ a.lexeme
        WHERE t.user_id = me AND t.status = 'succeeded' AND t.summarized_at IS NULL
          AND NOT EXISTS (SELECT FROM turn_summaries AS s WHERE s.turn_id = t.id AND s.user_id = me)
    ),
    known AS MATERIALIZED (SELECT s.form, count(*)::double precision AS holders, sum(s.size)::double precision AS sizes FROM said AS s GROUP BY 1),
    strange AS MATERIALIZED (
        SELECT u.place, u.word FROM unnest(asked) WITH ORDINALITY AS u (word, place)
        WHERE char_length(u.word) > 3 AND u.word !~ '[0-9]' AND u.place <> ALL (ARRAY(SELECT k.form FROM known AS k))
    ),
    near AS MATERIALIZED ( -- read only where a word has to be guessed from them, and then given on, as reading them all takes long
        SELECT n.owner_kind, n.owner_id, n.likeness
        FROM recall_nearest(CASE WHEN NOT listed THEN recall_turns.vector END, recall_turns.model, recall_turns.dimensions, recall_turns.kinds, recall_turns.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    ),
    around AS MATERIALIZED (
        SELECT DISTINCT x.lexeme AS form FROM turn_summaries AS s CROSS JOIN LATERAL unnest(s.search) AS x (lexeme, positions, weights)
        WHERE s.user_id = me AND s.turn_id = ANY (ARRAY(SELECT n.owner_id::uuid FROM near AS n WHERE n.owner_kind = 'turn'))
    ),
    guessed AS MATERIALIZED ( -- a word that nobody ever said is taken for the words most like it: of all, or of the nearest turns while not all are listed
        SELECT (24 + row_number() OVER ())::integer AS form, u.place AS word, recall_lexeme(g.form) AS lexeme,
               0.8 * g.likeness / max(g.likeness) OVER (PARTITION BY u.place) AS trust
        FROM strange AS u
        CROSS JOIN LATERAL (
            SELECT a.form, a.likeness
            FROM (SELECT l.form, similarity(u.word, l.form)::double precision AS likeness FROM around AS l WHERE similarity(u.word, l.form) >= 0.3
                  UNION ALL
                  SELECT w.form, w.likeness FROM user_words_like(CASE WHEN listed AND recall_turns.vector IS NOT NULL THEN me END, u.word) AS w) AS a
            ORDER BY 2 DESC, 1 LIMIT 3) AS g
    ),
    mended AS MATERIALIZED (
        SELECT g.form, h.*
        FROM guessed AS g
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, g.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (mine && g.lexeme) AND s.user_id = me LIMIT 4000) AS h
    ),
    held AS NOT MATERIALIZED (SELECT * FROM said UNION ALL SELECT * FROM mended),
    forms AS MATERIALIZED (
        SELECT f.form, f.word, f.trust, avg(f.sizes / f.holders) OVER () AS size,
               recall_rarity(turns, f.holders) AS rarity, f.holders >= 4000 AND bool_or(f.holders < 4000) OVER () AS idle
        FROM (SELECT k.form, k.form AS word, 1.0::double precision AS trust, k.holders, k.sizes FROM known AS k
              UNION ALL
              SELECT g.form, g.word, g.trust, count(*)::double precision, sum(m.size)::double precision FROM guessed AS g JOIN mended AS m ON m.form = g.form GROUP BY 1, 2, 3) AS f
    ),
    dated AS MATERIALIZED ( -- a day that the question names counts like a word that its turns hold
        SELECT t.session_id, t.number AS turn_number, recall_turns.day * recall_rarity(turns, count(*) OVER ()) AS score
        FROM turns AS t
        WHERE t.user_id = me AND cardinality(recall_turns.since) > 0
          AND EXISTS (SELECT FROM unnest(recall_turns.since, recall_turns.until) AS d (since, until) WHERE t.created_at >= d.since AND t.created_at < d.until)
    ),
    whole AS MATERIALIZED (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(turns, 0))) + coalesce((SELECT max(d.score) FROM dated AS d), 0), 1) AS score
        FROM unnest(asked) WITH ORDINALITY AS a (word, place) LEFT JOIN (SELECT g.word, max(g.rarity) AS rarity FROM forms AS g GROUP BY 1) AS f ON f.word = a.place
    ),
    own AS MATERIALIZED ( -- each turn once, by its words and by its day
        SELECT p.session_id, p.turn_number, sum(p.words) AS words, sum(p.dated) AS dated
        FROM (SELECT h.session_id, h.turn_number, f.trust * f.rarity * recall_presence(h.frequency, h.size, f.size) AS words, 0.0::double precision AS dated
              FROM held AS h JOIN forms AS f ON f.form = h.form AND NOT f.idle
              UNION ALL
              SELECT d.session_id, d.turn_number, 0, d.score FROM dated AS d) AS p
        GROUP BY 1, 2
    ),
    strong AS MATERIALIZED ( -- a turn below this, beside none that reaches it, is below lim others even with its neighbour's share
        SELECT o.session_id, o.turn_number FROM own AS o
        WHERE o.words + o.dated >= coalesce((
            SELECT l.words + l.dated FROM own AS l
            WHERE l.session_id IS DISTINCT FROM recall_turns.session OR l.turn_number < recall_turns.shown_from
            ORDER BY l.words + l.dated DESC LIMIT 1 OFFSET recall_turns.lim - 1), 0) / (1 + recall_turns.beside)
    ),
    ranked AS (
        SELECT o.session_id, o.turn_number,
               o.words + o.dated + recall_turns.beside * coalesce(max(o.words) OVER (
                   PARTITION BY o.session_id ORDER BY o.turn_number RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), 0) AS score
        FROM own AS o
        WHERE (o.session_id, o.turn_number) IN (SELECT s.session_id, s.turn_number + d.away FROM strong AS s CROSS JOIN (VALUES (-1), (0), (1)) AS d (away))
    ),
    best AS (
        SELECT r.session_id, r.turn_number, r.score FROM ranked AS r
        WHERE r.session_id IS DISTINCT FROM recall_turns.session OR r.turn_number < recall_turns.shown_from
        ORDER BY 3 DESC, 2 DESC, 1 LIMIT recall_turns.lim
    )
    SELECT 'turn', t.id::text, b.score / w.score, NULL::double precision
    FROM best AS b CROSS JOIN whole AS w
    CROSS JOIN LATERAL (
        SELECT u.id FROM turns AS u
        WHERE u.session_id = b.session_id AND u.number = b.turn_number AND u.user_id = me AND u.status = 'succeeded' LIMIT 1) AS t
    UNION ALL
    SELECT n.owner_kind, n.owner_id, 0, n.likeness FROM near AS n WHERE EXISTS (SELECT FROM strange);
END
$function$;

CREATE OR REPLACE FUNCTION alfred.registry_at(session uuid, turn_number integer)
 RETURNS SETOF v_entities
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT registry_at.session, e.ref, e.entity_type, e.entity_id, e.label, e.state, e.action, x.tier,
           e.turn_created, e.turn_last_ref, e.turn_promoted, e.active_reason, e.excluded_reason, e.loaded, e.number
    FROM (
        SELECT DISTINCT ON (v.ref) v.data
        FROM entity_events AS v
        WHERE v.session_id = registry_at.session AND v.turn_number <= registry_at.turn_number
        ORDER BY v.ref, v.id DESC
    ) AS newest
    CROSS JOIN LATERAL jsonb_populate_record(NULL::entity_refs, newest.data) AS e
    CROSS JOIN LATERAL (SELECT entity_tier(e.state, e.action, e.excluded_reason, e.demoted_at_turn, e.turn_last_ref,
                                           e.active_reason, registry_at.turn_number, (SELECT retention_window())) AS tier) AS x
    ORDER BY tier_rank(x.tier), e.entity_type, NOT starts_with(e.ref, 'gen_'), e.number
$function$;

CREATE OR REPLACE FUNCTION alfred.retention_window()
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT coalesce((SELECT s.value FROM settings AS s WHERE s.name = 'retention_window'), 2)
$function$;

CREATE OR REPLACE FUNCTION alfred.row_changes_keep(turn uuid, step integer, call integer, changes jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.row_owner()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_ARGV[0] = 'turn' THEN
        SELECT t.user_id INTO NEW.user_id FROM turns AS t WHERE t.id = NEW.turn_id;
    ELSE
        SELECT s.user_id INTO NEW.user_id FROM sessions AS s WHERE s.id = NEW.session_id;
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.sessions_to_start(lim integer DEFAULT 100)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.start_session(user_name text DEFAULT 'demo'::text, title text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    owner   uuid;
    session uuid;
BEGIN
    INSERT INTO users (name) VALUES (start_session.user_name) ON CONFLICT (name) DO NOTHING;
    SELECT u.id INTO owner FROM users AS u WHERE u.name = start_session.user_name;
    INSERT INTO sessions (user_id, title) VALUES (owner, coalesce(start_session.title, '')) RETURNING id INTO session;
    RETURN session;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.summaries_abandoned(lim integer DEFAULT 100)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN QUERY
    SELECT t.id
    FROM turns AS t
    LEFT JOIN LATERAL (
        SELECT j.state FROM river_job AS j
        WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = t.id::text AND j.queue = 'turns'
        ORDER BY j.id DESC LIMIT 1
    ) AS newest ON true
    WHERE t.status = 'succeeded' AND t.summarized_at IS NULL AND t.replied_at NOT BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT summaries_abandoned.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.tenant_timezone()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
    RETURN (SELECT u.timezone FROM alfred.users AS u WHERE u.id = alfred.tenant_id());
END
$function$;

CREATE OR REPLACE FUNCTION alfred.tier_rank(tier text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT array_position(ARRAY['generated', 'recent', 'retained', 'excluded', 'background', 'hidden'], tier)
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_begins(session uuid)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN greatest(clock_timestamp(),
        (SELECT max(greatest(t.started_at, t.finished_at, t.summarized_at)) + interval '1 microsecond' FROM turns AS t
         WHERE t.session_id = turn_begins.session AND t.number > (SELECT s.last_turn - 21 FROM sessions AS s WHERE s.id = turn_begins.session)),
        (SELECT max(h.created_at) FROM unnest(ARRAY['conversation', 'narrative']) AS kinds (kind)
         CROSS JOIN LATERAL (SELECT n.created_at FROM history_summaries AS n WHERE n.session_id = turn_begins.session AND n.kind = kinds.kind
                             ORDER BY n.to_turn DESC, n.id DESC LIMIT 16) AS h
         WHERE h.created_at > clock_timestamp()));
END
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_deeds(turn uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_end(turn uuid, status turn_status, code text, message text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_enqueue(session uuid, message text, idempotency_key text, mode text, if_busy text, ui_changes jsonb, mentioned_entities jsonb, answer jsonb, OUT turn_id uuid, OUT number integer, OUT status turn_status, OUT existing boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_event_append(turn uuid, type text, data jsonb DEFAULT '{}'::jsonb)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT turn_events_append(turn_event_append.turn,
        jsonb_build_array(jsonb_build_object('type', turn_event_append.type, 'data', turn_event_append.data)))
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_events_append(turn uuid, events jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_said()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    NEW.said := (
        SELECT nullif(string_agg(e.data ->> 'text', '' ORDER BY e.seq), '')
        FROM turn_events AS e
        WHERE e.turn_id = NEW.id AND e.type = 'reply.delta'
          AND NOT EXISTS (SELECT FROM turn_events AS r WHERE r.turn_id = NEW.id AND r.type = 'reply.reset' AND r.seq > e.seq)
    );
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_start_next(session uuid, wake boolean DEFAULT true)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_summary_finish(turn uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_summary_words()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    SELECT array_to_tsvector(ARRAY[' ' || NEW.user_id])
        || to_tsvector('english', concat_ws(' ', left(NEW.user_message, 8000), left(NEW.goal, 8000), left(NEW.response_summary, 8000), left(t.reply, 8000)))
    INTO NEW.search FROM turns AS t WHERE t.id = NEW.turn_id;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_summary_write_facts(turn uuid, words jsonb DEFAULT NULL::jsonb, model text DEFAULT 'none'::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_undo(turn uuid, idempotency_key text, if_busy text, OUT turn_id uuid, OUT session_id uuid, OUT number integer, OUT status turn_status, OUT existing boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turn_unwritten(turn_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.turns_abandoned(lim integer DEFAULT 100)
 RETURNS TABLE(turn_id uuid, job_state text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN QUERY
    SELECT t.id, newest.state::text
    FROM turns AS t
    LEFT JOIN LATERAL (
        SELECT j.state FROM river_job AS j
        WHERE coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') = t.id::text AND j.queue = 'turns'
        ORDER BY j.id DESC LIMIT 1
    ) AS newest ON true
    WHERE t.status = 'running' AND t.started_at NOT BETWEEN clock_timestamp() - interval '2 seconds' AND clock_timestamp() + interval '2 seconds'
      AND (newest.state IS NULL OR newest.state IN ('completed', 'discarded', 'cancelled'))
      AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = t.user_id AND p.state IN ('away', 'coming'))
    LIMIT turns_abandoned.lim;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.undo_turn(turn uuid, idempotency_key text DEFAULT NULL::text, if_busy text DEFAULT 'enqueue'::text)
 RETURNS uuid
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
    SELECT u.turn_id FROM turn_undo(undo_turn.turn, undo_turn.idempotency_key, undo_turn.if_busy) AS u
$function$;

CREATE OR REPLACE FUNCTION alfred.usage_today(session uuid, until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone)
 RETURNS TABLE(turns bigint, tokens bigint, cost_usd double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.user_admit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.user_is_busy(owner uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    allowed integer := coalesce(nullif(current_setting('alfred.user_turns', true), '')::integer, 16);
BEGIN
    RETURN allowed > 0 AND (SELECT count(*) >= allowed FROM turns AS t WHERE t.user_id = user_is_busy.owner AND t.status = 'running')
        OR EXISTS (SELECT FROM user_places AS p WHERE p.user_id = user_is_busy.owner AND p.state <> 'here');
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_place_set(owner uuid, epoch bigint, attempt integer, state text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION alfred.user_place_state(owner uuid)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('alfred.user:' || user_place_state.owner, 0));
    RETURN coalesce((SELECT p.state FROM user_places AS p WHERE p.user_id = user_place_state.owner), 'here');
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_words_add()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    ids uuid[] := ARRAY(SELECT e.owner_id::uuid FROM stored AS e WHERE e.owner_kind = 'turn');
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM user_words_list(ids);
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_words_forget()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    DELETE FROM user_words AS w WHERE w.user_id = OLD.user_id;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_words_gather(owner uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM user_words_list(ARRAY(SELECT t.turn_id FROM sessions AS s JOIN turn_summaries AS t ON t.session_id = s.id WHERE s.user_id = owner));
    INSERT INTO user_words (user_id, word) VALUES (owner, '') ON CONFLICT DO NOTHING;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_words_like(owner uuid, meant text)
 RETURNS TABLE(form text, likeness double precision)
 LANGUAGE plpgsql
 STABLE ROWS 10
 SET search_path TO 'alfred', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    -- Most misspelt words begin right, or with their first two letters exchanged: a tenth of the list.
    RETURN QUERY
    SELECT w.word, w.likeness
    FROM (SELECT DISTINCT a.letter FROM unnest(ARRAY[left(meant, 1), substr(meant, 2, 1)]) AS a (letter)) AS l
    CROSS JOIN LATERAL (
        SELECT u.word, similarity(meant, u.word)::double precision AS likeness FROM user_words AS u
        WHERE u.user_id = owner AND u.word >= l.letter AND u.word < l.letter || U&'\+10FFFF' OFFSET 0) AS w
    WHERE w.likeness >= CASE WHEN char_length(w.word) = char_length(meant) THEN 0.3 ELSE 0.4 END;
    IF NOT FOUND THEN -- one that begins wrong ends right
        RETURN QUERY
        SELECT w.word, w.likeness
        FROM (SELECT u.word, similarity(meant, u.word)::double precision AS likeness FROM user_words AS u
              WHERE u.user_id = owner AND right(u.word, 3) = right(meant, 3) OFFSET 0) AS w
        WHERE w.likeness >= 0.5;
    END IF;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.user_words_list(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'alfred', 'public', 'pg_temp'
AS $function$
DECLARE
    met uuid[] := ARRAY(SELECT s.id FROM sessions AS s WHERE s.id IN (SELECT t.session_id FROM turns AS t WHERE t.id = ANY (ids)) FOR KEY SHARE OF s SKIP LOCKED);
BEGIN
    INSERT INTO user_words (user_id, word)
    SELECT DISTINCT t.user_id, x.lexeme COLLATE "C"
    FROM turns AS t
    LEFT JOIN LATERAL (SELECT s.search FROM turn_summaries AS s WHERE s.turn_id = t.id AND s.user_id = t.user_id LIMIT 1) AS s ON true
    CROSS JOIN LATERAL unnest(coalesce(s.search, to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))))) AS x (lexeme, positions, weights)
    WHERE t.id = ANY (ids) AND t.session_id = ANY (met) AND x.lexeme ~ '^[^ 0-9]{3,40}$'
    ORDER BY 1, 2 -- all in one order, so that two of them never wait for each other
    ON CONFLICT DO NOTHING;
END
$function$;

CREATE OR REPLACE FUNCTION alfred.uuid_v7_floor(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    SELECT (lpad(to_hex(greatest(floor(extract(epoch FROM at) * 1000)::bigint, 0)), 12, '0') || repeat('0', 20))::uuid
$function$;
