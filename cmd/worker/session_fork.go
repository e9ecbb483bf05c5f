package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/jobs"
)

type sessionForkCommand struct {
	ID   uuid.UUID `arg:"" help:"The session's id."`
	Turn int       `help:"Number of the turn, 0 for the beginning." required:""`
	JSON bool      `help:"Print JSON."`
}

// Run forks and prints the new session's id, and on stderr what has changed since.
func (c *sessionForkCommand) Run(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, console *program.Console) error {
	var made *jobs.Fork
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		id, err := jobs.ForkSession(ctx, tx, c.ID, c.Turn)
		if err != nil {
			return err
		}
		made, err = jobs.DescribeFork(ctx, tx, crud.New(bound, nil), id)

		return err
	})
	if err != nil {
		return fmt.Errorf("fork the session: %w", err)
	}
	if c.JSON {
		return program.PrintJSON(console.Out, made)
	}
	for _, row := range made.Changed { // apart from the id, which scripts read
		since := ""
		if row.Turn > 0 {
			since = fmt.Sprintf(" in turn %d", row.Turn)
		}
		fmt.Fprintf(console.Errs, "%s %s: %s since%s\n", row.EntityType, row.Label, row.Change, since)
	}
	fmt.Fprintln(console.Out, made.ID)

	return nil
}
