package chaos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// volatile are the columns that differ between two runs of the same conversation: ids, times, and what depends on them.
const volatile = `'{id,user_id,session_id,turn_id,source_turn_id,llm_call_id,river_job_id,entity_id,owner_id,answered_by_turn,created_at,updated_at,
	started_at,finished_at,replied_at,summarized_at,inputs_applied_at,expires_at,ended_at,duration_ms,latency_ms,idempotency_key,row_version,
	recipe_id,added_at,content_hash,embedding,constraint_id,decision_id}'::text[]`

// parts of what a conversation leaves: each a query of one text per row, in order, for the session $1 and its user $2.
var parts = []struct{ name, sql string }{
	{"turns", `SELECT to_jsonb(x) - ` + volatile + ` FROM turns AS x WHERE session_id = $1 ORDER BY number`},
	{"node_runs", perTurn("node_runs", "x.position")},
	{"turn_steps", perTurn("turn_steps", "x.step")},
	{"turn_step_results", perTurn("turn_step_results", "x.step, x.call")},
	{"turn_summaries", perTurn("turn_summaries", "x.turn_number")},
	{"turn_events", `SELECT jsonb_build_array(t.number, x.type, x.data - '{seq,turn_id,at,duration_ms,id}'::text[])
		FROM turn_events AS x JOIN turns AS t ON t.id = x.turn_id WHERE t.session_id = $1 AND x.type NOT LIKE 'reply.%' ORDER BY t.number, x.seq`},
	{"entity_refs", perSession("entity_refs", "x.ref")},
	{"ref_counters", perSession("ref_counters", "x.kind, x.entity_type")},
	{"entity_events", perSession("entity_events", "x.id")},
	{"artifacts", perSession("artifacts", "x.ref, x.version")},
	{"decisions", perSession("decisions", "x.id")},
	{"constraints", perSession("constraints", "x.id")},
	{"questions", perSession("questions", "x.id")},
	{"history_summaries", perSession("history_summaries", "x.kind, x.from_turn, x.to_turn")},
	{"answers", `SELECT DISTINCT jsonb_build_array(t.number, x.position, x.node, x.attempt, x.response)
		FROM llm_calls AS x JOIN turns AS t ON t.id = x.turn_id WHERE t.session_id = $1 AND x.response IS NOT NULL ORDER BY 1`},
	{"embeddings", `SELECT jsonb_build_array(x.owner_kind, count(*)) FROM embeddings AS x WHERE x.user_id = $2 AND x.owner_kind = 'turn' GROUP BY x.owner_kind ORDER BY 1`},
	{"shopping_list", perUser("shopping_list")},
	{"inventory", perUser("inventory")},
	{"recipes", perUser("recipes")},
	{"recipe_ingredients", perUser("recipe_ingredients")},
}

func perTurn(table, order string) string {
	return `SELECT jsonb_build_array(t.number, to_jsonb(x) - ` + volatile + `) FROM ` + table + ` AS x JOIN turns AS t ON t.id = x.turn_id WHERE t.session_id = $1 ORDER BY t.number, ` + order
}

func perSession(table, order string) string {
	return `SELECT to_jsonb(x) - ` + volatile + ` FROM ` + table + ` AS x WHERE session_id = $1 ORDER BY ` + order
}

// perUser omits position, which counts over all users.
func perUser(table string) string {
	return `SELECT to_jsonb(x) - ` + volatile + ` - 'position' AS row FROM kitchen.` + table + ` AS x WHERE user_id = $2 ORDER BY 1`
}

// state is what a session has left, one text per part, without anything that varies between runs.
func state(t *testing.T, pool *pgxpool.Pool, session uuid.UUID) map[string]string {
	t.Helper()

	var owner uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_id FROM sessions WHERE id = $1`, session).Scan(&owner))
	left := map[string]string{}
	for _, part := range parts {
		// The casts use both parameters in every query.
		sql := fmt.Sprintf(`SELECT coalesce(string_agg(regexp_replace(row_text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d{4}-\d\d-\d\d[T ][\d:.]+|"row_version": "\d+"', '~', 'g'), E'\n'), '')
			FROM (SELECT y::text AS row_text FROM (%s) AS z (y) WHERE $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL) AS w`, part.sql)
		rows, err := pool.Query(t.Context(), sql, session, owner)
		require.NoError(t, err, part.name)
		text, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
		require.NoError(t, err, part.name)
		left[part.name] = text
	}

	return left
}

// requireSame compares the results of a disturbed and an undisturbed session.
func requireSame(t *testing.T, want, got map[string]string, about string) {
	t.Helper()

	for _, part := range parts {
		wanted, left := strings.Split(want[part.name], "\n"), strings.Split(got[part.name], "\n")
		require.Len(t, left, len(wanted), "%s: %s", about, part.name)
		for i := range wanted {
			require.Equal(t, wanted[i], left[i], "%s: %s %d", about, part.name, i)
		}
	}
}

// requireClean checks for what no session may show, however it was disturbed.
func requireClean(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()

	requireInOrder(t, pool)
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT coalesce(deadlocks, 0) FROM pg_stat_database WHERE datname = current_database()`).Scan(&n))
	require.Zero(t, n, "deadlocks")
}

// requireInOrder is requireClean without the check for deadlocks.
func requireInOrder(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()

	var failed string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(concat_ws(' ', id, number, current_node, position, error_code, error_message), E'\n'), '') FROM turns WHERE status = 'failed'`).Scan(&failed))
	require.Empty(t, failed, "turns failed")
	for what, sql := range map[string]string{
		"turns began before the last ended": `SELECT count(*) FROM turns AS a JOIN turns AS b ON b.session_id = a.session_id AND b.number = a.number + 1
			WHERE b.started_at < a.finished_at`,
		"terminal events beyond one a turn": `SELECT count(*) FROM (SELECT FROM turn_events WHERE type IN ('turn.finished', 'turn.failed', 'turn.cancelled')
			GROUP BY turn_id HAVING count(*) > 1) AS x`,
		"deltas left":     `SELECT count(*) FROM turn_events AS e JOIN turns AS t ON t.id = e.turn_id WHERE e.type LIKE 'reply.%' AND t.finished_at IS NOT NULL`,
		"gaps in numbers": `SELECT count(*) FROM (SELECT number - row_number() OVER (PARTITION BY session_id ORDER BY number) AS gap FROM turns) AS x WHERE gap <> 0`,
	} {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&n), what)
		require.Zero(t, n, what)
	}
}
