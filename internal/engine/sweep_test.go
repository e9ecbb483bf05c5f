package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

// lockOfSweeps is the key that [recall.Index.Sweep] locks.
const lockOfSweeps = 0x726563616c6c

func TestTheFirstSweepWaitsUntilNobodySweeps(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	another, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	_, err = another.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, lockOfSweeps)
	require.NoError(t, err)

	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), lexical.Embedder{}), pool)
	before := pool.Stat().AcquireCount()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		sweep(ctx, index, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	require.Eventually(t, func() bool {
		return pool.Stat().AcquireCount() >= before+2 && pool.Stat().AcquiredConns() == 1
	}, dbtest.Patience, time.Millisecond, "both sweeps have asked in vain")
	require.NoError(t, another.Conn().Close(t.Context()))
	another.Release()
	require.Eventually(t, func() bool {
		var vectors int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings`).Scan(&vectors))

		return vectors > 0
	}, dbtest.Patience, 10*time.Millisecond)
	end()
	<-ended
}

func TestWhenTheNextSweepIsDue(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err   error
		first bool
		want  time.Duration
	}{
		"after one that ended":           {want: sweepInterval},
		"after one with refused vectors": {err: recall.ErrVector, want: sweepInterval},
		"after one that failed":          {err: errors.New("deadlock detected"), want: retryInterval},
		"another's instead of the first": {err: recall.ErrSweeping, first: true},
		"another's instead of a later":   {err: recall.ErrSweeping, want: sweepInterval},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, untilNext(c.err, c.first))
		})
	}
}
