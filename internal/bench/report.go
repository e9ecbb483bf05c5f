package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the content of docs/benchmarks.md.
type report struct {
	facts

	Rounds, Conns int
	Changes       []change // of one turn
	Results       []*result
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

// First is with one session.
func (r *report) First() *result { return r.Results[0] }

// Last is with the most sessions.
func (r *report) Last() *result { return r.Results[len(r.Results)-1] }

// Transactions are those of the recorded turn.
func (r *report) Transactions() [][]change { return transactions(r.Changes) }

// Durable is how many of them wait for the disk.
func (r *report) Durable() int {
	return len(slices.DeleteFunc(r.Transactions(), func(tx []change) bool { return tx[0].Lazy }))
}

// tableWrites is what the recorded turn writes in a table.
type tableWrites struct {
	Name string
	Ops  map[string]int
	Text float64 // length of the new values
}

// Tables are those that the recorded turn writes, the most text first.
func (r *report) Tables() []*tableWrites {
	tables := map[string]*tableWrites{}
	for i := range r.Changes {
		c := &r.Changes[i]
		t := tables[c.Table]
		if t == nil {
			t = &tableWrites{Name: c.Table, Ops: map[string]int{}}
			tables[c.Table] = t
		}
		t.Ops[c.Op]++
		for _, v := range c.New {
			if v != nil {
				t.Text += float64(len(*v))
			}
		}
	}

	return slices.SortedFunc(maps.Values(tables), func(x, y *tableWrites) int { return cmp.Or(cmp.Compare(y.Text, x.Text), cmp.Compare(x.Name, y.Name)) })
}

// PerTurn is a total divided by the counted turns.
func (r *result) PerTurn(total int) float64 { return float64(total) / float64(r.Counted) }

// Each is PerTurn of a time.
func (r *result) Each(total time.Duration) time.Duration { return total / time.Duration(r.Counted) }

// Ratio is how close the turns come to the floor.
func (r *result) Ratio() float64 { return r.PerSecond / r.Floor }

// RatioPipelined is Ratio for the floor of a round trip per transaction.
func (r *result) RatioPipelined() float64 { return r.PerSecond / r.FloorPipelined }

// Slower is how many times as long as its floor a turn takes.
func (r *result) Slower() float64 {
	return float64(percentile(r.Replied, 0.5)) / float64(percentile(r.FloorTook, 0.5))
}

// LargestTables are those with the most WAL.
func (r *result) LargestTables() []string {
	return most(20, r.Wal.Tables, func(n int) int { return n })
}

// SlowestNames are the statements that took longest.
func (r *result) SlowestNames() []string {
	return most(30, r.Names, func(u usage) int { return int(u.Took) })
}

// most returns the n keys with the highest values.
func most[V any](n int, of map[string]V, value func(V) int) []string {
	keys := slices.SortedFunc(maps.Keys(of), func(x, y string) int { return cmp.Or(cmp.Compare(value(of[y]), value(of[x])), cmp.Compare(x, y)) })

	return keys[:min(n, len(keys))]
}
