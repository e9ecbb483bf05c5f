-- ContextItemInsert records why each thing stood in a prompt, in the order of the prompt. Empty refs and turn 0 become null.
-- name: ContextItemInsert :exec
INSERT INTO context_items (llm_call_id, position, section, ref, turn_number, reason, tokens)
SELECT @llm_call_id::uuid, generate_subscripts(@sections::text[], 1), unnest(@sections::text[]), nullif(unnest(@refs::text[]), ''),
       nullif(unnest(@turn_numbers::int[]), 0), unnest(@reasons::text[]), unnest(@tokens::int[])
ON CONFLICT (llm_call_id, position) DO NOTHING;

-- name: ContextItemListCall :many
SELECT section, coalesce(ref, '')::text AS ref, coalesce(turn_number, 0)::int AS turn_number, reason, tokens
FROM context_items
WHERE llm_call_id = @llm_call_id
ORDER BY position;

-- ContextItemSumTurn is what the prompts of a turn held: by call, section and reason, in the order of the calls.
-- name: ContextItemSumTurn :many
SELECT node, coalesce(step, 0)::int AS step, call, section, reason, count(*)::int AS items, sum(tokens)::int AS tokens,
       coalesce(array_agg(ref ORDER BY position) FILTER (WHERE ref IS NOT NULL), '{}')::text[] AS refs
FROM v_context
WHERE turn_id = @turn_id
GROUP BY llm_call_id, node, step, call, section, reason
ORDER BY llm_call_id, min(position);
