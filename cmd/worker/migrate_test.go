package main

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := settings.Env{"DATABASE_URL": dbtest.EmptyURL(t)}

	_, err := worker(t, e, "migrate", "status")
	require.NoError(t, err, "saying so is no failure")
	_, err = worker(t, e, "migrate", "status", "--exit-code")
	require.ErrorIs(t, err, pg.ErrSchemaBehind)

	out := mustWork(t, e, "migrate", "print")
	require.Contains(t, out, "CREATE TABLE")
	printed := mustWork(t, e, "migrate", "print", "--json")
	var pending struct {
		SQL string `json:"sql"`
	}
	require.NoError(t, json.Unmarshal([]byte(printed), &pending))
	require.Equal(t, out, pending.SQL)

	out = mustWork(t, e, "migrate", "up")
	require.Contains(t, out, "applied alfred 1 ")
	mustWork(t, e, "migrate", "status", "--exit-code")
	out = mustWork(t, e, "migrate", "up")
	require.Equal(t, "nothing to be applied\n", out)

	out = mustWork(t, e, "migrate", "down", "--json")
	var down struct {
		Steps []pg.Step `json:"steps"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &down))
	require.Len(t, down.Steps, 1)

	out, err = worker(t, e, "migrate", "status", "--exit-code", "--json")
	require.ErrorIs(t, err, pg.ErrSchemaBehind)
	var status pg.Status
	require.NoError(t, json.Unmarshal([]byte(out), &status))
	require.Equal(t, []int64{down.Steps[0].Version}, status.Sources[2].Pending)

	mustWork(t, e, "migrate", "down", "--all")
}

// Commands on a database without the engine's tables say what to do, not which tables they miss.
func TestCommandsNeedTheSchema(t *testing.T) {
	t.Parallel()

	e := settings.Env{"DATABASE_URL": dbtest.EmptyURL(t)}
	id := uuid.NewString()
	for _, args := range [][]string{
		{"domain", "check"}, {"eval", "case", id}, {"prune"}, {"session", "export", id}, {"session", "fork", id, "--turn", "0"},
		{"session", "forget", id}, {"session", "replay", id}, {"session", "show", id}, {"turn", "undo", id}, {"user", "erase", "ada"},
	} {
		_, err := worker(t, e, args...)
		require.ErrorIs(t, err, pg.ErrSchemaBehind, args)
	}
}
