package pg_test

import (
	"context"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// A database of every released version is migrated to the present schema with its rows, while it is in use through
// public API functions.
func TestMigrateFromReleases(t *testing.T) {
	t.Parallel()

	dumps, err := filepath.Glob("testdata/releases/*.sql")
	require.NoError(t, err)
	for _, dump := range dumps {
		t.Run(filepath.Base(dump), func(t *testing.T) {
			t.Parallel()

			pool := restore(t, dump)
			_, err := pool.Exec(t.Context(), `SELECT enqueue_turn(s.id, 'message ' || n) FROM generate_series(1, 100) AS i
				CROSS JOIN LATERAL (SELECT start_session('user ' || i % 10) AS id) AS s CROSS JOIN generate_series(1, 4) AS n`)
			require.NoError(t, err)

			ctx, stop := context.WithCancel(t.Context())
			users, ctx := errgroup.WithContext(ctx)
			for range 2 {
				users.Go(func() error { return useUntil(ctx, pool) })
			}
			migrator, err := pg.NewMigrator(pool, discard())
			require.NoError(t, err)
			_, err = migrator.Up(t.Context())
			require.NoError(t, err)
			stop()
			require.NoError(t, users.Wait())

			require.NoError(t, pg.CheckSchema(t.Context(), pool, discard()))
			require.Equal(t, withoutViews(catalog(t, dbtest.Pool(t))), withoutViews(catalog(t, pool)))
			var turns int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM turns WHERE message LIKE 'message %'`).Scan(&turns))
			require.Equal(t, 400, turns)
		})
	}
}

// withoutViews drops the texts of views, which a dump does not reproduce exactly.
func withoutViews(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "view ") })
}

// restore loads a dump into its own database.
func restore(t *testing.T, dump string) *pgxpool.Pool {
	t.Helper()

	psql, err := osexec.LookPath("psql")
	if err != nil {
		t.Skip("dumps are loaded with psql")
	}
	url := dbtest.EmptyURL(t)
	out, err := osexec.CommandContext(t.Context(), psql, url, "-Xq", "-v", "ON_ERROR_STOP=1",
		"-c", "CREATE EXTENSION vector; CREATE EXTENSION pg_trgm", "-f", dump).CombinedOutput()
	require.NoError(t, err, "%s", out)

	return open(t, url)
}

// useUntil enqueues and cancels turns until ctx ends.
func useUntil(ctx context.Context, pool *pgxpool.Pool) error {
	for ctx.Err() == nil {
		_, err := pool.Exec(ctx, `SELECT cancel_turn(enqueue_turn(start_session('busy'), 'while migrating'))`)
		if err != nil && ctx.Err() == nil {
			return err
		}
	}

	return nil
}
