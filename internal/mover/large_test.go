package mover_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/directory"
)

// lived gives the user as many turns as somebody has after years, in conversations of a hundred.
func (f *fleet) lived(turns int) {
	f.t.Helper()

	f.exec("a", `INSERT INTO sessions (id, user_id, last_turn) SELECT uuid_v7(), $1, 100 FROM generate_series(1, $2::integer / 100)`, f.user, turns)
	f.exec("a", `INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, finished_at, summarized_at)
		SELECT s.id, s.user_id, n, 'message ' || n, 'plan', 'succeeded', repeat('a reply ', 20), now(), now(), now() FROM sessions AS s, generate_series(1, 100) AS n WHERE s.user_id = $1 AND s.last_turn = 100`, f.user)
	const past = ` FROM turns AS t JOIN sessions AS s ON s.id = t.session_id AND s.last_turn = 100`
	for _, insert := range []string{
		`INSERT INTO turn_summaries (turn_id, session_id, user_id, turn_number, user_message, response_summary) SELECT t.id, t.session_id, t.user_id, t.number, t.message, t.reply` + past,
		`INSERT INTO node_runs (turn_id, user_id, position, node, output) SELECT t.id, t.user_id, n, 'think', '{"goal": "to see it all"}'` + past + `, generate_series(1, 5) AS n`,
		`INSERT INTO turn_events (turn_id, user_id, seq, type, data) SELECT t.id, t.user_id, n, 'node.started', '{"node": "think"}'` + past + `, generate_series(1, 12) AS n`,
		`INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, outcome) SELECT t.id, t.user_id, n, 'read', 'recipes', 'look', 'ok'` + past + `, generate_series(1, 2) AS n`,
		`INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, params, rows, row_count) SELECT t.id, t.user_id, n, 1, 'db_read', '{}', '[{"name": "a recipe"}]', 1` + past + `, generate_series(1, 2) AS n`,
		`INSERT INTO llm_calls (session_id, user_id, turn_id, node, provider, model, outline, parts, response)
			SELECT t.session_id, t.user_id, t.id, 'think', 'x', 'm', E'{"system": "\n"}', ARRAY[md5('everybody''s')]::uuid[], jsonb_build_object('text', repeat('words ', 60))` + past + `, generate_series(1, 5) AS n`,
	} {
		f.exec("a", insert)
	}
	f.exec("a", `VACUUM ANALYZE`)
}

// A user of many years moves while they are served, and waits for no more than what has changed. MOVER_TURNS says how many turns.
func TestMoveOfManyTurns(t *testing.T) { //nolint:paralleltest // other tests' slots would wait for its long transactions
	dbtest.Whole(t)

	turns := 1000
	if n, err := strconv.Atoi(os.Getenv("MOVER_TURNS")); err == nil {
		turns = n
	}
	f := openFleet(t)
	f.lived(turns)
	m := f.mover()
	var steps []any
	last := time.Now()
	m.At = func(step directory.Step) {
		steps = append(steps, step, time.Since(last).Round(time.Millisecond))
		if last = time.Now(); step == directory.StepFollowed {
			f.written(0)
		}
	}
	report, err := m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.False(t, report.Again)
	require.Greater(t, report.Rows, int64(25*turns))
	require.Less(t, report.Changed, int64(100))
	t.Logf("%d turns: %d rows, %d of them changed meanwhile, in %s, of which nothing was served for %s; reached after: %v", turns, report.Rows, report.Changed, report.Whole.Round(time.Millisecond), report.Paused.Round(time.Millisecond), steps)
}
