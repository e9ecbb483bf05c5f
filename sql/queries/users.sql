-- UserEnsure returns the user of that name, created if missing. It writes only then: with tokens, it runs for every
-- request.
-- name: UserEnsure :one
WITH found AS (
    SELECT u.id FROM users AS u WHERE u.name = @name
), made AS (
    INSERT INTO users AS n (name) SELECT @name WHERE NOT EXISTS (SELECT FROM found)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name
    RETURNING n.id
)
SELECT found.id FROM found UNION ALL SELECT made.id FROM made;

-- name: UserGet :one
SELECT name, timezone FROM users WHERE id = @id;

-- UserTimezoneSet also tells the user's running turns.
-- name: UserTimezoneSet :exec
UPDATE users SET timezone = @timezone, version = version + 1 WHERE id = @id AND timezone <> @timezone;

-- UserChange tells a user's running turns that domain rows or lasting constraints have changed. It comes last in its
-- transaction, after the rows themselves.
-- name: UserChange :one
UPDATE users SET version = version + 1 WHERE id = @id RETURNING version;
