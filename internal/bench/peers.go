package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// contest is a load that Alfred and its peers run one after the other.
type contest struct {
	Sessions, Turns, History int
	Keep                     bool // peers run it again, keeping what Alfred keeps
}

// few turns precede the measured ones, so that connections prepare their statements.
const few = 3

func contests() []contest {
	return []contest{
		{Sessions: 1, Turns: 60, History: few, Keep: true}, {Sessions: 32, Turns: 8, History: few, Keep: true}, {Sessions: 256, Turns: 2, History: few, Keep: true},
		{Sessions: 1, Turns: 30, History: 100, Keep: true}, {Sessions: 1, Turns: 20, History: 1000},
	}
}

// contestant is a peer's program, or Alfred, which has none.
type contestant struct {
	Name    string
	program []string
	Effects string // what its step record guarantees
	Keeps   string // the same for what it is told to keep
}

// preparePeers builds the peers' programs in folder.
func preparePeers(ctx context.Context, folder string) ([]contestant, error) {
	source := filepath.Join("internal", "bench", "peers")
	lang, err := filepath.Abs(filepath.Join(langGraph(), "main.mjs"))
	if err != nil {
		return nil, fmt.Errorf("find the peers: %w", err)
	}
	if err := build(ctx, "go", "build", "-C", source, "-o", folder+"/", "./dbos", "./adk"); err != nil {
		return nil, err
	}
	if err := installLangGraph(ctx); err != nil {
		return nil, err
	}

	return []contestant{
		{Name: "Alfred", Effects: "with the step's record, one transaction", Keeps: "with the step's record"},
		{Name: "DBOS Transact (Go)", program: []string{filepath.Join(folder, "dbos")}, Effects: "with the step's record, one transaction", Keeps: "with the step's record"},
		{Name: "Google ADK (Go)", program: []string{filepath.Join(folder, "adk")}, Effects: "apart from the event", Keeps: "apart from the event"},
		{Name: "LangGraph.js", program: []string{"node", lang}, Effects: "apart from the checkpoint", Keeps: "apart from the checkpoint"},
	}, nil
}

// langGraph is the folder of the programs on LangGraph.js.
func langGraph() string { return filepath.Join("internal", "bench", "peers", "langgraph") }

func installLangGraph(ctx context.Context) error {
	return build(ctx, "npm", "ci", "--silent", "--prefix", langGraph())
}

func build(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build with %s: %w", program, err)
	}

	return nil
}

// outcome is a contest's result.
type outcome struct {
	contest

	Bare []*score // of all contestants
	Kept []*score // of those that kept the same work, in the same places; nil if none did
}

// comparePeers runs every contest.
func comparePeers(ctx context.Context, s *server) (*peersPage, error) {
	folder, err := os.MkdirTemp("", "alfred-peers-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder)
	all, err := preparePeers(ctx, folder)
	if err != nil {
		return nil, err
	}
	facts, err := s.facts(ctx)
	if err != nil {
		return nil, err
	}
	page := &peersPage{facts: facts, Analyzed: 3 * workerConns}
	field := &field{server: s, file: filepath.Join(folder, "kept.json")}
	for i, c := range contests() {
		o, err := field.hold(ctx, all, c)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			err = field.count(ctx, all, o)
		}
		if err != nil {
			return nil, err
		}
		page.Outcomes = append(page.Outcomes, o)
	}

	return page, nil
}

// field is where contests are held.
type field struct {
	server *server
	file   string // of what peers keep
}

// hold holds a contest. Alfred goes first, because the peers keep what it kept.
func (f *field) hold(ctx context.Context, all []contestant, c contest) (outcome, error) {
	o := outcome{contest: c}
	for i, who := range all {
		scored, err := f.compete(ctx, who, c, "")
		if err != nil {
			return o, fmt.Errorf("%s, %+v: %w", who.Name, c, err)
		}
		o.Bare = append(o.Bare, scored)
		if !c.Keep {
			continue
		}
		if i != placeAlfred {
			if scored, err = f.compete(ctx, who, c, f.file); err == nil {
				err = scored.Kept.least(o.Kept[placeAlfred].Kept)
			}
			if err != nil {
				return o, fmt.Errorf("%s, keeping, %+v: %w", who.Name, c, err)
			}
		}
		o.Kept = append(o.Kept, scored)
	}

	return o, nil
}

// compete measures one contestant on an empty database; a peer keeps what the file says, if any.
func (f *field) compete(ctx context.Context, who contestant, c contest, file string) (*score, error) {
	create, run, keptSQL := f.server.migrated, alfredRun, keptByAlfred
	if who.program != nil {
		create, run, keptSQL = f.server.empty, who.run, keptByPeer
	}
	own, err := create(ctx)
	if err != nil {
		return nil, err
	}
	scored, p := &score{Who: who}, &probe{server: f.server, address: own, keptSQL: keptSQL}
	if err := run(ctx, own, c, file, scored, p); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, scored); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%+v %s %.1f turns/s, kept %.1f rows, %.0f bytes\n", c, who.Name, scored.PerSecond(), scored.Kept.Rows, scored.Kept.Bytes)
	if who.program == nil && c.Keep {
		recorded, err := recordFixture(ctx, own, c)
		if err == nil {
			err = recorded.write(f.file)
		}
		if err != nil {
			return nil, fmt.Errorf("record what is kept: %w", err)
		}
	}

	return scored, nil
}

// counted turns are enough to count queries.
const counted = 10

// count adds queries and round trips to the peers' scores. It uses short runs of its own, because counting takes time.
// Alfred's are metered already.
func (f *field) count(ctx context.Context, all []contestant, o outcome) error {
	for i, who := range all[1:] {
		for file, scored := range map[string]*score{"": o.Bare[i+1], f.file: o.Kept[i+1]} {
			sent, err := f.counted(ctx, who, file)
			if err != nil {
				return fmt.Errorf("count %s: %w", who.Name, err)
			}
			scored.sent(sent, counted)
		}
	}

	return nil
}

// counted is what a peer sends in as many turns.
func (f *field) counted(ctx context.Context, who contestant, file string) (counts, error) {
	own, err := f.server.empty(ctx)
	if err != nil {
		return counts{}, err
	}
	w, through, err := listen(ctx, own)
	if err != nil {
		return counts{}, err
	}
	tally := &tally{counts: w.counts}
	err = who.run(ctx, through, contest{Sessions: 1, Turns: counted, History: few}, file, &score{}, tally)

	return tally.after.minus(tally.before), errors.Join(err, w.listener.Close())
}
