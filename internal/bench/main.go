package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"alfred/internal/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	page := flag.String("o", "", "also write the report to this file")
	var search recallOptions
	flag.StringVar(&search.users, "users", "50,5000,100000", "for recall: how many vectors each user has")
	flag.StringVar(&search.people, "people", "internal/bench/recall/testdata", "for recall: where the conversations are that people had")
	flag.IntVar(&search.turns, "turns", 10_000, "for recall: turns of the long conversation, 0 for none")
	shards := flag.Float64("shards", 0, "simulate users spread over databases that carry so many turns per second each; measures nothing")
	flag.Parse()
	engine.RelaxGC() // as a worker does
	measure := func() error {
		return run(ctx, os.Getenv("DATABASE_URL"), *page, cmp.Or(flag.Arg(0), "turns"), search, os.Stdout)
	}
	if *shards > 0 {
		measure = func() error { return simulateShards(os.Stdout, *shards) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

// run measures what is asked for, by the name of its page, on its own database on the server at address, and drops it.
func run(ctx context.Context, address, page, what string, search recallOptions, out io.Writer) (err error) {
	s, err := openServer(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	own, err := s.migrated(ctx)
	if err != nil {
		return err
	}
	var measured any
	var picture, text string
	switch what {
	case "peers":
		measured, err = comparePeers(ctx, s)
	case "growth":
		measured, picture, err = measureSizes(ctx, s, own)
	case "cost":
		measured, picture, err = measureCost(ctx, own)
	case "recall":
		text, err = measureRecall(ctx, s, own, page, search)
	case "turns":
		measured, err = measureAll(ctx, s, own)
	default:
		err = fmt.Errorf("nothing is called %s: say turns, growth, recall, peers or cost", what)
	}
	if err != nil {
		return err
	}
	if text == "" {
		text, err = render(what+".md", measured)
	}
	if err != nil {
		return err
	}
	if page != "" {
		err = errors.Join(writeFile(page, text), writeFile(strings.TrimSuffix(page, ".md")+".svg", picture))
	}
	_, printErr := io.WriteString(out, text)

	return errors.Join(err, printErr)
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
