package pg_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// The newest lines of v_talk are chosen before their texts are cut: cutting those of 100,000 turns took 14 s.
func TestNewestTalkIsCutLast(t *testing.T) {
	t.Parallel()
	tx := dbtest.OwnTx(t)
	rows, err := tx.Query(t.Context(), `EXPLAIN (VERBOSE, COSTS off) SELECT * FROM alfred.v_talk ORDER BY created_at DESC LIMIT 10`)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	after, before, sorts := strings.Cut(strings.Join(plan, "\n"), "Sort\n")
	require.True(t, sorts)
	require.Contains(t, after, "one_line(")
	require.NotContains(t, before, "one_line(")
}

func TestOneLineIsCut(t *testing.T) {
	t.Parallel()
	tx := dbtest.OwnTx(t)
	for words, want := range map[string]string{
		"Hello there,\n\n  Alfred": "Hello there, ", "short": "short", "": "",
	} {
		var got string
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT alfred.one_line($1, 13)`, words).Scan(&got))
		require.Equal(t, want, got)
	}
}
