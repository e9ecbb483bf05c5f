package pg_test

import (
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// functionCalls runs every SQL function once, in an order in which each has something to do. :session and :turn stand
// for the ids returned by the first calls.
var functionCalls = []string{
	`alfred.uuid_v7()`,
	`alfred.uuid_v7_floor(now())`,
	`alfred.tenant_id()`,
	`alfred.acts_for(NULL)`,
	`alfred.tier_rank('recent')`,
	`alfred.entity_state(NULL)`,
	`alfred.entity_tier('stored', 'read', NULL, NULL, 1, NULL, 2, 2)`,
	`kitchen.seed_demo((SELECT user_id FROM alfred.sessions WHERE id = ':session'))`,
	`alfred.retention_window()`,
	`alfred.turn_enqueue(':session', 'a second message', NULL, NULL, 'enqueue', '[]', '[]', NULL)`,
	`alfred.turn_start_next(':session')`,
	`alfred.turn_event_append(':turn', 'plan')`,
	`alfred.turn_events_append(':turn', '[{"type": "plan", "data": {}}]')`,
	`alfred.fence_passed(1)`,
	`alfred.decision_keep(':turn', 1, 'understand', NULL, 1, '{}', 1, NULL, 5, '[{"type": "plan"}]', 'think', 'a goal')`,
	`alfred.llm_call_keep('{"id": "019a0000-0000-7000-8000-000000000001", "session_id": ":session", "turn_id": ":turn", "node": "think", "call": 1, "attempt": 1, "provider": "p",
		"model": "m", "outline": "{}", "parts": [], "own_parts": [{"hash": "019a0000-0000-7000-8000-000000000002", "text": "t"}], "response": {}, "context": [],
		"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.00001, "latency_ms": 1}')`,
	`alfred.row_changes_keep(':turn', 1, 1, '[]')`,
	`alfred.turn_unwritten(':turn')`,
	`alfred.turn_deeds(':turn')`,
	`alfred.turn_summary_write_facts(':turn')`,
	`alfred.turn_summary_finish(':turn')`,
	`alfred.active_entities(':session')`,
	`alfred.entities_at(':session', 1)`,
	`alfred.registry_at(':session', 1)`,
	`alfred.queue_rows()`,
	`alfred.job_insert('act', '{}')`,
	`alfred.job_release(1, 1, 'scheduled', 10, 'busy')`,
	`alfred.job_renew(':turn')`,
	`alfred.queue_wake('turns')`,
	`alfred.jobs_supersede('nobody', 'gone', '{1}', '3 s')`,
	`alfred.clients_dead('nobody')`,
	`alfred.clock_set_back()`,
	`alfred.turn_begins(':session')`,
	`alfred.jobs_discard(':turn')`,
	`alfred.jobs_forget(ARRAY[':turn'::uuid])`,
	`alfred.turns_abandoned()`,
	`alfred.summaries_abandoned()`,
	`alfred.sessions_to_start()`,
	`alfred.turn_deeds(':turn')`,
	`alfred.retention_window()`,
	`alfred.turn_end(':turn', 'failed', 'internal', 'a test')`,
	`alfred.cancel_turn(':turn')`,
	`alfred.embedding_models()`,
	`alfred.embedding_index(NULL, 'm', 2)`,
	`alfred.embedding_indexes_due(100, 10)`,
	`alfred.acts_for(NULL)`,
	`alfred.title_of('a message')`,
	`alfred.one_line('a message', 48)`,
	`alfred.is_timezone('UTC')`,
	`alfred.tenant_timezone()`,
	`alfred.tenant_name()`,
	`alfred.user_is_busy(NULL)`,
	`alfred.user_place_state(NULL)`,
	`alfred.user_place_set((SELECT user_id FROM alfred.sessions WHERE id = ':session'), 1, 1, 'here')`,
	`alfred.jobs_of_user((SELECT user_id FROM alfred.sessions WHERE id = ':session'))`,
	`alfred.recall_changes('{kitchen.recipes}')`,
	`alfred.recall_lexeme('soup')`,
	`alfred.recall_rarity(10, 2)`,
	`alfred.recall_presence(0.1, 10, 12)`,
	`alfred.recall_language('english')`,
	`alfred.recall_turns('message', '[1,2]', 'm', 2, '{recipe}', 100, '{}', '{}', ':session', 1, 0.5, 1, 5)`,
	`alfred.recall_rows('soup', '{recipe}', false, 'm', 5)`,
	`alfred.recall_names('{recipe}', '{kitchen.recipes}', '{id}', '{user_id}', '{name}', 'soup', 5)`,
	`alfred.recall_nearest('[1,2]', 'm', 2, '{recipe}', 100, 5)`,
	`alfred.recall_found('soup', '{recipe}', '{}', '{}', ':session', 1, '{recipe}', '{kitchen.recipes}', '{id}', '{user_id}', '{name}', '[1,2]', 'm', 2, 100, 1, 0.5, 1, 5)`,
	`alfred.recall_found_shared('soup', '{recipe}', '[1,2]', 'm', 2, 1, 5)`,
	`alfred.recall_order('soup', 'recipe', false, '[1,2]', 'm', 2, 1, 5)`,
	`alfred.user_words_list(ARRAY(SELECT id FROM alfred.turns WHERE session_id = ':session'))`,
	`alfred.user_words_gather((SELECT user_id FROM alfred.sessions WHERE id = ':session'))`,
	`alfred.user_words_like((SELECT user_id FROM alfred.sessions WHERE id = ':session'), 'mesage')`,
	`alfred.usage_today((SELECT user_id FROM alfred.sessions WHERE id = ':session'), now())`,
	`alfred.partitions_ensure()`,
	`alfred.partitions_old('llm_calls', now())`,
	`alfred.partition_drop('llm_calls_y2024m01')`,
	`alfred.uuid_v7_month(alfred.uuid_v7())`,
	`alfred.fork_session(':session', 0)`,
	`alfred.forget_session(':session')`,
}

// After migration every function runs, whatever its caller's search path: names in a function's body are resolved when
// it runs, not when it is created.
func TestEveryFunctionRuns(t *testing.T) {
	t.Parallel()
	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), `CREATE TABLE alfred.llm_calls_y2024m01 PARTITION OF alfred.llm_calls
		FOR VALUES FROM (alfred.uuid_v7_floor('2024-01-01Z')) TO (alfred.uuid_v7_floor('2024-02-01Z'));
		SET LOCAL search_path = pg_catalog`)
	require.NoError(t, err)
	var session, turn string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT alfred.start_session('functions')::text`).Scan(&session))
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT alfred.enqueue_turn($1, 'a message')::text`, session).Scan(&turn))
	_, err = tx.Exec(t.Context(), `SAVEPOINT undo`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT alfred.undo_turn($1)`, turn)
	require.Equal(t, "AL009", pg.Code(err), "it runs still")
	_, err = tx.Exec(t.Context(), `ROLLBACK TO SAVEPOINT undo`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE alfred.river_job SET state = 'running', attempt = 1`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT alfred.job_hand_off(id, 1, 'me', 'think', '{}') FROM alfred.river_job`)
	require.NoError(t, err)
	run := map[string]bool{"alfred.start_session": true, "alfred.enqueue_turn": true, "alfred.undo_turn": true, "alfred.turn_undo": true, "alfred.job_hand_off": true, "alfred.job_complete": true}
	name := regexp.MustCompile(`^[a-z_.0-9]+`)
	for _, call := range functionCalls {
		run[name.FindString(call)] = true
		call = regexp.MustCompile(`:session`).ReplaceAllString(call, session)
		call = regexp.MustCompile(`:turn`).ReplaceAllString(call, turn)
		_, err := tx.Exec(t.Context(), `SELECT * FROM `+call)
		require.NoError(t, err, call)
	}
	rows, err := tx.Query(t.Context(), `SELECT n.nspname || '.' || p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
		WHERE n.nspname IN ('alfred', 'kitchen') AND p.proname NOT LIKE 'river%' AND p.prorettype <> 'trigger'::regtype`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, function := range all {
		require.True(t, run[function], "%s is run by no test here", function)
	}
}

// psql's \d+ is part of the documentation.
func TestEverythingIsCommented(t *testing.T) {
	t.Parallel()
	rows, err := dbtest.Tx(t).Query(t.Context(), `
		SELECT format('%s.%s', c.oid::regclass, a.attname)
		FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace IN ('alfred'::regnamespace, 'kitchen'::regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		  AND c.relname !~ '^river|_migrations$' AND col_description(c.oid, a.attnum) IS NULL
		UNION ALL
		SELECT c.oid::regclass::text FROM pg_class AS c
		WHERE c.relnamespace IN ('alfred'::regnamespace, 'kitchen'::regnamespace) AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
		  AND c.relname !~ '^river|_migrations$' AND obj_description(c.oid, 'pg_class') IS NULL
		UNION ALL
		SELECT p.oid::regprocedure::text FROM pg_proc AS p
		WHERE p.pronamespace IN ('alfred'::regnamespace, 'kitchen'::regnamespace) AND p.proname NOT LIKE 'river%' AND obj_description(p.oid, 'pg_proc') IS NULL`)
	require.NoError(t, err)
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, missing)
}
