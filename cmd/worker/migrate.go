package main

import (
	"cmp"
	"context"
	"fmt"

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

	return answerSteps(console, steps, err, c.JSON, "undone")
}

type migratePrintCommand struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the pending SQL.
func (c *migratePrintCommand) Run(ctx context.Context, migrator *pg.Migrator, console *program.Console) error {
	text, err := migrator.Print(ctx)
	if err != nil {
		return err
	}

	return console.Answer(c.JSON, map[string]any{"sql": text}, text)
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
	words := ""
	for _, s := range status.Sources {
		words += fmt.Sprintf("%-8s applied %v  pending %v  ahead %v  altered %v\n", s.Source, s.Applied, s.Pending, s.Ahead, s.Altered)
	}
	if err = console.Answer(c.JSON, status, words); err == nil && c.ExitCode {
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

	return answerSteps(console, steps, err, c.JSON, "applied")
}

// answerSteps says what was done, unless it failed.
func answerSteps(console *program.Console, steps []pg.Step, err error, asJSON bool, verb string) error {
	if err != nil {
		return err
	}
	words := ""
	for _, step := range steps {
		words += fmt.Sprintf("%s %s %d %s (%d ms)\n", verb, step.Source, step.Version, step.Name, step.DurationMS)
	}

	return console.Answer(asJSON, map[string]any{"steps": append([]pg.Step{}, steps...)}, cmp.Or(words, "nothing to be "+verb+"\n"))
}
