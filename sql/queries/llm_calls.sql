-- LlmCallAnswers returns the answers bought for a decision, in request order, including rejected ones: their decision
-- continues with the repaired answer.
-- name: LlmCallAnswers :many
SELECT id, attempt, provider, model, response, input_tokens, output_tokens, cached_tokens
FROM llm_calls
WHERE turn_id = @turn_id AND position = @position::int AND (error_code IS NULL OR error_code = 'rejected') AND response IS NOT NULL
ORDER BY attempt, id;

-- LlmCallCompressed returns an answer bought earlier for the same compression.
-- name: LlmCallCompressed :many
SELECT id, attempt, provider, model, response, input_tokens, output_tokens, cached_tokens
FROM llm_calls
WHERE session_id = @session_id AND node = 'compress' AND parts = @parts::uuid[] AND outline = @outline::text AND (error_code IS NULL OR error_code = 'rejected') AND response IS NOT NULL
ORDER BY id
LIMIT 1;

-- LlmCallGet returns a call with its full content.
-- name: LlmCallGet :one
SELECT id, session_id, turn_id, node, step, call, attempt, provider, model, input_tokens, output_tokens, cached_tokens,
       cost_usd::double precision AS cost_usd, latency_ms, error_code, trace_id, created_at, request, response
FROM v_llm_calls
WHERE id = @id;

-- LlmCallInsert stores a call and those parts of its request that are not stored yet; an existing call is kept. Parts are
-- inserted by hash, so that of two calls with the same new ones one waits for the other, never both.
-- name: LlmCallInsert :exec
WITH owner AS (
    SELECT s.id, s.user_id, uuid_v7_month(@id::uuid) AS month FROM sessions AS s WHERE s.id = @session_id
), own AS (
    INSERT INTO prompt_parts (session_id, user_id, hash, month, text)
    SELECT o.id, o.user_id, p.hash, o.month, p.text
    FROM owner AS o CROSS JOIN (SELECT unnest(@own_hashes::uuid[]) AS hash, unnest(@own_texts::text[]) AS text) AS p
    ORDER BY p.hash
    ON CONFLICT DO NOTHING
), shared AS (
    INSERT INTO prompt_parts_shared (hash, month, text)
    SELECT p.hash, o.month, p.text
    FROM owner AS o CROSS JOIN (SELECT unnest(@shared_hashes::uuid[]) AS hash, unnest(@shared_texts::text[]) AS text) AS p
    ORDER BY p.hash
    ON CONFLICT DO NOTHING
)
INSERT INTO llm_calls (id, session_id, user_id, turn_id, position, node, step, call, attempt, provider, model, outline, parts, response, context,
                       input_tokens, output_tokens, cached_tokens, cost_usd, latency_ms, error_code, trace_id)
VALUES (@id, @session_id, (SELECT o.user_id FROM owner AS o), sqlc.narg(turn_id), sqlc.narg(position), @node, sqlc.narg(step), @call, @attempt, @provider, @model,
        @outline::text, @parts::uuid[], sqlc.narg(response), @context, @input_tokens, @output_tokens, @cached_tokens, @cost_usd::double precision, @latency_ms,
        sqlc.narg(error_code), sqlc.narg(trace_id))
ON CONFLICT (id, user_id) DO NOTHING;

-- LlmCallPageTurn pages through a turn's calls in order, without their content.
-- name: LlmCallPageTurn :many
SELECT id, session_id, turn_id, node, step, call, attempt, provider, model, input_tokens, output_tokens, cached_tokens,
       cost_usd::double precision AS cost_usd, latency_ms, error_code, trace_id, created_at
FROM llm_calls
WHERE turn_id = @turn_id AND (sqlc.narg(after_id)::uuid IS NULL OR id > sqlc.narg(after_id)::uuid)
ORDER BY id
LIMIT @page_size;

-- LlmCallRound returns what was asked and answered in the call that a decision of act came from.
-- name: LlmCallRound :many
SELECT provider, request, response FROM v_llm_calls
WHERE id = @id AND turn_id = @turn_id AND position = @position::int AND node = 'act' AND error_code IS NULL;

-- LlmCallTried returns for how many seconds a decision has been tried: its failed calls and the pauses after them, of
-- which each counts for so many seconds at most, however far the clock was set meanwhile.
-- name: LlmCallTried :one
SELECT coalesce(sum(took + least(greatest(extract(epoch FROM next - created_at), 0), @pause::double precision)), 0)::double precision AS seconds
FROM (SELECT created_at, latency_ms / 1000.0 AS took, coalesce(lead(created_at - latency_ms * interval '1 millisecond') OVER (ORDER BY created_at), clock_timestamp()) AS next
      FROM llm_calls
      WHERE turn_id = @turn_id AND position = @position::int AND error_code IS NOT NULL) AS failed;
