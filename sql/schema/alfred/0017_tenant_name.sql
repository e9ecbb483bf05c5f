-- Views of other people's tables find the account of a user by the user's name.

-- +goose Up
CREATE FUNCTION tenant_name() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
RETURN (SELECT u.name FROM users AS u WHERE u.id = tenant_id());
COMMENT ON FUNCTION tenant_name IS 'The name of the user this transaction acts for, or null: for the roles that own views of other people''s tables, which may not read users.';
REVOKE EXECUTE ON FUNCTION tenant_name FROM PUBLIC;

-- +goose Down
DROP FUNCTION tenant_name();
