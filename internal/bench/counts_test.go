package main

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The most that a turn may cost, its background included.
const (
	maxQueries      = 360
	maxRoundTrips   = 335
	maxCommits      = 20
	maxReads        = 8
	maxTransactions = 55
)

// startTestRig is a worker on a database of the test's own, and a session with some turns behind it.
func startTestRig(t testing.TB) (*rig, []uuid.UUID) {
	t.Helper()

	r, err := startRig(t.Context(), dbtest.URL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.stop(context.Background())) })
	sessions, err := newSessions(t.Context(), r.pool, 1)
	require.NoError(t, err)
	require.NoError(t, r.playOut(t.Context(), sessions, warmUp))

	return r, sessions
}

// What a turn costs in queries, round trips and transactions is bounded, its background included. Whoever raises a
// bound should know what for; whoever makes turns cheaper should lower it.
func TestCountsOfATurn(t *testing.T) {
	t.Parallel()

	r, sessions := startTestRig(t)
	least := counts{Queries: 1 << 30}
	for range 8 {
		before := r.meter.counts()
		require.NoError(t, r.playOut(t.Context(), sessions, 1))
		// Leases, scans and polls of the queue fall into some turns only.
		if c := r.meter.counts().minus(before); c.Queries < least.Queries {
			least = c
		}
	}

	t.Logf("%+v", least)
	require.LessOrEqual(t, least.Queries, maxQueries)
	require.LessOrEqual(t, least.RoundTrips, maxRoundTrips)
	require.LessOrEqual(t, least.Commits, maxCommits)
	require.LessOrEqual(t, least.Reads, maxReads)
	require.LessOrEqual(t, least.transactions(), maxTransactions)
}

// The floor is worth nothing unless it writes the rows of a turn, all of them.
func TestFloorWritesTheRowsOfATurn(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	changes, err := record(t.Context(), address)
	require.NoError(t, err)
	pool, err := openPool(t.Context(), address, 4, nil)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	f := newFloor(changes)
	rows := func() map[string]int {
		n := map[string]int{}
		for i := range changes {
			table := changes[i].Table
			var count int
			require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&count))
			n[table] = count
		}

		return n
	}
	const clients, copies = 2, 3
	for _, pipelined := range []bool{false, true} {
		made, err := f.copies(t.Context(), pool, clients*copies)
		require.NoError(t, err)
		before := rows()
		_, err = writeCopies(t.Context(), pool, made, clients, pipelined)
		require.NoError(t, err)
		want := before
		for i := range changes {
			want[changes[i].Table] += clients * copies * map[string]int{"INSERT": 1, "DELETE": -1}[changes[i].Op]
		}
		require.Equal(t, want, rows())
	}
}

func BenchmarkTurn(b *testing.B) {
	r, sessions := startTestRig(b)
	for b.Loop() {
		_, err := r.play(b.Context(), sessions, 1)
		require.NoError(b, err)
	}
}

func BenchmarkFloor(b *testing.B) {
	address := dbtest.URL(b)
	changes, err := record(b.Context(), address)
	require.NoError(b, err)
	pool, err := openPool(b.Context(), address, 4, nil)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	f := newFloor(changes)
	for b.Loop() {
		b.StopTimer()
		made, err := f.copies(b.Context(), pool, 1)
		require.NoError(b, err)
		b.StartTimer()
		_, err = writeCopies(b.Context(), pool, made, 1, false)
		require.NoError(b, err)
	}
}
