package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// River warns every night about an index that it is to rebuild and does not find.
func TestReindexedExist(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	for _, name := range reindexed() {
		var exists bool
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&exists))
		require.True(t, exists, name)
	}
}
