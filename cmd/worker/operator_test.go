package main

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/jobs"
)

func operate(t *testing.T, url string, args ...string) (string, error) {
	t.Helper()

	return worker(t, settings.Env{"DATABASE_URL": url}, args...)
}

func mustOperate(t *testing.T, url string, args ...string) string {
	t.Helper()

	return mustWork(t, settings.Env{"DATABASE_URL": url}, args...)
}

func execute(t *testing.T, on db.DBTX, sql string, args ...any) {
	t.Helper()
	_, err := on.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func query[T any](t *testing.T, on db.DBTX, sql string, args ...any) (value T) {
	t.Helper()
	require.NoError(t, on.QueryRow(t.Context(), sql, args...).Scan(&value))

	return value
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
	session := query[string](t, pool, `SELECT start_session()`)
	execute(t, pool, `SELECT enqueue_turn($1, E'hello there,\nAlfred')`, session)

	shown := mustOperate(t, url, "session", "show", session)
	require.Contains(t, shown, "turn 1\n")
	require.Contains(t, shown, "  message   hello there,\n                          Alfred\n")

	text := mustOperate(t, url, "session", "export", session)
	var export map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &export))
	require.Len(t, export["turns"], 1)
	require.Len(t, export["turn_events"], 2)

	forgotten := mustOperate(t, url, "session", "forget", "--json", session)
	require.JSONEq(t, `{"forgotten": "`+session+`"}`, forgotten)
	for _, command := range []string{"show", "export", "forget"} {
		_, err := operate(t, url, "session", command, session)
		require.ErrorIs(t, err, errNoSession)
	}
	require.Zero(t, query[int](t, pool, `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM river_job)`))
}

func TestPruneDropsOldMonths(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	const old = `
		CREATE TABLE llm_calls_y2024m01 PARTITION OF llm_calls FOR VALUES FROM (uuid_v7_floor('2024-01-01Z')) TO (uuid_v7_floor('2024-02-01Z'));
		INSERT INTO llm_calls (id, session_id, node, provider, model, request, response) SELECT uuid_v7('2024-01-15Z'), start_session(), 'think', 'p', 'm', '{}', '{}';`
	execute(t, pool, old)

	kept := mustOperate(t, url, "prune", "--keep", "llm_calls=0")
	require.Equal(t, "nothing is old enough\n", kept)
	for _, args := range [][]string{{"prune", "--dry-run"}, {"prune"}} {
		dropped := mustOperate(t, url, args...)
		require.Equal(t, "llm_calls_y2024m01\n", dropped)
	}
	again := mustOperate(t, url, "prune", "--json")
	require.JSONEq(t, `{"dropped": [], "deleted": {}, "dry_run": false}`, again)
	require.Zero(t, query[int](t, pool, `SELECT count(*) FROM llm_calls`))
}

func TestDoctor(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	text, err := operate(t, url, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, text, "FAIL workers")
	require.Contains(t, text, "ok   schema")

	execute(t, pool, `INSERT INTO workers (id, version, host, beat_at) VALUES ($1, 'v', 'h', clock_timestamp() + interval '1 minute')`, uuid.NewString())
	text, err = operate(t, url, "doctor", "--json")
	require.NoError(t, err, text)

	execute(t, pool, `UPDATE workers SET domain = 'retail'`)
	text, err = operate(t, url, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, text, "FAIL domain     the workers run the declaration retail, and kitchen was to be checked: set ALFRED_DOMAIN as they have it\n")
	require.NotContains(t, text, "kitchen matches", "what nobody runs says nothing")
	execute(t, pool, `UPDATE workers SET domain = 'kitchen'`)
	text, err = operate(t, url, "doctor")
	require.NoError(t, err, text)
}

// A turn that cannot be undone is what a script has to tell from a program that failed.
func TestTurnUndoExitStatus(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	_, turn := say(t, pool, "ada", "hello")
	execute(t, pool, `SELECT cancel_turn($1)`, turn)
	_, err := operate(t, url, "turn", "undo", turn.String())
	status := &program.StatusError{}
	require.ErrorAs(t, err, &status)
	require.Equal(t, 2, status.Status, "it wrote nothing")
	_, err = operate(t, url, "turn", "undo", uuid.NewString())
	require.ErrorIs(t, err, jobs.ErrTurnNotFound)
	require.NotErrorAs(t, err, &status)
}
