-- A fork begins with its parent's last turns, under their numbers and times. They were not asked again: a fork of a long
-- conversation counted as all turns of it, and one edited message could use up a user's day.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_today(session uuid, until timestamptz DEFAULT 'infinity')
RETURNS TABLE (turns bigint, tokens bigint, cost_usd double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH today AS (
        SELECT s.user_id, d.start, uuid_v7_floor(d.start) AS first_id
        FROM sessions AS s
        JOIN users AS u ON u.id = s.user_id
        CROSS JOIN LATERAL (SELECT date_trunc('day', now() AT TIME ZONE u.timezone) AT TIME ZONE u.timezone AS start) AS d
        WHERE s.id = usage_today.session AND acts_for(s.user_id)
    ),
    active AS (
        SELECT s.id, s.forked_at_turn, today.start, today.first_id FROM today
        JOIN sessions AS s ON s.user_id = today.user_id AND s.last_activity_at >= today.start
    )
    -- From the newest turn backwards, so that only today's are looked at, however long the conversation is.
    -- What a fork began with was used by its parent.
    SELECT coalesce(sum(greatest(coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at <= usage_today.until ORDER BY t.number DESC LIMIT 1), 0)
                      - greatest((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at < a.start ORDER BY t.number DESC LIMIT 1), a.forked_at_turn, 0), 0)), 0)::bigint,
           coalesce(sum(c.tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0)::double precision
    FROM active AS a
    CROSS JOIN LATERAL (SELECT sum(l.input_tokens + l.output_tokens) AS tokens, sum(l.cost_usd) AS cost_usd
                        FROM llm_calls AS l WHERE l.session_id = a.id AND l.id >= a.first_id) AS c
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_today(session uuid, until timestamptz DEFAULT 'infinity')
RETURNS TABLE (turns bigint, tokens bigint, cost_usd double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH today AS (
        SELECT s.user_id, d.start, uuid_v7_floor(d.start) AS first_id
        FROM sessions AS s
        JOIN users AS u ON u.id = s.user_id
        CROSS JOIN LATERAL (SELECT date_trunc('day', now() AT TIME ZONE u.timezone) AT TIME ZONE u.timezone AS start) AS d
        WHERE s.id = usage_today.session AND acts_for(s.user_id)
    ),
    active AS (
        SELECT s.id, today.start, today.first_id FROM today
        JOIN sessions AS s ON s.user_id = today.user_id AND s.last_activity_at >= today.start
    )
    -- From the newest turn backwards, so that only today's are looked at, however long the conversation is.
    SELECT coalesce(sum(coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at <= usage_today.until ORDER BY t.number DESC LIMIT 1), 0)
                      - coalesce((SELECT t.number FROM turns AS t WHERE t.session_id = a.id AND t.created_at < a.start ORDER BY t.number DESC LIMIT 1), 0)), 0)::bigint,
           coalesce(sum(c.tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0)::double precision
    FROM active AS a
    CROSS JOIN LATERAL (SELECT sum(l.input_tokens + l.output_tokens) AS tokens, sum(l.cost_usd) AS cost_usd
                        FROM llm_calls AS l WHERE l.session_id = a.id AND l.id >= a.first_id) AS c
$$;
-- +goose StatementEnd
