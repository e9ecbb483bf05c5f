-- LlmCallAnswers are the answers bought for a decision, in the order of its requests. One that
-- was rejected is among them: its decision goes on with the one that mends it.
-- name: LlmCallAnswers :many
SELECT id, attempt, provider, model, response, input_tokens, output_tokens, cached_tokens
FROM llm_calls
WHERE turn_id = @turn_id AND position = @position::int AND (error_code IS NULL OR error_code = 'rejected') AND response IS NOT NULL
ORDER BY attempt, id;

-- LlmCallCompressed is an answer bought for the same compression before.
-- name: LlmCallCompressed :many
SELECT id, attempt, provider, model, response, input_tokens, output_tokens, cached_tokens
FROM llm_calls
WHERE session_id = @session_id AND node = 'compress' AND request = @request AND (error_code IS NULL OR error_code = 'rejected') AND response IS NOT NULL
ORDER BY id
LIMIT 1;

-- LlmCallGet is a call with all that was said.
-- name: LlmCallGet :one
SELECT id, session_id, turn_id, node, step, call, attempt, provider, model, input_tokens, output_tokens, cached_tokens,
       cost_usd::double precision AS cost_usd, latency_ms, error_code, trace_id, created_at, request, response
FROM llm_calls
WHERE id = @id;

-- LlmCallInsert stores a call; one that is stored already stays.
-- name: LlmCallInsert :exec
INSERT INTO llm_calls (id, session_id, user_id, turn_id, position, node, step, call, attempt, provider, model, request, response, context,
                       input_tokens, output_tokens, cached_tokens, cost_usd, latency_ms, error_code, trace_id)
VALUES (@id, @session_id, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id), sqlc.narg(turn_id), sqlc.narg(position), @node, sqlc.narg(step), @call, @attempt, @provider, @model,
        @request, sqlc.narg(response), @context, @input_tokens, @output_tokens, @cached_tokens, @cost_usd::double precision, @latency_ms,
        sqlc.narg(error_code), sqlc.narg(trace_id))
ON CONFLICT (id, user_id) DO NOTHING;

-- LlmCallPageTurn pages through a turn's calls as they were made, without what was said.
-- name: LlmCallPageTurn :many
SELECT id, session_id, turn_id, node, step, call, attempt, provider, model, input_tokens, output_tokens, cached_tokens,
       cost_usd::double precision AS cost_usd, latency_ms, error_code, trace_id, created_at
FROM llm_calls
WHERE turn_id = @turn_id AND (sqlc.narg(after_id)::uuid IS NULL OR id > sqlc.narg(after_id)::uuid)
ORDER BY id
LIMIT @page_size;

-- LlmCallTried is for how many seconds a decision has been tried; 0 when no call has failed yet.
-- name: LlmCallTried :one
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at - latency_ms * interval '1 millisecond')), 0)::double precision AS seconds
FROM llm_calls
WHERE turn_id = @turn_id AND position = @position::int AND error_code IS NOT NULL;
