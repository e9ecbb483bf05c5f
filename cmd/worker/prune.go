package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

type pruneCommand struct {
	DryRun bool `help:"Say what would be dropped."`
	JSON   bool `help:"Print JSON."`
	Months int  `default:"6" help:"Whole months to keep besides this one, at least 1."`
}

// Run drops the months of step results, events, model calls and context items
// that are older. Turns, summaries, refs and domain rows stay.
func (c *pruneCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	if c.Months < 1 {
		return fmt.Errorf("%w: --months is %d; at least 1 is kept", settings.ErrBad, c.Months)
	}
	function := "partitions_prune"
	if c.DryRun {
		function = "partitions_old"
	}

	return program.WithDatabase(ctx, e, "alfred worker", func(pool *pgxpool.Pool) error {
		// A failed query shows when its rows are collected.
		rows, _ := pool.Query(ctx, `SELECT `+function+`($1)`, time.Now().UTC().AddDate(0, -c.Months, 0))
		dropped, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("prune: %w", err)
		}
		if c.JSON {
			return program.PrintJSON(console.Out, map[string]any{"dropped": append([]string{}, dropped...), "dry_run": c.DryRun})
		}
		text := "nothing is old enough"
		if len(dropped) > 0 {
			text = strings.Join(dropped, "\n")
		}
		_, err = fmt.Fprintln(console.Out, text)

		return err //nolint:wrapcheck // a closed stdout
	})
}
