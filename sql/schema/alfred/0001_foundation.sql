-- The ground: ids, the tenants' roles, users and their keys.

-- +goose Up

-- Roles belong to the whole cluster: another database may have made this one,
-- at this very moment, and dropping it would break that database.
-- +goose StatementBegin
DO $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('alfred.roles'));
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'alfred_tenant') THEN
        BEGIN
            CREATE ROLE alfred_tenant NOLOGIN NOBYPASSRLS;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END IF;
    -- What takes back a write needs the opposite right: alfred_undo has those beside the tenant's, and the tenant's policies.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'alfred_undo') THEN
        BEGIN
            CREATE ROLE alfred_undo NOLOGIN NOBYPASSRLS IN ROLE alfred_tenant;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END IF;
    -- From Postgres 16 on, who creates a role is a member of it that may not yet act as it.
    IF NOT pg_has_role(current_user, 'alfred_tenant', CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
        EXECUTE format('GRANT alfred_tenant TO %I', current_user);
    END IF;
    IF NOT pg_has_role(current_user, 'alfred_undo', CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
        EXECUTE format('GRANT alfred_undo TO %I', current_user);
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'role % may not create or join alfred_tenant and alfred_undo: let one that may run CREATE ROLE alfred_tenant NOLOGIN; CREATE ROLE alfred_undo NOLOGIN IN ROLE alfred_tenant; GRANT alfred_tenant, alfred_undo TO %', current_user, quote_ident(current_user)
            USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION uuid_v7(at timestamptz DEFAULT clock_timestamp()) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3)
            FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION uuid_v7 IS 'A new UUID version 7: sorts by the time it was made.';

-- +goose StatementBegin
CREATE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION uuid_v7_floor IS 'The smallest UUID version 7 of a moment: the bound of a partition.';

-- +goose StatementBegin
CREATE FUNCTION tenant_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT nullif(current_setting('alfred.user_id', true), '')::uuid
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tenant_id IS 'The user this transaction acts for (setting alfred.user_id), or null.';

-- Within a SECURITY DEFINER function current_user is its owner; the setting role still names who called.
-- +goose StatementBegin
CREATE FUNCTION acts_for(owner uuid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT CASE WHEN tenant_id() IS NOT NULL THEN tenant_id() = acts_for.owner
                ELSE current_setting('role') NOT IN ('alfred_tenant', 'alfred_undo') AND session_user <> 'alfred_tenant' END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION acts_for IS 'May this transaction act for the owner of a row? A tenant for itself, an operator for everybody, the tenants'' role without a user for nobody.';

-- +goose StatementBegin
CREATE FUNCTION is_timezone(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM timestamptz 'epoch' AT TIME ZONE is_timezone.name;
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION is_timezone IS 'Does the server know this time zone?';

CREATE TABLE users (
    id         uuid        NOT NULL DEFAULT uuid_v7(),
    name       text        NOT NULL,
    timezone   text        NOT NULL DEFAULT 'UTC',
    version    bigint      NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_name_key UNIQUE (name),
    CONSTRAINT users_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT users_timezone_known CHECK (is_timezone(timezone))
);
COMMENT ON TABLE users IS 'A tenant: whose sessions, lasting constraints and domain rows these are.';
COMMENT ON COLUMN users.id IS 'UUID v7.';
COMMENT ON COLUMN users.name IS 'Unique name, as given to start_session and to api keys create.';
COMMENT ON COLUMN users.timezone IS 'IANA time zone in which this user''s "today" and "this week" are meant.';
COMMENT ON COLUMN users.version IS 'Goes up when Alfred writes rows of the domain for the user, or what the user asked to hold for good. A turn that carries what it has loaded loads again.';
COMMENT ON COLUMN users.created_at IS 'When the user was made.';

CREATE TABLE api_keys (
    id           uuid        NOT NULL DEFAULT uuid_v7(),
    user_id      uuid        NOT NULL,
    name         text        NOT NULL DEFAULT '',
    key_hash     bytea       NOT NULL,
    scopes       text[]      NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at   timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
    CONSTRAINT api_keys_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT api_keys_name_length CHECK (char_length(name) <= 200),
    CONSTRAINT api_keys_scopes_known CHECK (scopes <@ ARRAY['chat', 'read', 'admin'] AND cardinality(scopes) > 0)
);
CREATE INDEX api_keys_user_idx ON api_keys (user_id);
COMMENT ON TABLE api_keys IS 'Keys of the HTTP API; only their hash is kept.';
COMMENT ON COLUMN api_keys.id IS 'UUID v7; names the key without revealing it.';
COMMENT ON COLUMN api_keys.user_id IS 'Whom the key acts for.';
COMMENT ON COLUMN api_keys.name IS 'What the key is for, in its maker''s words.';
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key, which has 256 random bits and so needs no salt.';
COMMENT ON COLUMN api_keys.scopes IS 'Any of chat, read, admin.';
COMMENT ON COLUMN api_keys.created_at IS 'When the key was made.';
COMMENT ON COLUMN api_keys.last_used_at IS 'Last request with this key, to the minute.';
COMMENT ON COLUMN api_keys.revoked_at IS 'From this moment the key is refused.';

CREATE TABLE idempotency_keys (
    user_id    uuid        NOT NULL,
    key        text        NOT NULL,
    digest     bytea       NOT NULL,
    made       text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, key),
    CONSTRAINT idempotency_keys_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT idempotency_keys_key_length CHECK (char_length(key) BETWEEN 1 AND 255)
);
COMMENT ON TABLE idempotency_keys IS 'Requests of the last day that named themselves, so that sending one again makes nothing twice. Turns keep their own.';
COMMENT ON COLUMN idempotency_keys.user_id IS 'Who sent the request.';
COMMENT ON COLUMN idempotency_keys.key IS 'Its Idempotency-Key.';
COMMENT ON COLUMN idempotency_keys.digest IS 'SHA-256 of the request, to notice a key that is used for another one.';
COMMENT ON COLUMN idempotency_keys.made IS 'Key of the row that it made.';
COMMENT ON COLUMN idempotency_keys.created_at IS 'When it was sent first.';

-- +goose Down
DROP TABLE idempotency_keys;
DROP TABLE api_keys;
DROP TABLE users;
DROP FUNCTION is_timezone(text);
DROP FUNCTION acts_for(uuid);
DROP FUNCTION tenant_id();
DROP FUNCTION uuid_v7_floor(timestamptz);
DROP FUNCTION uuid_v7(timestamptz);
