package pg_test

import (
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// Running the printed SQL has the same result as Up.
func TestMigratorPrintIsWhatUpDoes(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	psql, err := osexec.LookPath("psql")
	if err != nil {
		t.Skip("the printed script is for psql")
	}
	url := dbtest.EmptyURL(t)
	pool := open(t, url)
	migrator, err := pg.NewMigrator(pool, discard())
	require.NoError(t, err)
	text, err := migrator.Print(t.Context())
	require.NoError(t, err)
	run := func(text string) (string, error) {
		command := osexec.CommandContext(t.Context(), psql, url, "-Xq")
		command.Stdin = strings.NewReader(text)
		out, err := command.CombinedOutput()

		return string(out), err
	}
	out, err := run(text)
	require.NoError(t, err, out)

	require.NoError(t, pg.CheckSchema(t.Context(), pool, discard()))
	steps, err := migrator.Up(t.Context())
	require.NoError(t, err)
	require.Empty(t, steps)
	require.Equal(t, catalog(t, dbtest.Pool(t)), catalog(t, pool))
	text, err = migrator.Print(t.Context())
	require.NoError(t, err)
	require.NotContains(t, text, "-- alfred")

	// A table in use stops the script instead of everybody who uses the table.
	_, err = migrator.Down(t.Context())
	require.NoError(t, err)
	text, err = migrator.Print(t.Context())
	require.NoError(t, err)
	backup, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = backup.Exec(t.Context(), `LOCK TABLE alfred.users, kitchen.recipes IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	out, err = run(text)
	require.ErrorContains(t, err, "exit status 3", out)
	require.Contains(t, out, "lock timeout")
	require.NoError(t, backup.Rollback(t.Context()))
	require.ErrorIs(t, pg.CheckSchema(t.Context(), pool, discard()), pg.ErrSchemaBehind)
	out, err = run(text)
	require.NoError(t, err, out)
	require.NoError(t, pg.CheckSchema(t.Context(), pool, discard()))
}
