-- The newest ten lines of v_talk took 14 s in a database of 100,000 turns: every text was brought onto one line before the
-- newest were chosen. Postgres puts off to the end only what it takes for costly, as it does a function of ours.

-- +goose Up
CREATE FUNCTION one_line(words text, most integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
SET search_path = alfred, public, pg_temp
RETURN left(regexp_replace(left(one_line.words, 4 * one_line.most), '\s+', ' ', 'g'), one_line.most);
COMMENT ON FUNCTION one_line IS 'The beginning of a text on one line, at most so many characters of it.';
REVOKE EXECUTE ON FUNCTION one_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION one_line TO alfred_tenant;

CREATE OR REPLACE VIEW v_talk WITH (security_invoker = true) AS
SELECT u.name AS "user", left(s.title, 32) AS title, t.number, t.status,
       one_line(t.message, 48) AS message,
       one_line(coalesce(t.reply, t.error_message), 48) AS reply,
       round(extract(epoch FROM t.finished_at - t.created_at), 1) AS seconds,
       (SELECT sum(c.cost_usd) FROM llm_calls AS c WHERE c.turn_id = t.id) AS cost_usd,
       t.created_at, t.id AS turn_id, t.session_id
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
JOIN users AS u ON u.id = t.user_id;
COMMENT ON VIEW v_talk IS 'Public API. Conversations, one line per turn, for reading in a terminal: texts are cut, and whole in v_turns. Newest first with ORDER BY created_at DESC.';
COMMENT ON COLUMN v_talk."user" IS 'Name of the user.';
COMMENT ON COLUMN v_talk.title IS 'The conversation''s title, cut.';
COMMENT ON COLUMN v_talk.number IS 'The turn''s number there, from 1.';
COMMENT ON COLUMN v_talk.status IS 'Status of the turn.';
COMMENT ON COLUMN v_talk.message IS 'The message, on one line, cut.';
COMMENT ON COLUMN v_talk.reply IS 'The reply, or why there is none, on one line, cut; null until then.';
COMMENT ON COLUMN v_talk.seconds IS 'From the message to the end; null until then.';
COMMENT ON COLUMN v_talk.cost_usd IS 'Cost of its model calls; null without any.';
COMMENT ON COLUMN v_talk.created_at IS 'When the message was sent.';
COMMENT ON COLUMN v_talk.turn_id IS 'turns.id.';
COMMENT ON COLUMN v_talk.session_id IS 'Its conversation.';

-- +goose Down
CREATE OR REPLACE VIEW v_talk WITH (security_invoker = true) AS
SELECT u.name AS "user", left(s.title, 32) AS title, t.number, t.status,
       left(regexp_replace(t.message, '\s+', ' ', 'g'), 48) AS message,
       left(regexp_replace(coalesce(t.reply, t.error_message), '\s+', ' ', 'g'), 48) AS reply,
       round(extract(epoch FROM t.finished_at - t.created_at), 1) AS seconds,
       (SELECT sum(c.cost_usd) FROM llm_calls AS c WHERE c.turn_id = t.id) AS cost_usd,
       t.created_at, t.id AS turn_id, t.session_id
FROM turns AS t
JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
JOIN users AS u ON u.id = t.user_id;
DROP FUNCTION one_line(text, integer);
