package main

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/pg"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The most that a turn may cost, its background included.
const (
	maxCommits    = 12 // read-only ones too
	maxQueries    = 176
	maxRoundTrips = 78
)

// byTime are the statements that a worker makes so many times a second, turns or none, each in a round trip of its own.
var byTime = []string{"JobGetAvailable", "JobSupersedeStray", "SessionStartable", "SummaryAbandoned", "TurnAbandoned", "WorkerBeat", "WorkerDead", "WorkerPrune"}

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
	dbtest.Whole(t)

	r, sessions := startTestRig(t)
	least, roundTrips := map[string]int{}, maxRoundTrips+1
	for i := range 8 {
		countsBefore, namesBefore := r.meter.counts(), r.meter.names()
		require.NoError(t, r.playOut(t.Context(), sessions, 1))
		trips := r.meter.counts().minus(countsBefore).RoundTrips
		names := r.meter.names()
		for _, name := range byTime {
			trips -= names[name].N - namesBefore[name].N
		}
		roundTrips = min(roundTrips, trips)
		// What else goes by time falls into some turns only: the least of each is the turn's own.
		for name := range names {
			n := names[name].N - namesBefore[name].N
			if before, seen := least[name]; i == 0 || seen && n < before {
				least[name] = n
			}
		}
	}
	queries := 0
	for name, n := range least {
		if !slices.Contains(byTime, name) {
			queries += n
		}
	}

	for _, name := range slices.Sorted(maps.Keys(least)) {
		t.Logf("%4d %s", least[name], name)
	}
	t.Logf("%d queries, %d round trips, %d commits", queries, roundTrips, least["commit"])
	require.LessOrEqual(t, queries, maxQueries)
	require.LessOrEqual(t, roundTrips, maxRoundTrips)
	require.LessOrEqual(t, least["commit"], maxCommits)
}

// What lies behind a session costs its turns nothing, even where Postgres does not know yet how much it is: the turns of
// a session read fewer rows than there are turns before them, of which each has left ten refs and their events.
func TestRowsReadByATurn(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	const behind, turns = 3_000, 15
	address := dbtest.URL(t)
	plain, err := openPool(t.Context(), address, 1, nil)
	require.NoError(t, err)
	t.Cleanup(plain.Close)
	sessions, err := newSessions(t.Context(), plain, 1)
	require.NoError(t, err)
	require.NoError(t, seedTurns(t.Context(), plain, sessions[0], behind))
	before := rowsRead(t, plain)
	r, err := startRig(t.Context(), address)
	require.NoError(t, err)
	played := r.playOut(t.Context(), sessions, turns)
	require.NoError(t, r.stop(t.Context())) // the server's statistics are complete once the connections are closed
	require.NoError(t, played)
	for table, n := range rowsRead(t, plain) {
		require.Less(t, (n-before[table])/turns, behind, "rows of %s read by a turn", table)
	}
}

// rowsRead are the rows that were ever read of each table that grows.
func rowsRead(t *testing.T, pool *pgxpool.Pool) map[string]int {
	t.Helper()

	_, err := pool.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	require.NoError(t, err)
	rows, err := pool.Query(t.Context(), `SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
		FROM pg_stat_user_tables WHERE schemaname = 'alfred' AND relname NOT LIKE 'river%'`)
	require.NoError(t, err)
	all := map[string]int{}
	var (
		table string
		n     int
	)
	_, err = pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		all[table] = n

		return nil
	})
	require.NoError(t, err)

	return all
}

// growing are the engine's tables that grow with every turn.
var growing = regexp.MustCompile(`Seq Scan on (turns|turn_\w+|node_runs|llm_calls\w*|entity_\w+|artifacts|decisions|questions|history_summaries|embeddings|river_job)\b`)

// large are the whole indexes of those that the test fills, so that a plan for them is that of a table with many rows.
var large = regexp.MustCompile(`Index (Only )?Scan .*using \w+_(pkey|key) on (turns|turn_summaries|turn_step_results\w*|entity_refs)\b`)

// wholeScan is the first line of a plan that reads all of a growing table: row by row, or by an index without a condition.
func wholeScan(plan []string) string {
	for i, line := range plan {
		bounded := i+1 < len(plan) && strings.Contains(plan[i+1], "Index Cond")
		if growing.MatchString(line) || large.MatchString(line) && !bounded {
			return line
		}
	}

	return ""
}

// No statement of a turn reads all of a table that grows. With sequential scans made dear, one is left in a plan only
// where no index could serve.
func TestStatementsOfATurnHaveIndexes(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	r, _ := startTestRig(t)
	old, err := newSessions(t.Context(), r.pool, 1)
	require.NoError(t, err)
	require.NoError(t, seedTurns(t.Context(), r.pool, old[0], 3_000))
	require.NoError(t, analyze(t.Context(), r.pool))
	err = pg.InTx(t.Context(), r.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off`); err != nil {
			return err
		}
		explained := 0
		for name, s := range r.meter.samples() {
			if !strings.HasPrefix(s.sql, "-- name: "+name+" :") {
				continue // begin, commit, settings, what crud builds; River's own
			}
			explained++
			rows, err := tx.Query(t.Context(), "EXPLAIN "+s.sql[strings.Index(s.sql, "\n")+1:], s.args...)
			require.NoError(t, err, name)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, name)
			require.Empty(t, wholeScan(plan), "%s\n%s", name, strings.Join(plan, "\n"))
		}
		require.Greater(t, explained, 30)

		return nil
	})
	require.NoError(t, err)
}

// The floor is worth nothing unless it writes the rows of a turn, all of them.
func TestFloorWritesTheRowsOfATurn(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

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
