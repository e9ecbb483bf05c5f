-- A tenant's transactions run in the user's time zone: rows show its times, and a time without an offset is one of them. A name
-- that only AT TIME ZONE accepts (an abbreviation such as EDT) is therefore no time zone any more.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION is_timezone(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
AS $$
BEGIN
    PERFORM timestamptz 'epoch' AT TIME ZONE is_timezone.name, set_config('TimeZone', is_timezone.name, true);
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$$;
-- +goose StatementEnd
UPDATE users AS u SET timezone = 'UTC' WHERE NOT is_timezone(u.timezone);

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
REVOKE EXECUTE ON FUNCTION tenant_timezone() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_timezone() TO alfred_tenant;

-- +goose Down
DROP FUNCTION tenant_timezone();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION is_timezone(name text) RETURNS boolean
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
