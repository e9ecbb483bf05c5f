-- TurnDetail is what the API shows of a turn besides its steps.
-- name: TurnDetail :one
SELECT t.id, t.session_id, t.number, t.status, t.current_node, t.message, t.mode, t.goal, t.reply, t.error_code, t.error_message,
       t.created_at, t.replied_at, t.summarized_at, t.finished_at,
       q.id AS question_id, q.kind AS question_kind, q.payload AS question_payload, q.status AS question_status,
       coalesce(u.calls, 0)::integer AS calls, coalesce(u.input_tokens, 0)::bigint AS input_tokens,
       coalesce(u.output_tokens, 0)::bigint AS output_tokens, coalesce(u.cached_tokens, 0)::bigint AS cached_tokens,
       coalesce(u.cost_usd, 0)::double precision AS cost_usd
FROM turns AS t
LEFT JOIN questions AS q ON q.turn_id = t.id
LEFT JOIN LATERAL (
    SELECT count(*) AS calls, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
           sum(c.cached_tokens) AS cached_tokens, sum(c.cost_usd) AS cost_usd
    FROM llm_calls AS c WHERE c.turn_id = t.id
) AS u ON true
WHERE t.id = @id
ORDER BY q.id DESC
LIMIT 1;

-- TurnPage pages forwards; the cursor is the last row's number.
-- name: TurnPage :many
SELECT id, session_id, number, status, message, goal, reply, error_code, error_message, created_at, replied_at
FROM turns
WHERE session_id = @session_id AND number > @after_number
ORDER BY number
LIMIT @page_size;

-- name: TurnStatusGet :one
SELECT status, summarized_at FROM turns WHERE id = @id;
