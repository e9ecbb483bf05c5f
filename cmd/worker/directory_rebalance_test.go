package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// A database that does not answer is left out of the plan, which says so: its users cannot be moved, nor others to it.
func TestRebalanceWithoutADatabase(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t)}
	mustWork(t, e, "directory", "init")
	for _, name := range []string{"one", "three", "two"} {
		address, pool := database(t)
		mustWork(t, e, "directory", "add", name, address)
		for _, user := range map[string][]string{"one": {"ada", "bob"}}[name] {
			execute(t, pool, `SELECT cancel_turn(enqueue_turn(start_session($1), 'hello'))`, user)
		}
	}
	conn, err := pgx.Connect(t.Context(), e["ALFRED_DIRECTORY_URL"])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	dies := func(name string) {
		execute(t, conn, `UPDATE alfred_directory.databases SET url = 'postgres://nobody@127.0.0.1:1/none' WHERE name = $1`, name)
	}

	dies("two")
	out := mustWork(t, e, "directory", "rebalance", "--plan")
	require.Contains(t, out, "# two is left out: ")
	require.Contains(t, out, "2.00 times the mean; after these 1 moves 1.00")
	require.Contains(t, out, "worker user move 'ada' --to three")
	out = mustWork(t, e, "directory", "rebalance", "--plan", "--json")
	var plan struct {
		Moves   []map[string]any  `json:"moves"`
		LeftOut map[string]string `json:"left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &plan))
	require.Len(t, plan.Moves, 1)
	require.Contains(t, plan.LeftOut["two"], pg.ErrNoAnswer.Error())

	execute(t, conn, `UPDATE alfred_directory.databases SET url = $1 WHERE name = 'three'`, dbtest.EmptyURL(t))
	_, err = worker(t, e, "directory", "rebalance", "--plan")
	require.ErrorContains(t, err, "database three: count turns", "which answers")
	dies("one")
	dies("three")
	_, err = worker(t, e, "directory", "rebalance", "--plan")
	require.ErrorIs(t, err, pg.ErrNoAnswer)
}
