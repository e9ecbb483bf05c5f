package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

// marker is in everything that a user says and has, and nowhere else.
const marker = "zanzibar"

// startWorker runs `worker run` until stop is called or the test ends.
func startWorker(t *testing.T, url string) (stop func()) {
	t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"run", "--quiet"}, settings.Env{"DATABASE_URL": url}, io.Discard, io.Discard)
	}()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)

	return stop
}

// say enqueues a message for a new session of a user and returns both ids.
func say(t *testing.T, pool *pgxpool.Pool, user, message string) (session, turn uuid.UUID) {
	t.Helper()
	session = query[uuid.UUID](t, pool, `SELECT start_session($1)`, user)

	return session, sayIn(t, pool, session, message)
}

func sayIn(t *testing.T, pool *pgxpool.Pool, session uuid.UUID, message string) uuid.UUID {
	t.Helper()

	return query[uuid.UUID](t, pool, `SELECT enqueue_turn($1, $2)`, session, message)
}

func awaitRow(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()

	require.Eventually(t, func() bool {
		var yes bool

		return pool.QueryRow(t.Context(), sql, args...).Scan(&yes) == nil && yes
	}, dbtest.Patience, 10*time.Millisecond, sql)
}

const summarized = `SELECT summarized_at IS NOT NULL FROM turns WHERE id = $1`

// Everything belonging to a user is exported, and after erasure nothing is left, although turns of this and other users
// run meanwhile.
func TestUserExportAndErase(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url, pool := database(t)
	stop := startWorker(t, url)
	_, bob := say(t, pool, "bob", "What recipes do I have?")
	session, turn := say(t, pool, "ada", "Add "+marker+" spice to my shopping list")
	awaitRow(t, pool, summarized, turn)
	for _, message := range []string{"Draft a " + marker + " soup", "What is on my shopping list?", "Find " + marker} {
		turn = sayIn(t, pool, session, message)
		awaitRow(t, pool, summarized, turn)
	}
	awaitRow(t, pool, `SELECT count(*) > 0 FROM embeddings WHERE owner_id = $1::text`, turn)
	user := query[uuid.UUID](t, pool, `SELECT id FROM users WHERE name = 'ada'`)
	execute(t, pool, `INSERT INTO api_keys (user_id, key_hash, scopes) VALUES ($1, 'secret hash', '{chat}')`, user)

	text := mustOperate(t, url, "user", "export", "ada")
	var export map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &export), text)
	require.Len(t, export["turns"], 4)
	require.Len(t, export["kitchen.shopping_list"], 1)
	require.NotContains(t, export["api_keys"][0], "key_hash")
	// These are derived from what is exported, or in it.
	kept := map[string]bool{"alfred.embeddings": true, "alfred.river_job": true, "alfred.prompt_parts": true, "alfred.user_words": true}
	for _, line := range append(holdingTables(t, pool, marker), holdingTables(t, pool, user.String())...) {
		name := strings.TrimPrefix(strings.Split(line, ":")[0], "alfred.")
		require.True(t, kept["alfred."+name] || len(export[name]) > 0, "%s is not in the export", line)
	}

	for range 3 { // running or waiting when their session is erased
		say(t, pool, "ada", "Draft a "+marker+" stew and a cake")
	}
	erased := mustOperate(t, url, "user", "erase", "ada")
	require.Equal(t, "erased\n", erased)
	require.Empty(t, holdingTables(t, pool, marker))
	stop()
	for _, trace := range []string{marker, user.String(), session.String(), turn.String()} {
		require.Empty(t, holdingTables(t, pool, trace), "nothing that was under way came back")
	}
	for _, command := range []string{"export", "erase"} {
		_, err := operate(t, url, "user", command, "ada")
		require.ErrorIs(t, err, errNoUser)
	}
	require.Equal(t, "succeeded", query[string](t, pool, `SELECT status FROM turns WHERE id = $1`, bob))
}

// Every table with session data is exported.
func TestExportKnowsEveryTable(t *testing.T) {
	t.Parallel()

	_, pool := database(t)
	rows, err := pool.Query(t.Context(), `SELECT DISTINCT c.relname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'alfred'::regnamespace AND (c.relkind IN ('r', 'p') AND NOT c.relispartition OR c.relname = 'context_items')
		  AND a.attname IN ('session_id', 'turn_id', 'llm_call_id')`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	known := []string{"sessions"}
	for _, table := range engineTables[1:] {
		known = append(known, table.name)
	}
	known = append(known, "prompt_parts") // within llm_calls
	require.ElementsMatch(t, known, append(names, "sessions"))
}

// What prompts say of a conversation goes with its month, with the session and with the user, wherever prompts keep it; what
// all prompts share never holds any of it.
func TestPartsOfPromptsGo(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url, pool := database(t)
	stop := startWorker(t, url)
	sessions := map[string]uuid.UUID{}
	for _, user := range []string{"pruned", "forgotten", "erased"} {
		session, turn := say(t, pool, user, "What recipes do I have? "+strings.Repeat("I like "+user+marker+". ", 100))
		awaitRow(t, pool, summarized, turn)
		awaitRow(t, pool, summarized, sayIn(t, pool, session, "And what is on my shopping list?"))
		sessions[user] = session
	}
	stop()
	holding := func(user string) string { return strings.Join(holdingTables(t, pool, user+marker), " ") }
	count := func(sql string, args ...any) int { return query[int](t, pool, sql, args...) }
	for user, session := range sessions {
		require.Contains(t, holding(user), "prompt_parts:")
		require.NotContains(t, holding(user), "prompt_parts_shared")
		require.Zero(t, count(`SELECT count(*) FROM llm_calls WHERE request IS NOT NULL`))
		require.Zero(t, count(`SELECT count(*) FROM v_llm_calls WHERE request IS NULL OR request -> 'system' IS NULL`))
		require.Positive(t, count(`SELECT count(*) FROM v_llm_calls WHERE session_id = $1 AND request::text LIKE '%'||$2||'%'`, session, user+marker))
		require.Positive(t, count(`SELECT count(*) - count(DISTINCT part) FROM llm_calls, unnest(parts) AS part WHERE session_id = $1`, session), "prompts have parts in common")
	}
	exported := mustOperate(t, url, "session", "export", sessions["pruned"].String())
	require.Contains(t, exported, `"system"`, "calls are exported with their whole requests")

	mustOperate(t, url, "session", "forget", sessions["forgotten"].String())
	require.Empty(t, holding("forgotten"))
	mustOperate(t, url, "user", "erase", "erased")
	require.Empty(t, holding("erased"))

	for _, sql := range []string{
		`CREATE TABLE llm_calls_y2024m01 PARTITION OF llm_calls FOR VALUES FROM (uuid_v7_floor('2024-01-01Z')) TO (uuid_v7_floor('2024-02-01Z'))`,
		`CREATE TABLE prompt_parts_y2024m01 PARTITION OF prompt_parts FOR VALUES FROM ('2024-01-01') TO ('2024-02-01')`,
		`CREATE TABLE prompt_parts_shared_y2024m01 PARTITION OF prompt_parts_shared FOR VALUES FROM ('2024-01-01') TO ('2024-02-01')`,
		`UPDATE llm_calls SET id = uuid_v7('2024-01-15Z')`,
		`UPDATE prompt_parts SET month = '2024-01-01'`,
		`UPDATE prompt_parts_shared SET month = '2024-01-01'`,
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	require.Positive(t, count(`SELECT count(*) FROM v_llm_calls WHERE request::text LIKE '%'||$1||'%'`, "pruned"+marker))
	said := mustOperate(t, url, "prune")
	require.Equal(t, "llm_calls_y2024m01\nprompt_parts_y2024m01\nprompt_parts_shared_y2024m01\n", said)
	require.NotContains(t, holding("pruned"), "prompt_parts")
	require.NotContains(t, holding("pruned"), "llm_calls")
	require.Zero(t, count(`SELECT count(*) FROM prompt_parts_shared`))
}

// Pruning drops months and deletes rows while turns run and write, without affecting them.
func TestPruneWhileTurnsRun(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url, pool := database(t)
	exec := func(sql string, args ...any) {
		_, err := pool.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	old, _ := say(t, pool, "ada", "long ago")
	exec(`UPDATE sessions SET last_activity_at = '2023-05-01'`)
	exec(`DELETE FROM river_job; UPDATE turns SET status = 'cancelled', finished_at = now()`)
	for _, parent := range []string{"turn_events", "turn_step_results", "llm_calls"} {
		exec(fmt.Sprintf(`CREATE TABLE %[1]s_y2024m01 PARTITION OF %[1]s FOR VALUES FROM (uuid_v7_floor('2024-01-01Z')) TO (uuid_v7_floor('2024-02-01Z'))`, parent))
	}
	exec(`WITH t AS (INSERT INTO turns (id, session_id, user_id, number, message, mode, status, finished_at, undo)
			SELECT uuid_v7('2024-01-15Z'), id, user_id, 99, 'old', 'plan', 'cancelled', now(), 'possible' FROM sessions RETURNING id)
		INSERT INTO node_runs (turn_id, position, node, output) SELECT t.id, n, 'act', '{}' FROM t, generate_series(1, 2500) AS n`)
	exec(`INSERT INTO api_keys (user_id, key_hash, scopes, revoked_at) SELECT id, 'old', '{chat}', '2024-01-01' FROM users WHERE name = 'ada'`)
	exec(`INSERT INTO api_keys (user_id, key_hash, scopes) SELECT id, 'new', '{chat}' FROM users WHERE name = 'ada'`)

	startWorker(t, url)
	var turns []uuid.UUID
	for i := range 4 {
		session, turn := say(t, pool, fmt.Sprintf("user %d", i), "What recipes do I have?")
		turns = append(turns, turn)
		for range 4 {
			turns = append(turns, sayIn(t, pool, session, "Add salt to my shopping list"))
		}
	}
	dropped := "turn_step_results_y2024m01\nturn_events_y2024m01\nllm_calls_y2024m01\n2500 of node_runs\n1 of api_keys\n"
	for _, args := range [][]string{{"--dry-run"}, nil} {
		said := mustOperate(t, url, append([]string{"prune"}, args...)...)
		require.Equal(t, dropped, said)
	}
	undo := query[string](t, pool, `SELECT string_agg(undo || ' ' || coalesce(undo_reason, ''), ', ' ORDER BY number DESC) FROM turns WHERE number = 99 OR id = $1`, turns[1])
	require.Contains(t, []string{"impossible What it wrote is no longer kept.", "impossible What it wrote is no longer kept., possible "}, undo)
	said := mustOperate(t, url, "prune", "--keep", "sessions=12")
	require.Equal(t, "1 of sessions\n", said)
	_, err := operate(t, url, "session", "show", old.String())
	require.ErrorIs(t, err, errNoSession)
	for _, turn := range turns {
		awaitRow(t, pool, `SELECT status <> 'queued' AND status <> 'running' FROM turns WHERE id = $1`, turn)
	}
	var failed, keys int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM turns WHERE status <> 'succeeded'), (SELECT count(*) FROM api_keys)`).Scan(&failed, &keys))
	require.Zero(t, failed)
	require.Equal(t, 1, keys)
}

// Who keeps a century loses nothing, although ids know no time before 1970.
func TestPruneKeepsACentury(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	_, turn := say(t, pool, "ada", "hello")
	execute(t, pool, `INSERT INTO node_runs (turn_id, position, node, output) VALUES ($1, 1, 'act', '{}')`, turn)
	execute(t, pool, `UPDATE turns SET undo = 'possible' WHERE id = $1`, turn)

	said := mustOperate(t, url, "prune", "--months", "1200")
	require.Equal(t, "nothing is old enough\n", said)
	require.True(t, query[bool](t, pool, `SELECT t.undo = 'possible' AND EXISTS (SELECT FROM node_runs) FROM turns AS t`))
}

// Forgetting many conversations takes a while. One that goes on meanwhile is not old any more.
func TestPruneKeepsWhatGoesOn(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	first, _ := say(t, pool, "ada", "hello")
	second, _ := say(t, pool, "bob", "hello")
	execute(t, pool, `UPDATE sessions SET last_activity_at = clock_timestamp() - interval '1 year'`)
	holder, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = holder.Rollback(context.Background()) }) // where the test fails
	execute(t, holder, `SELECT FROM sessions FOR NO KEY UPDATE`)

	pruned := make(chan string, 1)
	go func() {
		said, err := operate(t, url, "prune", "--keep", "sessions=6")
		pruned <- fmt.Sprint(said, err)
	}()
	awaitRow(t, pool, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
	for _, session := range []uuid.UUID{first, second} { // whichever comes second
		execute(t, holder, `SELECT enqueue_turn($1, 'I am back')`, session)
	}
	require.NoError(t, holder.Commit(t.Context()))
	require.Equal(t, "nothing is old enough\n<nil>", <-pruned)
	awaitRow(t, pool, `SELECT count(*) = 2 FROM sessions`)
}

// If a decision holds the table, prune waits and retries instead of blocking other decisions.
func TestPruneGivesWay(t *testing.T) {
	t.Parallel()

	url, pool := database(t)
	execute(t, pool, `CREATE TABLE turn_events_y2024m01 PARTITION OF turn_events FOR VALUES FROM (uuid_v7_floor('2024-01-01Z')) TO (uuid_v7_floor('2024-02-01Z'))`)
	_, turn := say(t, pool, "ada", "hello")
	holder, err := pool.Begin(t.Context())
	require.NoError(t, err)
	execute(t, holder, `SELECT turn_event_append($1, 'plan')`, turn)

	_, err = pool.Exec(t.Context(), `SELECT partition_drop('turn_events_y2024m01')`)
	require.ErrorContains(t, err, "55P03")
	done := make(chan error, 1)
	go func() {
		_, err := operate(t, url, "prune")
		done <- err
	}()
	execute(t, holder, `SELECT turn_event_append($1, 'plan')`, turn)
	require.NoError(t, holder.Commit(t.Context()))
	require.NoError(t, <-done)
	require.Empty(t, holdingTables(t, pool, "turn_events_y2024m01"))

	for _, name := range []string{"turn_events_other", "turns", "sessions_y2024m01", "turn_events_y2024m01; DROP TABLE turns"} {
		_, err = pool.Exec(t.Context(), `SELECT partition_drop($1)`, name)
		require.ErrorContains(t, err, "22023", name)
	}
	for _, args := range [][]string{{"--months", "0"}, {"--keep", "turns=3"}, {"--keep", "llm_calls=-1"}, {"--months", "1201"}, {"--keep", "sessions=999999999"}} {
		_, err = operate(t, url, append([]string{"prune"}, args...)...)
		require.ErrorIs(t, err, settings.ErrBad, args)
	}
}

// holdingTables lists the tables, of any schema but Postgres's own, that contain a text anywhere, in any case, as "table: number of rows".
func holdingTables(t *testing.T, pool *pgxpool.Pool, text string) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	var found []string
	for _, table := range tables {
		var count int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` AS x WHERE strpos(lower(x::text), lower($1)) > 0`, text).Scan(&count))
		if count > 0 {
			found = append(found, fmt.Sprintf("%s: %d", table, count))
		}
	}

	return found
}
