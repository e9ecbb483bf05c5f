package main

import (
	"fmt"
	"strings"
	"time"
)

// The contestants' places.
const (
	placeAlfred = iota
	placeDBOS
	placeADK
	placeLangGraph
)

func peersHead(facts facts) string {
	return fmt.Sprintf(`# Compared with peers

Written by `+"`make bench/peers`"+`; do not edit. Compare ratios between machines, not absolute times. If the load average is near or above the number
of cores, other work took part.

- Machine: %s
- Postgres %s: fsync %s, synchronous_commit %s, shared_buffers %s
- %s

A turn has six nodes with a model that answers at once. One node reads rows, one writes a row, and the turn ends when its last node is recorded. The
sources are in `+"`internal/bench/peers`"+`. Alfred's turn is that of [benchmarks.md](benchmarks.md), the same in all tables: it reads
memory, builds real prompts from a registry, checks prompts and answers, translates refs, embeds, and records what happened.
The peers' nodes only answer, and are measured twice:

- **bare**: a peer stores only its framework's record of the six nodes.
- **the same work kept**: each node also stores most of what Alfred stores for it, in the same database: the whole prompt and answer of every call, the
  steps' results with the rows that were read, and the events that Alfred streams. The texts are those that Alfred stored just before, turn by turn.
  Parts that prompts share are stored once by their hash and compressed, as Alfred does. A node's rows are one statement: with DBOS Transact in the
  step's transaction, with the others in a transaction of its own, because their records take no statements.

A peer reads these texts from a file. It reads no memory, and builds and checks no prompt. Nor does it store Alfred's
other records: refs and their history, the reason for each item of a prompt, summaries, embeddings, and the data for undo.

In a history of 100 turns or more Alfred's tables are analyzed before the last %d, as autovacuum does within a minute.
Rows are table rows that were inserted, updated or deleted, counted in the WAL. Processor time is that of the program, including its simulated
clients, and of Postgres' backends.

`, machine(), facts.Version, facts.Fsync, facts.SyncCommit, facts.Buffers, time.Now().UTC().Format("2006-01-02 15:04 UTC"), 3*workerConns)
}

func peersPage(all []contestant, outcomes []outcome) string {
	var b strings.Builder
	for _, o := range outcomes {
		fmt.Fprintf(&b, "## %d session(s), after %d turns each\n\n", o.Sessions, o.History)
		writeBare(&b, all, o)
		if o.Kept {
			writeKept(&b, all, o)
		}
	}
	writePeerGoals(&b, all, outcomes)
	for _, o := range outcomes[:2] {
		writeSpent(&b, all, o, outcomes[0])
	}

	return b.String()
}

func writeBare(b *strings.Builder, all []contestant, o outcome) {
	b.WriteString("| peers bare | turns/s | p50 | p99 | rows per turn | WAL per turn | a step's effects are written |\n|---|--:|--:|--:|--:|--:|---|\n")
	for i, x := range o.bare {
		fmt.Fprintf(b, "| %s | %.1f | %.1f ms | %.1f ms | %.0f | %.1f kB | %s |\n", all[i].name, x.perSecond(), x.P50, x.P99, x.rows, x.wal/1000, all[i].effects)
	}
	writeRatios(b, all, o.bare)
}

func writeKept(b *strings.Builder, all []contestant, o outcome) {
	b.WriteString("| the same work kept | turns/s | p50 | p99 | rows per turn | WAL per turn | kept rows | kept, uncompressed | the kept rows are written |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for i, x := range o.kept {
		fmt.Fprintf(b, "| %s | %.1f | %.1f ms | %.1f ms | %.0f | %.1f kB | %.1f rows | %.1f kB | %s |\n",
			all[i].name, x.perSecond(), x.P50, x.P99, x.rows, x.wal/1000, x.kept.Rows, x.kept.Bytes/1000, all[i].keeps)
	}
	writeRatios(b, all, o.kept)
}

func writeRatios(b *strings.Builder, all []contestant, scores []*score) {
	var parts []string
	for i, x := range scores[1:] {
		parts = append(parts, fmt.Sprintf("%.2f x %s", scores[placeAlfred].perSecond()/x.perSecond(), all[i+1].name))
	}
	fmt.Fprintf(b, "\nAlfred: %s.\n\n", strings.Join(parts, ", "))
}

// peerGoal is what Alfred's turns per second should be, as a multiple of a peer's.
type peerGoal struct {
	peer, contest int
	kept          bool
	aim           float64
}

func peerGoals() []peerGoal {
	return []peerGoal{
		{placeLangGraph, 0, false, 1.5}, {placeLangGraph, 1, false, 1.2}, {placeLangGraph, 3, false, 3}, {placeLangGraph, 4, false, 20},
		{placeLangGraph, 0, true, 3}, {placeLangGraph, 1, true, 3}, {placeDBOS, 0, true, 0.5}, {placeDBOS, 1, true, 0.5},
	}
}

// writePeerGoals compares the tables' ratios with the goals.
func writePeerGoals(b *strings.Builder, all []contestant, outcomes []outcome) {
	b.WriteString("## Goals\n\nAlfred's turns per second, as a multiple of the peer's.\n\n| peer | the peer keeps | goal | measured | |\n|---|---|--:|--:|---|\n")
	for _, goal := range peerGoals() {
		o := outcomes[goal.contest]
		scores, keep := o.bare, "its record"
		if goal.kept {
			scores, keep = o.kept, "the same work"
		}
		measured := scores[placeAlfred].perSecond() / scores[goal.peer].perSecond()
		fmt.Fprintf(b, "| %s, %d session(s), after %d turns | %s | %g x | %.2f x | %s |\n", all[goal.peer].name, o.Sessions, o.History, keep, goal.aim, measured, verdict(measured >= goal.aim))
	}
	b.WriteString("\nThere is no goal for DBOS Transact bare; the difference is explained below.\n\n")
}

// column is a contestant in the table of what a turn takes.
type column struct {
	name    string
	x, sent *score // sent counted the queries
}

// waited is the part of a turn in which neither program nor backend has a processor, in milliseconds. It is meaningful
// only for one session, because several wait for each other.
func (c column) waited() float64 {
	return c.x.turn() - millis(c.x.cpu.Own) - millis(c.x.cpu.Server)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// writeSpent says what a turn takes, and compares Alfred with DBOS Transact line by line. Queries were counted with one session.
func writeSpent(b *strings.Builder, all []contestant, o, single outcome) {
	columns := []column{{all[placeAlfred].name, o.bare[placeAlfred], o.bare[placeAlfred]}}
	for i := range all[1:] {
		columns = append(columns,
			column{all[i+1].name + ", bare", o.bare[i+1], single.bare[i+1]}, column{all[i+1].name + ", the same kept", o.kept[i+1], single.kept[i+1]})
	}
	fmt.Fprintf(b, "## What a turn takes, with %d session(s) after %d turns each\n\n| per turn |", o.Sessions, o.History)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("--:|", len(columns)))
	for _, line := range spentLines() {
		if line.one && o.Sessions > 1 {
			continue
		}
		fmt.Fprintf(b, "| %s |", line.name)
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", line.figure(c))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	if o.Sessions == 1 {
		writeRest(b, columns[0], columns[1], columns[2])
	}
}

type spentLine struct {
	name   string
	one    bool // only with one session
	figure func(c column) string
}

func spentLines() []spentLine {
	number := func(of func(x *score) float64) func(c column) string {
		return func(c column) string { return fmt.Sprintf("%.1f", of(c.x)) }
	}

	return []spentLine{
		{"time per turn, all sessions together", false, func(c column) string { return fmt.Sprintf("%.1f ms", c.x.turn()) }},
		{"processor time: program", false, func(c column) string { return ms(c.x.cpu.Own) }},
		{"processor time: Postgres", false, func(c column) string { return ms(c.x.cpu.Server) }},
		{"the rest: waiting (negative where both cores worked at once)", true, func(c column) string { return fmt.Sprintf("%.1f ms", c.waited()) }},
		{"queries", false, func(c column) string { return fmt.Sprintf("%.0f", c.sent.queries) }},
		{"round trips", false, func(c column) string { return fmt.Sprintf("%.0f", c.sent.roundTrips) }},
		{"transactions that wrote", false, number(func(x *score) float64 { return x.commits })},
		{"rows", false, number(func(x *score) float64 { return x.rows })},
		{"WAL", false, func(c column) string { return fmt.Sprintf("%.1f kB", c.x.wal/1000) }},
	}
}

// writeRest divides the difference to DBOS Transact, bare, into the cost of keeping the same work there and the rest of
// each kind.
func writeRest(b *strings.Builder, alfred, bare, keeping column) {
	whole := alfred.x.turn() - bare.x.turn()
	share := func(part float64) string { return fmt.Sprintf("%.1f ms | %.0f %%", part, 100*part/whole) }
	fmt.Fprintf(b, `### The difference to DBOS Transact, bare

A turn of Alfred takes %.1f ms longer. From the table above:

| | | share | what it is |
|---|--:|--:|---|
| keeping the same work | %s | the extra time that DBOS Transact needs for it: %.0f rows and %.1f kB more, %.1f kB more WAL |
`, whole, share(keeping.x.turn()-bare.x.turn()), keeping.x.kept.Rows, keeping.x.kept.Bytes/1000, (keeping.x.wal-bare.x.wal)/1000)
	for _, line := range []struct {
		name string
		part float64
		what string
	}{
		{"program", millis(alfred.x.cpu.Own) - millis(keeping.x.cpu.Own), fmt.Sprintf(
			"reading the results of %.0f queries instead of %.0f, building, trimming and checking five prompts, decoding answers, the benchmark's clients", alfred.sent.queries, keeping.sent.queries)},
		{"Postgres", millis(alfred.x.cpu.Server) - millis(keeping.x.cpu.Server), fmt.Sprintf(
			"those queries, most of which read memory for prompts; %.0f rows instead of %.0f: refs and their history, jobs, summaries, embeddings", alfred.x.rows, keeping.x.rows)},
		{"waiting", alfred.waited() - keeping.waited(), fmt.Sprintf(
			"%.0f round trips instead of %.0f, %.1f transactions that write instead of %.1f, and waiting for a processor while the machine does other work",
			alfred.sent.roundTrips, keeping.sent.roundTrips, alfred.x.commits, keeping.x.commits)},
	} {
		fmt.Fprintf(b, "| beyond that: %s | %s | %s |\n", line.name, share(line.part), line.what)
	}
	b.WriteString(`
If a model takes seconds to answer, one conversation does not notice this difference, but it limits how many conversations fit on a machine. After 1,000 turns
the picture reverses for frameworks that load the whole history with each turn.

`)
}
