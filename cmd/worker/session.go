package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/jobs"
)

type sessionCommand struct {
	Export sessionExportCommand `cmd:"" help:"Print everything stored about a session, as JSON or as an eval case."`
	Fork   sessionForkCommand   `cmd:"" help:"Create a session that continues another one after one of its turns."`
	Forget sessionForgetCommand `cmd:"" help:"Delete a session and everything stored about it. Domain rows stay."`
	Replay sessionReplayCommand `cmd:"" help:"Replay a session with another model on a scratch database, and print the differences."`
	Show   sessionShowCommand   `cmd:"" help:"Print a session's history, line by line."`
}

var (
	errNoSession = errors.New("there is no such session")
	errNotUndone = errors.New("nothing was taken back")
)

type sessionExportCommand struct {
	ID   uuid.UUID `arg:"" help:"The session's id."`
	Case bool      `help:"Print a suite made from it instead, like worker eval case."`
	JSON bool      `default:"true" help:"JSON is the only form of the tables." hidden:""`
}

// Run prints the tables as of one moment, or a case.
func (c *sessionExportCommand) Run(ctx context.Context, e settings.Env, pool *pgxpool.Pool, console *program.Console) error {
	if c.Case {
		return (&evalCaseCommand{Session: c.ID}).Run(ctx, e, pool, console)
	}

	return pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		if err := sessionExists(ctx, tx, c.ID); err != nil {
			return err
		}
		out := &export{ctx: ctx, tx: tx, out: console.Out}
		out.engine(`SELECT $1::uuid`, c.ID)

		return out.end()
	})
}

type sessionForgetCommand struct {
	ID   uuid.UUID `arg:"" help:"The session's id."`
	JSON bool      `help:"Print JSON."`
}

// Run deletes.
func (c *sessionForgetCommand) Run(ctx context.Context, pool *pgxpool.Pool, console *program.Console) error {
	var forgotten bool
	if err := pool.QueryRow(ctx, `SELECT forget_session($1)`, c.ID).Scan(&forgotten); err != nil {
		return fmt.Errorf("forget the session: %w", err)
	}
	if !forgotten {
		return errNoSession
	}

	return console.Answer(c.JSON, map[string]any{"forgotten": c.ID}, "forgotten\n")
}

type sessionShowCommand struct {
	ID   uuid.UUID `arg:"" help:"The session's id."`
	JSON bool      `help:"Print JSON."`
}

// timelineLine is a row of v_timeline.
type timelineLine struct {
	Number     int       `json:"number"`
	At         time.Time `json:"at"`
	Kind       string    `json:"kind"`
	Text       *string   `json:"text"`
	DurationMS *int      `json:"duration_ms"`
}

// Run prints the session's timeline.
func (c *sessionShowCommand) Run(ctx context.Context, pool *pgxpool.Pool, console *program.Console) error {
	if err := sessionExists(ctx, pool, c.ID); err != nil {
		return err
	}
	lines, err := pg.Collect(ctx, pool, pgx.RowToStructByPos[timelineLine], "read the timeline",
		`SELECT number, at, kind, text, duration_ms FROM v_timeline WHERE session_id = $1 ORDER BY number, seq`, c.ID)
	if err != nil {
		return err
	}

	return console.Answer(c.JSON, append([]timelineLine{}, lines...), timelineText(lines))
}

func sessionExists(ctx context.Context, on db.DBTX, id uuid.UUID) error {
	var exists bool
	if err := on.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sessions WHERE id = $1)`, id).Scan(&exists); err != nil {
		return fmt.Errorf("look for the session: %w", err)
	}
	if !exists {
		return errNoSession
	}

	return nil
}

func timelineText(lines []timelineLine) string {
	const before = 26 // characters: the time and the kind of a line
	var out strings.Builder
	turn := 0
	for _, line := range lines {
		if line.Number != turn {
			turn = line.Number
			fmt.Fprintf(&out, "turn %d\n", turn)
		}
		text := clean.Text(line.Text)
		if line.DurationMS != nil {
			text = fmt.Sprintf("%s (%d ms)", text, *line.DurationMS)
		}
		fmt.Fprintf(&out, "  %s  %-9s %s\n", line.At.Format("15:04:05.000"), line.Kind, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", before)))
	}

	return out.String()
}

type sessionForkCommand struct {
	ID   uuid.UUID `arg:"" help:"The session's id."`
	Turn int       `help:"The turn's number; 0 for the beginning." required:""`
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
	words := ""
	for _, row := range made.Changed {
		since := ""
		if row.Turn > 0 {
			since = fmt.Sprintf(" in turn %d", row.Turn)
		}
		words += fmt.Sprintf("%s %s: %s since%s\n", row.EntityType, row.Label, row.Change, since)
	}
	if !c.JSON {
		fmt.Fprint(console.Errs, words) // apart from the id, which scripts read
	}

	return console.Answer(c.JSON, made, made.ID.String()+"\n")
}
