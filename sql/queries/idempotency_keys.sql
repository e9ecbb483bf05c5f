-- IdempotencyForget deletes expired keys: a key is valid for a day.
-- name: IdempotencyForget :exec
DELETE FROM idempotency_keys WHERE user_id = @user_id AND created_at < clock_timestamp() - interval '1 day';

-- IdempotencyClaim claims a key for a request; no row if it is taken. It waits for a concurrent request with the same
-- key.
-- name: IdempotencyClaim :one
INSERT INTO idempotency_keys (user_id, key, digest) VALUES (@user_id, @key, @digest)
ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO NOTHING
RETURNING created_at;

-- name: IdempotencyGet :one
SELECT digest, made FROM idempotency_keys WHERE user_id = @user_id AND key = @key;

-- IdempotencyKeep records what the request created.
-- name: IdempotencyKeep :exec
UPDATE idempotency_keys SET made = @made WHERE user_id = @user_id AND key = @key;
