-- IdempotencyForget makes room: a key counts for a day.
-- name: IdempotencyForget :exec
DELETE FROM idempotency_keys WHERE user_id = @user_id AND created_at < clock_timestamp() - interval '1 day';

-- IdempotencyClaim takes a key for a request; no row if it is taken. It waits for a request with the same key that is
-- under way.
-- name: IdempotencyClaim :one
INSERT INTO idempotency_keys (user_id, key, digest) VALUES (@user_id, @key, @digest)
ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO NOTHING
RETURNING created_at;

-- name: IdempotencyGet :one
SELECT digest, made FROM idempotency_keys WHERE user_id = @user_id AND key = @key;

-- IdempotencyKeep says what the request has made.
-- name: IdempotencyKeep :exec
UPDATE idempotency_keys SET made = @made WHERE user_id = @user_id AND key = @key;
