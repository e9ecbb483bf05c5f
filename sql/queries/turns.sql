-- TurnContext returns what a turn's view needs from session and user, their versions, and whether the user's changes
-- and mentions have yet to be applied.
-- name: TurnContext :one
SELECT u.timezone, coalesce(t.started_at, clock_timestamp())::timestamptz AS at, s.version AS session_version, u.version AS user_version,
       (t.inputs_applied_at IS NULL
        AND (t.ui_changes <> '[]' OR t.mentioned_entities <> '[]' OR t.message LIKE '%@[%'
             OR EXISTS (SELECT FROM entity_events AS v
                        WHERE v.session_id = t.session_id AND v.turn_number = t.number
                          AND v.action IN ('created:user', 'updated:user', 'deleted:user'))))::boolean AS has_inputs
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
JOIN users AS u ON u.id = t.user_id
WHERE t.id = @id;

-- TurnFence begins a decision's commit: it fails if another job made this decision or the turn has ended, and keeps the turn at
-- its position until decision_keep moves it on.
-- name: TurnFence :exec
SELECT fence_passed(count(*)) FROM (SELECT FROM turns WHERE id = @id AND position = @position AND status = 'running' FOR NO KEY UPDATE) AS held;

-- name: TurnGet :one
SELECT * FROM turns WHERE id = @id;

-- TurnHistoryList are the newest turns that a client sent with these messages, whether each is so recent that official
-- clients may send it again without being told to, and whether the client went on from it since.
-- name: TurnHistoryList :many
SELECT t.id, t.session_id, t.number, t.status, t.idempotency_key,
       (t.created_at > clock_timestamp() - interval '15 minutes')::boolean AS recent,
       EXISTS (SELECT FROM turns AS l WHERE l.session_id = t.session_id AND l.number > t.number AND l.history_hash IS NOT NULL) AS went_on
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
WHERE t.user_id = @user_id AND t.history_hash = @history_hash::bytea AND s.archived_at IS NULL
ORDER BY t.id DESC
LIMIT @lim;

-- TurnHistorySet notes what a client sent with a turn.
-- name: TurnHistorySet :exec
UPDATE turns SET history_hash = @history_hash::bytea WHERE id = @id AND user_id = @user_id;

-- TurnHold is the fence for writes beside a decision: it keeps the turn at its position until the transaction ends.
-- name: TurnHold :one
SELECT inputs_applied_at FROM turns WHERE id = @id AND position = @position AND status = 'running' FOR NO KEY UPDATE;

-- name: TurnInputsApplied :exec
UPDATE turns SET inputs_applied_at = clock_timestamp() WHERE id = @id;

-- TurnLast returns the session's newest turn.
-- name: TurnLast :one
SELECT id, number, status, message FROM turns WHERE session_id = @session_id ORDER BY number DESC LIMIT 1;

-- TurnListPast returns the turns that had ended at a moment, newest first, with their summaries. Long texts are cut: no
-- prompt has room for them.
-- name: TurnListPast :many
SELECT t.id, t.number, left(t.message, @max_chars::int)::text AS message, octet_length(t.message) AS message_bytes, t.status,
       left(coalesce(t.reply, ''), @max_chars::int)::text AS reply, t.error_message, t.finished_at,
       (t.summarized_at IS NULL OR t.summarized_at > @before)::boolean AS summary_is_late,
       coalesce(s.goal, t.goal, '')::text AS goal, coalesce(s.steps, '[]')::jsonb AS steps,
       coalesce(s.curation_summary, '')::text AS curation_summary, coalesce(s.analysis_conclusions, '')::text AS analysis_conclusions,
       coalesce(s.response_summary, '')::text AS response_summary, coalesce(s.conversation_phase, '')::text AS conversation_phase,
       coalesce(s.tone, '')::text AS tone, coalesce(s.what_user_expressed, '')::text AS what_user_expressed,
       coalesce(s.what_we_acknowledged, '')::text AS what_we_acknowledged, coalesce(s.natural_next, '')::text AS natural_next
FROM turns AS t
LEFT JOIN LATERAL (SELECT x.* FROM turn_summaries AS x WHERE x.turn_id = t.id LIMIT 1) AS s ON true
WHERE t.session_id = @session_id AND t.number <> @current_turn::int AND t.finished_at <= @before
  AND t.number BETWEEN @from_turn::int AND @to_turn::int
ORDER BY t.number DESC
LIMIT @lim;

-- TurnListSessions returns the sessions of turns; deleted turns have no row.
-- name: TurnListSessions :many
SELECT DISTINCT session_id FROM turns WHERE id = ANY (@ids::uuid[]);

-- TurnPage returns what the API shows of turns besides their steps: of the turn with an id, or of a session's, forwards; the
-- cursor is the last row's number. What a person did within a step is an undo: by hand, there is none.
-- name: TurnPage :many
SELECT t.id, t.session_id, t.number, t.status, t.message, t.goal, t.reply, t.said, t.error_code, t.error_message,
       t.created_at, t.replied_at, t.undo, t.undo_reason, t.undoes, t.undone_by,
       q.id AS question_id, q.kind AS question_kind, q.payload AS question_payload, q.status AS question_status,
       coalesce(u.calls, 0)::integer AS calls, coalesce(u.input_tokens, 0)::bigint AS input_tokens,
       coalesce(u.output_tokens, 0)::bigint AS output_tokens, coalesce(u.cached_tokens, 0)::bigint AS cached_tokens,
       coalesce(u.cost_usd, 0)::double precision AS cost_usd, coalesce(u.model, '')::text AS model,
       f.rating AS feedback_rating, f.text AS feedback_text, f.updated_at AS feedback_at, coalesce(w.rows, '[]')::jsonb AS wrote,
       turn_unwritten(t.id) AS unwritten
FROM turns AS t
LEFT JOIN questions AS q ON q.id = (SELECT a.id FROM questions AS a WHERE a.turn_id = t.id ORDER BY a.id DESC LIMIT 1)
LEFT JOIN LATERAL (
    SELECT count(*) AS calls, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
           sum(c.cached_tokens) AS cached_tokens, sum(c.cost_usd) AS cost_usd, (array_agg(c.model ORDER BY c.node = 'reply' DESC, c.id DESC) FILTER (WHERE c.response IS NOT NULL))[1] AS model
    FROM llm_calls AS c WHERE c.turn_id = t.id
) AS u ON true
LEFT JOIN feedback AS f ON f.turn_id = t.id AND f.user_id = t.user_id
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('action', split_part(e.action, ':', 1), 'type', e.data ->> 'entity_type', 'ref', e.ref, 'label', e.data ->> 'label') ORDER BY e.id) AS rows
    FROM entity_events AS e
    WHERE e.session_id = t.session_id AND e.turn_number = t.number
      AND (e.actor = 'assistant' AND e.action IN ('created', 'updated', 'deleted') OR e.step > 0 AND e.action IN ('created:user', 'updated:user', 'deleted:user'))
) AS w ON true
WHERE t.id = ANY (sqlc.narg(id)::uuid || ARRAY(
    SELECT p.id FROM turns AS p WHERE p.session_id = sqlc.narg(session_id)::uuid AND p.number > @after_number ORDER BY p.number LIMIT @page_size
))
ORDER BY t.number;

-- TurnReply is the fence of a reply and ends the turn for its user. The session's row is locked first: the turn's is found by
-- it.
-- name: TurnReply :exec
WITH touched AS (
    UPDATE sessions SET last_activity_at = clock_timestamp() WHERE sessions.id = @session_id RETURNING sessions.id
), passed AS (
    UPDATE turns AS t
    SET position = t.position + 1, status = 'succeeded', current_node = 'summarize', reply = @reply::text,
        replied_at = clock_timestamp(), finished_at = greatest(clock_timestamp(), t.started_at)
    FROM touched AS s
    WHERE t.id = @id AND t.session_id = s.id AND t.position = @position AND t.status = 'running'
    RETURNING t.id
)
SELECT fence_passed(count(*)) FROM passed;

-- name: TurnStatusGet :one
SELECT status, summarized_at FROM turns WHERE id = @id;

-- TurnSummarized is the fence of a summary and writes it. The session's row must be locked first. A conversation titled by
-- its first message, or like the one that it is a fork of, is retitled by the first goal of its own turns, unless one before had
-- steps, whose message was its goal; a title set by the user stays. The session's version tells a later turn that already runs
-- that this one has ended. It reports whether the session's next turn has begun.
-- name: TurnSummarized :one
WITH done AS (
    UPDATE turns AS t SET position = t.position + 1, summarized_at = clock_timestamp()
    WHERE t.id = @id AND t.position = @position AND t.status = 'succeeded' AND t.summarized_at IS NULL
    RETURNING t.session_id, t.user_id, t.number, t.goal
), named AS (
    SELECT d.session_id, d.user_id, s.last_turn > d.number AS late,
           title_of(coalesce(d.goal, '')) <> ''
           AND s.title = coalesce(p.title, (SELECT title_of(f.message) FROM turns AS f WHERE f.session_id = s.id AND f.number = 1))
           AND NOT EXISTS (SELECT FROM turns AS e WHERE e.session_id = s.id AND e.number < d.number AND e.number > coalesce(s.forked_at_turn, 0)
                           AND (title_of(coalesce(e.goal, '')) <> '' OR EXISTS (SELECT FROM turn_steps AS w WHERE w.turn_id = e.id))) AS titled, d.goal
    FROM done AS d
    JOIN sessions AS s ON s.id = d.session_id AND s.user_id = d.user_id
    LEFT JOIN sessions AS p ON p.id = s.parent_id AND p.user_id = s.user_id
), told AS (
    UPDATE sessions AS s
    SET title = CASE WHEN n.titled THEN title_of(n.goal) ELSE s.title END, version = s.version + n.late::int
    FROM named AS n
    WHERE s.id = n.session_id AND s.user_id = n.user_id AND (n.titled OR n.late)
)
SELECT fence_passed(count(*))::text AS passed, turn_summary_write_facts(@id, @words::jsonb, @model::text)::text AS written,
       (turn_start_next(@session_id::uuid, wake => false) IS NOT NULL)::boolean AS begun
FROM done;

-- TurnTimeline pages through what happened in a turn; a node's line includes the usage of its model calls.
-- name: TurnTimeline :many
SELECT v.seq::int AS seq, v.at::timestamptz AS at, v.kind::text AS kind, v.node, v.step, v.call, v.ref, coalesce(v.text, '')::text AS text, v.duration_ms,
       c.calls, c.input_tokens, c.output_tokens, c.cached_tokens, c.cost_usd
FROM v_timeline AS v
CROSS JOIN LATERAL (
    SELECT count(*)::int AS calls, coalesce(sum(l.input_tokens), 0)::bigint AS input_tokens, coalesce(sum(l.output_tokens), 0)::bigint AS output_tokens,
           coalesce(sum(l.cached_tokens), 0)::bigint AS cached_tokens, coalesce(sum(l.cost_usd), 0)::double precision AS cost_usd
    FROM llm_calls AS l
    WHERE v.kind = 'node' AND l.turn_id = v.turn_id AND l.node = v.node AND l.step IS NOT DISTINCT FROM v.step AND l.call = v.call
) AS c
WHERE v.turn_id = @turn_id AND v.seq > @after_seq::int
ORDER BY v.seq
LIMIT @page_size;

-- TurnUndo enqueues a turn that undoes another one.
-- name: TurnUndo :one
SELECT u.turn_id::uuid AS turn_id, u.session_id::uuid AS session_id, u.number::int AS number, u.status::turn_status AS status, u.existing::boolean AS existing
FROM turn_undo(@turn_id::uuid, sqlc.narg(idempotency_key)::text, @if_busy::text) AS u;

-- TurnUndoTarget returns the turn that an undo means: the given turn, or the one with that number, else the newest
-- before this turn that wrote and was not undone; to redo, the newest that took back what was no mere undo. It is called
-- by the message that asked for its writes: of one that said yes to them, the message that led to the question.
-- name: TurnUndoTarget :one
SELECT t.id, t.number, t.undo, t.undo_reason,
       coalesce('“' || nullif(title_of(coalesce(approved.message, t.message)), '') || '”', 'turn ' || t.number)::text AS asked
FROM turns AS t
LEFT JOIN node_runs AS u ON u.turn_id = t.id AND u.node = 'understand' AND u.output ->> 'intent' = 'confirm'
LEFT JOIN questions AS q ON q.session_id = t.session_id AND q.answered_by_turn = t.number AND q.kind = 'approve' AND u.turn_id IS NOT NULL
LEFT JOIN turns AS approved ON approved.id = q.turn_id
WHERE t.session_id = @session_id AND t.number < @before::int
  AND CASE WHEN sqlc.narg(turn_id)::uuid IS NOT NULL THEN t.id = sqlc.narg(turn_id)::uuid
           WHEN sqlc.narg(number)::int IS NOT NULL THEN t.number = sqlc.narg(number)::int
           WHEN NOT @redo::boolean THEN t.undo IN ('possible', 'impossible') AND t.undoes IS NULL
           ELSE t.undo IN ('possible', 'impossible') AND EXISTS (
               SELECT FROM turn_step_results AS r
               JOIN turns AS o ON o.session_id = t.session_id AND o.number = (r.params ->> 'turn')::integer
               WHERE r.turn_id = t.id AND r.tool = 'undo' AND r.error_code IS NULL
                 AND EXISTS (SELECT FROM row_changes AS w WHERE w.turn_id = o.id
                             AND NOT EXISTS (SELECT FROM turn_step_results AS i WHERE i.turn_id = o.id AND i.step = w.step AND i.tool = 'undo')))
      END
ORDER BY t.number DESC
LIMIT 1;

-- TurnUndone records after an undo what stands of its turn, of those that this one had undone, and so on: a turn is undone
-- if each of its rows was by a turn of which that was not undone in its turn. The one that was meant is, unless a part of it is
-- left: where its writes had cancelled each other out, there was no row to change. One that undid a whole turn and did no more names it.
-- name: TurnUndone :exec
WITH RECURSIVE concerned AS (
    SELECT t.id, t.session_id, t.number FROM turns AS t WHERE t.id = @turn_id::uuid
    UNION
    SELECT t.id, t.session_id, t.number
    FROM concerned AS c
    JOIN turn_step_results AS r ON r.turn_id = c.id AND r.tool = 'undo' AND r.error_code IS NULL
    JOIN turns AS t ON t.session_id = c.session_id AND t.number = (r.params ->> 'turn')::integer
), undos AS (
    SELECT DISTINCT (r.params ->> 'turn')::integer AS undone, t.number, w.entity_type, w.entity_id
    FROM (SELECT c.session_id, min(c.number) AS number FROM concerned AS c GROUP BY c.session_id) AS first
    JOIN turns AS t ON t.session_id = first.session_id AND t.number > first.number
    JOIN turn_step_results AS r ON r.turn_id = t.id AND r.tool = 'undo' AND r.error_code IS NULL
    JOIN row_changes AS w ON w.turn_id = r.turn_id AND w.step = r.step
), followed AS (
    SELECT u.undone, u.number AS undone_by, u.number, u.entity_type, u.entity_id, 1 AS stands FROM undos AS u
    UNION ALL
    SELECT f.undone, f.undone_by, u.number, u.entity_type, u.entity_id, -f.stands
    FROM followed AS f
    JOIN undos AS u ON u.undone = f.number AND u.entity_type = f.entity_type AND u.entity_id = f.entity_id
), standing AS (
    SELECT f.undone, f.undone_by, f.entity_type, f.entity_id FROM followed AS f GROUP BY f.undone, f.undone_by, f.entity_type, f.entity_id HAVING sum(f.stands) > 0
), settled AS (
    SELECT c.id, c.session_id, CASE WHEN c.id = @turn_id AND NOT @part::boolean THEN (SELECT u.number FROM turns AS u WHERE u.id = @undone_by::uuid)
                                    WHEN bool_and(s.undone IS NOT NULL) THEN max(s.undone_by) END AS undone_by
    FROM concerned AS c
    JOIN row_changes AS w ON w.turn_id = c.id
    LEFT JOIN standing AS s ON s.undone = c.number AND s.entity_type = w.entity_type AND s.entity_id = w.entity_id
    GROUP BY c.id, c.session_id
), told AS (
    UPDATE turns AS t
    SET undo = CASE WHEN s.undone_by IS NOT NULL THEN 'done' WHEN t.undo_reason IS NULL THEN 'possible' ELSE 'impossible' END,
        undone_by = (SELECT u.id FROM turns AS u WHERE u.session_id = s.session_id AND u.number = s.undone_by)
    FROM settled AS s WHERE t.id = s.id
)
UPDATE turns AS t SET undoes = @turn_id::uuid WHERE t.id = @undone_by::uuid AND @alone::boolean AND NOT @part::boolean;

-- TurnUndoChangedBy says who changed a row since a turn wrote: what was asked in the newest other turn whose change stands
-- (empty: none), and whether the user did outside the chat.
-- name: TurnUndoChangedBy :one
WITH undone AS (
    SELECT max(r.created_at) AS at FROM row_changes AS r WHERE r.turn_id = @turn_id
), later AS (
    SELECT coalesce('“' || nullif(title_of(t.message), '') || '”', 'turn ' || t.number) AS asked, t.session_id = @session_id AS same_session
    FROM undone AS u JOIN row_changes AS r ON r.created_at > u.at JOIN turns AS t ON t.id = r.turn_id
    WHERE r.entity_id = @entity_id::text AND r.entity_type = @entity_type AND r.user_id = @user_id AND r.turn_id <> @turn_id
      AND t.undone_by IS NULL AND t.undoes IS NULL
    ORDER BY r.created_at DESC LIMIT 1
)
SELECT coalesce((SELECT l.asked FROM later AS l), '')::text AS asked, coalesce((SELECT l.same_session FROM later AS l), false)::boolean AS same_session,
       EXISTS (SELECT FROM v_row_events AS v JOIN undone AS u ON v.at > u.at
               WHERE v.user_id = @user_id AND v.entity_type = @entity_type AND v.entity_id = @entity_id::text AND v.actor = 'user')::boolean AS by_user;

-- TurnOvertaken says whether the session's next turn has begun, as it does when a summary takes too long.
-- name: TurnOvertaken :one
SELECT EXISTS (SELECT FROM turns AS t JOIN turns AS n ON n.session_id = t.session_id AND n.number > t.number
               WHERE t.id = @id AND n.started_at IS NOT NULL)::boolean AS overtaken;
