package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/engine"
	"alfred/internal/pg"
)

// A running API knows a declaration and tables that the owner has changed once they were tried.
func TestServeFollowsADomainThatWasTriedAnew(t *testing.T) {
	t.Parallel()

	url, dir := dbtest.URL(t), t.TempDir()
	pool, err := pg.Open(t.Context(), pg.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	exec(t, url, `CREATE SCHEMA garden; CREATE TABLE garden.beds (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
		user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid);
		ALTER TABLE garden.beds ENABLE ROW LEVEL SECURITY;
		CREATE POLICY tenant ON garden.beds TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
		GRANT USAGE ON SCHEMA garden TO alfred_tenant; GRANT SELECT ON garden.beds TO alfred_tenant`)
	tried := func(label string) {
		text := `{name: garden, schema: garden, owner: user_id, persona: You garden., entities: [{type: bed, table: beds, label: "` + label + `"}], subdomains: [{name: beds, description: All., tables: [beds]}]}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, "garden.yaml"), []byte(text), 0o600))
		proof, err := engine.Prove(t.Context(), pool, os.DirFS(dir), "garden.yaml")
		require.NoError(t, err)
		require.Empty(t, proof.Broken)
	}
	tried("{name}")
	address, stop := startServer(t, settings.Env{"DATABASE_URL": url, "ALFRED_DOMAIN": filepath.Join(dir, "garden.yaml"), "ALFRED_AUTH": "off", "ALFRED_ADDR": "127.0.0.1:0"})
	tables := func() string {
		status, text := request(t, http.MethodGet, address+"/v1/data", "")
		require.Equal(t, http.StatusOK, status)

		return text
	}
	require.NotContains(t, tables(), "width")

	exec(t, url, `ALTER TABLE garden.beds ADD COLUMN width integer`)
	tried("{name} {width}")
	require.Eventually(t, func() bool { return strings.Contains(tables(), "width") }, dbtest.Patience, 100*time.Millisecond)
	require.NoError(t, stop())
}
