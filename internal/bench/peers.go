package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contest is a load that Alfred and its peers run one after the other.
type contest struct{ Sessions, Turns, History int }

// few turns precede the measured ones, so that connections prepare their statements.
const few = 3

func contests() []contest {
	return []contest{
		{Sessions: 1, Turns: 60, History: few}, {Sessions: 32, Turns: 8, History: few}, {Sessions: 256, Turns: 2, History: few},
		{Sessions: 1, Turns: 30, History: 100}, {Sessions: 1, Turns: 20, History: 1000},
	}
}

// contestant is a peer's program, or Alfred, which has none.
type contestant struct {
	name    string
	program []string
	effects string // what its step record guarantees
}

// score is a contestant's result in a contest.
type score struct {
	Turns   int     `json:"turns"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`

	rows, wal float64 // per turn
}

func (s *score) perSecond() float64 { return float64(s.Turns) / s.Seconds }

// settled is how long backends may take to report what they wrote.
const settled = 2 * time.Second

// preparePeers builds the peers' programs in folder.
func preparePeers(ctx context.Context, folder string) ([]contestant, error) {
	source := filepath.Join("internal", "bench", "peers")
	lang, err := filepath.Abs(filepath.Join(langGraph(), "main.mjs"))
	if err != nil {
		return nil, fmt.Errorf("find the peers: %w", err)
	}
	if err := buildPeers(ctx, "go", "build", "-C", source, "-o", folder+"/", "./dbos", "./adk"); err != nil {
		return nil, err
	}
	if err := installLangGraph(ctx); err != nil {
		return nil, err
	}

	return []contestant{
		{name: "Alfred", effects: "with the step's record, one transaction"},
		{name: "DBOS Transact (Go)", program: []string{filepath.Join(folder, "dbos")}, effects: "with the step's record, one transaction"},
		{name: "Google ADK (Go)", program: []string{filepath.Join(folder, "adk")}, effects: "apart from the event"},
		{name: "LangGraph.js", program: []string{"node", lang}, effects: "apart from the checkpoint"},
	}, nil
}

// langGraph is the folder of the programs on LangGraph.js.
func langGraph() string { return filepath.Join("internal", "bench", "peers", "langgraph") }

func installLangGraph(ctx context.Context) error {
	return buildPeers(ctx, "npm", "ci", "--silent", "--prefix", langGraph())
}

func buildPeers(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the peers: %w", err)
	}

	return nil
}

// comparePeers runs every contest and returns the page.
func comparePeers(ctx context.Context, s *server, address string) (string, error) {
	folder, err := os.MkdirTemp("", "alfred-peers-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
	all, err := preparePeers(ctx, folder)
	if err != nil {
		return "", err
	}
	facts, err := s.facts(ctx)
	if err != nil {
		return "", err
	}
	scores := map[string][]*score{}
	for _, c := range contests() {
		for _, who := range all {
			scored, err := compete(ctx, s, address, who, c)
			if err != nil {
				return "", fmt.Errorf("%s, %+v: %w", who.name, c, err)
			}
			fmt.Fprintf(os.Stderr, "%+v %s %.1f turns/s\n", c, who.name, scored.perSecond())
			scores[who.name] = append(scores[who.name], scored)
		}
	}

	return peersPage(all, scores, facts), nil
}

// compete measures one contestant on an empty database.
func compete(ctx context.Context, s *server, address string, who contestant, c contest) (*score, error) {
	scored, create, run := &score{}, createDatabase, alfredRun
	if who.program != nil {
		create, run = createEmpty, who.run
	}
	own, err := create(ctx, address)
	if err != nil {
		return nil, err
	}
	var before, after float64
	var from string
	err = run(ctx, own, c, scored, func() error {
		time.Sleep(settled)
		if before, err = s.rows(ctx); err == nil {
			from, err = s.position(ctx)
		}

		return err
	})
	if err != nil {
		return nil, err
	}
	to, err := s.position(ctx)
	if err != nil {
		return nil, err
	}
	time.Sleep(settled)
	if after, err = s.rows(ctx); err != nil {
		return nil, err
	}
	if err := s.conn.QueryRow(ctx, `SELECT ($2::pg_lsn - $1::pg_lsn)::float8 / $3`, from, to, scored.Turns).Scan(&scored.wal); err != nil {
		return nil, fmt.Errorf("measure the WAL: %w", err)
	}
	scored.rows = (after - before) / float64(scored.Turns)

	return scored, dropDatabase(ctx, address)
}

// rows is how many were written in the measured database.
func (s *server) rows(ctx context.Context) (float64, error) {
	var n float64
	err := s.conn.QueryRow(ctx, `SELECT tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = $1`, database).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read pg_stat_database: %w", err)
	}

	return n, nil
}

// run starts the peer's program. It prints "seeded" when the history exists, waits for a line, and prints its score.
func (who contestant) run(ctx context.Context, address string, c contest, scored *score, seeded func() error) error {
	args := append(slices.Clone(who.program[1:]), "--url", address, "--sessions", strconv.Itoa(c.Sessions), "--turns", strconv.Itoa(c.Turns),
		"--history", strconv.Itoa(c.History))
	cmd := exec.CommandContext(ctx, who.program[0], args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "seeded" {
			if err = seeded(); err == nil {
				_, err = in.Write([]byte("\n"))
			}
		} else if strings.HasPrefix(lines.Text(), "{") {
			err = json.Unmarshal(lines.Bytes(), scored)
		}
		if err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
	}

	return cmd.Wait()
}

// alfredRun runs the turns in this process.
func alfredRun(ctx context.Context, address string, c contest, scored *score, seeded func() error) error {
	sessions, err := makeSessions(ctx, address, c.Sessions)
	if err != nil {
		return err
	}
	rig, err := startRig(ctx, address)
	if err != nil {
		return err
	}
	defer rig.stop(ctx) //nolint:errcheck // the measure is over
	if err := rig.playOut(ctx, sessions, c.History); err != nil {
		return err
	}
	if err := seeded(); err != nil {
		return err
	}
	start := time.Now()
	took, err := rig.play(ctx, sessions, c.Turns)
	if err != nil {
		return err
	}
	scored.Turns, scored.Seconds = len(took), time.Since(start).Seconds()
	all := make([]time.Duration, 0, len(took))
	for _, t := range took {
		all = append(all, t.whole)
	}
	scored.P50 = float64(percentile(all, 0.5).Microseconds()) / 1000
	scored.P99 = float64(percentile(all, 0.99).Microseconds()) / 1000

	return rig.settle(ctx)
}

func peersPage(all []contestant, scores map[string][]*score, facts facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Beside peers

Written by `+"`make bench/peers`"+`; do not edit. Ratios travel between machines, absolute times do not.

- Machine: %s
- %s
- %s

A turn has six nodes with a model that answers at once; one node reads rows, one writes a row. Sources: `+"`internal/bench/peers`"+`.
For Alfred it is the turn of docs/benchmarks.md: it also builds real prompts from a registry, checks them and what comes
back, records each call with its whole prompt, translates refs, streams events and embeds; the peers' nodes do nothing
but answer. A turn is over when its last node is recorded.

`, machine(), fmt.Sprintf("Postgres %s: fsync %s, synchronous_commit %s, shared_buffers %s", facts.Version, facts.Fsync, facts.SyncCommit, facts.Buffers), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	for i, c := range contests() {
		fmt.Fprintf(&b, "## %d session(s), after %d turns each\n\n| | turns/s | p50 | p99 | rows per turn | WAL per turn | a step's effects are written |\n|---|--:|--:|--:|--:|--:|---|\n", c.Sessions, c.History)
		for _, who := range all {
			x := scores[who.name][i]
			fmt.Fprintf(&b, "| %s | %.1f | %.1f ms | %.1f ms | %.0f | %.1f kB | %s |\n", who.name, x.perSecond(), x.P50, x.P99, x.rows, x.wal/1000, who.effects)
		}
		ours := scores[all[0].name][i].perSecond()
		parts := make([]string, 0, len(all)-1)
		for _, who := range all[1:] {
			parts = append(parts, fmt.Sprintf("%.2f x %s", ours/scores[who.name][i].perSecond(), who.name))
		}
		fmt.Fprintf(&b, "\nAlfred: %s.\n\n", strings.Join(parts, ", "))
	}

	b.WriteString(peerGoals(all, scores))

	return b.String()
}

// peerGoals compares the tables' ratios with the goals.
func peerGoals(all []contestant, scores map[string][]*score) string {
	ratio := func(peer, contest int) float64 {
		return scores[all[0].name][contest].perSecond() / scores[all[peer].name][contest].perSecond()
	}
	var b strings.Builder
	b.WriteString("## Goals\n\n| Alfred beside | aim | measured | |\n|---|--:|--:|---|\n")
	for _, goal := range []struct {
		peer, contest int
		aim           float64
	}{{1, 0, 1}, {1, 1, 1}, {1, 2, 1}, {3, 0, 4}, {3, 1, 4}, {3, 3, 10}} {
		c, measured := contests()[goal.contest], ratio(goal.peer, goal.contest)
		fmt.Fprintf(&b, "| %s, %d session(s), after %d turns | %g x | %.2f x | %s |\n", all[goal.peer].name, c.Sessions, c.History, goal.aim, measured, verdict(measured >= goal.aim))
	}
	b.WriteString(`
Where they are missed it is the turn: a peer's node is an answer and its record. Alfred's reads memory with some thirty statements,
builds, checks and keeps a prompt of some 14 kB, and writes refs, events and a summary: several times the rows and the WAL of a
peer's whole turn, and processor time that no peer spends. A model that takes seconds to answer hides that from one conversation, not
from the machine: it limits how many fit on one. The last table is the other side: whoever loads the history with each turn pays for it.
`)

	return b.String()
}
