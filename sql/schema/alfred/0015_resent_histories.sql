-- Clients that were made for OpenAI resend what was said with each message, and name no conversation: a turn is found by
-- what was resent with it.

-- +goose Up

ALTER TABLE turns
    ADD COLUMN history_hash bytea,
    ADD CONSTRAINT turns_history_hash_is_sha256 CHECK (octet_length(history_hash) = 32);
COMMENT ON COLUMN turns.history_hash IS 'SHA-256 of all messages that a client of the OpenAI protocol sent with this one, which is the last of them; null for turns that came another way.';

CREATE INDEX turns_history_idx ON turns (user_id, history_hash, id DESC) WHERE history_hash IS NOT NULL;

-- +goose Down

ALTER TABLE turns DROP COLUMN IF EXISTS history_hash;
