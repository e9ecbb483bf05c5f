package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"alfred/internal/bench/peers/work"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

type turn struct {
	Owner string
	N     int
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	l := work.Flags()
	kept, err := work.ReadKept(l)
	if err != nil {
		return err
	}
	pool, err := work.Open(ctx, l, 20)
	if err != nil {
		return err
	}
	// With the application's pool as the system's, a step's writes and its record are one transaction.
	d, err := dbos.NewContext(ctx, dbos.Config{AppName: "peer", SystemDBPool: pool, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	source, err := dbos.NewDataSource(d, pool)
	if err != nil {
		return err
	}
	workflow := func(ctx dbos.Context, t turn) (string, error) { return play(ctx, source, kept, t) }
	dbos.RegisterWorkflow(d, workflow)
	if err := dbos.Launch(d); err != nil {
		return err
	}
	defer dbos.Shutdown(d, 5*time.Second)
	work.Run(ctx, l, func(_ context.Context, session, n int) error {
		handle, err := dbos.RunWorkflow(d, workflow, turn{Owner: fmt.Sprint("user ", session), N: n})
		if err != nil {
			return err
		}
		_, err = handle.GetResult()

		return err
	})

	return nil
}

// play runs a turn, each node with what is kept of it in one transaction.
func play(ctx dbos.Context, source *dbos.DataSource, kept *work.Kept, t turn) (said string, err error) {
	for _, node := range work.Nodes {
		said, err = dbos.RunAsTransaction(ctx, source, func(ctx context.Context, tx dbos.Tx) (string, error) {
			for _, args := range kept.Statements(t.Owner, t.N, node) {
				if _, err := tx.Exec(ctx, work.Keep, args...); err != nil {
					return "", err
				}
			}

			return step(ctx, tx, node, t)
		}, dbos.WithStepName(node))
		if err != nil {
			return "", err
		}
	}

	return said, nil
}

func step(ctx context.Context, tx dbos.Tx, node string, t turn) (string, error) {
	said := work.Answer(node, t.N)
	switch node {
	case "read":
		rows := ""
		if err := tx.QueryRow(ctx, work.Read, t.Owner).Scan(&rows); err != nil {
			return "", err
		}

		return said + rows, nil
	case "write":
		_, err := tx.Exec(ctx, work.Write, t.Owner, fmt.Sprint("milk ", t.N))

		return said, err
	}

	return said, nil
}
