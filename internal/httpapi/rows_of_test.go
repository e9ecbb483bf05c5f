package httpapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// ownedBy maps columns by which a table's rows belong to a user to the condition; the first that a table has counts.
var ownedBy = []struct{ column, condition string }{
	{"user_id", `x.user_id = $1`},
	{"session_id", `x.session_id IN (SELECT id FROM alfred.sessions WHERE user_id = $1)`},
	{"turn_id", `x.turn_id IN (SELECT id FROM alfred.turns WHERE user_id = $1)`},
	{"llm_call_id", `x.llm_call_id IN (SELECT c.id FROM alfred.llm_calls AS c JOIN alfred.sessions AS s ON s.id = c.session_id WHERE s.user_id = $1)`},
}

// rowsOf is a hash over every row that belongs to a user, in any table of any schema but Postgres's own: it is unchanged if nobody
// changed any. Keys are excluded, because using one changes it.
func rowsOf(t *testing.T, db *pgxpool.Pool, user uuid.UUID) string {
	t.Helper()
	rows, err := db.Query(t.Context(), `
		SELECT format('%I.%I', n.nspname, c.relname), array_agg(a.attname::text)
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		GROUP BY 1 ORDER BY 1`)
	require.NoError(t, err)
	type table struct {
		Name    string
		Columns []string
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	require.NoError(t, err)
	sum := sha256.New()
	for _, table := range tables {
		for _, owned := range ownedBy {
			if table.Name == "alfred.api_keys" || !slices.Contains(table.Columns, owned.column) {
				continue
			}
			rows, err := db.Query(t.Context(), `SELECT x::text FROM `+table.Name+` AS x WHERE `+owned.condition+` ORDER BY 1`, user)
			require.NoError(t, err)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			fmt.Fprintf(sum, "%s %d\n%s\n", table.Name, len(lines), strings.Join(lines, "\n"))

			break
		}
	}

	return hex.EncodeToString(sum.Sum(nil))
}
