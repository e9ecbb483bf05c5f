package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Alfred's turns come unchanged. Before them come laps of the same turns: a part that Alfred had stored earlier is the
// same in each, and a new one is new again.
func TestFixtureRepeatsTurnsWithNewParts(t *testing.T) {
	t.Parallel()

	program, old, fresh := uuid.New(), uuid.New(), uuid.New()
	f := newFixture(&past{
		calls: []pastCall{
			{Turn: 1, Position: 1, Parts: []uuid.UUID{program, old}},
			{Turn: 2, Position: 1, Outline: "asked", Response: "answered", Parts: []uuid.UUID{program, old, fresh}},
			{Turn: 2, Position: 6, Outline: "asked again", Parts: []uuid.UUID{fresh}},
		},
		results: []pastRows{{Turn: 1, Position: 3, Rows: "before"}, {Turn: 2, Position: 3, Rows: "rows"}},
		events:  []pastRows{{Turn: 2, Position: 1, Rows: "events"}},
		parts:   map[uuid.UUID]pastPart{old: {Text: "old"}, fresh: {Text: "fresh"}, program: {Text: "program", Shared: true}},
	}, 1, 1)

	require.Len(t, f.Turns, 2)
	for n, own := range []string{"lap 1: fresh", "fresh"} {
		turn := f.Turns[n]
		require.Equal(t, []string{"program", "old", own}, f.texts(turn["understand"][0]))
		require.Equal(t, []string{own}, f.texts(turn["summarize"][0]))
		require.True(t, turn["understand"][0].Parts[0].Shared)
		require.False(t, turn["understand"][0].Parts[1].Shared)
		require.Equal(t, "asked", *turn["understand"][0].Outline)
		require.Equal(t, "events", turn["understand"][0].Events)
		require.Equal(t, 2, turn["summarize"][0].N)
		require.Nil(t, turn["read"][0].Outline)
		require.Equal(t, "rows", turn["read"][0].Results)
	}
	require.Len(t, f.Texts, 4)
}

func (f *fixture) texts(e *entry) []string {
	var all []string
	for _, p := range e.Parts {
		all = append(all, f.Texts[p.Text])
	}

	return all
}

// Peers are given as much as Alfred stored for the same turns: each call, part, result and event once.
func TestFixtureIsWhatAlfredKept(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	r, sessions := startTestRig(t)
	const history, measured = 2 * warmUp, 4
	require.NoError(t, r.playOut(t.Context(), sessions, history-warmUp)) // until older turns have been compressed once
	address := r.pool.Config().ConnString()
	p := &probe{address: address, keptSQL: keptByAlfred}
	before, err := p.kept(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.playOut(t.Context(), sessions, measured))
	after, err := p.kept(t.Context())
	require.NoError(t, err)

	f, err := recordFixture(t.Context(), address, contest{Turns: measured, History: history})
	require.NoError(t, err)
	require.Len(t, f.Turns, history+measured)
	handed := kept{}
	own := map[int]bool{}
	for n, turn := range f.Turns {
		for _, node := range nodesOfTurn() {
			require.NotEmpty(t, turn[node], "%s of turn %d", node, n)
		}
		if n < history {
			continue
		}
		for _, entries := range turn {
			for _, e := range entries {
				handed.add(t, r, f, e, own)
			}
		}
	}
	require.NoError(t, handed.least(after.minus(before)))
	require.NoError(t, after.minus(before).least(handed))
}

// add counts what an entry contains, in Postgres's form; parts of an earlier turn are stored already.
func (k *kept) add(t *testing.T, r *rig, f *fixture, e *entry, seen map[int]bool) {
	t.Helper()

	var rows, bytes float64
	err := r.pool.QueryRow(t.Context(), `
		SELECT count(*), coalesce(sum(octet_length(text)), 0) FROM (
			SELECT data::text AS text FROM jsonb_to_recordset($1::jsonb) AS e (data jsonb)
			UNION ALL SELECT params::text || rows::text FROM jsonb_to_recordset($2::jsonb) AS r (params jsonb, rows jsonb)) AS t`,
		e.Events, e.Results).Scan(&rows, &bytes)
	require.NoError(t, err)
	if e.Outline != nil {
		rows, bytes = rows+1, bytes+float64(len(*e.Outline)+len(*e.Response))
	}
	for _, p := range e.Parts {
		if _, marked := f.places["lap 1: "+f.Texts[p.Text]]; marked && !seen[p.Text] { // it was new in the history, too
			seen[p.Text] = true
			rows, bytes = rows+1, bytes+float64(len(f.Texts[p.Text]))
		}
	}
	*k = kept{k.Rows + rows, k.Bytes + bytes}
}

// A peer that stores less than Alfred fails the comparison.
func TestLessKeptIsAnError(t *testing.T) {
	t.Parallel()

	alfred := kept{Rows: 35, Bytes: 28_000}
	require.NoError(t, alfred.least(alfred))
	require.Error(t, kept{Rows: 34, Bytes: 28_000}.least(alfred))
	require.Error(t, kept{Rows: 35, Bytes: 27_000}.least(alfred))
}

// The wire counts as the meter does: a batch is one round trip.
func TestWireCounts(t *testing.T) {
	t.Parallel()

	w, through, err := listen(t.Context(), dbtest.URL(t))
	require.NoError(t, err)
	defer w.listener.Close()
	conn, err := pgx.Connect(t.Context(), through)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Prepare(t.Context(), "add", `SELECT $1::integer + 1`)
	require.NoError(t, err)
	before := w.counts()
	batch := &pgx.Batch{}
	batch.Queue("add", 1)
	batch.Queue("add", 2)
	require.NoError(t, conn.SendBatch(t.Context(), batch).Close())
	_, err = conn.Exec(t.Context(), `SELECT 1`)
	require.NoError(t, err)
	require.Equal(t, counts{Queries: 3, RoundTrips: 2}, w.counts().minus(before))
}
