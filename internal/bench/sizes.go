package main

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
)

// sizes is the content of docs/growth.md.
type sizes struct {
	facts

	GrownTurns, InFlight, IdleStreams int

	Growth    []*grown
	Pruned    *pruned
	First     *first
	Footprint *footprint
}

// measureSizes measures everything.
func measureSizes(ctx context.Context, s *server, own string) (z *sizes, picture string, err error) {
	dir, err := os.MkdirTemp("", "alfred-bench-")
	if err != nil {
		return nil, "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	built, err := buildPrograms(ctx, dir, own)
	if err != nil {
		return nil, "", err
	}
	facts, err := s.facts(ctx)
	if err != nil {
		return nil, "", err
	}
	z = &sizes{facts: facts, GrownTurns: grownTurns, InFlight: inFlight, IdleStreams: idleStreams}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"first word", func() (err error) { z.First, err = measureFirst(ctx, own); return err }},
		{"growth", func() (err error) { z.Growth, err = measureGrowth(ctx, own); return err }},
		{"pruning", func() (err error) { z.Pruned, err = measurePruning(ctx, own, built.prune); return err }},
		{"footprint", func() (err error) { z.Footprint, err = measureFootprint(ctx, built); return err }},
	} {
		if err := part.measure(); err != nil {
			return nil, "", fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s measured\n", part.name)
	}
	picture, err = z.plot()

	return z, picture, err
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

func (z *sizes) plot() (string, error) {
	lines := []series{
		{name: "queries", color: color.RGBA{27, 108, 168, 255}}, {name: "prompt tokens", color: color.RGBA{181, 84, 28, 255}},
		{name: "rows written", color: color.RGBA{59, 125, 59, 255}}, {name: "time to the reply", color: color.RGBA{122, 59, 143, 255}},
	}
	var xs []int
	for _, g := range z.Growth {
		xs = append(xs, g.Behind)
		for i, v := range []float64{g.Queries, g.Tokens, float64(g.Rows), g.Replied.Seconds()} {
			lines[i].values = append(lines[i].values, v)
		}
	}

	return draw("turns before", xs, lines)
}
