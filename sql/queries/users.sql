-- UserEnsure returns the user of that name, made if missing.
-- name: UserEnsure :one
INSERT INTO users (name) VALUES (@name)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING id;

-- name: UserTimezone :one
SELECT timezone FROM users WHERE id = @id;
