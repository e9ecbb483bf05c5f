package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is everything that was measured.
type report struct {
	At      time.Time
	Machine string
	Server  facts
	Changes []change // of one turn
	Results []*result
}

// machine names processor, cores, kernel and load, as far as Linux reports them.
func machine() string {
	model := "unknown processor"
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)

			break
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	busy, _ := os.ReadFile("/proc/loadavg")

	return fmt.Sprintf("%s, %d cores, %s %s %s; load average at the start %s", model, runtime.NumCPU(), runtime.GOOS,
		strings.TrimSpace(string(kernel)), runtime.GOARCH, strings.Join(strings.Fields(string(busy))[:min(3, len(strings.Fields(string(busy))))], " "))
}

// line is one row of the main table: a figure for each load, and what limits it.
type line struct {
	name   string
	figure func(r *result) string
	limits string
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func perTurn(r *result, n int) string { return fmt.Sprintf("%.1f", float64(n)/float64(r.Counted)) }

func kilo(r *result, n int) string { return fmt.Sprintf("%.1f kB", float64(n)/1000/float64(r.Counted)) }

func (r *report) lines() []line {
	xacts := transactions(r.Changes)
	durable := slices.DeleteFunc(slices.Clone(xacts), func(tx []change) bool { return tx[0].Lazy })

	return []line{
		{"turns per second", func(x *result) string { return fmt.Sprintf("%.1f", x.PerSecond) },
			"one session: sequential round trips; many: the cores, shared by worker, clients and Postgres (see processor time)"},
		{"enqueued to replied, p50", func(x *result) string { return ms(percentile(x.Replied, 0.5)) }, "five decisions, each load and commit; many sessions: waiting for a core"},
		{"enqueued to replied, p99", func(x *result) string { return ms(percentile(x.Replied, 0.99)) }, "WAL flushes and other work on the machine; many sessions: waiting for a core"},
		{"enqueued to summarized, p50", func(x *result) string { return ms(percentile(x.Summarized, 0.5)) }, "one more decision; only the next turn waits for it"},
		{"enqueued to summarized, p99", func(x *result) string { return ms(percentile(x.Summarized, 0.99)) }, "as above"},
		{"processor time: worker and clients", func(x *result) string { return ms(x.CPU.Own / time.Duration(x.Counted)) }, "building prompts, JSON, the protocol; the benchmark's own share is small"},
		{"processor time: Postgres", func(x *result) string { return ms(x.CPU.Server / time.Duration(x.Counted)) }, "planning and running the queries below; cores / (this + the line above) bounds turns per second"},
		{"commits (pg_stat_database)", func(x *result) string { return fmt.Sprintf("%.1f", x.Commits) }, "all transactions of the database: those of the next three lines, and one per notification that wakes a listener"},
		{"transactions that may write", func(x *result) string { return perTurn(x, x.Counts.Commits) }, "enqueue; one per decision, which includes the model's answer unless the commit is late; the reply's first words; the background"},
		{"read-only transactions", func(x *result) string { return perTurn(x, x.Counts.Reads) }, "one load per decision"},
		{"single statements", func(x *result) string { return perTurn(x, x.Counts.Singles) }, "River's fetches, one per turn and for the background, and the notifier; with one session also leases and polls, which depend on time"},
		{"queries", func(x *result) string { return perTurn(x, x.Counts.Queries) }, "a third are memory's reads for prompts; begin, commit and settings are counted"},
		{"round trips", func(x *result) string { return perTurn(x, x.Counts.RoundTrips) }, "the rounds of a load, and results that a commit needs; other statements travel with them"},
		{"WAL", func(x *result) string { return kilo(x, x.Wal.Bytes) }, "prompts in llm_calls, events and river_job; see the table below"},
		{"full-page images, part of it", func(x *result) string { return kilo(x, x.Wal.Images) }, "pages first changed after the checkpoint before the run"},
		{"rows written", func(*result) string { return strconv.Itoa(len(r.Changes)) }, "inserts, updates and deletes of one recorded turn"},
		{"transactions that wrote rows", func(*result) string { return strconv.Itoa(len(xacts)) }, "of the same turn, including its background"},
		{"of these, waiting for the disk", func(*result) string { return strconv.Itoa(len(durable)) }, "the others set synchronous_commit off, since their work can be redone"},
		{"floor, per second", func(x *result) string { return fmt.Sprintf("%.1f", x.Floor) }, "one round trip per statement; the cores and the flushes"},
		{"floor, p50", func(x *result) string { return ms(percentile(x.FloorTook, 0.5)) }, "WAL flushes"},
		{"**turns, as a fraction of the floor**", func(x *result) string { return fmt.Sprintf("**%.2f**", x.ratio()) }, "reading, building prompts, JSON, River"},
		{"floor, a round trip per transaction", func(x *result) string { return fmt.Sprintf("%.1f", x.FloorPipelined) }, "the same, pipelined: what batching could achieve"},
		{"turns, as a fraction of it", func(x *result) string { return fmt.Sprintf("%.2f", x.PerSecond/x.FloorPipelined) }, "as above"},
	}
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `make bench`; do not edit. Compare ratios between machines, not absolute times.\nIf the load average is near or above the number of cores, other work took part. Counts and WAL are then still right, processor time is too high (by up to half), and rates and ratios are too low.\n\n")
	fmt.Fprintf(&b, "- Machine: %s\n- Postgres %s: fsync %s, synchronous_commit %s, shared_buffers %s, wal_level %s, on the same machine\n- %s, %s\n\n",
		r.Machine, r.Server.Version, r.Server.Fsync, r.Server.SyncCommit, r.Server.Buffers, r.Server.WalLevel, runtime.Version(), r.At.Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(&b, `A turn here is understand, think, one read step, one write step, reply and summarize, plus the background work that follows
(embed, compress), with a model that answers at once. The turns of a session run one after the other; each is enqueued when the
previous one is summarized. Turns that are not counted come first; among them the tables are analyzed, as autovacuum does
within a minute. Throughput is the median of %d rounds. One worker with %d connections runs in the same process as its clients.
The floor writes the same rows in the same transactions and does nothing else.

`, rounds, workerConns)
	r.writeMain(&b)
	r.writeGoals(&b)
	r.writeRows(&b)
	r.writeWal(&b)
	r.writeNames(&b)

	return b.String()
}

func (r *report) writeMain(b *strings.Builder) {
	fmt.Fprintf(b, "| per turn |")
	for _, x := range r.Results {
		fmt.Fprintf(b, " %d session(s) |", x.Sessions)
	}
	fmt.Fprintf(b, " limited by |\n|---|%s---|\n", strings.Repeat("--:|", len(r.Results)))
	for _, l := range r.lines() {
		fmt.Fprintf(b, "| %s |", l.name)
		for _, x := range r.Results {
			fmt.Fprintf(b, " %s |", l.figure(x))
		}
		fmt.Fprintf(b, " %s |\n", l.limits)
	}
}

// The goals of a turn with one read and one write step.
const (
	goalCommits = 10
	goalWal     = 55_000
	goalRatio   = 0.6
	goalSlower  = 2
)

func (r *report) writeGoals(b *strings.Builder) {
	last := r.Results[len(r.Results)-1]
	walBytes := last.Wal.Bytes / last.Counted
	fmt.Fprintf(b, "\n## Goals, with %d sessions\n\n| goal | measured | | where the difference is |\n|---|--:|---|---|\n", last.Sessions)
	commits := float64(last.Counts.Commits) / float64(last.Counted)
	fmt.Fprintf(b, "| at most %d transactions that may write | %.1f | %s | one to enqueue, six decisions, the reply's first words, its end, the background; most of those above 11 are answers stored alone, because their commit did not follow within 50 ms |\n",
		goalCommits, commits, verdict(commits <= goalCommits))
	fmt.Fprintf(b, "| at most %d kB of WAL | %.1f kB | %s | requests and the reasons for their items, in llm_calls, are the largest part; then events and river_job |\n",
		goalWal/1000, float64(walBytes)/1000, verdict(walBytes <= goalWal))
	fmt.Fprintf(b, "| at least %.1f of the floor | %.2f | %s | processor time for reading and for building prompts, which the floor does not do |\n", goalRatio, last.ratio(), verdict(last.ratio() >= goalRatio))
	one := r.Results[0]
	fmt.Fprintf(b, "| p50 with one session at most twice the floor's | %.1f | %s | a load and a commit per decision, one after the other |\n",
		one.slower(), verdict(one.slower() <= goalSlower))
}

// slower is how many times as long as its floor a turn takes.
func (r *result) slower() float64 {
	return float64(percentile(r.Replied, 0.5)) / float64(percentile(r.FloorTook, 0.5))
}

func verdict(met bool) string {
	if met {
		return "met"
	}

	return "**missed**"
}

func (r *report) writeRows(b *strings.Builder) {
	ops := map[string]map[string]int{}
	sizes := map[string]int{}
	for i := range r.Changes {
		c := &r.Changes[i]
		if ops[c.Table] == nil {
			ops[c.Table] = map[string]int{}
		}
		ops[c.Table][c.Op]++
		for _, v := range c.New {
			if v != nil {
				sizes[c.Table] += len(*v)
			}
		}
	}
	fmt.Fprintf(b, "\n## Rows that one turn writes\n\nText is the length of the new values before compression.\n\n| table | inserts | updates | deletes | text |\n|---|--:|--:|--:|--:|\n")
	for _, table := range byCount(sizes) {
		n := ops[table]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.1f kB |\n", table, n["INSERT"], n["UPDATE"], n["DELETE"], float64(sizes[table])/1000)
	}
}

func (r *report) writeWal(b *strings.Builder) {
	const shown = 20
	first := r.Results[0]
	if first.Wal.Tables == nil {
		return
	}
	fmt.Fprintf(b, "\n## WAL by table, with one session\n\nWithout full-page images. Indexes are listed separately; TOAST counts towards its table.\n\n| table | per turn |\n|---|--:|\n")
	tables := byCount(first.Wal.Tables)
	for _, table := range tables[:min(shown, len(tables))] {
		fmt.Fprintf(b, "| %s | %s |\n", table, kilo(first, first.Wal.Tables[table]))
	}
}

func (r *report) writeNames(b *strings.Builder) {
	const shown = 30
	first := r.Results[0]
	took := map[string]int{}
	for name, used := range first.Names {
		took[name] = int(used.Took)
	}
	names := byCount(took)
	fmt.Fprintf(b, "\n## The slowest of %d statements, with one session\n\nTime from sending a statement to its last row, summed over a turn. Statements in batches show no time.\n\n", len(names))
	fmt.Fprintf(b, "| statement | per turn | time |\n|---|--:|--:|\n")
	for _, name := range names[:min(shown, len(names))] {
		used := first.Names[name]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, perTurn(first, used.N), ms(used.Took/time.Duration(first.Counted)))
	}
}

// byCount returns the keys, highest count first.
func byCount(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m), func(x, y string) int { return cmp.Or(cmp.Compare(m[y], m[x]), cmp.Compare(x, y)) })
}
