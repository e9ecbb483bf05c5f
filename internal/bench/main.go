package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"

	"alfred/internal/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	page := flag.String("o", "", "also write the report to this file")
	peers := flag.Bool("peers", false, "measure Alfred beside its peers instead")
	growth := flag.Bool("growth", false, "measure what grows, first words, memory and starts instead")
	cost := flag.Bool("cost", false, "compute what models cost in a long conversation, beside agent loops, instead")
	shards := flag.Float64("shards", 0, "simulate users spread over databases that carry so many turns per second each; measures nothing")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the client's and the worker's side to this file")
	flag.Parse()
	engine.RoomyHeap() // as a worker does
	if *shards > 0 {
		if err := simulateShards(os.Stdout, *shards); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1) //nolint:gocritic // as below
		}

		return
	}
	if err := run(ctx, os.Getenv("DATABASE_URL"), *page, *profile, subject(*peers, *growth, *cost), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// subject is what a run measures, and the name of its page.
func subject(peers, growth, cost bool) string {
	switch {
	case peers:
		return "peers"
	case growth:
		return "growth"
	case cost:
		return "cost"
	}

	return "turns"
}

// run measures on its own database on the server at address, and drops it.
func run(ctx context.Context, address, page, profile, what string, out io.Writer) (err error) {
	s, err := openServer(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	own, err := s.migrated(ctx)
	if err != nil {
		return err
	}
	stop, err := profiled(profile)
	if err != nil {
		return err
	}
	defer stop()
	var measured any
	var picture string
	switch what {
	case "peers":
		measured, err = comparePeers(ctx, s)
	case "growth":
		measured, picture, err = measureSizes(ctx, s, own)
	case "cost":
		measured, picture, err = measureCost(ctx, own)
	default:
		measured, err = measureAll(ctx, s, own)
	}
	if err != nil {
		return err
	}
	text, err := render(what+".md", measured)
	if err != nil {
		return err
	}
	if page != "" {
		err = errors.Join(writeFile(page, text), writeFile(strings.TrimSuffix(page, ".md")+".svg", picture))
	}
	_, printErr := io.WriteString(out, text)

	return errors.Join(err, printErr)
}

// profiled writes a CPU profile to a file, if one is named, until stop.
func profiled(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}

	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a truncated profile says so itself
	}, nil
}

// writeFile writes a page, or the picture in it if there is one.
func writeFile(name, text string) error {
	if text == "" {
		return nil
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // a page of the documentation
		return fmt.Errorf("write the report: %w", err)
	}

	return nil
}

func measureAll(ctx context.Context, s *server, own string) (*report, error) {
	facts, err := s.facts(ctx)
	if err != nil {
		return nil, err
	}
	r := &report{facts: facts, Rounds: rounds, Conns: workerConns}
	if r.Changes, err = record(ctx, own); err != nil {
		return nil, fmt.Errorf("record a turn: %w", err)
	}
	f := newFloor(r.Changes)
	for _, l := range loads() {
		result, err := measure(ctx, s, own, l, f)
		if err != nil {
			return nil, fmt.Errorf("%d sessions: %w", l.Sessions, err)
		}
		r.Results = append(r.Results, result)
	}

	return r, nil
}
