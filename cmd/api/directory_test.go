package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/pg"
)

// While one database is away, the keys in the others can be listed and revoked, and doctor says which one it is.
func TestOneOfManyDatabasesIsAway(t *testing.T) {
	t.Parallel()

	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t)}
	require.NoError(t, directory.Init(t.Context(), e["ALFRED_DIRECTORY_URL"], slog.New(slog.DiscardHandler)))
	known, err := directory.Open(t.Context(), e["ALFRED_DIRECTORY_URL"])
	require.NoError(t, err)
	t.Cleanup(known.Close)
	_, err = known.AddDatabase(t.Context(), directory.Database{Name: "b", URL: dbtest.URL(t)})
	require.NoError(t, err)
	mustAPI(t, e, "keys", "create", "--user", "ada")
	_, err = known.AddDatabase(t.Context(), directory.Database{Name: "a", URL: dbtest.URL(t)})
	require.NoError(t, err)
	out := mustAPI(t, e, "doctor")
	require.Contains(t, out, "ok   domain     a: kitchen matches the database\n")

	exec(t, e["ALFRED_DIRECTORY_URL"], `UPDATE alfred_directory.databases SET url = 'postgres://nobody@127.0.0.1:1/none' WHERE name = 'a'`)
	out, err = api(t, e, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, out, "FAIL database   a: the database does not answer")
	require.Contains(t, out, "ok   domain     b: kitchen matches the database\n")
	out, err = api(t, e, "keys", "list")
	require.ErrorIs(t, err, pg.ErrNoAnswer)
	require.Contains(t, out, "active")
	_, err = api(t, e, "keys", "revoke", strings.Fields(out)[0])
	require.ErrorIs(t, err, pg.ErrNoAnswer)
	out, err = api(t, e, "keys", "list")
	require.ErrorIs(t, err, pg.ErrNoAnswer)
	require.Contains(t, out, "revoked")
}
