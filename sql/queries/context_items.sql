-- name: ContextItemListCall :many
SELECT section, coalesce(ref, '')::text AS ref, coalesce(turn_number, 0)::int AS turn_number, reason, tokens
FROM context_items
WHERE llm_call_id = @llm_call_id
ORDER BY position;

-- ContextItemSumTurn totals what a turn's prompts contained: by call, section and reason, in call order.
-- name: ContextItemSumTurn :many
SELECT node, coalesce(step, 0)::int AS step, call, section, reason, count(*)::int AS items, sum(tokens)::int AS tokens,
       coalesce(array_agg(ref ORDER BY position) FILTER (WHERE ref IS NOT NULL), '{}')::text[] AS refs
FROM v_context
WHERE turn_id = @turn_id
GROUP BY llm_call_id, node, step, call, section, reason
ORDER BY llm_call_id, min(position);
