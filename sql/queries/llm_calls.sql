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

-- LlmCallInsert stores a call alone, as DecisionKeep does together with the decision it led to.
-- name: LlmCallInsert :exec
SELECT llm_call_keep(@llm_call::jsonb);

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
