package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"alfred/pg"
)

// migrateConns: one holds the lock, goose and River take the others.
const migrateConns = 4

type migrateCommand struct {
	Down   migrateDownCommand   `cmd:"" help:"Undo the newest migration, or all of them. Their data is lost."`
	Print  migratePrintCommand  `cmd:"" help:"Print the SQL that up would run."`
	Status migrateStatusCommand `cmd:"" help:"Say which migrations are applied, pending, or unknown to this program."`
	Up     migrateUpCommand     `cmd:"" help:"Apply what is pending. Safe to run from several machines at once."`
}

type migrateDownCommand struct {
	All  bool `help:"Undo everything and drop schema alfred."`
	JSON bool `help:"Print JSON."`
}

// Run undoes one migration, or all.
func (c *migrateDownCommand) Run(ctx context.Context, e env, console *console) error {
	return withMigrator(ctx, e, console, func(migrator *pg.Migrator) error {
		down := migrator.Down
		if c.All {
			down = migrator.DownAll
		}
		steps, err := down(ctx)
		if err != nil {
			return err
		}

		return printSteps(console.out, steps, c.JSON, "undone")
	})
}

type migratePrintCommand struct{}

// Run prints the pending SQL.
func (c *migratePrintCommand) Run(ctx context.Context, e env, console *console) error {
	return withMigrator(ctx, e, console, func(migrator *pg.Migrator) error {
		text, err := migrator.Print(ctx)
		if err != nil {
			return err
		}
		_, err = io.WriteString(console.out, text)

		return err
	})
}

type migrateStatusCommand struct {
	ExitCode bool `help:"Exit non-zero if the schema is behind or ahead of this program."`
	JSON     bool `help:"Print JSON."`
}

// Run prints how far the database is.
func (c *migrateStatusCommand) Run(ctx context.Context, e env, console *console) error {
	return withMigrator(ctx, e, console, func(migrator *pg.Migrator) error {
		status, err := migrator.Status(ctx)
		if err != nil {
			return err
		}
		if err := printStatus(console.out, status, c.JSON); err != nil {
			return err
		}
		if c.ExitCode {
			return status.Err()
		}

		return nil
	})
}

type migrateUpCommand struct {
	JSON bool `help:"Print JSON."`
}

// Run applies what is pending.
func (c *migrateUpCommand) Run(ctx context.Context, e env, console *console) error {
	return withMigrator(ctx, e, console, func(migrator *pg.Migrator) error {
		steps, err := migrator.Up(ctx)
		if err != nil {
			return err
		}

		return printSteps(console.out, steps, c.JSON, "applied")
	})
}

func withMigrator(ctx context.Context, e env, console *console, work func(migrator *pg.Migrator) error) error {
	url := e["DATABASE_URL"]
	if url == "" {
		return errNoDatabase
	}
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred worker migrate", MaxConns: migrateConns, URL: url})
	if err != nil {
		return err
	}
	defer pool.Close()

	migrator, err := pg.NewMigrator(pool, slog.New(slog.NewTextHandler(console.errs, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}

	return work(migrator)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

func printStatus(out io.Writer, status pg.Status, asJSON bool) error {
	if asJSON {
		return printJSON(out, status)
	}
	for _, source := range status.Sources {
		if _, err := fmt.Fprintf(out, "%-8s applied %v  pending %v  ahead %v\n", source.Source, source.Applied, source.Pending, source.Ahead); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}

	return nil
}

func printSteps(out io.Writer, steps []pg.Step, asJSON bool, verb string) error {
	if asJSON {
		return printJSON(out, map[string]any{"steps": append([]pg.Step{}, steps...)})
	}
	for _, step := range steps {
		if _, err := fmt.Fprintf(out, "%s %s %d %s (%d ms)\n", verb, step.Source, step.Version, step.Name, step.DurationMS); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	if len(steps) == 0 {
		_, err := fmt.Fprintf(out, "nothing to be %s\n", verb)

		return err
	}

	return nil
}
