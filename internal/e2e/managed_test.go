package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/offline"
	"alfred/internal/pg"
)

// Nobody is a superuser on a managed Postgres: the provider creates the extensions, and a role that owns the database
// does the rest, whether it may create roles or somebody created the tenant's role for it.
func TestManagedPostgres(t *testing.T) {
	t.Parallel()
	for name, rights := range map[string]string{"CREATEROLE": "CREATEROLE", "role made before": "NOCREATEROLE"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := asOwner(t, dbtest.EmptyURL(t), rights)
			pool, err := pg.Open(t.Context(), pg.Config{AppName: "managed", MaxConns: 16, URL: address})
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			migrator, err := pg.NewMigrator(pool, testLogger(t))
			require.NoError(t, err)
			_, err = migrator.Up(t.Context())
			require.NoError(t, err)
			_, err = migrator.Up(t.Context())
			require.NoError(t, err, "again")

			h := openHouse(t, fixtures{model: offline.New, pool: pool})
			c := h.resident("ada").talk()
			said := c.say("What recipes do I have?")
			require.Contains(t, strings.ToLower(said.Reply), "butter chicken")
			c.say("Add olive oil to my shopping list")
			c.fact("1", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name ILIKE 'olive oil'`)

			bob := h.guest("bob").talk()
			bob.say("What recipes do I have?")
			bob.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1`)
			c.fact("false", `SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user AND $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL`)
		})
	}
}

// asOwner gives the database to a new role with these privileges and returns the address for that role.
func asOwner(t *testing.T, address, rights string) string {
	t.Helper()
	admin, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	role := "alfred_managed_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	run := func(sql string) {
		_, err := admin.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	run(fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD '%s' NOSUPERUSER NOBYPASSRLS %s`, role, role, rights))
	t.Cleanup(func() {
		for _, sql := range []string{`REASSIGN OWNED BY %s TO CURRENT_USER`, `DROP OWNED BY %s`, `DROP ROLE %s`} {
			_, err := admin.Exec(context.Background(), fmt.Sprintf(sql, role)) // the test's own context is done
			require.NoError(t, err)
		}
		admin.Close()
	})
	run(fmt.Sprintf(`ALTER DATABASE %s OWNER TO %s`, admin.Config().ConnConfig.Database, role))
	run(`CREATE EXTENSION vector WITH SCHEMA public`)
	run(`CREATE EXTENSION pg_trgm WITH SCHEMA public`)
	if rights == "NOCREATEROLE" {
		run(`DO $$ BEGIN CREATE ROLE alfred_tenant NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
		run(`DO $$ BEGIN CREATE ROLE alfred_undo NOLOGIN IN ROLE alfred_tenant; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
		run(`GRANT alfred_tenant, alfred_undo TO ` + role)
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(role, role)

	return u.String()
}
