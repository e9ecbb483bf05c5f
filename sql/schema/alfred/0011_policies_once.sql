-- A policy asks for the tenant once per statement, not once per row: a function with a search path of its own is a real
-- call, and reading 20,000 rows made as many of them.

-- +goose Up
ALTER POLICY users_tenant ON users USING (id = (SELECT tenant_id()));
ALTER POLICY sessions_tenant ON sessions USING (user_id = (SELECT tenant_id()));
ALTER POLICY turns_tenant ON turns USING (user_id = (SELECT tenant_id()));
ALTER POLICY constraints_tenant ON constraints USING (user_id = (SELECT tenant_id()));
ALTER POLICY embeddings_tenant ON embeddings USING (user_id = (SELECT tenant_id()) OR user_id IS NULL);

-- +goose Down
ALTER POLICY embeddings_tenant ON embeddings USING (user_id = tenant_id() OR user_id IS NULL);
ALTER POLICY constraints_tenant ON constraints USING (user_id = tenant_id());
ALTER POLICY turns_tenant ON turns USING (user_id = tenant_id());
ALTER POLICY sessions_tenant ON sessions USING (user_id = tenant_id());
ALTER POLICY users_tenant ON users USING (id = tenant_id());
