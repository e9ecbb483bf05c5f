-- What a decision writes of its turn, and a summary of its facts and words, it writes once.

-- +goose Up

-- River's workers never look for a kind, and each job stands under it twice.
DROP INDEX IF EXISTS river_job_kind;

-- The position is set, not counted up: workers of the last version have done so in their fence.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
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

DROP FUNCTION turn_summary_write_facts(uuid);
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
COMMENT ON FUNCTION turn_summary_write_facts IS 'Writes a turn''s summary from its rows, if it has none; Summarize''s words, {response_summary, ...}, stand in the place of what rows would say, and of what has been written before.';
REVOKE EXECUTE ON FUNCTION turn_summary_write_facts(uuid, jsonb, text) FROM PUBLIC;

-- +goose Down
DROP FUNCTION turn_summary_write_facts(uuid, jsonb, text);
-- +goose StatementBegin
CREATE FUNCTION turn_summary_write_facts(turn uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    INSERT INTO turn_summaries (turn_id, session_id, user_id, turn_number, user_message, goal, steps, curation_summary,
                                retained_refs, demoted_refs, excluded_refs, analysis_conclusions, response_summary,
                                conversation_phase, tone, what_user_expressed)
    SELECT t.id, t.session_id, t.user_id, t.number, t.message, coalesce(t.goal, ''),
           coalesce(s.steps, '[]'), coalesce(u.output ->> 'curation_summary', ''),
           coalesce(d.retained, '{}'), coalesce(d.demoted, '{}'), coalesce(d.excluded, '{}'),
           coalesce(s.conclusions, ''),
           CASE WHEN char_length(t.reply) > 400 THEN left(t.reply, 300) || '…' ELSE coalesce(t.reply, '') END,
           CASE WHEN s.wrote THEN 'executing' WHEN s.generated THEN 'confirming' WHEN s.analyzed THEN 'narrowing'
                WHEN d.excluded IS NOT NULL THEN 'narrowing' ELSE 'exploring' END,
           CASE WHEN EXISTS (SELECT FROM questions AS q WHERE q.turn_id = t.id) THEN 'clarifying' ELSE 'collaborative' END,
           left(t.message, 200)
    FROM turns AS t
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
    ON CONFLICT ON CONSTRAINT turn_summaries_pkey DO NOTHING;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_summary_write_facts IS 'Writes a turn''s summary from its rows alone, if it has none. Summarize words it better afterwards.';
REVOKE EXECUTE ON FUNCTION turn_summary_write_facts(uuid) FROM PUBLIC;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
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
        UPDATE turns AS t SET current_node = decision_keep.next_node, goal = coalesce(decision_keep.goal, t.goal) WHERE t.id = decision_keep.turn;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION decision_keep IS 'What every decision leaves behind, once it has passed the fence: its row in node_runs, its events (null for none), and for a turn that goes on the next node and, unless null, the goal.';
CREATE INDEX river_job_kind ON river_job (kind);
