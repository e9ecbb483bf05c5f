-- SessionChange comes first in a transaction that changes what a session knows outside its turns, and notifies the
-- running turn.
-- name: SessionChange :one
UPDATE sessions SET version = version + 1 WHERE id = @id AND user_id = @user_id RETURNING last_turn;

-- name: SessionGet :one
SELECT id, title, mode, coalesce(domain, '')::text AS domain, last_turn, last_activity_at, archived_at, pinned_at, created_at, parent_id, forked_at_turn,
       extract(epoch FROM clock_timestamp() - last_activity_at)::double precision AS idle
FROM sessions
WHERE id = @id;

-- SessionGetContext returns a session with its user's data.
-- name: SessionGetContext :one
SELECT s.id, s.user_id, s.mode, s.last_turn, u.timezone, clock_timestamp()::timestamptz AS at
FROM sessions AS s
JOIN users AS u ON u.id = s.user_id
WHERE s.id = @id;

-- SessionLock comes first in every transaction that ends or starts a turn.
-- name: SessionLock :one
SELECT id FROM sessions WHERE id = @id FOR NO KEY UPDATE;

-- SessionMake makes a session, or, under an id that its caller derived from a name, ensures that it exists.
-- name: SessionMake :one
WITH named AS (SELECT coalesce(sqlc.narg('id')::uuid, uuid_v7())::uuid AS id),
made AS (
    INSERT INTO sessions (id, user_id, domain, title, mode)
    SELECT n.id, @user_id::uuid, @domain::text, @title::text, @mode::text FROM named AS n
    ON CONFLICT (id, user_id) DO NOTHING)
SELECT id FROM named;

-- SessionTryLock is SessionLock for a transaction that has already locked the turn: it must not wait.
-- name: SessionTryLock :one
SELECT id FROM sessions WHERE id = @id FOR NO KEY UPDATE SKIP LOCKED;

-- SessionDue says what the end of a turn has to clean up: retentions neither renewed nor touched since a turn, and
-- constraints that have expired.
-- name: SessionDue :one
SELECT EXISTS (SELECT FROM entity_refs AS e
               WHERE e.session_id = @session_id AND e.active_reason IS NOT NULL AND NOT e.pinned AND e.turn_last_ref <= @decayed::int)::boolean AS retentions,
       (EXISTS (SELECT FROM constraints AS c WHERE c.session_id = @session_id AND c.ended_turn IS NULL AND c.expires_at <= @now::timestamptz)
        OR EXISTS (SELECT FROM constraints AS c
                   WHERE c.user_id = @user_id AND c.scope = 'lasting' AND c.ended_turn IS NULL AND c.expires_at <= @now::timestamptz))::boolean AS constraints;

-- SessionNewest lists sessions as SessionPage does, each with its last turn; empty for one without turns.
-- name: SessionNewest :many
SELECT s.id, s.last_turn, s.title, s.last_activity_at, coalesce(t.id::text, '')::text AS turn_id, coalesce(t.message, '')::text AS message
FROM sessions AS s
LEFT JOIN LATERAL (SELECT l.id, l.message FROM turns AS l WHERE l.session_id = s.id ORDER BY l.number DESC LIMIT 1) AS t ON true
WHERE s.user_id = @user_id
ORDER BY (s.pinned_at IS NOT NULL) DESC, s.last_activity_at DESC, s.id DESC
LIMIT @page_size;

-- SessionPage pages backwards from the newest, pinned sessions first; the cursor is the last row's pin, activity and
-- id. Null filters match everything.
-- name: SessionPage :many
SELECT id, title, mode, coalesce(domain, '')::text AS domain, last_turn, last_activity_at, archived_at, pinned_at, created_at, parent_id, forked_at_turn,
       extract(epoch FROM clock_timestamp() - last_activity_at)::double precision AS idle
FROM sessions
WHERE user_id = @user_id
  AND (sqlc.narg(archived)::boolean IS NULL OR (archived_at IS NOT NULL) = sqlc.narg(archived)::boolean)
  AND (sqlc.narg(title_like)::text IS NULL OR title ILIKE sqlc.narg(title_like)::text)
  AND (sqlc.narg(before_at)::timestamptz IS NULL
       OR ((pinned_at IS NOT NULL), last_activity_at, id) < (sqlc.narg(before_pinned)::boolean, sqlc.narg(before_at)::timestamptz, sqlc.narg(before_id)::uuid))
ORDER BY (pinned_at IS NOT NULL) DESC, last_activity_at DESC, id DESC
LIMIT @page_size;

-- name: SessionUpdate :one
UPDATE sessions
SET title = coalesce(sqlc.narg(title), title),
    archived_at = CASE WHEN sqlc.narg(archived)::boolean IS NULL THEN archived_at
                       WHEN sqlc.narg(archived)::boolean THEN coalesce(archived_at, clock_timestamp()) END,
    pinned_at = CASE WHEN sqlc.narg(pinned)::boolean IS NULL THEN pinned_at
                     WHEN sqlc.narg(pinned)::boolean THEN coalesce(pinned_at, clock_timestamp()) END
WHERE id = @id AND user_id = @user_id
RETURNING id, title, mode, coalesce(domain, '')::text AS domain, last_turn, last_activity_at, archived_at, pinned_at, created_at, parent_id, forked_at_turn,
       extract(epoch FROM clock_timestamp() - last_activity_at)::double precision AS idle;

-- name: SessionForget :one
SELECT forget_session(@id::uuid)::boolean AS forgotten;

-- SessionFork creates a session that begins where another stood at the end of one of its turns.
-- name: SessionFork :one
SELECT fork_session(@session_id::uuid, @turn::int)::uuid;

-- SessionOrigin returns a fork's owner and origin: the conversation that had the turn, which a fork may have inherited
-- from its parent.
-- name: SessionOrigin :one
SELECT s.user_id, s.parent_id, s.forked_at_turn FROM sessions AS s WHERE s.id = @id;

-- SessionBranches returns all conversations in a tree of forks, oldest first.
-- name: SessionBranches :many
WITH RECURSIVE above AS (
    SELECT s.id, s.parent_id FROM sessions AS s WHERE s.id = @id
    UNION ALL
    SELECT p.id, p.parent_id FROM sessions AS p JOIN above AS a ON p.id = a.parent_id
), tree AS (
    SELECT s.id, s.title, s.parent_id, s.forked_at_turn, s.last_turn, s.created_at
    FROM sessions AS s JOIN above AS a ON a.id = s.id WHERE a.parent_id IS NULL
    UNION ALL
    SELECT c.id, c.title, c.parent_id, c.forked_at_turn, c.last_turn, c.created_at
    FROM sessions AS c JOIN tree AS t ON c.parent_id = t.id
)
SELECT id, title, parent_id, forked_at_turn, last_turn, created_at FROM tree ORDER BY created_at, id LIMIT 1000;
