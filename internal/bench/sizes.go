package main

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sizes is the content of docs/growth.md.
type sizes struct {
	growth    []*grown
	pruned    *pruned
	first     *first
	footprint *footprint
}

// measureSizes measures everything and returns the page and its plot.
func measureSizes(ctx context.Context, s *server, own string) (page, picture string, err error) {
	dir, err := os.MkdirTemp("", "alfred-bench-")
	if err != nil {
		return "", "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	built, err := buildPrograms(ctx, dir, own)
	if err != nil {
		return "", "", err
	}
	began := time.Now().UTC()
	facts, err := s.facts(ctx)
	if err != nil {
		return "", "", err
	}
	var z sizes
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"first word", func() (err error) { z.first, err = measureFirst(ctx, own); return err }},
		{"growth", func() (err error) { z.growth, err = measureGrowth(ctx, own); return err }},
		{"pruning", func() (err error) { z.pruned, err = measurePruning(ctx, own, built.prune); return err }},
		{"footprint", func() (err error) { z.footprint, err = measureFootprint(ctx, built); return err }},
	} {
		if err := part.measure(); err != nil {
			return "", "", fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s measured\n", part.name)
	}

	picture, err = z.plot()

	return z.page(began, facts), picture, err
}

// prune is worker prune, keeping last month and this one.
func (p *programs) prune(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "worker"), "prune", "--months", "1")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+p.address)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("worker prune: %s: %w", out, err)
	}

	return nil
}

func (z *sizes) page(at time.Time, facts facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Growth, first words, memory

Written by `+"`make bench/growth`"+`; do not edit. Do not compare absolute times between machines. If the load average is near or above the number of cores,
other work took part.

- Machine: %s
- Postgres %s: fsync %s, synchronous_commit %s, shared_buffers %s, on the same machine
- %s

## Long sessions

How a turn's cost depends on the turns before it. This is the turn of [benchmarks.md](benchmarks.md) in one session, whose older turns each read ten rows, so the registry
has ten refs for each. %d turns are measured. Prompt tokens are estimated at four characters each and summed over a turn's prompts.

| turns before | refs in the registry | queries | round trips | rows written | prompt tokens | enqueued to replied, p50 |
|--:|--:|--:|--:|--:|--:|--:|
`, machine(), facts.Version, facts.Fsync, facts.SyncCommit, facts.Buffers, at.Format("2006-01-02 15:04 UTC"), grownTurns)
	for _, g := range z.growth {
		fmt.Fprintf(&b, "| %d | %d | %.0f | %.0f | %d | %.0f | %s |\n", g.Behind, g.Refs, g.Queries, g.RoundTrips, g.Rows, g.Tokens, ms(g.Replied))
	}
	p := z.pruned
	fmt.Fprintf(&b, `
![the same as a plot](growth.svg)

## Pruning

`+"`worker prune --months 1`"+` dropped %d tool results of four past months in %.1f s, while turns ran in another session.

| replies | p50 | longest |
|---|--:|--:|
| before | %s | %s |
| during (%d turns) | %s | %s |

## First words

%d turns on an idle machine.

| from | to | p50 | p99 | goal for p50 |
|---|---|--:|--:|--:|
| the message's commit | the first node's start, when River fetches it | %s | %s | 5 ms |
| the same | its request to the model, including the load | %s | %s | |
| the model's first text | the client's first text, over HTTP | %s | %s | 10 ms |

## Memory and start

| | measured | goal |
|---|--:|--:|
| `+"`worker run`"+`, from start until it takes jobs, median of %d | %s | 1 s |
| resident memory of a worker, idle | %s | |
| the same with %d turns waiting for a model, peak | %s | 200 MB |
| resident memory of an API, idle | %s | |
| the same with %d open streams | %s | 100 MB more |
`, p.Rows, p.Took.Seconds(), ms(percentile(p.Alone, 0.5)), ms(percentile(p.Alone, 1)), len(p.Meantime), ms(percentile(p.Meantime, 0.5)), ms(percentile(p.Meantime, 1)),
		firstTurns, ms(percentile(z.first.Fetched, 0.5)), ms(percentile(z.first.Fetched, 0.99)), ms(percentile(z.first.Started, 0.5)), ms(percentile(z.first.Started, 0.99)),
		ms(percentile(z.first.Shown, 0.5)), ms(percentile(z.first.Shown, 0.99)),
		starts, ms(percentile(z.footprint.Ready, 0.5)), mega(z.footprint.WorkerIdle), inFlight, mega(z.footprint.WorkerMax), mega(z.footprint.APIIdle), idleStreams, mega(z.footprint.APIStreams))

	return b.String()
}

func mega(kilobytes int) string { return fmt.Sprintf("%.0f MB", float64(kilobytes)/1024) }

func (z *sizes) plot() (string, error) {
	lines := []series{
		{name: "queries", color: color.RGBA{27, 108, 168, 255}}, {name: "prompt tokens", color: color.RGBA{181, 84, 28, 255}},
		{name: "rows written", color: color.RGBA{59, 125, 59, 255}}, {name: "time to the reply", color: color.RGBA{122, 59, 143, 255}},
	}
	var xs []int
	for _, g := range z.growth {
		xs = append(xs, g.Behind)
		for i, v := range []float64{g.Queries, g.Tokens, float64(g.Rows), g.Replied.Seconds()} {
			lines[i].values = append(lines[i].values, v)
		}
	}

	return draw("turns before", xs, lines)
}
