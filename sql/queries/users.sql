-- UserEnsure returns the user of that name, made if missing. It writes only then: with tokens it runs for every request.
-- name: UserEnsure :one
WITH found AS (
    SELECT u.id FROM users AS u WHERE u.name = @name
), made AS (
    INSERT INTO users AS n (name) SELECT @name WHERE NOT EXISTS (SELECT FROM found)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name
    RETURNING n.id
)
SELECT found.id FROM found UNION ALL SELECT made.id FROM made;

-- name: UserTimezone :one
SELECT timezone FROM users WHERE id = @id;

-- UserChange tells the running turns of a user that rows of the domain, or what was asked for good, are others now. It comes
-- last in its transaction, behind the rows themselves.
-- name: UserChange :one
UPDATE users SET version = version + 1 WHERE id = @id RETURNING version;
