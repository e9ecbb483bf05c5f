-- The public face in SQL: views to read with psql. That of the registry stands with it.

-- +goose Up

CREATE VIEW v_sessions WITH (security_invoker = true) AS
SELECT s.id AS session_id, s.user_id, s.title, s.mode, s.last_turn, s.last_activity_at,
       s.archived_at IS NOT NULL AS archived,
       (SELECT count(*) FROM entity_refs AS e WHERE e.session_id = s.id AND e.state = 'pending') AS pending_refs,
       (SELECT q.payload ->> 'text' FROM questions AS q WHERE q.session_id = s.id AND q.status = 'open') AS open_question
FROM sessions AS s;
COMMENT ON VIEW v_sessions IS 'Public API. Conversations, with how many drafts are unsaved and what the assistant waits for.';
COMMENT ON COLUMN v_sessions.session_id IS 'sessions.id.';
COMMENT ON COLUMN v_sessions.user_id IS 'Whose it is.';
COMMENT ON COLUMN v_sessions.title IS 'Its title.';
COMMENT ON COLUMN v_sessions.mode IS 'Mode of turns that name none.';
COMMENT ON COLUMN v_sessions.last_turn IS 'Number of its newest turn.';
COMMENT ON COLUMN v_sessions.last_activity_at IS 'When it last changed.';
COMMENT ON COLUMN v_sessions.archived IS 'Whether it takes no more turns.';
COMMENT ON COLUMN v_sessions.pending_refs IS 'Drafts that are not saved.';
COMMENT ON COLUMN v_sessions.open_question IS 'What the assistant waits for an answer to.';

CREATE VIEW v_turns WITH (security_invoker = true) AS
SELECT t.id AS turn_id, t.session_id, t.number, t.status, t.message, t.goal, t.reply, t.error_code,
       t.created_at, t.replied_at, t.finished_at,
       round(extract(epoch FROM t.finished_at - t.created_at) * 1000)::integer AS duration_ms,
       coalesce(c.input_tokens, 0) AS input_tokens, coalesce(c.output_tokens, 0) AS output_tokens,
       coalesce(c.cost_usd, 0) AS cost_usd
FROM turns AS t
LEFT JOIN LATERAL (
    SELECT sum(l.input_tokens) AS input_tokens, sum(l.output_tokens) AS output_tokens, sum(l.cost_usd) AS cost_usd
    FROM llm_calls AS l WHERE l.turn_id = t.id
) AS c ON true;
COMMENT ON VIEW v_turns IS 'Public API. Turns with how long they took, from enqueue to the end, and what they cost.';
COMMENT ON COLUMN v_turns.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_turns.session_id IS 'Its conversation.';
COMMENT ON COLUMN v_turns.number IS 'Its number there, from 1.';
COMMENT ON COLUMN v_turns.status IS 'queued, running, succeeded, failed or cancelled.';
COMMENT ON COLUMN v_turns.message IS 'What the user said, as typed.';
COMMENT ON COLUMN v_turns.goal IS 'What the plan is for.';
COMMENT ON COLUMN v_turns.reply IS 'What the user was told; null until then.';
COMMENT ON COLUMN v_turns.error_code IS 'Why it failed, as the API names it.';
COMMENT ON COLUMN v_turns.created_at IS 'When it was enqueued.';
COMMENT ON COLUMN v_turns.replied_at IS 'When the reply was committed.';
COMMENT ON COLUMN v_turns.finished_at IS 'When it ended for the user.';
COMMENT ON COLUMN v_turns.duration_ms IS 'From enqueue to the end, waiting included.';
COMMENT ON COLUMN v_turns.input_tokens IS 'Tokens of all its prompts.';
COMMENT ON COLUMN v_turns.output_tokens IS 'Tokens of all its answers.';
COMMENT ON COLUMN v_turns.cost_usd IS 'What its calls cost.';

CREATE VIEW v_feedback WITH (security_invoker = true) AS
SELECT f.turn_id, f.session_id, f.user_id, t.number, f.rating, f.text, t.message, t.goal, t.reply, t.error_code,
       (SELECT c.model FROM llm_calls AS c WHERE c.turn_id = t.id ORDER BY c.node = 'reply' DESC, c.id DESC LIMIT 1) AS model,
       f.created_at, f.updated_at
FROM feedback AS f
JOIN turns AS t ON t.id = f.turn_id AND t.user_id = f.user_id;
COMMENT ON VIEW v_feedback IS 'Public API. What people thought of replies, with the message and the reply: cases to evaluate with.';
COMMENT ON COLUMN v_feedback.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_feedback.session_id IS 'Its conversation.';
COMMENT ON COLUMN v_feedback.user_id IS 'Who gave it.';
COMMENT ON COLUMN v_feedback.number IS 'The turn''s number there, from 1.';
COMMENT ON COLUMN v_feedback.rating IS 'up or down.';
COMMENT ON COLUMN v_feedback.text IS 'Why, in their words; empty without.';
COMMENT ON COLUMN v_feedback.message IS 'What the user said, as typed.';
COMMENT ON COLUMN v_feedback.goal IS 'What the plan was for.';
COMMENT ON COLUMN v_feedback.reply IS 'What the user was told.';
COMMENT ON COLUMN v_feedback.error_code IS 'Why the turn failed, if it did.';
COMMENT ON COLUMN v_feedback.model IS 'Model of the reply, or of the last call; null where no model was asked.';
COMMENT ON COLUMN v_feedback.created_at IS 'When it was first given.';
COMMENT ON COLUMN v_feedback.updated_at IS 'When it was last changed.';

CREATE VIEW v_timeline WITH (security_invoker = true) AS
SELECT x.session_id, x.turn_id, x.number, x.at,
       row_number() OVER (PARTITION BY x.session_id, x.turn_id ORDER BY x.at, x.rank, x.tie) AS seq,
       x.kind, x.node, x.step, x.call, x.ref, x.text, x.duration_ms
FROM (
    SELECT t.session_id, t.id AS turn_id, t.number, t.created_at AS at, 0 AS rank, 0::bigint AS tie,
           'message' AS kind, NULL::text AS node, NULL::integer AS step, NULL::integer AS call, NULL::text AS ref,
           t.message AS text, NULL::integer AS duration_ms
    FROM turns AS t
    UNION ALL
    SELECT t.session_id, t.id, t.number, r.created_at, 1, (r.step * 1000 + r.call)::bigint, 'tool', 'act', r.step, r.call, NULL,
           r.tool || coalesce(' ' || r.entity_type, '') ||
           CASE WHEN r.error_code IS NULL THEN ': ' || r.row_count || CASE r.row_count WHEN 1 THEN ' row' ELSE ' rows' END ELSE ': ' || r.error_message END, NULL
    FROM turns AS t JOIN turn_step_results AS r ON r.turn_id = t.id
    UNION ALL
    SELECT e.session_id, t.id, t.number, e.created_at, 2, e.id, 'entity', NULL, e.step, NULL, e.ref,
           e.action || ' ' || e.ref || ': ' || coalesce(e.data ->> 'label', e.ref), NULL
    FROM entity_events AS e JOIN turns AS t ON t.session_id = e.session_id AND t.number = e.turn_number
    UNION ALL
    SELECT d.session_id, t.id, t.number, d.created_at, 3, 0, 'decision', 'understand', NULL, NULL, d.ref,
           d.action || coalesce(' ' || d.ref, '') || CASE WHEN d.reason = '' THEN '' ELSE ': ' || d.reason END, NULL
    FROM decisions AS d JOIN turns AS t ON t.session_id = d.session_id AND t.number = d.turn_number
    UNION ALL
    SELECT q.session_id, q.turn_id, t.number, q.created_at, 4, 0, 'question', NULL, NULL, NULL, NULL, q.kind || ': ' || (q.payload ->> 'text'), NULL
    FROM questions AS q JOIN turns AS t ON t.id = q.turn_id
    UNION ALL
    SELECT t.session_id, t.id, t.number, n.created_at, 5, n.position, 'node', n.node, n.step, n.call, NULL,
           n.node || CASE WHEN n.node = 'act' THEN ' step ' || n.step || ' call ' || n.call ELSE '' END, n.duration_ms
    FROM turns AS t JOIN node_runs AS n ON n.turn_id = t.id
    UNION ALL
    SELECT t.session_id, t.id, t.number, coalesce(t.replied_at, t.finished_at), 6, 0,
           CASE WHEN t.status = 'succeeded' THEN 'reply' ELSE t.status::text END, NULL, NULL, NULL, NULL,
           coalesce(t.reply, t.error_message), NULL
    FROM turns AS t WHERE t.finished_at IS NOT NULL
) AS x;
COMMENT ON VIEW v_timeline IS 'Public API. One line per thing that happened in a turn, in order.';
COMMENT ON COLUMN v_timeline.session_id IS 'The conversation it happened in.';
COMMENT ON COLUMN v_timeline.turn_id IS 'The turn it happened in.';
COMMENT ON COLUMN v_timeline.number IS 'The turn''s number.';
COMMENT ON COLUMN v_timeline.at IS 'When.';
COMMENT ON COLUMN v_timeline.seq IS 'Order within the turn, from 1.';
COMMENT ON COLUMN v_timeline.kind IS 'message, node, tool, entity, decision, question, reply, failed or cancelled.';
COMMENT ON COLUMN v_timeline.node IS 'The node, for lines of one.';
COMMENT ON COLUMN v_timeline.step IS 'Step of the plan.';
COMMENT ON COLUMN v_timeline.call IS 'Model call within the step.';
COMMENT ON COLUMN v_timeline.ref IS 'The entity it happened to, for lines of one.';
COMMENT ON COLUMN v_timeline.text IS 'What happened.';
COMMENT ON COLUMN v_timeline.duration_ms IS 'How long a node took.';

CREATE VIEW v_context WITH (security_invoker = true) AS
SELECT c.session_id, c.turn_id, t.number, c.node, c.step, c.call, i.llm_call_id, i.position, i.section, i.ref, i.turn_number, i.reason, i.tokens
FROM llm_calls AS c
JOIN context_items AS i ON i.llm_call_id = c.id
LEFT JOIN turns AS t ON t.id = c.turn_id;
COMMENT ON VIEW v_context IS 'Public API. What each model call saw, item by item, and why.';
COMMENT ON COLUMN v_context.session_id IS 'The conversation the call was made in.';
COMMENT ON COLUMN v_context.turn_id IS 'The turn it was made for; null for compress.';
COMMENT ON COLUMN v_context.number IS 'The turn''s number.';
COMMENT ON COLUMN v_context.node IS 'The node whose prompt it was.';
COMMENT ON COLUMN v_context.step IS 'Step of the plan.';
COMMENT ON COLUMN v_context.call IS 'Model call within the step.';
COMMENT ON COLUMN v_context.llm_call_id IS 'llm_calls.id of the prompt.';
COMMENT ON COLUMN v_context.position IS 'Order within the prompt, from 1.';
COMMENT ON COLUMN v_context.section IS 'Section of the prompt.';
COMMENT ON COLUMN v_context.ref IS 'The ref shown, if the item is one.';
COMMENT ON COLUMN v_context.turn_number IS 'The past turn shown, if the item is one.';
COMMENT ON COLUMN v_context.reason IS 'Why it is there: recent, retained, generated and so on.';
COMMENT ON COLUMN v_context.tokens IS 'Its estimated size.';

CREATE VIEW v_llm_costs WITH (security_invoker = true) AS
SELECT (c.created_at AT TIME ZONE 'UTC')::date AS day, c.user_id, c.session_id, c.node, c.provider, c.model,
       count(*) AS calls, count(c.error_code) AS errors,
       sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
       sum(c.cached_tokens) AS cached_tokens, sum(c.cost_usd) AS cost_usd
FROM llm_calls AS c
GROUP BY 1, 2, 3, 4, 5, 6;
COMMENT ON VIEW v_llm_costs IS 'Public API. Model calls, tokens and cost per UTC day, user, session, node and model.';
COMMENT ON COLUMN v_llm_costs.day IS 'Day of the calls, in UTC.';
COMMENT ON COLUMN v_llm_costs.user_id IS 'For whom.';
COMMENT ON COLUMN v_llm_costs.session_id IS 'The conversation the calls were made in.';
COMMENT ON COLUMN v_llm_costs.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN v_llm_costs.provider IS 'Who answered.';
COMMENT ON COLUMN v_llm_costs.model IS 'The models name, as its provider has it.';
COMMENT ON COLUMN v_llm_costs.calls IS 'How many calls, failed ones included.';
COMMENT ON COLUMN v_llm_costs.errors IS 'How many failed.';
COMMENT ON COLUMN v_llm_costs.input_tokens IS 'Tokens of prompts.';
COMMENT ON COLUMN v_llm_costs.output_tokens IS 'Tokens of answers.';
COMMENT ON COLUMN v_llm_costs.cached_tokens IS 'Tokens of prompts that the provider had cached.';
COMMENT ON COLUMN v_llm_costs.cost_usd IS 'What they cost.';

CREATE VIEW v_queue WITH (security_invoker = true) AS
SELECT q.job_id, q.queue, q.kind, q.state, q.attempt, q.session_id, q.turn_id, q.number, q.scheduled_at
FROM queue_rows() AS q (job_id, queue, kind, state, attempt, turn_id, session_id, number, scheduled_at);
COMMENT ON VIEW v_queue IS 'Public API. Jobs that wait or run, with the turn they work for, and turns that wait for their session''s or their user''s other turns.';
COMMENT ON COLUMN v_queue.job_id IS 'river_job.id, as River UI shows it; null for a turn that has no job yet.';
COMMENT ON COLUMN v_queue.queue IS 'Its queue: turns or background.';
COMMENT ON COLUMN v_queue.kind IS 'The node it runs, or embed.';
COMMENT ON COLUMN v_queue.state IS 'As River names it, or queued for a turn that has no job yet.';
COMMENT ON COLUMN v_queue.attempt IS 'Tries so far.';
COMMENT ON COLUMN v_queue.session_id IS 'Whose conversation it works for.';
COMMENT ON COLUMN v_queue.turn_id IS 'Which turn it works for; null for compress.';
COMMENT ON COLUMN v_queue.number IS 'The turn''s number.';
COMMENT ON COLUMN v_queue.scheduled_at IS 'When it may start.';

-- +goose Down
DROP VIEW v_queue;
DROP VIEW v_llm_costs;
DROP VIEW v_context;
DROP VIEW v_timeline;
DROP VIEW v_feedback;
DROP VIEW v_turns;
DROP VIEW v_sessions;
