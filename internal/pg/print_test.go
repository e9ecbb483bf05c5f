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
	command := osexec.CommandContext(t.Context(), psql, url, "-Xq", "-v", "ON_ERROR_STOP=1")
	command.Stdin = strings.NewReader(text)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)

	require.NoError(t, pg.CheckSchema(t.Context(), pool, discard()))
	steps, err := migrator.Up(t.Context())
	require.NoError(t, err)
	require.Empty(t, steps)
	require.Equal(t, catalog(t, dbtest.Pool(t)), catalog(t, pool))
	text, err = migrator.Print(t.Context())
	require.NoError(t, err)
	require.NotContains(t, text, "-- alfred")
}
