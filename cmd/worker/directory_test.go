package main

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

// An operator makes a directory, adds databases, looks, plans, moves a user and gives a move up.
func TestDirectoryCommands(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	_, err := worker(t, settings.Env{}, "directory", "show")
	require.ErrorIs(t, err, program.ErrNoDirectory)
	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t)}
	_, err = worker(t, e, "directory", "show")
	require.ErrorIs(t, err, directory.ErrNotMade)
	mustWork(t, e, "directory", "init")

	_, err = worker(t, e, "directory", "add", "one", dbtest.EmptyURL(t))
	require.ErrorIs(t, err, pg.ErrSchemaBehind)

	first, a := database(t)
	second, b := database(t)
	for range 3 {
		execute(t, a, `SELECT cancel_turn(enqueue_turn(start_session('o''brien'), 'hello')), start_session('bob')`)
	}
	_, err = worker(t, e, "directory", "add", "Not A Name", first)
	require.ErrorIs(t, err, directory.ErrName)
	out := mustWork(t, e, "directory", "add", "one", first)
	require.Contains(t, out, "3 users that were not known")
	_, err = worker(t, e, "directory", "add", "again", first+"&application_name=other")
	require.ErrorContains(t, err, "known as one already", "under a second name it would refuse everybody")
	mustWork(t, e, "directory", "add", "two", second)
	execute(t, b, `SELECT start_session('bob')`)
	_, err = worker(t, e, "directory", "add", "two", second)
	require.ErrorContains(t, err, "belong to users of another database: bob")
	execute(t, b, `DELETE FROM users WHERE name = 'bob'`)

	out = mustWork(t, e, "directory", "show", "--json")
	var shown struct {
		Databases []shownDatabase `json:"databases"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	require.Len(t, shown.Databases, 2)
	require.EqualValues(t, 3, shown.Databases[0].Users, "the kitchen's demo user is one")
	config, err := pgx.ParseConfig(first)
	require.NoError(t, err)
	if config.Password != "" {
		require.NotContains(t, out, config.Password)
	}

	_, err = worker(t, e, "directory", "rebalance")
	require.ErrorContains(t, err, "--plan")
	out = mustWork(t, e, "directory", "rebalance", "--plan")
	require.Contains(t, out, "2.00 times the mean", "one user has done everything, and would make the other database as busy")

	_, err = worker(t, e, "user", "move", "o'brien")
	require.ErrorIs(t, err, errNowhere)
	_, err = worker(t, e, "user", "move", "o'brien", "--abort")
	require.ErrorIs(t, err, directory.ErrNoMove)
	execute(t, a, `ALTER TABLE kitchen.tasks REPLICA IDENTITY DEFAULT`)
	_, err = worker(t, e, "user", "move", "o'brien", "--to", "two")
	require.ErrorContains(t, err, "--off", "here or where the server has another wal_level")
	out = mustWork(t, e, "user", "move", "o'brien", "--to", "two", "--off", "--grace", "0s")
	require.Contains(t, out, "moved to two: ")
	_, err = b.Exec(t.Context(), `SELECT start_session('demo')`)
	require.True(t, pg.IsElsewhere(err), "whom both databases have at first only one serves: %v", err)
	out = mustWork(t, e, "directory", "show", "o'brien")
	require.Contains(t, out, "is in two, place 2")
	out = mustWork(t, e, "directory", "show")
	require.Contains(t, out, "move of o'brien from one to two: done")
	require.Equal(t, 3, query[int](t, b, `SELECT count(*) FROM turns`))
	out = mustWork(t, e, "user", "move", "o'brien", "--to", "one", "--off", "--grace", "0s", "--json")
	require.Contains(t, out, `"copied_again": false`)

	_, err = worker(t, e, "user", "move", "nobody", "--to", "two")
	require.ErrorIs(t, err, directory.ErrUnknown)
	_, err = worker(t, settings.Env{"ALFRED_DIRECTORY_URL": "postgres://nobody@127.0.0.1:1/none"}, "user", "move", "o'brien", "--to", "two")
	require.ErrorIs(t, err, pg.ErrNoAnswer)
}

// Nobody who is erased stays in the directory, whose name of them and hashes of keys are theirs, too.
func TestEraseReachesTheDirectory(t *testing.T) {
	t.Parallel()

	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t)}
	mustWork(t, e, "directory", "init")
	url, pool := database(t)
	execute(t, pool, `SELECT start_session('ada')`)
	execute(t, pool, `INSERT INTO api_keys (user_id, key_hash, scopes) SELECT id, 'hash', '{chat}' FROM users WHERE name = 'ada'`)
	mustWork(t, e, "directory", "add", "one", url)
	known, err := directory.Open(t.Context(), e["ALFRED_DIRECTORY_URL"])
	require.NoError(t, err)
	t.Cleanup(known.Close)
	ada, err := known.ByName(t.Context(), "ada")
	require.NoError(t, err)

	mustWork(t, e, "directory", "add", "two", dbtest.URL(t))
	move, err := known.Take(t.Context(), ada, "two")
	require.NoError(t, err)
	_, err = worker(t, e, "user", "erase", "ada")
	require.ErrorIs(t, err, mover.ErrOtherMove, "two databases have rows of theirs")
	require.NoError(t, known.Advance(t.Context(), move, directory.StepDone))
	mustWork(t, e, "user", "erase", "ada")
	_, err = known.ByName(t.Context(), "ada")
	require.ErrorIs(t, err, directory.ErrUnknown)
	_, err = known.ByKey(t.Context(), []byte("hash"))
	require.ErrorIs(t, err, directory.ErrUnknown)
	require.Zero(t, query[int](t, pool, `SELECT count(*) FROM users WHERE name = 'ada'`))
	_, err = worker(t, e, "user", "erase", "ada")
	require.ErrorIs(t, err, directory.ErrUnknown)
}
