-- A decision is stored by one statement: the model's call it came from and the plan it made are part of what decision_keep writes.

-- +goose Up

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
REVOKE EXECUTE ON FUNCTION llm_call_keep(jsonb) FROM PUBLIC;

DROP FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text);
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
REVOKE EXECUTE ON FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text, jsonb, jsonb) FROM PUBLIC;

-- +goose Down
DROP FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text, jsonb, jsonb);
-- +goose StatementBegin
CREATE FUNCTION decision_keep(turn uuid, at_position integer, node text, step integer, call integer, output jsonb, job_id bigint, llm_call_id uuid,
                              duration_ms integer, events jsonb, next_node text, goal text, wrote boolean DEFAULT false,
                              outcome step_outcome DEFAULT NULL, summary text DEFAULT NULL, conclusions text DEFAULT NULL, note text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    owner   uuid;
    version bigint;
BEGIN
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
COMMENT ON FUNCTION decision_keep IS 'Writes what every decision leaves, once it has passed the fence: its row in node_runs, its events (null for none) without a replied turn''s pieces, the end of its step if it has an outcome, and for a turn that continues its next position and node and, unless null, the goal. The first decision marks the turn''s inputs as applied. wrote raises the user''s version; the function returns it.';
REVOKE EXECUTE ON FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text) FROM PUBLIC;
DROP FUNCTION llm_call_keep(jsonb);
