package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

func TestDomainCheckBuiltin(t *testing.T) {
	t.Parallel()

	e := settings.Env{"DATABASE_URL": dbtest.URL(t)}

	out := mustWork(t, e, "domain", "check")
	require.Equal(t, "kitchen: 9 entity types and 7 subdomains, no mismatch\n", out)

	out = mustWork(t, e, "domain", "check", "--json")
	var report domainReport
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Contains(t, report.Entities, "recipe")
	require.Empty(t, report.Problems)
}

// Neither file is written if one of them is there: a second attempt would find half of the first.
func TestDomainInitWritesBothOrNone(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), `CREATE SCHEMA orchard; CREATE TABLE orchard.users (id integer PRIMARY KEY, name text);
		CREATE TABLE orchard.trees (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES orchard.users, name text NOT NULL)`)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "orchard.sql"), []byte("mine"), 0o600))
	_, err = worker(t, settings.Env{"DATABASE_URL": url}, "domain", "init", "--schema", "orchard", "--dir", dir)
	require.ErrorContains(t, err, "orchard.sql is there already; move it away first")
	require.NoFileExists(t, filepath.Join(dir, "orchard.yaml"))
}

// Several schemas make one pair of files, named after the first. Tables as they are cannot be brought into one schema.
func TestDomainInitOfSeveralSchemas(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	execute(t, pool, `CREATE SCHEMA field; CREATE SCHEMA folk; CREATE TABLE folk.users (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE field.plots (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES folk.users, name text NOT NULL)`)
	e, dir := settings.Env{"DATABASE_URL": url}, t.TempDir()
	_, err = worker(t, e, "domain", "init", "--as-is", "--schema", "field,folk")
	require.ErrorContains(t, err, "--as-is takes one schema")
	mustWork(t, e, "domain", "init", "--schema", "field,folk", "--dir", dir)
	require.FileExists(t, filepath.Join(dir, "field.sql"))
	e["ALFRED_DOMAIN"] = filepath.Join(dir, "field.yaml")
	mustWork(t, e, "domain", "attach")
	require.Contains(t, mustWork(t, e, "domain", "check", "--probe"), "proven: users are kept apart")
	execute(t, pool, `ALTER TABLE folk.users ADD COLUMN town text`)
	_, err = worker(t, e, "run")
	require.ErrorContains(t, err, "have changed since it was tried", "of every schema")
	mustWork(t, e, "domain", "drop", "--yes")
	execute(t, pool, `DROP SCHEMA field CASCADE; DROP SCHEMA folk CASCADE`)
}

// attached declares a schema of trees, and attaches its views.
func attached(t *testing.T, schema string) (settings.Env, *pgxpool.Pool) {
	t.Helper()
	url := dbtest.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	execute(t, pool, strings.ReplaceAll(`CREATE SCHEMA $; CREATE TABLE $.users (id integer PRIMARY KEY, name text);
		CREATE TABLE $.trees (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES $.users, name text NOT NULL)`, "$", schema))
	dir := t.TempDir()
	e := settings.Env{"DATABASE_URL": url, "ALFRED_DOMAIN": filepath.Join(dir, schema+".yaml")}
	mustWork(t, e, "domain", "init", "--schema", schema, "--dir", dir)
	mustWork(t, e, "domain", "attach")

	return e, pool
}

// Whoever upgrades learns from check, without a probe, that the views are still those of the last version.
func TestDomainCheckNamesOutdatedViews(t *testing.T) {
	t.Parallel()

	e, pool := attached(t, "glade")
	require.Contains(t, mustWork(t, e, "domain", "check"), "no mismatch\n")

	execute(t, pool, `COMMENT ON SCHEMA glade_alfred IS 'as an earlier version wrote it'`)
	out, err := worker(t, e, "domain", "check")
	require.ErrorContains(t, err, "the views of "+e["ALFRED_DOMAIN"]+" are outdated")
	require.Contains(t, out, "run worker domain attach\n")
	execute(t, pool, `DROP VIEW glade_alfred.trees`)
	execute(t, pool, `CREATE VIEW glade_alfred.trees AS SELECT t.id, t.name, t.user_id, t.xmin::text AS _version FROM glade.trees AS t WHERE false; GRANT SELECT ON glade_alfred.trees TO alfred_tenant`)
	out, err = worker(t, e, "domain", "check")
	require.ErrorContains(t, err, "1 mismatches", "and what is the cause")
	require.Contains(t, out, "\noutdated: the views were made from another declaration, from other tables or by another version: run worker domain attach\n")
}

// A developer's path with an existing schema: init, check, fix, check.
func TestDomainInitThenCheck(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	e := settings.Env{"DATABASE_URL": url}
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), `CREATE SCHEMA garden;
CREATE TABLE garden.beds (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT USAGE ON SCHEMA garden TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (name), UPDATE (name) ON garden.beds TO alfred_tenant`)
	require.NoError(t, err)

	out := mustWork(t, e, "domain", "init", "--as-is", "--schema", "garden")
	require.Contains(t, out, `owner: "user_id" # unsure`)
	file := filepath.Join(t.TempDir(), "garden.yaml")
	require.NoError(t, os.WriteFile(file, []byte(out), 0o600))

	e["ALFRED_DOMAIN"] = file
	out, err = worker(t, e, "domain", "check")
	require.ErrorContains(t, err, "1 mismatches")
	require.Contains(t, out, "garden.yaml:10: bed: row-level security is not enabled on beds")

	_, err = pool.Exec(t.Context(), `ALTER TABLE garden.beds ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON garden.beds TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid)`)
	require.NoError(t, err)

	out = mustWork(t, e, "domain", "check")
	require.Contains(t, out, "1 entity types and 1 subdomains, no mismatch")

	// W04: no worker runs a domain that was never probed, or has changed since.
	_, err = worker(t, e, "run")
	require.ErrorContains(t, err, "nobody has tried whether domain garden keeps users apart: run worker domain check --probe")
	out = mustWork(t, e, "domain", "check", "--probe")
	require.Contains(t, out, "proven: users are kept apart")
	require.NoError(t, program.CheckProven(t.Context(), pool, file))
	_, err = pool.Exec(t.Context(), `DROP POLICY tenant ON garden.beds; CREATE POLICY tenant ON garden.beds TO alfred_tenant USING (true);
INSERT INTO garden.beds (name, user_id) VALUES ('roses', gen_random_uuid())`)
	require.NoError(t, err)
	_, err = worker(t, e, "run")
	require.ErrorContains(t, err, "have changed since it was tried")
	out, err = worker(t, e, "domain", "check", "--probe")
	require.ErrorContains(t, err, "does not keep users apart")
	require.Contains(t, out, "broken: bed: a user who owns nothing sees 1 rows")
}

func TestDomainErrors(t *testing.T) {
	t.Parallel()

	_, err := worker(t, settings.Env{}, "domain", "check")
	require.ErrorIs(t, err, settings.ErrNoDatabase)
	_, err = worker(t, settings.Env{}, "domain", "init")
	require.ErrorContains(t, err, "--schema")

	e := settings.Env{"DATABASE_URL": dbtest.URL(t)}
	_, err = worker(t, e, "domain", "check", filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "none.yaml")
	_, err = worker(t, e, "domain", "init", "--as-is", "--schema", "nowhere")
	require.ErrorContains(t, err, "nowhere")
}
