package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

type userCommand struct {
	Erase  userEraseCommand  `cmd:"" help:"Delete a user and everything that belongs to them, domain rows included."`
	Export userExportCommand `cmd:"" help:"Print everything stored about a user, as JSON."`
	Move   userMoveCommand   `cmd:"" help:"Move a user to another database of the directory."`
}

var errNoUser = errors.New("there is no such user")

type userExportCommand struct {
	Name string `arg:"" help:"The user's name."`
}

// Run prints everything as of one moment: the user, keys without their hashes, all sessions, and the domain's rows.
func (c *userExportCommand) Run(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, console *program.Console) error {
	return pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		id, err := userByName(ctx, tx, c.Name)
		if err != nil {
			return err
		}
		out := &export{ctx: ctx, tx: tx, out: console.Out}
		out.table(tx, "users", `SELECT to_jsonb(x)::text FROM users AS x WHERE x.id = $1`, id)
		out.table(tx, "api_keys", `SELECT (to_jsonb(x) - 'key_hash')::text FROM api_keys AS x WHERE x.user_id = $1`, id)
		out.table(tx, "row_events", `SELECT to_jsonb(x)::text FROM row_events AS x WHERE x.user_id = $1`, id)
		out.engine(`SELECT s.id FROM sessions AS s WHERE s.user_id = $1`, id)
		out.domain(bound, id)

		return out.end()
	})
}

func userByName(ctx context.Context, on db.DBTX, name string) (uuid.UUID, error) {
	var id uuid.UUID
	err := on.QueryRow(ctx, `SELECT id FROM users WHERE name = $1`, name).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return id, errNoUser
	}
	if err != nil {
		return id, fmt.Errorf("look for the user: %w", err)
	}

	return id, nil
}

type userEraseCommand struct {
	Name string `arg:"" help:"The user's name."`
}

// Run erases. It can be repeated after an interruption.
func (c *userEraseCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	known, err := program.OpenDirectory(ctx, e)
	if err != nil {
		return err
	}
	if known != nil {
		defer known.Close()
		err = c.withDirectory(ctx, e, known)
	} else {
		err = program.WithSchema(ctx, e, "alfred worker", func(pool *pgxpool.Pool) error {
			id, err := userByName(ctx, pool, c.Name)
			if err != nil {
				return err
			}

			return eraseUser(ctx, pool, id)
		})
	}
	if err == nil {
		fmt.Fprintln(console.Out, "erased")
	}

	return err
}

// withDirectory erases in the database that serves the user, then in the directory, while nobody can move them.
func (c *userEraseCommand) withDirectory(ctx context.Context, e settings.Env, known *directory.Directory) error {
	return known.Hold(ctx, c.Name, func(user directory.User) error {
		if user.Moving { // both databases have their rows
			return mover.ErrOtherMove
		}
		err := program.InDatabase(ctx, e, "alfred worker", user.Database, func(pool *pgxpool.Pool) error { return eraseUser(ctx, pool, user.ID) })
		if err != nil {
			return err
		}

		return known.Forget(ctx, user.ID)
	})
}

// eraseUser forgets session by session, each in its own transaction: a single one would hold locks that running
// decisions wait for while it waits for them.
func eraseUser(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) error {
	if _, err := pool.Exec(ctx, `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE user_id = $1 AND revoked_at IS NULL`, id); err != nil {
		return fmt.Errorf("revoke the user's keys: %w", err)
	}
	for {
		if _, err := forgetSessions(ctx, pool, `SELECT s.id FROM sessions AS s WHERE s.user_id = $1`, id); err != nil {
			return err
		}
		gone, err := deleteUser(ctx, pool, id)
		if err != nil {
			return fmt.Errorf("delete the user: %w", err)
		}
		if gone {
			return nil
		}
	}
}

// deleteUser deletes a user without sessions; one that has begun a session meanwhile stays.
func deleteUser(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) (gone bool, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		// From here on, no session can be started for the user.
		if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, id); err != nil {
			return fmt.Errorf("lock the user: %w", err)
		}
		if err := tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM sessions WHERE user_id = $1)`, id).Scan(&gone); err != nil || !gone {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM users WHERE id = $1`, id)

		return err
	})

	return gone, err
}

// forgetSessions forgets the sessions (s) selected by a query with one argument, one by one, and returns how many. One that
// the query no longer selects when its turn has come stays.
func forgetSessions(ctx context.Context, pool *pgxpool.Pool, query string, argument any) (forgotten int, err error) {
	ids, err := pg.Collect(ctx, pool, pgx.RowTo[uuid.UUID], "list sessions", query, argument)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		tag, err := pool.Exec(ctx, `SELECT forget_session(due.id) FROM (`+query+` AND s.id = $2 FOR NO KEY UPDATE) AS due`, argument, id)
		if err != nil {
			return forgotten, fmt.Errorf("forget a session: %w", err)
		}
		forgotten += int(tag.RowsAffected())
	}

	return forgotten, nil
}

type userMoveCommand struct {
	Name     string        `arg:""         help:"The user's name."`
	To       string        `               help:"The database to move to."                                      placeholder:"NAME" xor:"what"`
	Off      bool          `               help:"Stop serving the user while the rows are copied; needs no replication."`
	NewKeys  bool          `               help:"With --off: rows numbered by a sequence get new keys where the target uses theirs. Alfred's own data and declared references follow; other copies of a key do not, and queued messages that name an old key are answered so."`
	Abort    bool          `               help:"Abandon a move that has started but not yet switched."           xor:"what"`
	Grace    time.Duration `default:"2s"   min:"0s" help:"How long the old rows stay after the switch, for readers that are still there."`
	Patience time.Duration `default:"5m"   min:"0s" help:"How long to wait for the user's running turn; new messages wait meanwhile."`
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
	words := fmt.Sprintf("moved to %s: %d rows in %s, of which nothing was served for %s\n", c.To, report.Rows, report.Whole.Round(time.Millisecond), report.Paused.Round(time.Millisecond))
	if report.Renumbered > 0 {
		words = fmt.Sprintf("%d keys were taken at %s: their rows have new ones\n", report.Renumbered, c.To) + words
	}

	return console.Answer(c.JSON, map[string]any{
		"rows": report.Rows, "changed": report.Changed, "copied_again": report.Again, "renumbered": report.Renumbered, "paused_ms": report.Paused.Milliseconds(), "whole_ms": report.Whole.Milliseconds(),
	}, words)
}

func newMover(e settings.Env, known *directory.Directory, console *program.Console) *mover.Mover {
	return &mover.Mover{
		Directory: known, Domain: func() (fs.FS, string) { return domain.Find(settings.Domain(e)) },
		Logger: slog.New(slog.NewTextHandler(console.Errs, nil)),
	}
}
