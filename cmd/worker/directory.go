package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

type directoryCommand struct {
	Add       directoryAddCommand       `cmd:"" help:"Register a database with its users and keys; repeat to register new ones."`
	Init      directoryInitCommand      `cmd:"" help:"Create the directory, or migrate it to this version."`
	Rebalance directoryRebalanceCommand `cmd:"" help:"Suggest moves that even out the databases' load."`
	Show      directoryShowCommand      `cmd:"" help:"Show databases and moves, or a user's database."`
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
	Name string `arg:"" help:"Its name: lower-case letters, digits, - and _."`
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
		if shared, err = newMover(e, known, console).CopyShared(ctx, others[0].Database, added); err != nil {
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

	return console.Answer(c.JSON, map[string]any{"databases": databases, "moves": moves}, directoryText(databases, moves))
}

func (c *directoryShowCommand) one(ctx context.Context, known *directory.Directory, console *program.Console) error {
	user, err := known.ByName(ctx, c.User)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("%s (%s) is in %s, place %d", user.Name, user.ID, user.Database.Name, user.Epoch)
	if user.Moving {
		words += ", being moved"
	}

	return console.Answer(c.JSON, map[string]any{"id": user.ID, "name": user.Name, "database": user.Database.Name, "epoch": user.Epoch, "moving": user.Moving}, words+"\n")
}

func directoryText(databases []shownDatabase, moves []shownMove) string {
	out := &strings.Builder{}
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

	return out.String()
}

type directoryRebalanceCommand struct {
	Plan bool `help:"Print the moves as commands; move nothing." required:""`
	JSON bool `help:"Print JSON."`
}

// loadSQL counts a day's turns of each of the busiest users, and loadOfAllSQL those of all. What a turn costs a database hardly
// depends on how long its texts are, so turns are the measure.
const (
	loadSQL = `
	SELECT u.name, count(*) AS turns FROM turns AS t JOIN users AS u ON u.id = t.user_id
	WHERE t.id >= uuid_v7_floor(now() - interval '1 day') GROUP BY u.id ORDER BY turns DESC, u.id LIMIT 1000`
	loadOfAllSQL = `SELECT count(*) FROM turns WHERE id >= uuid_v7_floor(now() - interval '1 day')`
)

// Run plans, for the databases that answer.
func (c *directoryRebalanceCommand) Run(ctx context.Context, known *directory.Directory, console *program.Console) error {
	loads, silent, err := c.loads(ctx, known)
	if err != nil {
		return err
	}
	before := mover.Unevenness(loads)
	plan := mover.Plan(loads)
	after := mover.Unevenness(loads)
	words := ""
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		words += fmt.Sprintf("# %s is left out: %s\n", name, silent[name])
	}
	words += fmt.Sprintf("# the busiest database has %.2f times the mean; after these %d moves %.2f\n", before, len(plan), after)
	for _, m := range plan {
		words += fmt.Sprintf("worker user move %s --to %s   # from %s: %d turns\n", shellWord(m.User), m.To, m.From, m.Turns)
	}

	return console.Answer(c.JSON, map[string]any{"moves": plan, "busiest_to_mean_before": before, "busiest_to_mean_after": after, "left_out": silent}, words)
}

// loads measures every database. Of those that do not answer, silent says why; it is an error if none does.
func (c *directoryRebalanceCommand) loads(ctx context.Context, known *directory.Directory) (loads []mover.Load, silent map[string]string, err error) {
	rows, err := known.Databases(ctx)
	if err != nil {
		return nil, nil, err
	}
	silent = map[string]string{}
	for _, row := range rows {
		load := mover.Load{Database: row.Name}
		switch err = c.measure(ctx, row.URL, &load); {
		case err == nil:
			loads = append(loads, load)
		case ctx.Err() == nil && errors.Is(err, pg.ErrNoAnswer):
			silent[row.Name] = strings.Join(strings.Fields(err.Error()), " ")
		default:
			return nil, nil, fmt.Errorf("database %s: %w", row.Name, err)
		}
	}
	if len(loads) > 0 {
		err = nil
	}

	return loads, silent, err
}

// measure reads the busiest users and how many turns there were in all.
func (c *directoryRebalanceCommand) measure(ctx context.Context, address string, into *mover.Load) error {
	pool, err := pg.Open(ctx, pg.Config{URL: address, AppName: "alfred rebalance", MaxConns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pool.QueryRow(ctx, loadOfAllSQL).Scan(&into.Turns); err != nil {
		return fmt.Errorf("count turns: %w", err)
	}
	into.Users, err = pg.Collect(ctx, pool, pgx.RowToStructByPos[mover.UserLoad], "count each user's turns", loadSQL)

	return err
}

// shellWord quotes a name as a shell reads it.
func shellWord(name string) string { return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'" }
