// Command embed is a shop's order service that gives each new order a turn of its
// customer's conversation. The turn is enqueued in the transaction that inserts
// the order: both become real together, or neither does.
//
//	DATABASE_URL=$(scripts/postgres url) go run ./examples/embed
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/jobs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("DATABASE_URL"), os.Stdout); err != nil { //nolint:forbidigo // this main is the example's cmd
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1) //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
}

func run(ctx context.Context, url string, out io.Writer) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()
	shop := &shop{pool: pool}
	if err := shop.open(ctx); err != nil {
		return err
	}

	if err := shop.order(ctx, "2 kg of basmati rice", nil); err != nil {
		return err
	}
	if err := shop.report(ctx, out, "after an order"); err != nil {
		return err
	}
	outOfStock := errors.New("out of stock")
	if err := shop.order(ctx, "a white truffle", outOfStock); !errors.Is(err, outOfStock) {
		return fmt.Errorf("the order should have failed: %w", err)
	}

	return shop.report(ctx, out, "after an order that failed")
}

// shop is the host program: it has its own tables and knows only the customer's session of Alfred.
type shop struct {
	pool    *pgxpool.Pool
	session uuid.UUID
}

func (s *shop) open(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS store;
		CREATE TABLE IF NOT EXISTS store.orders (id bigint GENERATED ALWAYS AS IDENTITY, session_id uuid NOT NULL, item text NOT NULL)`)
	if err != nil {
		return fmt.Errorf("create the shop's table: %w", err)
	}
	if err := s.pool.QueryRow(ctx, "SELECT alfred.start_session('demo', 'Orders')").Scan(&s.session); err != nil {
		return fmt.Errorf("start a session: %w", err)
	}

	return nil
}

// order is the point of the example: one transaction, two effects. problem stands for whatever may fail in a real one
// after the turn was enqueued.
func (s *shop) order(ctx context.Context, item string, problem error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO store.orders (session_id, item) VALUES ($1, $2)", s.session, item); err != nil {
			return fmt.Errorf("insert order: %w", err)
		}
		_, err := jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: s.session, Message: "I ordered " + item + ". What is in my pantry?"})
		if err != nil {
			return err
		}

		return problem
	})
	if err != nil {
		return fmt.Errorf("order %s: %w", item, err)
	}

	return nil
}

func (s *shop) report(ctx context.Context, out io.Writer, when string) error {
	var orders, turns int
	err := s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM store.orders WHERE session_id = $1), (SELECT count(*) FROM alfred.turns WHERE session_id = $1)`,
		s.session).Scan(&orders, &turns)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s: %d order, %d turn\n", when, orders, turns)

	return err
}
