package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
)

type directoryCommand struct {
	Add       directoryAddCommand       `cmd:"" help:"Make a database known, with the users and keys that it has; again, for those who are new."`
	Init      directoryInitCommand      `cmd:"" help:"Make the directory, or bring it to this version."`
	Rebalance directoryRebalanceCommand `cmd:"" help:"Say whom to move, by what each user did in the last day."`
	Show      directoryShowCommand      `cmd:"" help:"Show the databases and moves, or where a user is."`
}

type directoryInitCommand struct{}

// Run makes the directory.
func (c *directoryInitCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	address, err := settings.Directory(e)
	if err != nil {
		return err
	}
	if address == "" {
		return program.ErrNoDirectory
	}
	if err := directory.Init(ctx, address, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	fmt.Fprintln(console.Out, "the directory is made: add databases with worker directory add NAME URL")

	return nil
}

type directoryAddCommand struct {
	Name string `arg:"" help:"How to name it: small letters, digits, - and _."`
	URL  string `arg:"" help:"Its address, as in DATABASE_URL."`
}

// Run adds. The rows that all users share are brought to a database without conversations.
func (c *directoryAddCommand) Run(ctx context.Context, e settings.Env, known *directory.Directory, console *program.Console) error {
	added := directory.Database{Name: c.Name, URL: c.URL}
	others, err := known.Databases(ctx)
	if err != nil {
		return err
	}
	var shared int64
	if len(others) > 0 && others[0].Name != c.Name {
		if shared, err = newMover(e, known, console).Share(ctx, others[0].Database, added); err != nil {
			return err
		}
	}
	users, err := known.AddDatabase(ctx, added)
	if err != nil {
		return err
	}
	fmt.Fprintf(console.Out, "added %s: %d users that were not known, %d shared rows brought\n", c.Name, users, shared)

	return nil
}

type directoryShowCommand struct {
	User string `arg:"" help:"A user's name." optional:""`
	JSON bool   `help:"Print JSON."`
}

type shownDatabase struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Users   int64  `json:"users"`
}

type shownMove struct {
	User      string     `json:"user"`
	Source    string     `json:"source"`
	Target    string     `json:"target"`
	Step      string     `json:"step"`
	Attempt   int32      `json:"attempt"`
	Running   bool       `json:"running"`
	Error     *string    `json:"error"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
}

// Run shows, passwords never.
func (c *directoryShowCommand) Run(ctx context.Context, known *directory.Directory, console *program.Console) error {
	if c.User != "" {
		return c.one(ctx, known, console)
	}
	rows, err := known.Databases(ctx)
	if err != nil {
		return err
	}
	databases := make([]shownDatabase, len(rows))
	for i, row := range rows {
		databases[i] = shownDatabase{row.Name, settings.WithoutPassword(row.URL), row.Users}
	}
	list, err := known.Moves(ctx)
	if err != nil {
		return err
	}
	moves := make([]shownMove, len(list))
	for i, m := range list {
		moves[i] = shownMove{m.UserName, m.Source, m.Target, m.Step, m.Attempt, m.Running, m.Error, m.StartedAt, m.EndedAt}
	}
	if c.JSON {
		return program.PrintJSON(console.Out, map[string]any{"databases": databases, "moves": moves})
	}
	printDirectory(console.Out, databases, moves)

	return nil
}

func (c *directoryShowCommand) one(ctx context.Context, known *directory.Directory, console *program.Console) error {
	user, err := known.ByName(ctx, c.User)
	if err != nil {
		return err
	}
	if c.JSON {
		return program.PrintJSON(console.Out, map[string]any{"id": user.ID, "name": user.Name, "database": user.Database.Name, "epoch": user.Epoch, "moving": user.Moving})
	}
	text := ""
	if user.Moving {
		text = ", being moved"
	}
	fmt.Fprintf(console.Out, "%s (%s) is in %s, place %d%s\n", user.Name, user.ID, user.Database.Name, user.Epoch, text)

	return nil
}

func printDirectory(out io.Writer, databases []shownDatabase, moves []shownMove) {
	for _, d := range databases {
		fmt.Fprintf(out, "%-20s %8d users  %s\n", d.Name, d.Users, d.Address)
	}
	for _, m := range moves {
		fmt.Fprintf(out, "move of %s from %s to %s: %s, attempt %d, begun %s", m.User, m.Source, m.Target, m.Step, m.Attempt, m.StartedAt.Format(time.DateTime))
		if m.EndedAt == nil && !m.Running {
			why := "its mover has died"
			if m.Error != nil {
				why = *m.Error
			}
			fmt.Fprintf(out, " (stopped: %s; carry it on with worker user move, or give it up with --abort: either takes away what it may have left at %s, such as a publication)", why, m.Source)
		}
		fmt.Fprintln(out)
	}
}
