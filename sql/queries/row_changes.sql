-- RowChangeLater returns what the user's later turns, in any session, did to the rows that a turn wrote: their final
-- state, and whether all of it has been undone.
-- name: RowChangeLater :many
SELECT r.entity_type, r.entity_id,
       (array_agg(r.action ORDER BY r.created_at DESC, r.seq DESC))[1]::text AS action,
       coalesce((array_agg(r.after ORDER BY r.created_at DESC, r.seq DESC))[1], 'null')::jsonb AS after,
       bool_and(t.undone_by IS NOT NULL OR t.undoes IS NOT NULL)::boolean AS cancelled
FROM (SELECT DISTINCT c.entity_type, c.entity_id, c.user_id, max(c.created_at) OVER () AS at FROM row_changes AS c WHERE c.turn_id = @turn_id) AS mine
JOIN row_changes AS r ON r.entity_id = mine.entity_id AND r.entity_type = mine.entity_type AND r.user_id = mine.user_id
    AND r.turn_id <> @turn_id AND r.created_at > mine.at
JOIN turns AS t ON t.id = r.turn_id
GROUP BY r.entity_type, r.entity_id;

-- RowChangeList returns what a turn wrote, in order.
-- name: RowChangeList :many
SELECT seq, step, call, entity_type, entity_id, action, before, after, draft, lost FROM row_changes WHERE turn_id = @turn_id ORDER BY seq;

-- RowChangeSince returns what a fork's parent did to rows in turns after the fork point: the last turn whose change
-- stands (0: everything was undone), the row's final state, and whether those turns created it.
-- name: RowChangeSince :many
SELECT r.entity_type, r.entity_id, coalesce(max(t.number) FILTER (WHERE t.undone_by IS NULL AND t.undoes IS NULL), 0)::integer AS number,
       coalesce((array_agg(r.after ORDER BY r.created_at DESC, r.seq DESC))[1], 'null')::jsonb AS after,
       bool_or(r.action = 'created' AND t.undone_by IS NULL AND t.undoes IS NULL)::boolean AS created, coalesce(max(e.label), '')::text AS label
FROM sessions AS f
JOIN turns AS t ON t.session_id = f.parent_id AND t.number > f.forked_at_turn
JOIN row_changes AS r ON r.turn_id = t.id
LEFT JOIN entity_refs AS e ON e.session_id = t.session_id AND e.entity_type = r.entity_type AND e.entity_id = r.entity_id AND e.label_is_placeholder IS FALSE
WHERE f.id = @session_id
GROUP BY r.entity_type, r.entity_id
ORDER BY max(t.number), r.entity_type, r.entity_id;

-- RowChangeUndos returns the undos after a turn: which turn undid what which other had done to which row.
-- name: RowChangeUndos :many
SELECT DISTINCT (r.params ->> 'turn')::integer AS undone, later.number AS undone_by, c.entity_type, c.entity_id
FROM turns AS t
JOIN turns AS later ON later.session_id = t.session_id AND later.number > t.number
JOIN turn_step_results AS r ON r.turn_id = later.id AND r.tool = 'undo' AND r.error_code IS NULL
JOIN row_changes AS c ON c.turn_id = r.turn_id AND c.step = r.step
WHERE t.id = @turn_id;
