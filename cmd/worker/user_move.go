package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/mover"
)

type userMoveCommand struct {
	Name     string        `arg:""         help:"The user's name."`
	To       string        `               help:"The database to move them to."                                      placeholder:"NAME" xor:"what"`
	Off      bool          `               help:"Serve nothing while the rows are copied, which needs no replication."`
	NewKeys  bool          `               help:"With --off: give rows new keys that a sequence numbers and whose keys others have there. What Alfred keeps of rows follows, and declared references; what waits unread may name rows by their old keys and says so when it runs, and what else names rows by key does not follow."`
	Abort    bool          `               help:"Give up a move that was begun and is not past its switch."           xor:"what"`
	Grace    time.Duration `default:"2s"   help:"How long the rows stay where they were, for who is still reading there."`
	Patience time.Duration `default:"5m"   help:"How long the user's running turn may take to end; new messages wait meanwhile."`
	JSON     bool          `               help:"Print JSON."`
}

// Help says what it does.
func (c *userMoveCommand) Help() string {
	return "The rows are copied while the user is served, and what is written meanwhile is followed by logical replication; then the running turn ends, new messages wait for a moment, " +
		"what has changed comes after, all is compared, and the user goes on at the other database. Where the source cannot be followed, the command says why before it does anything; " +
		"--off copies while nothing is served. A move that was interrupted is carried on by the same command."
}

var errNowhere = errors.New("say where to with --to, or give a move up with --abort")

// Validate implements kong's hook.
func (c *userMoveCommand) Validate() error {
	if c.To == "" && !c.Abort {
		return errNowhere
	}

	return nil
}

// Run moves, or gives up.
func (c *userMoveCommand) Run(ctx context.Context, e settings.Env, known *directory.Directory, console *program.Console) error {
	moving := newMover(e, known, console)
	moving.Patience, moving.Grace, moving.Off, moving.NewKeys = c.Patience, c.Grace, c.Off, c.NewKeys
	if c.Abort {
		if err := moving.Abort(ctx, c.Name); err != nil {
			return err
		}
		fmt.Fprintln(console.Out, "given up: the user is served where they were")

		return nil
	}
	report, err := moving.Move(ctx, c.Name, c.To)
	if err != nil {
		return err
	}
	if c.JSON {
		return program.PrintJSON(console.Out, map[string]any{"rows": report.Rows, "changed": report.Changed, "copied_again": report.Again, "renumbered": report.Renumbered, "paused_ms": report.Paused.Milliseconds(), "whole_ms": report.Whole.Milliseconds()})
	}
	if report.Renumbered > 0 {
		fmt.Fprintf(console.Out, "%d keys were taken at %s: their rows have new ones\n", report.Renumbered, c.To)
	}
	fmt.Fprintf(console.Out, "moved to %s: %d rows in %s, of which nothing was served for %s\n", c.To, report.Rows, report.Whole.Round(time.Millisecond), report.Paused.Round(time.Millisecond))

	return nil
}

func newMover(e settings.Env, known *directory.Directory, console *program.Console) *mover.Mover {
	return mover.New(mover.Config{
		Directory: known, Domain: func() (fs.FS, string) { return domain.Find(settings.Domain(e)) },
		Logger: slog.New(slog.NewTextHandler(console.Errs, nil)),
	})
}
