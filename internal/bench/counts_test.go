package main

import (
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Upper bounds for a turn's cost, background included.
const (
	maxCommits    = 8 // including read-only ones
	maxQueries    = 88
	maxRoundTrips = 33
)

// byTime are the statements that a worker makes periodically, each in its own round trip: with or without turns, and one
// about all turns that have new events, so the number depends on how long a turn takes.
var byTime = []string{
	"ClockSetBack", "JobGetAvailable", "JobSupersedeStray", "SELECT pg_notify($1, $2)", "SessionStartable", "SummaryAbandoned", "TurnAbandoned", "WorkerBeat", "WorkerDead",
}

// startTestRig starts a worker on its own database, and returns a session with some past turns.
func startTestRig(t testing.TB) (*rig, []uuid.UUID) {
	t.Helper()

	r, err := startRig(t.Context(), dbtest.URL(t), equipment{model: answers{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.stop(context.Background())) })
	sessions, err := newSessions(t.Context(), r.pool, 1)
	require.NoError(t, err)
	require.NoError(t, r.playOut(t.Context(), sessions, warmUp))

	return r, sessions
}

// A turn's queries, round trips and transactions are bounded, background included. Raise a bound only for a reason;
// lower it when turns become cheaper.
func TestCountsOfATurn(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	r, sessions := startTestRig(t)
	least, roundTrips := map[string]int{}, math.MaxInt
	// A loaded machine adds round trips to most turns: an answer whose commit is late is stored alone.
	for i := 0; i < 8 || roundTrips > maxRoundTrips && i < 50; i++ {
		countsBefore, namesBefore := r.meter.counts(), r.meter.names()
		require.NoError(t, r.playOut(t.Context(), sessions, 1))
		trips := r.meter.counts().minus(countsBefore).RoundTrips
		names := r.meter.names()
		for _, name := range byTime {
			trips -= names[name].N - namesBefore[name].N
		}
		roundTrips = min(roundTrips, trips)
		// Other periodic statements occur only in some turns: the minimum of each is the turn's own.
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

// A session's past does not slow down its turns, even before Postgres knows its size: a session's turns read fewer rows
// than it has past turns, each of which left ten refs and their events.
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
	r, err := startRig(t.Context(), address, equipment{model: answers{}})
	require.NoError(t, err)
	played := r.playOut(t.Context(), sessions, turns)
	require.NoError(t, r.stop(t.Context())) // the server's statistics are complete once the connections are closed
	require.NoError(t, played)
	for table, n := range rowsRead(t, plain) {
		require.Less(t, (n-before[table])/turns, behind, "rows of %s read by a turn", table)
	}
}

// rowsRead returns how many rows of each growing table were ever read.
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

// growing matches the engine's tables that grow with every turn.
var growing = regexp.MustCompile(`Seq Scan on (turns|turn_\w+|node_runs|llm_calls\w*|prompt_parts\w*|entity_\w+|artifacts|decisions|questions|history_summaries|embeddings|river_job)\b`)

// large matches full scans of indexes on the tables that the test fills, so that their plans are those of large tables.
var large = regexp.MustCompile(`Index (Only )?Scan .*using \w+_(pkey|key) on (turns|turn_summaries|turn_step_results\w*|entity_refs)\b`)

// wholeScan is the first line of a plan that reads all of a growing table: sequentially, or by an index without a
// condition.
func wholeScan(plan []string) string {
	for i, line := range plan {
		bounded := i+1 < len(plan) && strings.Contains(plan[i+1], "Index Cond")
		if growing.MatchString(line) || large.MatchString(line) && !bounded {
			return line
		}
	}

	return ""
}

// No statement of a turn reads all of a growing table. With sequential scans penalized, one remains in a plan only if
// no index could serve.
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
		r.meter.mu.Lock()
		samples := maps.Clone(r.meter.sample)
		r.meter.mu.Unlock()
		for name, s := range samples {
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

// The floor is only meaningful if it writes all the rows of a turn.
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

// What pruning is measured on can be written, with triggers off.
func TestOldResultsAreSeeded(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	require.NoError(t, seedOld(t.Context(), pool, 20_000))
	var rows, months int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT tableoid) FROM turn_step_results`).Scan(&rows, &months))
	require.Equal(t, 20_000, rows)
	require.Equal(t, 3, months)
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
