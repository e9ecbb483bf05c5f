package main

import (
	"context"
	"fmt"
	"io"

	"alfred/cmd/internal/program"
	"alfred/internal/pg"
)

type migrateCommand struct {
	Down   migrateDownCommand   `cmd:"" help:"Revert the newest migration, or all. Their data is lost."`
	Print  migratePrintCommand  `cmd:"" help:"Print the SQL that up would run."`
	Status migrateStatusCommand `cmd:"" help:"List applied, pending and unknown migrations."`
	Up     migrateUpCommand     `cmd:"" help:"Apply pending migrations. Safe to run from several machines at once."`
}

type migrateDownCommand struct {
	All  bool `help:"Revert everything and drop schema alfred."`
	JSON bool `help:"Print JSON."`
}

// Run undoes one migration, or all.
func (c *migrateDownCommand) Run(ctx context.Context, migrator *pg.Migrator, console *program.Console) error {
	down := migrator.Down
	if c.All {
		down = migrator.DownAll
	}
	steps, err := down(ctx)

	return printSteps(console.Out, steps, err, c.JSON, "undone")
}

type migratePrintCommand struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the pending SQL.
func (c *migratePrintCommand) Run(ctx context.Context, migrator *pg.Migrator, console *program.Console) error {
	text, err := migrator.Print(ctx)
	if err == nil && c.JSON {
		return program.PrintJSON(console.Out, map[string]any{"sql": text})
	}
	fmt.Fprint(console.Out, text)

	return err
}

type migrateStatusCommand struct {
	ExitCode bool `help:"Exit non-zero if the schema is not this program's."`
	JSON     bool `help:"Print JSON."`
}

// Run prints the database's migration status.
func (c *migrateStatusCommand) Run(ctx context.Context, migrator *pg.Migrator, console *program.Console) error {
	status, err := migrator.Status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		err = program.PrintJSON(console.Out, status)
	} else {
		for _, s := range status.Sources {
			fmt.Fprintf(console.Out, "%-8s applied %v  pending %v  ahead %v  altered %v\n", s.Source, s.Applied, s.Pending, s.Ahead, s.Altered)
		}
	}
	if err == nil && c.ExitCode {
		err = status.Err()
	}

	return err
}

type migrateUpCommand struct {
	JSON bool `help:"Print JSON."`
}

// Run applies pending migrations.
func (c *migrateUpCommand) Run(ctx context.Context, migrator *pg.Migrator, console *program.Console) error {
	steps, err := migrator.Up(ctx)

	return printSteps(console.Out, steps, err, c.JSON, "applied")
}

// printSteps prints what was done, unless it failed.
func printSteps(out io.Writer, steps []pg.Step, err error, asJSON bool, verb string) error {
	if err != nil {
		return err
	}
	if asJSON {
		return program.PrintJSON(out, map[string]any{"steps": append([]pg.Step{}, steps...)})
	}
	for _, step := range steps {
		fmt.Fprintf(out, "%s %s %d %s (%d ms)\n", verb, step.Source, step.Version, step.Name, step.DurationMS)
	}
	if len(steps) == 0 {
		fmt.Fprintf(out, "nothing to be %s\n", verb)
	}

	return nil
}
