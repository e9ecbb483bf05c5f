// Command embed is a shop with an assistant. It inserts an order, enqueues a turn about it in the same transaction, works
// that turn itself, and prints the reply.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5"

	"alfred"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, out io.Writer) error {
	// The built-in kitchen and the rule-based model; a Worker also takes your own types, model and embedder.
	assistant, err := alfred.Open(ctx, alfred.Config{URL: url, Migrate: true, Worker: &alfred.Worker{}})
	if err != nil {
		return err
	}
	defer assistant.Close()
	shop, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer shop.Close(ctx)
	if _, err := shop.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS store; CREATE TABLE IF NOT EXISTS store.orders (item text NOT NULL)`); err != nil {
		return err
	}
	var turn *alfred.Enqueued
	err = pgx.BeginFunc(ctx, shop, func(tx pgx.Tx) error { // the order and its turn: both, or neither
		if _, err := tx.Exec(ctx, `INSERT INTO store.orders (item) VALUES ('2 kg of basmati rice')`); err != nil {
			return err
		}
		session, err := alfred.StartSession(ctx, tx, "demo", "Orders")
		if err != nil {
			return err
		}
		turn, err = alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: "What is in my pantry?"})

		return err
	})
	if err != nil {
		return err
	}
	done, err := assistant.Wait(ctx, turn.TurnID)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, done.Text())

	return err
}
