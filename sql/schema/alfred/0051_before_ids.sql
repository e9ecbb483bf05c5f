-- Ids count from 1970. That of a time before it was greater than all others, so what was old by it was everything.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (lpad(to_hex(greatest(floor(extract(epoch FROM at) * 1000)::bigint, 0)), 12, '0') || repeat('0', 20))::uuid
$$;
-- +goose StatementEnd

-- +goose Down

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
-- +goose StatementEnd
