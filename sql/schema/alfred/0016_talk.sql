-- Conversations for who reads them in a terminal: names instead of ids, texts on one line, ids last.

-- +goose Up

CREATE VIEW v_talk WITH (security_invoker = true) AS
SELECT u.name AS "user", left(s.title, 32) AS title, t.number, t.status,
       left(regexp_replace(t.message, '\s+', ' ', 'g'), 48) AS message,
       left(regexp_replace(coalesce(t.reply, t.error_message), '\s+', ' ', 'g'), 48) AS reply,
       round(extract(epoch FROM t.finished_at - t.created_at), 1) AS seconds,
       (SELECT sum(c.cost_usd) FROM llm_calls AS c WHERE c.turn_id = t.id) AS cost_usd,
       t.created_at, t.id AS turn_id, t.session_id
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
JOIN users AS u ON u.id = t.user_id;
COMMENT ON VIEW v_talk IS 'Public API. What was said, a line per turn, to be read in a terminal: texts are cut, whole ones are in v_turns. Newest first with ORDER BY created_at DESC.';
COMMENT ON COLUMN v_talk."user" IS 'Name of whose conversation it is.';
COMMENT ON COLUMN v_talk.title IS 'The conversation''s title, cut.';
COMMENT ON COLUMN v_talk.number IS 'The turn''s number there, from 1.';
COMMENT ON COLUMN v_talk.status IS 'Where the turn stands.';
COMMENT ON COLUMN v_talk.message IS 'What the person said, on one line, cut.';
COMMENT ON COLUMN v_talk.reply IS 'What was answered, or why nothing was, on one line, cut; null until then.';
COMMENT ON COLUMN v_talk.seconds IS 'From the message to the end; null until then.';
COMMENT ON COLUMN v_talk.cost_usd IS 'What its calls of models cost; null without any.';
COMMENT ON COLUMN v_talk.created_at IS 'When it was said.';
COMMENT ON COLUMN v_talk.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_talk.session_id IS 'Its conversation.';

GRANT SELECT ON v_talk TO alfred_tenant;

-- +goose Down

DROP VIEW IF EXISTS v_talk;
