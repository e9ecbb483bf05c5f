package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/jobs"
)

func operate(t *testing.T, url string, args ...string) (string, error) {
	t.Helper()

	var out bytes.Buffer
	err := run(t.Context(), args, settings.Env{"DATABASE_URL": url}, &out, io.Discard)

	return out.String(), err
}

func database(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()

	url := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), pg.Config{URL: url, MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return url, pool
}

func TestSessionShowExportForget(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	var session string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT start_session()`).Scan(&session))
	_, err := pool.Exec(t.Context(), `SELECT enqueue_turn($1, 'hello there')`, session)
	require.NoError(t, err)

	shown, err := operate(t, url, "session", "show", session)
	require.NoError(t, err)
	require.Contains(t, shown, "turn 1\n")
	require.Contains(t, shown, "hello there")

	text, err := operate(t, url, "session", "export", session)
	require.NoError(t, err)
	var export map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &export))
	require.Len(t, export["turns"], 1)
	require.Len(t, export["turn_events"], 2)

	forgotten, err := operate(t, url, "session", "forget", "--json", session)
	require.NoError(t, err)
	require.JSONEq(t, `{"forgotten": "`+session+`"}`, forgotten)
	for _, command := range []string{"show", "export", "forget"} {
		_, err = operate(t, url, "session", command, session)
		require.ErrorIs(t, err, errNoSession)
	}
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM river_job)`).Scan(&left))
	require.Zero(t, left)
}

func TestPruneDropsOldMonths(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	const old = `
		CREATE TABLE llm_calls_y2024m01 PARTITION OF llm_calls FOR VALUES FROM (uuid_v7_floor('2024-01-01Z')) TO (uuid_v7_floor('2024-02-01Z'));
		INSERT INTO llm_calls (id, session_id, node, provider, model, request, response) SELECT uuid_v7('2024-01-15Z'), start_session(), 'think', 'p', 'm', '{}', '{}';`
	_, err := pool.Exec(t.Context(), old)
	require.NoError(t, err)

	kept, err := operate(t, url, "prune", "--keep", "llm_calls=0")
	require.NoError(t, err)
	require.Equal(t, "nothing is old enough\n", kept)
	for _, args := range [][]string{{"prune", "--dry-run"}, {"prune"}} {
		dropped, err := operate(t, url, args...)
		require.NoError(t, err)
		require.Equal(t, "llm_calls_y2024m01\n", dropped)
	}
	again, err := operate(t, url, "prune", "--json")
	require.NoError(t, err)
	require.JSONEq(t, `{"dropped": [], "deleted": {}, "dry_run": false}`, again)
	var calls int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM llm_calls`).Scan(&calls))
	require.Zero(t, calls)
}

func TestDoctor(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	text, err := operate(t, url, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, text, "FAIL workers")
	require.Contains(t, text, "ok   schema")

	_, err = pool.Exec(t.Context(), `INSERT INTO workers (id, version, host, beat_at) VALUES ($1, 'v', 'h', clock_timestamp() + interval '1 minute')`, uuid.NewString())
	require.NoError(t, err)
	text, err = operate(t, url, "doctor", "--json")
	require.NoError(t, err, text)
}

// A turn that cannot be undone is what a script has to tell from a program that failed.
func TestTurnUndoExitStatus(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	_, turn := say(t, pool, "ada", "hello")
	_, err := pool.Exec(t.Context(), `SELECT cancel_turn($1)`, turn)
	require.NoError(t, err)
	_, err = operate(t, url, "turn", "undo", turn.String())
	status := &program.StatusError{}
	require.ErrorAs(t, err, &status)
	require.Equal(t, 2, status.Status, "it wrote nothing")
	_, err = operate(t, url, "turn", "undo", uuid.NewString())
	require.ErrorIs(t, err, jobs.ErrTurnNotFound)
	require.NotErrorAs(t, err, &status)
}
