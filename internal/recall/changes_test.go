package recall_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

// V39: what another program writes is embedded at the next check, which reads nothing if nothing has changed.
func TestSweepChanged(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	embedder := &counting{}
	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), embedder), pool)
	require.NoError(t, index.SweepChanged(t.Context()))
	require.Zero(t, embedder.texts.Load(), "the first look takes note of where it begins")
	require.NoError(t, index.Sweep(t.Context()))
	first := embedder.texts.Load()

	other, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer other.Release()
	_, err = other.Exec(t.Context(), `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Lemon Curd')`, demoUser)
	require.NoError(t, err)
	_, err = other.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		require.NoError(t, index.SweepChanged(t.Context()))

		return embedder.texts.Load() == first+1
	}, dbtest.Patience, 50*time.Millisecond)
	var stored int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings AS e JOIN kitchen.recipes AS r ON r.id::text = e.owner_id
		WHERE r.name = 'Lemon Curd' AND e.search @@ 'curd'::tsquery`).Scan(&stored))
	require.Equal(t, 1, stored)
}
