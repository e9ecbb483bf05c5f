-- EntityList is the registry as the API shows it, tiers counted from the session's last turn.
-- name: EntityList :many
SELECT ref, entity_type, label, action, state, tier, coalesce(active_reason, excluded_reason) AS reason, turn_created, turn_last_ref
FROM v_entities
WHERE session_id = @session_id AND tier <> 'hidden'
ORDER BY tier_rank(tier), entity_type, turn_created, ref
LIMIT @page_size;

-- EntityRefListInView is every ref that can be named, with the tier that entities_at gives it as of a turn, in display order.
-- name: EntityRefListInView :many
SELECT e.ref, e.entity_type, e.entity_id, e.state, e.action, e.label, e.label_is_placeholder, e.turn_created, e.turn_last_ref,
       e.turn_promoted, e.active_reason, e.retain_confidence, e.pinned, e.excluded_reason, e.demoted_at_turn, e.deleted_at_turn,
       e.loaded, e.row_version, coalesce(a.tier, '')::text AS tier
FROM entity_refs AS e
LEFT JOIN entities_at(@session_id::uuid, @current_turn::int, @turns_window::int) AS a ON a.ref = e.ref
WHERE e.session_id = @session_id::uuid AND e.state <> 'dropped'
ORDER BY tier_rank(a.tier), e.entity_type, regexp_replace(e.ref, '_\d+$', ''), substring(e.ref FROM '\d+$')::bigint;
