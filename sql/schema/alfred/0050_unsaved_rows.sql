-- A draft whose save is undone stands for no row any more, and v_row_events went by what a ref stands for now: it lost who
-- had made the row, never said who had deleted it, and gave that past to the row as which the draft was saved later.

-- +goose Up
CREATE INDEX entity_events_unsaved_idx ON entity_events (user_id, session_id, ref) WHERE action = 'restored';

CREATE OR REPLACE VIEW v_row_events WITH (security_invoker = true) AS
SELECT e.user_id, e.entity_type, e.entity_id, coalesce(v.data ->> 'label', e.label) AS label,
       split_part(v.action, ':', 1) AS action, NULL::text AS operation, v.actor, v.session_id, v.turn_number AS number, v.created_at AS at
FROM entity_refs AS e
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
JOIN sessions AS s ON s.id = e.session_id
WHERE e.entity_id IS NOT NULL AND v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user')
  AND coalesce(v.data ->> 'entity_id', e.entity_id) = e.entity_id
  AND (s.parent_id IS NULL OR v.turn_number > s.forked_at_turn)
UNION ALL
-- Of the drafts that were restored: what was done to the rows that they were saved as, and the end of those rows.
SELECT u.user_id, e.entity_type, x.entity_id, coalesce(v.data ->> 'label', e.label),
       CASE v.action WHEN 'restored' THEN 'deleted' ELSE split_part(v.action, ':', 1) END, NULL, v.actor, v.session_id, v.turn_number, v.created_at
FROM (SELECT DISTINCT r.user_id, r.session_id, r.ref FROM entity_events AS r WHERE r.action = 'restored') AS u
JOIN entity_refs AS e ON e.session_id = u.session_id AND e.ref = u.ref
JOIN sessions AS s ON s.id = e.session_id
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
CROSS JOIN LATERAL (SELECT CASE v.action WHEN 'restored' THEN (
        SELECT p.data ->> 'entity_id' FROM entity_events AS p
        WHERE p.session_id = v.session_id AND p.ref = v.ref AND p.turn_number <= v.turn_number AND p.id < v.id
        ORDER BY p.turn_number DESC, p.id DESC LIMIT 1)
    ELSE v.data ->> 'entity_id' END AS entity_id) AS x
WHERE (s.parent_id IS NULL OR v.turn_number > s.forked_at_turn)
  AND (v.action = 'restored'
       OR v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user') AND x.entity_id IS DISTINCT FROM e.entity_id)
  AND x.entity_id IS NOT NULL
UNION ALL
SELECT r.user_id, r.entity_type, r.entity_id, r.label, r.action, r.operation, r.actor, NULL, NULL, r.created_at
FROM row_events AS r;

COMMENT ON VIEW v_row_events IS 'Public API. Who changed which row and when, for changes made through Alfred, in conversations and outside them.';
COMMENT ON COLUMN v_row_events.user_id IS 'Owner of the row.';
COMMENT ON COLUMN v_row_events.entity_type IS 'Type of the row.';
COMMENT ON COLUMN v_row_events.entity_id IS 'Key of the row.';
COMMENT ON COLUMN v_row_events.label IS 'The row''s label at that time.';
COMMENT ON COLUMN v_row_events.action IS 'created, updated, deleted, or called (by an owner''s operation).';
COMMENT ON COLUMN v_row_events.operation IS 'The operation, if it was called outside conversations.';
COMMENT ON COLUMN v_row_events.actor IS 'Who did it: assistant, user or system.';
COMMENT ON COLUMN v_row_events.session_id IS 'The conversation; null if there was none.';
COMMENT ON COLUMN v_row_events.number IS 'The turn in which it was done, or noticed; null without a conversation.';
COMMENT ON COLUMN v_row_events.at IS 'When.';

-- +goose Down
CREATE OR REPLACE VIEW v_row_events WITH (security_invoker = true) AS
SELECT e.user_id, e.entity_type, e.entity_id, coalesce(v.data ->> 'label', e.label) AS label,
       split_part(v.action, ':', 1) AS action, NULL::text AS operation, v.actor, v.session_id, v.turn_number AS number, v.created_at AS at
FROM entity_refs AS e
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
JOIN sessions AS s ON s.id = e.session_id
WHERE e.entity_id IS NOT NULL AND v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user')
  AND (s.parent_id IS NULL OR v.turn_number > s.forked_at_turn)
UNION ALL
SELECT r.user_id, r.entity_type, r.entity_id, r.label, r.action, r.operation, r.actor, NULL, NULL, r.created_at
FROM row_events AS r;
DROP INDEX entity_events_unsaved_idx;
