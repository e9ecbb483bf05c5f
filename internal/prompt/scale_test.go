package prompt_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
)

// hugeSession knows n rows besides what a long conversation leaves, all outside the window: read, demoted, linked and
// deleted ones.
func hugeSession(t *testing.T, b *testBundle, n int) *db.Turns {
	t.Helper()
	turn := longSession(t, b, 60)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref, demoted_at_turn, deleted_at_turn)
		SELECT $1, 'shop_' || n, 'shop', md5('shop' || n)::uuid::text, CASE n % 4 WHEN 3 THEN 'deleted' ELSE 'stored' END::ref_state,
			CASE n % 4 WHEN 2 THEN 'linked' WHEN 3 THEN 'deleted' ELSE 'read' END, 'thing ' || n, 1, 1 + n % 50,
			CASE n % 4 WHEN 1 THEN 50 END, CASE n % 4 WHEN 3 THEN 50 END
		FROM generate_series(1, $2::int) AS n`, b.session, n)
	// Add other sessions: otherwise any scan would be one of this session.
	other := testfactory.Session(t, b.tx, b.user)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		SELECT $1, 'shop_' || n, 'shop', md5('other' || n)::uuid::text, 'stored', 'read', 'thing ' || n, 1, 1 FROM generate_series(1, 20000) AS n`, other)
	for _, table := range []string{"entity_refs", "entity_events", "turns", "turn_steps", "turn_step_results", "turn_summaries", "artifacts", "decisions", "constraints", "node_runs", "questions", "history_summaries"} {
		b.exec(t, `ANALYZE `+table)
	}

	return turn
}

// explained first runs each statement of a prompt under EXPLAIN ANALYZE and totals the rows its scans touched.
type explained struct {
	pgx.Tx
	t    *testing.T
	read *int
}

//nolint:tagliatelle // Postgres's names
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []plan  `json:"Plans"`
}

func (e explained) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	e.explain(ctx, sql, args)

	return e.Tx.Query(ctx, sql, args...)
}

func (e explained) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	e.explain(ctx, sql, args)

	return e.Tx.QueryRow(ctx, sql, args...)
}

func (e explained) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	for _, query := range batch.QueuedQueries {
		if strings.HasPrefix(query.SQL, "-- name: ") {
			e.explain(ctx, query.SQL, query.Arguments)
		}
	}

	return e.Tx.SendBatch(ctx, batch)
}

func (e explained) explain(ctx context.Context, sql string, args []any) {
	e.t.Helper()
	var text []byte
	require.NoError(e.t, e.Tx.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&text), sql)
	var plans []struct {
		Plan plan `json:"Plan"` //nolint:tagliatelle // Postgres's name
	}
	require.NoError(e.t, json.Unmarshal(text, &plans))
	e.walk(plans[0].Plan, sql)
}

// small tables have a row or two in a session of any size.
var small = []string{"sessions", "users"}

func (e explained) walk(p plan, sql string) {
	e.t.Helper()
	if p.Relation != "" {
		read := int((p.Rows + p.Removed + p.Recheck) * p.Loops)
		*e.read += read
		if p.Node == "Seq Scan" && read > 0 && !strings.Contains(strings.Join(small, " "), p.Relation) {
			require.Fail(e.t, "sequential scan of "+p.Relation, sql)
		}
	}
	for _, below := range p.Plans {
		e.walk(below, sql)
	}
}

// What a session saw long ago costs a prompt nothing: no node reads more rows, or needs more statements, with a hundred
// thousand old refs.
func TestManyOldRefsCostNothing(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	b := setup(t)
	turn := hugeSession(t, b, 100_000)
	b.exec(t, `SET LOCAL enable_seqscan = off`) // small tables are scanned because it is cheaper: here only if no index would do
	b.exec(t, `UPDATE turns SET message = 'what of thing 77 and my other things?' WHERE id = $1`, turn.ID)
	turn.Message = "what of thing 77 and my other things?"
	read := 0
	b.view(t, explained{Tx: b.tx, t: t, read: &read}, turn)
	require.Less(t, read, 20_000)
	known := body(b.understand(t, turn).Frame, "## All Known Entities")
	require.Contains(t, known, "- shop_77: thing 77 (shop) [read] created turn 1, last turn 28, demoted", "a name finds what is out of sight")
	_, rest, _ := strings.Cut(known, "Also known, not listed: ")
	require.Regexp(t, `(?m)\d+ shopping items, .*and more$`, rest, "the rest is counted up to a limit")
}
