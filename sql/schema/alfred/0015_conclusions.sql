-- What a write left out is known to later turns.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_summary_write_facts(turn uuid, words jsonb DEFAULT NULL, model text DEFAULT 'none') RETURNS void
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
               string_agg(coalesce(p.conclusions, CASE p.step_type WHEN 'analyze' THEN p.summary END), E'\n' ORDER BY p.step) AS conclusions,
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
COMMENT ON COLUMN turn_summaries.analysis_conclusions IS 'What its analyze steps found, and what others left out.';

-- +goose Down
COMMENT ON COLUMN turn_summaries.analysis_conclusions IS 'What its analyze steps found.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION turn_summary_write_facts(turn uuid, words jsonb DEFAULT NULL, model text DEFAULT 'none') RETURNS void
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
