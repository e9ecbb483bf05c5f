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

-- Names are bound when they are made, so they need no search_path of their own.
CREATE FUNCTION uuid_v7(at timestamptz DEFAULT clock_timestamp()) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN encode(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
COMMENT ON FUNCTION uuid_v7 IS 'A new UUID version 7, which sorts by its creation time.';

-- Ids count from 1970: that of a time before it is the smallest of all.
-- +goose StatementBegin
CREATE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (lpad(to_hex(greatest(floor(extract(epoch FROM at) * 1000)::bigint, 0)), 12, '0') || repeat('0', 20))::uuid
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION uuid_v7_floor IS 'The smallest UUID version 7 of a moment, as the bound of a partition.';

CREATE FUNCTION uuid_v7_month(id uuid) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('month', to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date;
COMMENT ON FUNCTION uuid_v7_month IS 'First day of the month, in UTC, in which a UUID version 7 was made.';

-- Names are bound when it is made, so it needs no search_path of its own; with one, each of a statement's calls parsed and planned it anew.
CREATE FUNCTION tenant_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('alfred.user_id', true), '')::uuid;
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
COMMENT ON FUNCTION acts_for IS 'Whether this transaction may act for the owner of a row: a tenant for itself, an operator for everybody, the tenants'' role without a user for nobody.';

-- +goose StatementBegin
CREATE FUNCTION is_timezone(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
AS $$
BEGIN
    PERFORM timestamptz 'epoch' AT TIME ZONE is_timezone.name, set_config('TimeZone', is_timezone.name, true);
    RETURN current_setting('TimeZone') = is_timezone.name -- else it is written in another way
        AND (is_timezone.name !~ '\d' OR is_timezone.name ~ '^(Etc/GMT([+-]?\d\d?)|GMT[+-]?0|(EST5E|CST6C|MST7M|PST8P)DT)$'); -- else it is a rule
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION is_timezone IS 'Whether the server knows this time zone.';

CREATE FUNCTION one_line(words text, most integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
SET search_path = alfred, public, pg_temp
RETURN left(regexp_replace(left(one_line.words, 4 * one_line.most), '\s+', ' ', 'g'), one_line.most);
COMMENT ON FUNCTION one_line IS 'The beginning of a text on one line, at most so many characters of it.';

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
COMMENT ON TABLE users IS 'Users, who own sessions, lasting constraints and domain rows: the tenants.';
COMMENT ON COLUMN users.id IS 'UUID v7.';
COMMENT ON COLUMN users.name IS 'Unique name, as given to start_session and to api keys create.';
COMMENT ON COLUMN users.timezone IS 'IANA time zone that defines this user''s "today" and "this week".';
COMMENT ON COLUMN users.version IS 'Increases when Alfred writes domain rows or lasting constraints of the user. A turn that carries a loaded view then loads again.';
COMMENT ON COLUMN users.created_at IS 'When the user was created.';

-- A function, because a statement's rights to tables are checked before it becomes the tenant; and not one in SQL, which would
-- be planned for each call.
-- +goose StatementBegin
CREATE FUNCTION tenant_timezone() RETURNS text
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (SELECT u.timezone FROM alfred.users AS u WHERE u.id = alfred.tenant_id());
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tenant_timezone IS 'The time zone of the user this transaction acts for, or null.';

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
COMMENT ON COLUMN api_keys.name IS 'What the key is for, in its creator''s words.';
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key, which has 256 random bits and so needs no salt.';
COMMENT ON COLUMN api_keys.scopes IS 'Any of chat, read, admin.';
COMMENT ON COLUMN api_keys.created_at IS 'When the key was created.';
COMMENT ON COLUMN api_keys.last_used_at IS 'Last request with this key, to the minute.';
COMMENT ON COLUMN api_keys.revoked_at IS 'When the key was revoked; it is refused from then on.';

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
COMMENT ON TABLE idempotency_keys IS 'Idempotency keys of requests in the last day, so that resending one creates nothing twice. Turns have their own.';
COMMENT ON COLUMN idempotency_keys.user_id IS 'Who sent the request.';
COMMENT ON COLUMN idempotency_keys.key IS 'Its Idempotency-Key.';
COMMENT ON COLUMN idempotency_keys.digest IS 'SHA-256 of the request, to detect a key that is reused for another one.';
COMMENT ON COLUMN idempotency_keys.made IS 'Key of the row that it created.';
COMMENT ON COLUMN idempotency_keys.created_at IS 'When it was first sent.';

-- +goose Down
DROP TABLE idempotency_keys;
DROP TABLE api_keys;
DROP FUNCTION tenant_timezone;
DROP TABLE users;
DROP FUNCTION one_line;
DROP FUNCTION is_timezone;
DROP FUNCTION acts_for;
DROP FUNCTION tenant_id;
DROP FUNCTION uuid_v7_month;
DROP FUNCTION uuid_v7_floor;
DROP FUNCTION uuid_v7;
