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
	"time"

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

// subjects of a run, each with its page.
const (
	subjectTurns  = "turns"
	subjectPeers  = "peers"
	subjectGrowth = "growth"
	subjectCost   = "cost"
)

func subject(peers, growth, cost bool) string {
	switch {
	case peers:
		return subjectPeers
	case growth:
		return subjectGrowth
	case cost:
		return subjectCost
	}

	return subjectTurns
}

// run measures on its own database on the server at address, and drops it.
func run(ctx context.Context, address, page, profile, what string, out io.Writer) (err error) {
	own, err := createDatabase(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dropDatabase(context.WithoutCancel(ctx), address)) }()
	s, err := openServer(ctx, address)
	if err != nil {
		return err
	}
	defer s.close(ctx)
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer file.Close() //nolint:errcheck // a truncated profile says so itself
		if err := pprof.StartCPUProfile(file); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	var text, picture string
	switch what {
	case subjectPeers:
		text, err = comparePeers(ctx, s, address)
	case subjectGrowth:
		text, picture, err = measureSizes(ctx, s, own)
	case subjectCost:
		text, picture, err = measureCost(ctx, own)
	default:
		text, err = measureAll(ctx, s, own)
	}
	if err != nil {
		return err
	}
	if page != "" {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil { //nolint:gosec // a page of the documentation
			return fmt.Errorf("write the report: %w", err)
		}
	}
	if page != "" && picture != "" {
		if err := os.WriteFile(strings.TrimSuffix(page, ".md")+".svg", []byte(picture), 0o644); err != nil { //nolint:gosec // as the page
			return fmt.Errorf("write the plot: %w", err)
		}
	}
	_, err = io.WriteString(out, text)

	return err
}

func measureAll(ctx context.Context, s *server, own string) (string, error) {
	r := &report{At: time.Now().UTC(), Machine: machine()}
	var err error
	if r.Server, err = s.facts(ctx); err != nil {
		return "", err
	}
	if r.Changes, err = record(ctx, own); err != nil {
		return "", fmt.Errorf("record a turn: %w", err)
	}
	f := newFloor(r.Changes)
	for _, l := range loads() {
		result, err := measure(ctx, s, own, l, f)
		if err != nil {
			return "", fmt.Errorf("%d sessions: %w", l.Sessions, err)
		}
		r.Results = append(r.Results, result)
	}

	return r.markdown(), nil
}
