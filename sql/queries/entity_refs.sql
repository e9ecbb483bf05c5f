-- EntityList is the registry as the API shows it, tiers counted from the session's last turn.
-- name: EntityList :many
SELECT ref, entity_type, label, action, state, tier, coalesce(active_reason, excluded_reason) AS reason, turn_created, turn_last_ref
FROM v_entities
WHERE session_id = @session_id AND tier <> 'hidden'
ORDER BY tier_rank(tier), entity_type, turn_created, ref
LIMIT @page_size;
