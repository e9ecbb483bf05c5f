package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"alfred/internal/pg"
	"alfred/internal/tour"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: not all went well:\n%v\n", err)
		os.Exit(1) //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
	fmt.Println("\nAll facts hold.")
}

func run(ctx context.Context) error {
	pool, err := pg.Open(ctx, pg.Config{URL: os.Getenv("DATABASE_URL"), AppName: "alfred-demo", MaxConns: 2})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()
	t := &tour.Tour{API: os.Getenv("ALFRED_URL"), Pool: pool, Out: os.Stdout}

	err = t.Play(ctx)
	address, key := t.Where()
	fmt.Printf("\nThe conversation can be read at %s\nwith the key %s\n", address, key)

	return err
}
