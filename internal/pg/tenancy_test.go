package pg_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// ours selects the relations of the engine and the built-in domain, without River's and goose's.
const ours = `n.nspname IN ('alfred', 'kitchen') AND c.relname NOT LIKE 'river%' AND c.relname NOT LIKE '%migration%'`

// This lists everything the tenant's role may do; the catalog must deny everything else.
func TestTenantReachesItsRowsAlone(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	list := func(sql string) []string {
		rows, err := tx.Query(t.Context(), sql)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)

		return found
	}
	granted := `has_any_column_privilege('alfred_tenant', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
		OR has_table_privilege('alfred_tenant', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')`

	require.ElementsMatch(t, []string{"alfred.prompt_parts_shared", "alfred.settings", "kitchen.ingredients"}, list(`
		SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE `+ours+` AND c.relkind IN ('r', 'p') AND (`+granted+`)
		  AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid AND 'alfred_tenant'::regrole = ANY (p.polroles)))`),
		"tables that the tenant's role reaches without a policy: only what is shared by all")
	require.False(t, query(t, tx, `SELECT has_table_privilege('alfred_tenant', 'kitchen.ingredients', 'INSERT, UPDATE, DELETE, TRUNCATE')`))
	require.Empty(t, list(`
		SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE `+ours+` AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT c.relrowsecurity
		  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname IN ('user_id', 'session_id', 'turn_id', 'llm_call_id'))`),
		"tables of a tenant's rows without row-level security")
	require.Empty(t, list(`
		SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE `+ours+` AND (c.relkind = 'm' OR c.relkind = 'v' AND NOT coalesce(c.reloptions @> ARRAY['security_invoker=true'], false))`),
		"views that see with their owner's eyes")
	require.Empty(t, list(`
		SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = 'alfred' AND (c.relname LIKE 'river%' OR c.relname LIKE '%migration%') AND c.relkind IN ('r', 'p', 'v') AND (`+granted+`)`))
	require.Empty(t, list(`
		SELECT k.conrelid::regclass || ' ' || k.conname FROM pg_constraint AS k
		WHERE k.contype = 'f' AND has_table_privilege('alfred_tenant', k.conrelid, 'INSERT, UPDATE')
		  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = k.confrelid AND a.attname = 'user_id')
		  AND NOT EXISTS (SELECT FROM unnest(k.confkey) AS c (number) JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = c.number WHERE a.attname = 'user_id')`),
		"foreign keys by which a tenant's row can point at another tenant's: they ignore row-level security")
}

// A user's rows are identifiable on their own: every table has the user in its key, so that native replication can
// select one user's rows, and every policy compares it without reading another table.
func TestUserStandsInEveryKey(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	rows, err := tx.Query(t.Context(), `
		SELECT c.relname || ' has no user in its replica identity' FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE `+ours+` AND n.nspname = 'alfred' AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('users', 'settings', 'workers', 'domain_proofs', 'embedded_models', 'kitchen_migrations') AND c.relname NOT LIKE 'prompt_parts_shared%' AND c.relreplident <> 'f'
		  AND NOT EXISTS (SELECT FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
		                  WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnotnull AND a.attnum = ANY (i.indkey::smallint[]))
		UNION ALL
		SELECT c.relname || ' is unique without its user: ' || i.indexrelid::regclass FROM pg_index AS i
		JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
		WHERE `+ours+` AND n.nspname = 'alfred' AND i.indisunique AND NOT a.attnum = ANY (i.indkey::smallint[]) AND c.relname <> 'api_keys'
		UNION ALL
		SELECT p.tablename || ' has a policy that reads another table: ' || p.qual FROM pg_policies AS p
		WHERE p.schemaname = 'alfred' AND (p.qual ~ 'FROM' OR p.qual !~ '^\(+(user_id|id) = \( SELECT tenant_id\(\) AS tenant_id\)\)')`)
	require.NoError(t, err)
	wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, wrong)
}

// A function that runs with its owner's privileges bypasses row-level security: each is listed, sets its own search
// path, and is closed to everybody else.
func TestFunctionsOfTheOwner(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	rows, err := tx.Query(t.Context(), `
		SELECT p.oid::regprocedure::text, p.proname, p.prosecdef, coalesce((SELECT c FROM unnest(p.proconfig) AS c WHERE c LIKE 'search_path=%'), ''),
			EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a WHERE a.grantee = 0),
			has_function_privilege('alfred_tenant', p.oid, 'EXECUTE')
		FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
		WHERE (n.nspname = 'alfred' OR p.prosecdef AND n.nspname = 'kitchen') AND p.proname NOT LIKE 'river%'`)
	require.NoError(t, err)
	type function struct {
		Signature, Name string
		Definer         bool
		Config          string
		Public, Tenant  bool
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
	require.NoError(t, err)
	var doors []string
	for _, f := range all {
		require.False(t, f.Public, "%s is for everybody", f.Signature)
		if !f.Definer {
			continue
		}
		require.Regexp(t, `search_path=[a-z_, "]*\bpg_temp"?$`, f.Config, "%s finds temporary tables first", f.Signature)
		if f.Tenant {
			doors = append(doors, f.Name)
		}
	}
	require.ElementsMatch(t, []string{
		"cancel_turn", "enqueue_turn", "forget_session", "fork_session", "queue_rows", "recall_found", "recall_found_shared", "recall_order", "turn_enqueue", "turn_undo", "undo_turn", "usage_today",
	}, doors, "another one needs a test that it shows the tenant's rows alone")
}

func TestTenantRole(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	require.True(t, query(t, tx, `SELECT NOT (rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)
		AND NOT EXISTS (SELECT FROM pg_auth_members AS m WHERE m.member = r.oid) FROM pg_roles AS r WHERE rolname = 'alfred_tenant'`))
	require.False(t, query(t, tx, `SELECT has_schema_privilege('alfred_tenant', 'alfred', 'CREATE') OR has_schema_privilege('alfred_tenant', 'kitchen', 'CREATE')`))
}

// query returns a query's boolean.
func query(t *testing.T, tx pgx.Tx, sql string) bool {
	t.Helper()
	var truth bool
	require.NoError(t, tx.QueryRow(t.Context(), sql).Scan(&truth))

	return truth
}
