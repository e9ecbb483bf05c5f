-- name: ApiKeyFind :one
SELECT k.id, k.user_id, k.scopes, k.last_used_at, coalesce(p.state IN ('away', 'coming'), false)::boolean AS elsewhere
FROM api_keys AS k
LEFT JOIN user_places AS p ON p.user_id = k.user_id
WHERE k.key_hash = @key_hash AND k.revoked_at IS NULL;

-- name: ApiKeyInsert :one
INSERT INTO api_keys (user_id, name, key_hash, scopes)
VALUES (@user_id, @name, @key_hash, @scopes)
RETURNING id;

-- name: ApiKeyList :many
SELECT k.id, u.name AS user_name, k.name, k.scopes, k.created_at, k.last_used_at, k.revoked_at
FROM api_keys AS k
JOIN users AS u ON u.id = k.user_id
ORDER BY k.id;

-- name: ApiKeyRevoke :execrows
UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = @id AND revoked_at IS NULL;

-- ApiKeyTouch writes at most once a minute, so that a busy key does not cost a write per request.
-- name: ApiKeyTouch :exec
UPDATE api_keys SET last_used_at = clock_timestamp()
WHERE id = @id AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute');

-- ApiKeyActive is asked again while a stream is open; of a user who has moved no row is left that could say so.
-- name: ApiKeyActive :one
SELECT EXISTS (SELECT FROM api_keys AS k WHERE k.id = @id AND k.revoked_at IS NULL) AS active,
       EXISTS (SELECT FROM user_places AS p WHERE p.user_id = @user_id AND p.state IN ('away', 'coming')) AS elsewhere;
