package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/engine"
	"alfred/internal/pg"
	"alfred/jobs"
)

// With fewer connections, a sweep waits for a connection that itself or an index holds, and no turn runs.
func TestWorkerNeedsConnections(t *testing.T) {
	t.Parallel()

	pool, err := pg.Open(t.Context(), pg.Config{URL: dbtest.URL(t), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = engine.Start(t.Context(), jobs.Config{Pool: pool}, nil)
	require.ErrorIs(t, err, engine.ErrFewConns)
}
