package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/pg"
	"alfred/jobs"
)

type chatCommand struct {
	Continue bool             `help:"Continue the user's newest session."                                                         short:"c" xor:"which"`
	History  uint16           `default:"10" help:"Past turns to show when a session is continued."`
	JSON     bool             `help:"Print one JSON object per line: the session, each event, each finished turn."`
	Key      string           `max:"240" help:"Idempotency key: message n of the input is sent with KEY-n, so that repeating the same input sends nothing twice. Needs --session."`
	Session  uuid.UUID        `help:"Continue this session." xor:"which"`
	Timezone string           `max:"100" help:"Where the user is, such as Europe/Berlin: \"today\" is its day. It is kept; without it, the user stays where they were, at first in UTC."`
	Title    string           `max:"200" help:"Title of a new session."`
	User     program.UserName `default:"demo" min:"1" max:"200" help:"The user to act for; created if missing."`
}

// Help explains what flags cannot.
func (c *chatCommand) Help() string {
	return `Talks to Alfred through the database alone; a worker must run (worker run).

Messages come from the terminal, or one per line from standard input. Ctrl-C cancels the running turn, and ends the chat when none runs or at the second time. /help lists commands.

Exit status: 0, 1 when it could not go on, 2 when a message was refused or a turn did not succeed, 130 when interrupted.`
}

var errKeyAlone = errors.New("--key needs --session: in a new session, nothing has been sent yet")

// Validate implements kong's hook.
func (c *chatCommand) Validate() error {
	if c.Key != "" && c.Session == uuid.Nil {
		return errKeyAlone
	}

	return nil
}

// Run talks until the input ends.
func (c *chatCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	// Ctrl-C first cancels the turn: unlike in other commands it must not end the program.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	where := &setting{read: linesOf(os.Stdin), signals: signals}
	if term.IsTerminal(int(os.Stdin.Fd())) && !c.JSON {
		where.terminal = openTerminal(os.Stdin, console.Screen, signals)
		where.read = where.terminal.line
	}

	return c.talk(ctx, e, console, where)
}

// setting is where a chat takes place.
type setting struct {
	read     func() (message string, err error) // io.EOF: there are no more
	terminal *terminal                          // if a person writes there
	signals  <-chan os.Signal
}

func (c *chatCommand) talk(ctx context.Context, e settings.Env, console *program.Console, where *setting) error {
	if where.terminal != nil {
		defer where.terminal.close()
		console = program.NewConsole(where.terminal, where.terminal)
	}
	s, err := settings.Parse(e, settings.Worker)
	if err != nil {
		return err
	}

	return program.WithSchema(ctx, e, "alfred chat", func(pool *pgxpool.Pool) error { return c.hold(ctx, s, pool, console, where) })
}

// hold holds the chat in a database.
func (c *chatCommand) hold(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, console *program.Console, where *setting) error {
	user, err := db.New().UserEnsure(ctx, pool, string(c.User))
	if err != nil {
		return fmt.Errorf("make user: %w", err)
	}
	if c.Timezone != "" {
		if err := jobs.SetTimezone(ctx, pool, user, c.Timezone); err != nil {
			return fmt.Errorf("--timezone: %w", err)
		}
	}
	logger := slog.New(slog.NewTextHandler(console.Errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	listener := pg.NewListener(pool.Config().ConnConfig, logger)
	listening, stop := context.WithCancel(ctx)
	var hearing errgroup.Group
	hearing.Go(func() error { return listener.Run(listening) })
	defer hearing.Wait() //nolint:errcheck // it ends without an error when it is stopped
	defer stop()
	t := &talk{
		setting: where, pool: pool, reader: &follow.Reader{Pool: pool, Listener: listener, UserID: user},
		settings: s, key: c.Key, screen: &textScreen{out: console.Screen, terminal: where.terminal},
	}
	if c.JSON {
		t.screen = &jsonScreen{out: console.Out}
	}
	if err := c.enter(ctx, t); err != nil {
		return err
	}

	return t.run(ctx)
}

var errNewestSession = errors.New("the user has no session to go on with")

// enter finds the session that the flags name, or starts one, and shows it.
func (c *chatCommand) enter(ctx context.Context, t *talk) error {
	if c.Session == uuid.Nil && !c.Continue {
		var err error
		if t.session, err = db.New().SessionStart(ctx, t.pool, &db.SessionStartParams{UserName: string(c.User), Title: c.Title}); err != nil {
			return fmt.Errorf("start a session: %w", err)
		}

		t.screen.session(t.session, nil)

		return nil
	}
	var past []*db.TurnPageRow
	err := t.reader.Read(ctx, func(tx pgx.Tx) error {
		session, err := c.find(ctx, tx, t.reader.UserID)
		if err != nil {
			return err
		}
		t.session = session.ID
		most := max(int32(c.History), 1) // the last one may be shown nobody, but asks
		past, err = db.New().TurnPage(ctx, tx, &db.TurnPageParams{SessionID: &session.ID, AfterNumber: session.LastTurn - most, PageSize: most})

		return err
	})
	if err == nil && len(past) > 0 {
		t.last, err = t.reader.Turn(ctx, past[len(past)-1].ID)
	}
	if err != nil {
		return fmt.Errorf("open the session: %w", err)
	}

	t.screen.session(t.session, past[:min(len(past), int(c.History))])

	return nil
}

func (c *chatCommand) find(ctx context.Context, tx pgx.Tx, user uuid.UUID) (*db.SessionGetRow, error) {
	if c.Session != uuid.Nil {
		session, err := db.New().SessionGet(ctx, tx, c.Session)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, errNoSession
		}

		return session, err
	}
	newest, err := db.New().SessionPage(ctx, tx, &db.SessionPageParams{UserID: user, PageSize: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) == 0 {
		return nil, errNewestSession
	}

	return (*db.SessionGetRow)(newest[0]), nil
}

// write runs work under the tenant's role.
func (t *talk) write(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InTx(ctx, t.pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, t.reader.UserID, work) })
}

// talk is a chat in progress.
type talk struct {
	*setting

	pool     *pgxpool.Pool
	reader   *follow.Reader
	settings *settings.Settings
	screen   screen
	session  uuid.UUID

	key    string
	sent   int          // messages, for their idempotency keys
	last   *follow.Turn // nil before the first
	unwell bool         // a message was refused, or a turn did not succeed
}
