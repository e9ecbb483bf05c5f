package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func times(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(i+1) * time.Millisecond
	}

	return all
}

// A page that cannot be written would be known only after an hour of measuring.
func TestPagesAreWritten(t *testing.T) {
	t.Parallel()

	where := facts{At: "2026-11-26 12:00 UTC", Machine: "a machine", Version: "17.2"}
	old, fresh := "old", "longer"
	turns := &report{facts: where, Rounds: rounds, Conns: workerConns, Changes: []change{
		{Xid: 1, Table: "alfred.turns", Op: "INSERT", New: []*string{&fresh, nil}},
		{Xid: 1, Table: "alfred.turns", Op: "UPDATE", Old: []*string{&old}, New: []*string{&fresh}},
		{Xid: 2, Table: "alfred.llm_calls", Op: "DELETE", Old: []*string{&old}, Lazy: true},
	}}
	for _, l := range loads() {
		turns.Results = append(turns.Results, &result{
			load: l, PerSecond: 10, Floor: 20, FloorPipelined: 40, FloorTook: times(50), Replied: times(100), Summarized: times(100), Counted: 10,
			Counts: counts{Commits: 105}, Wal: wal{Bytes: 512_345, Tables: map[string]int{"turns": 3000}}, Names: map[string]usage{"TurnGet": {10, time.Second}},
		})
	}
	for page, want := range map[string][]string{
		"turns.md": {
			"| turns per second | 10.0 | 10.0 |", "| 10.5 | **missed** |", "| 51.2 kB | met |", "| of these, waiting for the disk | 1 | 1 |",
			"| alfred.turns | 1 | 1 | 0 | 0.0 kB |", "| alfred.llm_calls | 0 | 0 | 1 |", "| turns | 0.3 kB |", "| `TurnGet` | 1.0 | 100.0 ms |",
		},
		"peers.md":  {"Alfred: 2.00 x DBOS, 3.00 x ADK, 4.00 x LangGraph.", "| LangGraph, 32 session(s), after 3 turns | its record | 1.2 x | 4.00 x | met |", "| keeping the same work | 0.0 ms |"},
		"cost.md":   {"| OpenAI | 50 | agent | 1.00 x | **missed** | 1.00 x | met |", "| 200 | Alfred | 1.0 | 0.0 | 2000 |", "| plain read | 0 |", "| gpt-4.1 | $2 |"},
		"growth.md": {"| 10 | 100 | 80 |", "| during (40 turns) | 21.0 ms | 40.0 ms |", "| resident memory of an API, idle | 20 MB | |"},
	} {
		text, err := render(page, map[string]any{"turns.md": turns, "peers.md": samplePeers(where), "cost.md": sampleCost(), "growth.md": sampleSizes(where)}[page])
		require.NoError(t, err)
		require.NotContains(t, text, "%!")
		require.NotContains(t, text, "<no value>")
		require.NotContains(t, strings.TrimSpace(text), "\n\n\n")
		for _, line := range want {
			require.Contains(t, text, line)
		}
	}
}

func samplePeers(where facts) *peersPage {
	page := &peersPage{facts: where}
	for _, c := range contests() {
		o := outcome{contest: c}
		for i, name := range []string{"Alfred", "DBOS", "ADK", "LangGraph"} {
			o.Bare = append(o.Bare, &score{Who: contestant{Name: name}, Turns: 10, Seconds: float64(i + 1)})
		}
		if c.Keep {
			o.Kept = o.Bare
		}
		page.Outcomes = append(page.Outcomes, o)
	}

	return page
}

func sampleCost() *comparison {
	c := &comparison{Turns: len(conversation())}
	for _, name := range []string{"Alfred", "agent"} {
		s := &speaker{Name: name}
		for range conversation() {
			s.calls = append(s.calls, []call{{Parts: []part{{tokens(2000, "a"), true}}, Output: 50, Words: true}})
		}
		s.bill()
		c.Speakers = append(c.Speakers, s)
	}

	return c
}

func sampleSizes(where facts) *sizes {
	return &sizes{
		facts: where, Growth: []*grown{{Behind: 10, Refs: 100, Queries: 80.4}}, Pruned: &pruned{Alone: times(30), Meantime: times(40)},
		First: &first{Fetched: times(60), Started: times(60), Shown: times(60)}, Footprint: &footprint{Ready: times(7), APIIdle: 20 << 10},
	}
}

// What would be measured for half an hour is checked before.
func TestUsersOfRecallAreNumbers(t *testing.T) {
	t.Parallel()

	_, err := measureRecall(t.Context(), nil, "", "", recallOptions{users: "50,5k"})
	require.ErrorContains(t, err, `-users: strconv.Atoi: parsing "5k"`)
}
