-- What is done to the domain's rows beside conversations: at the page's tables, by other programs through the API. A
-- conversation's own changes are in its registry's history (entity_events); one view says both.

-- +goose Up

CREATE TABLE row_events (
    id          uuid        NOT NULL DEFAULT uuid_v7(),
    user_id     uuid        NOT NULL,
    entity_type text        NOT NULL,
    entity_id   text        NOT NULL,
    label       text        NOT NULL DEFAULT '',
    action      text        NOT NULL,
    operation   text,
    actor       text        NOT NULL DEFAULT 'user',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT row_events_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT row_events_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT row_events_action_known CHECK (action IN ('created', 'updated', 'deleted', 'called')),
    CONSTRAINT row_events_actor_known CHECK (actor IN ('user', 'system')),
    CONSTRAINT row_events_called CHECK (action <> 'called' OR operation IS NOT NULL)
);
CREATE INDEX row_events_row_idx ON row_events (user_id, entity_type, entity_id);
COMMENT ON TABLE row_events IS 'Append-only: what was done to rows through Alfred without a conversation. What a conversation did stands in entity_events.';
COMMENT ON COLUMN row_events.id IS 'Time-ordered id.';
COMMENT ON COLUMN row_events.user_id IS 'Whose row it is.';
COMMENT ON COLUMN row_events.entity_type IS 'Type of the row.';
COMMENT ON COLUMN row_events.entity_id IS 'Key of the row.';
COMMENT ON COLUMN row_events.label IS 'What the row was called then; empty where its own columns do not say.';
COMMENT ON COLUMN row_events.action IS 'created, updated, deleted, or called: an operation of the owner''s was done to it.';
COMMENT ON COLUMN row_events.operation IS 'The operation that did it; null where the row itself was written.';
COMMENT ON COLUMN row_events.actor IS 'Who did it: user (a person or a program with their key) or system.';
COMMENT ON COLUMN row_events.created_at IS 'By the database''s clock, within the transaction that did it.';

CREATE POLICY row_events_tenant ON row_events TO alfred_tenant USING (user_id = (SELECT tenant_id()));
ALTER TABLE row_events ENABLE ROW LEVEL SECURITY;

CREATE VIEW v_row_events WITH (security_invoker = true) AS
SELECT e.user_id, e.entity_type, e.entity_id, coalesce(v.data ->> 'label', e.label) AS label,
       split_part(v.action, ':', 1) AS action, NULL::text AS operation, v.actor, v.session_id, v.turn_number AS number, v.created_at AS at
FROM entity_refs AS e
JOIN entity_events AS v ON v.session_id = e.session_id AND v.ref = e.ref
WHERE e.entity_id IS NOT NULL AND v.action IN ('created', 'updated', 'deleted', 'created:user', 'updated:user', 'deleted:user')
UNION ALL
SELECT r.user_id, r.entity_type, r.entity_id, r.label, r.action, r.operation, r.actor, NULL, NULL, r.created_at
FROM row_events AS r;
COMMENT ON VIEW v_row_events IS 'Public API. Who changed which row and when, as far as it was done through Alfred: in conversations and beside them.';
COMMENT ON COLUMN v_row_events.user_id IS 'Whose row it is.';
COMMENT ON COLUMN v_row_events.entity_type IS 'Type of the row.';
COMMENT ON COLUMN v_row_events.entity_id IS 'Key of the row.';
COMMENT ON COLUMN v_row_events.label IS 'What the row was called then.';
COMMENT ON COLUMN v_row_events.action IS 'created, updated, deleted, or called: an operation of the owner''s was done to it.';
COMMENT ON COLUMN v_row_events.operation IS 'The operation that did it, where it was called beside conversations.';
COMMENT ON COLUMN v_row_events.actor IS 'Who did it: assistant, user or system.';
COMMENT ON COLUMN v_row_events.session_id IS 'The conversation; null where there was none.';
COMMENT ON COLUMN v_row_events.number IS 'The turn in which it was done, or learned of; null without a conversation.';
COMMENT ON COLUMN v_row_events.at IS 'When.';

GRANT SELECT ON row_events, v_row_events TO alfred_tenant;

-- +goose Down
DROP VIEW v_row_events;
DROP TABLE row_events;
