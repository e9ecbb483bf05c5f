-- name: DatabaseAdd :execrows
INSERT INTO databases (name, url) VALUES (@name, @url) ON CONFLICT (name) DO UPDATE SET url = excluded.url;

-- name: DatabaseGet :one
SELECT name, url FROM databases WHERE name = @name;

-- DatabaseList counts whom each database serves.
-- name: DatabaseList :many
SELECT d.name, d.url, (SELECT count(*) FROM users AS u WHERE u.database = d.name) AS users FROM databases AS d ORDER BY d.name;

-- UserAdd makes users of a database known. Who is known already stays where they are.
-- name: UserAdd :execrows
INSERT INTO users (id, name, database)
SELECT x.id, x.name, @database::text FROM (SELECT unnest(@ids::uuid[]) AS id, unnest(@names::text[]) AS name) AS x
ON CONFLICT (id) DO NOTHING;

-- UserNamed are the users of those names whose ids are others.
-- name: UserNamed :many
SELECT u.name FROM users AS u JOIN (SELECT unnest(@ids::uuid[]) AS id, unnest(@names::text[]) AS name) AS x ON x.name = u.name WHERE x.id <> u.id ORDER BY u.name LIMIT 5;

-- UserElsewhere are those of some users whom other databases serve.
-- name: UserElsewhere :many
SELECT u.id, u.epoch FROM users AS u WHERE u.id = ANY (@ids::uuid[]) AND u.database <> @database ORDER BY u.id;

-- UserPlace gives a new user the database with the fewest users. Two who come at once with one name meet in one row.
-- name: UserPlace :exec
INSERT INTO users (id, name, database)
SELECT gen_random_uuid(), @name, d.name FROM databases AS d ORDER BY (SELECT count(*) FROM users AS u WHERE u.database = d.name), d.name LIMIT 1
ON CONFLICT (name) DO NOTHING;

-- UserDelete takes the user's keys and moves along.
-- name: UserDelete :exec
DELETE FROM users WHERE id = @id;

-- name: UserByName :one
SELECT u.id, u.name, u.database, d.url, u.epoch, EXISTS (SELECT FROM moves AS m WHERE m.user_id = u.id AND m.ended_at IS NULL) AS moving
FROM users AS u JOIN databases AS d ON d.name = u.database WHERE u.name = @name;

-- name: UserByKey :one
SELECT u.id, u.name, u.database, d.url, u.epoch, EXISTS (SELECT FROM moves AS m WHERE m.user_id = u.id AND m.ended_at IS NULL) AS moving
FROM keys AS k JOIN users AS u ON u.id = k.user_id JOIN databases AS d ON d.name = u.database WHERE k.hash = @hash;

-- name: KeyAdd :exec
INSERT INTO keys (hash, user_id) SELECT x.hash, x.user_id FROM (SELECT unnest(@hashes::bytea[]) AS hash, unnest(@user_ids::uuid[]) AS user_id) AS x
ON CONFLICT (hash) DO NOTHING;

-- MoveBegin begins a move, or takes up the one that is open. Attempts count over all moves of the user.
-- name: MoveBegin :one
INSERT INTO moves AS m (user_id, source, target, epoch, attempt)
SELECT u.id, u.database, @target, u.epoch, (SELECT coalesce(max(b.attempt), 0) + 1 FROM moves AS b WHERE b.user_id = u.id) FROM users AS u WHERE u.id = @user_id
ON CONFLICT (user_id) WHERE ended_at IS NULL DO UPDATE SET attempt = m.attempt + 1, error = NULL
RETURNING m.*, (SELECT d.url FROM databases AS d WHERE d.name = m.source) AS source_url, (SELECT d.url FROM databases AS d WHERE d.name = m.target) AS target_url;

-- name: MoveOpen :one
SELECT m.*, s.url AS source_url, t.url AS target_url FROM moves AS m JOIN databases AS s ON s.name = m.source JOIN databases AS t ON t.name = m.target
WHERE m.user_id = @user_id AND m.ended_at IS NULL;

-- MoveStep notes a step that is done. No row: another mover has taken the move over, or it is given up.
-- name: MoveStep :execrows
UPDATE moves SET step = @step::text, updated_at = clock_timestamp(), ended_at = CASE WHEN @step::text IN ('done', 'aborted') THEN clock_timestamp() END
WHERE id = @id AND attempt = @attempt AND ended_at IS NULL AND step = @before::text;

-- name: MoveKeepJobs :execrows
UPDATE moves SET jobs = @jobs WHERE id = @id AND attempt = @attempt AND step IN ('begun', 'followed');

-- MoveSwitch gives the user to the target: the moment from which the move cannot be given up.
-- name: MoveSwitch :execrows
WITH move AS (
    UPDATE moves AS m SET step = 'switched', updated_at = clock_timestamp()
    WHERE m.id = @id AND m.attempt = @attempt AND m.step = 'copied'
    RETURNING m.user_id, m.target, m.epoch
)
UPDATE users AS u SET database = move.target, epoch = move.epoch + 1, placed_at = clock_timestamp()
FROM move WHERE u.id = move.user_id AND u.epoch = move.epoch;

-- name: MoveFailed :exec
UPDATE moves SET error = @error::text WHERE id = @id AND attempt = @attempt AND ended_at IS NULL;

-- MoveList is the open moves, with whether a mover is at work on them, and the newest that have ended.
-- name: MoveList :many
SELECT m.*, u.name AS user_name, move_is_held(m.user_id)::boolean AS running FROM moves AS m JOIN users AS u ON u.id = m.user_id
ORDER BY m.ended_at IS NULL DESC, m.started_at DESC LIMIT 20;
