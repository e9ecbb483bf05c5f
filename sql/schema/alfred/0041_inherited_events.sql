-- A change to a row is one event, however often the conversation it was made in is forked: a fork begins with its parent's
-- registry, events included, and v_row_events showed each of them once more. A parent's own events are shown; those a fork
-- inherited only once the parent is forgotten.

-- +goose Up
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
WHERE e.entity_id IS NOT NULL AND v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user')
UNION ALL
SELECT r.user_id, r.entity_type, r.entity_id, r.label, r.action, r.operation, r.actor, NULL, NULL, r.created_at
FROM row_events AS r;
