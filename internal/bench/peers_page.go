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
	return fmt.Sprintf(`# Beside peers

Written by `+"`make bench/peers`"+`; do not edit. Ratios travel between machines, absolute times do not. A load average near or above the number of
cores means that other work took part.

- Machine: %s
- Postgres %s: fsync %s, synchronous_commit %s, shared_buffers %s
- %s

A turn has six nodes with a model that answers at once; one node reads rows, one writes a row. Sources: `+"`internal/bench/peers`"+`.
A turn is over when its last node is recorded. For Alfred it is the turn of docs/benchmarks.md, the same in all tables: it reads
memory, builds real prompts from a registry, checks them and what comes back, translates refs, embeds, and keeps what happened.
The peers' nodes do nothing but answer, and are measured twice:

- **bare**: a peer keeps nothing but its framework's record of the six nodes.
- **the same work kept**: each node also keeps what Alfred keeps for it, in the same database: every call's whole prompt and answer, the
  results of steps with the rows that were read, the events that Alfred streams. The texts are those that Alfred kept in
  the same contest just before, turn by turn. Parts that prompts share are stored once by their hash, as Alfred does, compressed the same way, and a
  node's rows are one statement: in the step's transaction with DBOS Transact, in one of its own with the others, whose records take no
  statements. A peer has these texts from a file: it reads no memory and builds and checks no prompt. Nor does it keep what Alfred
  keeps besides: refs and their history, why each thing stood in a prompt, summaries, embeddings, what undoes a write.

Rows are those of tables that inserts, updates and deletes wrote, counted in the WAL. Processor time is that of the program, with what stands for
its clients, and of Postgres' backends.

`, machine(), facts.Version, facts.Fsync, facts.SyncCommit, facts.Buffers, time.Now().UTC().Format("2006-01-02 15:04 UTC"))
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
	b.WriteString("| the same work kept | turns/s | p50 | p99 | rows per turn | WAL per turn | of them kept | kept before compression | it is written |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
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
	b.WriteString("## Goals\n\n| Alfred beside | its nodes keep | aim | measured | |\n|---|---|--:|--:|---|\n")
	for _, goal := range peerGoals() {
		o := outcomes[goal.contest]
		scores, keep := o.bare, "their record"
		if goal.kept {
			scores, keep = o.kept, "the same work"
		}
		measured := scores[placeAlfred].perSecond() / scores[goal.peer].perSecond()
		fmt.Fprintf(b, "| %s, %d session(s), after %d turns | %s | %g x | %.2f x | %s |\n", all[goal.peer].name, o.Sessions, o.History, keep, goal.aim, measured, verdict(measured >= goal.aim))
	}
	b.WriteString("\nThere is no goal beside DBOS Transact bare: what is left there is explained below.\n\n")
}

// column is a contestant in the table of what a turn takes.
type column struct {
	name    string
	x, sent *score // sent counted the queries
}

// waited is the part of a turn in which neither program nor backend has a processor, in milliseconds. It says something of one session
// only: several wait for each other.
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
		{"time, turns of all sessions together", false, func(c column) string { return fmt.Sprintf("%.1f ms", c.x.turn()) }},
		{"processor time: program", false, func(c column) string { return ms(c.x.cpu.Own) }},
		{"processor time: Postgres", false, func(c column) string { return ms(c.x.cpu.Server) }},
		{"the rest: waiting", true, func(c column) string { return fmt.Sprintf("%.1f ms", c.waited()) }},
		{"queries", false, func(c column) string { return fmt.Sprintf("%.0f", c.sent.queries) }},
		{"round trips", false, func(c column) string { return fmt.Sprintf("%.0f", c.sent.roundTrips) }},
		{"transactions that wrote", false, number(func(x *score) float64 { return x.commits })},
		{"rows", false, number(func(x *score) float64 { return x.rows })},
		{"WAL", false, func(c column) string { return fmt.Sprintf("%.1f kB", c.x.wal/1000) }},
	}
}

// writeRest divides the difference to DBOS Transact, bare, into what keeping the same takes there and what remains of each kind.
func writeRest(b *strings.Builder, alfred, bare, keeping column) {
	whole := alfred.x.turn() - bare.x.turn()
	share := func(part float64) string { return fmt.Sprintf("%.1f ms | %.0f %%", part, 100*part/whole) }
	fmt.Fprintf(b, `### What is left beside DBOS Transact, bare

A turn of Alfred takes %.1f ms longer. Line by line, from the table above:

| | | of it | what it is |
|---|--:|--:|---|
| keeping the same work | %s | what DBOS Transact takes longer when it keeps it: %.0f rows and %.1f kB more, %.1f kB more WAL |
`, whole, share(keeping.x.turn()-bare.x.turn()), keeping.x.kept.Rows, keeping.x.kept.Bytes/1000, (keeping.x.wal-bare.x.wal)/1000)
	for _, line := range []struct {
		name string
		part float64
		what string
	}{
		{"program", millis(alfred.x.cpu.Own) - millis(keeping.x.cpu.Own), fmt.Sprintf(
			"reading what %.0f queries return instead of %.0f, building, cutting and checking five prompts, decoding answers, the bench's clients", alfred.sent.queries, keeping.sent.queries)},
		{"Postgres", millis(alfred.x.cpu.Server) - millis(keeping.x.cpu.Server), fmt.Sprintf(
			"those queries, most of them reads of memory for prompts; %.0f rows instead of %.0f: refs and their history, jobs, summaries, embeddings", alfred.x.rows, keeping.x.rows)},
		{"waiting", alfred.waited() - keeping.waited(), fmt.Sprintf(
			"%.0f round trips instead of %.0f, %.1f transactions that write instead of %.1f, and for a processor where the machine does other work",
			alfred.sent.roundTrips, keeping.sent.roundTrips, alfred.x.commits, keeping.x.commits)},
	} {
		fmt.Fprintf(b, "| beyond that: %s | %s | %s |\n", line.name, share(line.part), line.what)
	}
	b.WriteString(`
A model that takes seconds to answer hides this from one conversation, not from the machine: it limits how many fit on one. After 1,000 turns
is the other side: whoever loads the history with each turn pays for it.

`)
}
