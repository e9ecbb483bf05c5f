-- A user's rows are out of reach for another user by construction: the role that the
-- API reads with, and that everything a model drives runs as, sees its tenant only.

-- +goose Up

GRANT USAGE ON SCHEMA alfred TO alfred_tenant;

-- A policy asks for the tenant in a sub-select, so once per statement: a function with a search path of its own is a real
-- call, and reading 20,000 rows would make as many of them.
-- It compares the row's own user and reads no other table, so it costs no join and can be followed by eye.
CREATE POLICY users_tenant ON users TO alfred_tenant USING (id = (SELECT tenant_id()));
CREATE POLICY embeddings_tenant ON embeddings TO alfred_tenant USING (user_id = (SELECT tenant_id()) OR user_id IS NULL);
-- +goose StatementBegin
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['sessions', 'turns', 'constraints', 'entity_refs', 'ref_counters', 'entity_events', 'artifacts', 'decisions',
                             'questions', 'turn_summaries', 'history_summaries', 'llm_calls', 'node_runs', 'turn_steps',
                             'turn_step_results', 'row_changes', 'row_events', 'turn_events', 'prompt_parts', 'feedback'] LOOP
        EXECUTE format('CREATE POLICY %I ON %I TO alfred_tenant USING (user_id = (SELECT tenant_id()))', t || '_tenant', t);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    END LOOP;
    -- From the third on without a policy: no tenant reads them.
    FOREACH t IN ARRAY ARRAY['users', 'embeddings', 'api_keys', 'embedded_models', 'idempotency_keys', 'user_places', 'user_words', 'workers'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- Statements name the owner. What is written by hand may leave it out: it is that of the turn or session.
-- +goose StatementBegin
CREATE FUNCTION row_owner() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    IF TG_ARGV[0] = 'turn' THEN
        SELECT t.user_id INTO NEW.user_id FROM turns AS t WHERE t.id = NEW.turn_id;
    ELSE
        SELECT s.user_id INTO NEW.user_id FROM sessions AS s WHERE s.id = NEW.session_id;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_owner IS 'Fills in the owner of a row that was written without one.';
-- +goose StatementBegin
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['entity_refs', 'ref_counters', 'entity_events', 'artifacts', 'decisions', 'questions', 'turn_summaries',
                             'history_summaries', 'llm_calls'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE INSERT ON %I FOR EACH ROW WHEN (NEW.user_id IS NULL) EXECUTE FUNCTION row_owner(''session'')', t || '_owner', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['node_runs', 'turn_steps', 'turn_step_results', 'row_changes', 'turn_events'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE INSERT ON %I FOR EACH ROW WHEN (NEW.user_id IS NULL) EXECUTE FUNCTION row_owner(''turn'')', t || '_owner', t);
    END LOOP;
END
$$;
-- +goose StatementEnd

GRANT SELECT ON settings, users, sessions, turns, constraints, embeddings, entity_refs, ref_counters, entity_events, artifacts,
    decisions, questions, turn_summaries, history_summaries, llm_calls, node_runs, turn_steps, turn_step_results, turn_events,
    context_items, feedback, row_events, prompt_parts, prompt_parts_shared, v_sessions, v_turns, v_talk, v_feedback, v_timeline,
    v_row_events, v_llm_calls, v_entities, v_context, v_llm_costs, v_queue TO alfred_tenant;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA alfred FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_id, tenant_timezone, uuid_v7, uuid_v7_month, one_line, turn_unwritten, entity_tier,
    retention_window, tier_rank, entities_at, active_entities, registry_at, queue_rows, enqueue_turn, turn_enqueue, cancel_turn,
    fork_session, undo_turn, turn_undo, forget_session, usage_today, recall_found, recall_order TO alfred_tenant;

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
    t text;
BEGIN
    FOR t IN SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'alfred'::regnamespace AND c.relrowsecurity LOOP
        EXECUTE format('DROP POLICY IF EXISTS %I ON %I', t || '_tenant', t);
        EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', t || '_owner', t);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', t);
    END LOOP;
END
$$;
-- +goose StatementEnd
DROP FUNCTION row_owner;
REVOKE ALL ON ALL TABLES IN SCHEMA alfred FROM alfred_tenant;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA alfred FROM alfred_tenant;
REVOKE USAGE ON SCHEMA alfred FROM alfred_tenant;
