package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
)

const manyRefs = 100_000

// fill gives the session many old refs and a few recent ones.
func (b *bundle) fill(t testing.TB, n int) {
	t.Helper()

	_, err := b.tx.Exec(t.Context(), `
		INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		SELECT $1, 'recipe_' || n, 'recipe', n::text, 'stored', 'read', 'Recipe ' || n, 1 + n / 100, 1 + n / 100
		FROM generate_series(1, $2::int) AS n`, b.scope.SessionID, n)
	require.NoError(t, err)
	_, err = b.tx.Exec(t.Context(), `ANALYZE entity_refs`)
	require.NoError(t, err)
}

// explain returns the plan that a function's body gets at run time: the function's SET clause hides it from EXPLAIN, so
// the same text is prepared with the function's settings, and its arguments as parameters.
func (b *bundle) explain(t *testing.T, function string, args ...string) string {
	t.Helper()

	var (
		source   string
		settings []string
	)
	require.NoError(t, b.tx.QueryRow(t.Context(), `SELECT prosrc, proconfig FROM pg_proc WHERE proname = $1`, function).Scan(&source, &settings))

	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		_, err := b.tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, name, value)
		require.NoError(t, err)
	}

	_, source, _ = strings.Cut(source, "RETURN QUERY")
	source, _, _ = strings.Cut(source, ";")

	for i, arg := range args {
		source = strings.ReplaceAll(source, function+"."+arg, fmt.Sprintf("$%d", i+1))
	}

	for _, statement := range []string{
		`SET LOCAL plan_cache_mode = force_generic_plan`,
		`PREPARE explained (uuid, int, int) AS ` + source,
	} {
		_, err := b.tx.Exec(t.Context(), statement)
		require.NoError(t, err)
	}

	rows, err := b.tx.Query(t.Context(), fmt.Sprintf(`EXPLAIN (ANALYZE, COSTS OFF) EXECUTE explained ('%s', 1001, 2)`, b.scope.SessionID))
	require.NoError(t, err)

	var lines []string

	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))

		lines = append(lines, line)
	}

	require.NoError(t, rows.Err())

	return strings.Join(lines, "\n")
}

// The active set of a session with 100,000 refs is one index range.
func TestActiveSetIsOneIndexScan(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	b := setup(t)
	b.fill(t, manyRefs)

	plan := b.explain(t, "entities_at", "session", "current_turn", "turns_window")
	require.Contains(t, plan, "entity_refs_active_idx", plan)
	require.Equal(t, 1, strings.Count(plan, " Scan"), plan)

	active, _ := b.active(t, 1001)
	require.Len(t, active, 201)
}

// What a prompt sees is looked up by key, whatever a cached plan assumes about a LIMIT.
func TestViewIsReadByKeys(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	b := setup(t)
	b.fill(t, 20_000)
	_, err := b.tx.Exec(t.Context(), `SET LOCAL plan_cache_mode = force_generic_plan`)
	require.NoError(t, err)
	read := func() (n int) {
		require.NoError(t, b.tx.QueryRow(t.Context(),
			`SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'entity_refs'::regclass`).Scan(&n))

		return n
	}
	before := read()
	seen, err := db.New().EntityRefListInView(t.Context(), b.tx, &db.EntityRefListInViewParams{
		SessionID: b.scope.SessionID, UserID: b.scope.UserID, CurrentTurn: 201, TurnsWindow: 2, OldestTurn: 199, MaxOlder: 20,
		Labels: []string{}, Refs: []string{"recipe_1"}, EntityTypes: []string{}, EntityIds: []string{},
	})
	require.NoError(t, err)
	require.NotEmpty(t, seen)
	require.Less(t, read()-before, 2_000)
}
