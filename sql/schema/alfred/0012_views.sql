-- The public face in SQL: views to read with psql. That of the registry stands with it.

-- +goose Up

CREATE VIEW v_sessions WITH (security_invoker = true) AS
SELECT s.id AS session_id, s.user_id, s.title, s.mode, s.last_turn, s.last_activity_at,
       s.archived_at IS NOT NULL AS archived,
       (SELECT count(*) FROM entity_refs AS e WHERE e.session_id = s.id AND e.state = 'pending') AS pending_refs,
       (SELECT q.payload ->> 'text' FROM questions AS q WHERE q.session_id = s.id AND q.status = 'open') AS open_question
FROM sessions AS s;
COMMENT ON VIEW v_sessions IS 'Public API. Conversations, with the number of unsaved drafts and the open question.';
COMMENT ON COLUMN v_sessions.session_id IS 'sessions.id.';
COMMENT ON COLUMN v_sessions.user_id IS 'Its owner.';
COMMENT ON COLUMN v_sessions.title IS 'Its title.';
COMMENT ON COLUMN v_sessions.mode IS 'Mode of turns that do not name one.';
COMMENT ON COLUMN v_sessions.last_turn IS 'Number of its newest turn.';
COMMENT ON COLUMN v_sessions.last_activity_at IS 'When it last changed.';
COMMENT ON COLUMN v_sessions.archived IS 'Whether it is archived and accepts no turns.';
COMMENT ON COLUMN v_sessions.pending_refs IS 'Unsaved drafts.';
COMMENT ON COLUMN v_sessions.open_question IS 'The question that awaits an answer.';

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
COMMENT ON VIEW v_turns IS 'Public API. Turns, with duration from enqueue to the end, tokens and cost.';
COMMENT ON COLUMN v_turns.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_turns.session_id IS 'Its conversation.';
COMMENT ON COLUMN v_turns.number IS 'Its number there, from 1.';
COMMENT ON COLUMN v_turns.status IS 'queued, running, succeeded, failed or cancelled.';
COMMENT ON COLUMN v_turns.message IS 'What the user said, as typed.';
COMMENT ON COLUMN v_turns.goal IS 'The plan''s goal.';
COMMENT ON COLUMN v_turns.reply IS 'The reply; null until then.';
COMMENT ON COLUMN v_turns.error_code IS 'Why it failed, as the API names it.';
COMMENT ON COLUMN v_turns.created_at IS 'When it was enqueued.';
COMMENT ON COLUMN v_turns.replied_at IS 'When the reply was committed.';
COMMENT ON COLUMN v_turns.finished_at IS 'When it ended for the user.';
COMMENT ON COLUMN v_turns.duration_ms IS 'From enqueue to the end, including waiting.';
COMMENT ON COLUMN v_turns.input_tokens IS 'Tokens of all its prompts.';
COMMENT ON COLUMN v_turns.output_tokens IS 'Tokens of all its answers.';
COMMENT ON COLUMN v_turns.cost_usd IS 'What its calls cost.';

-- Postgres puts off to the end what it takes for costly, as it does a function of ours: only the chosen lines are brought onto one
-- line. Doing so with every text took 14 s among 100,000 turns.
CREATE VIEW v_talk WITH (security_invoker = true) AS
SELECT u.name AS "user", left(s.title, 32) AS title, t.number, t.status,
       one_line(t.message, 48) AS message,
       one_line(coalesce(t.reply, t.error_message), 48) AS reply,
       round(extract(epoch FROM t.finished_at - t.created_at), 1) AS seconds,
       (SELECT sum(c.cost_usd) FROM llm_calls AS c WHERE c.turn_id = t.id) AS cost_usd,
       t.created_at, t.id AS turn_id, t.session_id
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
JOIN users AS u ON u.id = t.user_id;
COMMENT ON VIEW v_talk IS 'Public API. Conversations, one line per turn, for reading in a terminal: texts are cut, and whole in v_turns. Newest first with ORDER BY created_at DESC.';
COMMENT ON COLUMN v_talk."user" IS 'Name of the user.';
COMMENT ON COLUMN v_talk.title IS 'The conversation''s title, cut.';
COMMENT ON COLUMN v_talk.number IS 'The turn''s number there, from 1.';
COMMENT ON COLUMN v_talk.status IS 'Status of the turn.';
COMMENT ON COLUMN v_talk.message IS 'The message, on one line, cut.';
COMMENT ON COLUMN v_talk.reply IS 'The reply, or why there is none, on one line, cut; null until then.';
COMMENT ON COLUMN v_talk.seconds IS 'From the message to the end; null until then.';
COMMENT ON COLUMN v_talk.cost_usd IS 'Cost of its model calls; null without any.';
COMMENT ON COLUMN v_talk.created_at IS 'When the message was sent.';
COMMENT ON COLUMN v_talk.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_talk.session_id IS 'Its conversation.';

CREATE VIEW v_feedback WITH (security_invoker = true) AS
SELECT f.turn_id, f.session_id, f.user_id, t.number, f.rating, f.text, t.message, t.goal, t.reply, t.error_code,
       (SELECT c.model FROM llm_calls AS c WHERE c.turn_id = t.id ORDER BY c.node = 'reply' DESC, c.id DESC LIMIT 1) AS model,
       f.created_at, f.updated_at
FROM feedback AS f
JOIN turns AS t ON t.id = f.turn_id AND t.user_id = f.user_id;
COMMENT ON VIEW v_feedback IS 'Public API. Feedback on replies, with message and reply, as material for evaluation.';
COMMENT ON COLUMN v_feedback.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_feedback.session_id IS 'Its conversation.';
COMMENT ON COLUMN v_feedback.user_id IS 'Who gave it.';
COMMENT ON COLUMN v_feedback.number IS 'The turn''s number there, from 1.';
COMMENT ON COLUMN v_feedback.rating IS 'up or down.';
COMMENT ON COLUMN v_feedback.text IS 'Why, in their words; may be empty.';
COMMENT ON COLUMN v_feedback.message IS 'What the user said, as typed.';
COMMENT ON COLUMN v_feedback.goal IS 'The plan''s goal.';
COMMENT ON COLUMN v_feedback.reply IS 'What the user was told.';
COMMENT ON COLUMN v_feedback.error_code IS 'Why the turn failed, if it did.';
COMMENT ON COLUMN v_feedback.model IS 'Model of the reply, or of the last call; null if no model was asked.';
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
COMMENT ON VIEW v_timeline IS 'Public API. What happened in a turn, one line per event, in order.';
COMMENT ON COLUMN v_timeline.session_id IS 'The conversation it happened in.';
COMMENT ON COLUMN v_timeline.turn_id IS 'The turn it happened in.';
COMMENT ON COLUMN v_timeline.number IS 'The turn''s number.';
COMMENT ON COLUMN v_timeline.at IS 'When.';
COMMENT ON COLUMN v_timeline.seq IS 'Order within the turn, from 1.';
COMMENT ON COLUMN v_timeline.kind IS 'message, node, tool, entity, decision, question, reply, failed or cancelled.';
COMMENT ON COLUMN v_timeline.node IS 'The node, if the line is about one.';
COMMENT ON COLUMN v_timeline.step IS 'Step of the plan.';
COMMENT ON COLUMN v_timeline.call IS 'Model call within the step.';
COMMENT ON COLUMN v_timeline.ref IS 'The entity, if the line is about one.';
COMMENT ON COLUMN v_timeline.text IS 'What happened.';
COMMENT ON COLUMN v_timeline.duration_ms IS 'How long a node took.';

CREATE VIEW v_row_events WITH (security_invoker = true) AS
SELECT e.user_id, e.entity_type, e.entity_id, coalesce(v.data ->> 'label', e.label) AS label,
       split_part(v.action, ':', 1) AS action, NULL::text AS operation, v.actor, v.session_id, v.turn_number AS number, v.created_at AS at
FROM entity_refs AS e
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
JOIN sessions AS s ON s.id = e.session_id
WHERE e.entity_id IS NOT NULL AND v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user')
  AND coalesce(v.data ->> 'entity_id', e.entity_id) = e.entity_id
  AND (s.parent_id IS NULL OR v.turn_number > s.forked_at_turn)
UNION ALL
-- Of the drafts that were restored: what was done to the rows that they were saved as, and the end of those rows.
SELECT u.user_id, e.entity_type, x.entity_id, coalesce(v.data ->> 'label', e.label),
       CASE v.action WHEN 'restored' THEN 'deleted' ELSE split_part(v.action, ':', 1) END, NULL, v.actor, v.session_id, v.turn_number, v.created_at
FROM (SELECT DISTINCT r.user_id, r.session_id, r.ref FROM entity_events AS r WHERE r.action = 'restored') AS u
JOIN entity_refs AS e ON e.session_id = u.session_id AND e.ref = u.ref
JOIN sessions AS s ON s.id = e.session_id
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
CROSS JOIN LATERAL (SELECT CASE v.action WHEN 'restored' THEN (
        SELECT p.data ->> 'entity_id' FROM entity_events AS p
        WHERE p.session_id = v.session_id AND p.ref = v.ref AND p.turn_number <= v.turn_number AND p.id < v.id
        ORDER BY p.turn_number DESC, p.id DESC LIMIT 1)
    ELSE v.data ->> 'entity_id' END AS entity_id) AS x
WHERE (s.parent_id IS NULL OR v.turn_number > s.forked_at_turn)
  AND (v.action = 'restored'
       OR v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user') AND x.entity_id IS DISTINCT FROM e.entity_id)
  AND x.entity_id IS NOT NULL
UNION ALL
SELECT r.user_id, r.entity_type, r.entity_id, r.label, r.action, r.operation, r.actor, NULL, NULL, r.created_at
FROM row_events AS r;
COMMENT ON VIEW v_row_events IS 'Public API. Who changed which row and when, for changes made through Alfred, in conversations and outside them.';
COMMENT ON COLUMN v_row_events.user_id IS 'Owner of the row.';
COMMENT ON COLUMN v_row_events.entity_type IS 'Type of the row.';
COMMENT ON COLUMN v_row_events.entity_id IS 'Key of the row.';
COMMENT ON COLUMN v_row_events.label IS 'The row''s label at that time.';
COMMENT ON COLUMN v_row_events.action IS 'created, updated, deleted, or called (by an owner''s operation).';
COMMENT ON COLUMN v_row_events.operation IS 'The operation, if it was called outside conversations.';
COMMENT ON COLUMN v_row_events.actor IS 'Who did it: assistant, user or system.';
COMMENT ON COLUMN v_row_events.session_id IS 'The conversation; null if there was none.';
COMMENT ON COLUMN v_row_events.number IS 'The turn in which it was done, or noticed; null without a conversation.';
COMMENT ON COLUMN v_row_events.at IS 'When.';

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
COMMENT ON COLUMN v_llm_costs.user_id IS 'The user.';
COMMENT ON COLUMN v_llm_costs.session_id IS 'The conversation the calls were made in.';
COMMENT ON COLUMN v_llm_costs.node IS 'The node that asked, or compress.';
COMMENT ON COLUMN v_llm_costs.provider IS 'The provider.';
COMMENT ON COLUMN v_llm_costs.model IS 'The model''s name at its provider.';
COMMENT ON COLUMN v_llm_costs.calls IS 'Number of calls, including failed ones.';
COMMENT ON COLUMN v_llm_costs.errors IS 'Number of failed calls.';
COMMENT ON COLUMN v_llm_costs.input_tokens IS 'Tokens of prompts.';
COMMENT ON COLUMN v_llm_costs.output_tokens IS 'Tokens of answers.';
COMMENT ON COLUMN v_llm_costs.cached_tokens IS 'Prompt tokens read from the provider''s cache.';
COMMENT ON COLUMN v_llm_costs.cost_usd IS 'What they cost.';

CREATE VIEW v_queue WITH (security_invoker = true) AS
SELECT q.job_id, q.queue, q.kind, q.state, q.attempt, q.session_id, q.turn_id, q.number, q.scheduled_at, q.attempted_at, q.worker, q.error
FROM queue_rows() AS q (job_id, queue, kind, state, attempt, turn_id, session_id, number, scheduled_at, attempted_at, worker, error);
COMMENT ON VIEW v_queue IS 'Public API. Waiting and running jobs with their turns, and turns that wait for other turns of their session or user.';
COMMENT ON COLUMN v_queue.job_id IS 'river_job.id, as River UI shows it; null for a turn without a job.';
COMMENT ON COLUMN v_queue.queue IS 'Its queue: turns or background.';
COMMENT ON COLUMN v_queue.kind IS 'The node it runs, or embed.';
COMMENT ON COLUMN v_queue.state IS 'River''s state, or queued for a turn without a job.';
COMMENT ON COLUMN v_queue.attempt IS 'Attempts so far.';
COMMENT ON COLUMN v_queue.session_id IS 'The conversation it works for.';
COMMENT ON COLUMN v_queue.turn_id IS 'The turn it works for; null for compress.';
COMMENT ON COLUMN v_queue.number IS 'The turn''s number.';
COMMENT ON COLUMN v_queue.scheduled_at IS 'When it may start.';
COMMENT ON COLUMN v_queue.attempted_at IS 'When its last attempt began: while it runs, since when.';
COMMENT ON COLUMN v_queue.worker IS 'Who makes its last attempt, as workers.id; null before the first, and for tenants.';
COMMENT ON COLUMN v_queue.error IS 'Why its last failed attempt failed; null without one, and for tenants.';

-- +goose Down
DROP VIEW v_queue;
DROP VIEW v_llm_costs;
DROP VIEW v_context;
DROP VIEW v_row_events;
DROP VIEW v_timeline;
DROP VIEW v_feedback;
DROP VIEW v_talk;
DROP VIEW v_turns;
DROP VIEW v_sessions;
