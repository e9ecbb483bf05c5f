package reference_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

const locksIntro = `# What migrations lock

Which existing tables each migration locks until it commits, and with which lock. ` + "`make generate`" + ` writes this page: it applies
each migration and reads ` + "`pg_locks`" + `. The migrations of the first version run on an empty schema, where nobody waits for them. Those named river come with River.

From the first release on, a migration that locks a growing table (` + "`turns`, `llm_calls`, `turn_events`, `entity_refs`, `embeddings`" + ` and
the like) must not read or write rows while it holds the lock. It may add a column with a constant default or a ` + "`NOT VALID`" + ` constraint, or create an index
` + "`CONCURRENTLY`" + ` without a transaction, after ` + "`SET lock_timeout = 0`" + ` and a ` + "`DROP INDEX IF EXISTS`" + `. ` + "`worker migrate up`" + ` takes an advisory lock, for which only other
migrators wait. It waits for a table for at most half a second at a time, so a long transaction that uses the table, such as a backup's, delays the migration
and not the turns.

| migration | locks |
|---|---|
`

// docs/migrations.md says what each migration locks.
func TestLocksAreDocumented(t *testing.T) {
	t.Parallel()

	pool, err := pg.Open(t.Context(), pg.Config{URL: dbtest.EmptyURL(t), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := pg.NewMigrator(pool, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	script, err := migrator.Print(t.Context())
	require.NoError(t, err)

	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	var page strings.Builder
	page.WriteString(locksIntro)
	header := regexp.MustCompile(`(?m)^-- (river|alfred|kitchen) (\S+.*)\nBEGIN;\n`)
	starts := header.FindAllStringSubmatchIndex(script, -1)
	_, err = conn.Exec(t.Context(), strings.Replace(script[:starts[0][0]], `\set ON_ERROR_STOP on`, "", 1)) // which is psql's
	require.NoError(t, err)
	for i, at := range starts {
		end := len(script)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name := script[at[2]:at[3]] + " " + script[at[4]:at[5]]
		body, _, found := strings.Cut(script[at[1]:end], "\nCOMMIT;\n")
		require.True(t, found, name)
		fmt.Fprintf(&page, "| %s | %s |\n", name, locksOf(t, conn.Conn(), body))
	}
	same(t, "docs/migrations.md", page.String())
}

// locksOf applies a migration and returns its locks on existing tables.
func locksOf(t *testing.T, conn *pgx.Conn, migration string) string {
	t.Helper()

	var locks string
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `CREATE TEMPORARY TABLE found ON COMMIT DROP AS
			SELECT oid FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('alfred', 'kitchen'))`); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), migration); err != nil {
			return err
		}

		return tx.QueryRow(t.Context(), `
			SELECT coalesce(string_agg(DISTINCT l.relation::regclass || ' ' || l.mode, ', '), 'none')
			FROM pg_locks AS l JOIN pg_temp.found ON found.oid = l.relation
			WHERE l.pid = pg_backend_pid() AND l.mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
				AND EXISTS (SELECT FROM pg_class WHERE oid = l.relation) AND l.relation::regclass::text !~ '_y\d+m\d+$'`).Scan(&locks)
	})
	require.NoError(t, err)

	return locks
}
