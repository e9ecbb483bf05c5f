-- A time zone is called by its name, as it is written: models are told the time by programs that know no other. Postgres also
-- takes europe/berlin, and UTC+3, by which it means three hours west of Greenwich.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION is_timezone(name text) RETURNS boolean
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
UPDATE users AS u
SET timezone = coalesce((SELECT n.name FROM pg_timezone_names AS n WHERE lower(n.name) = lower(u.timezone) LIMIT 1), 'UTC')
WHERE NOT is_timezone(u.timezone);

-- +goose Down

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
