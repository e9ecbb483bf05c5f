package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

type userCommand struct {
	Erase  userEraseCommand  `cmd:"" help:"Delete a user and everything of theirs, domain rows that belong to them included."`
	Export userExportCommand `cmd:"" help:"Print all that is kept of a user, as JSON."`
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

func userByName(ctx context.Context, db querier, name string) (uuid.UUID, error) {
	var id uuid.UUID
	err := db.QueryRow(ctx, `SELECT id FROM users WHERE name = $1`, name).Scan(&id)
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
func (c *userEraseCommand) Run(ctx context.Context, pool *pgxpool.Pool, console *program.Console) error {
	id, err := userByName(ctx, pool, c.Name)
	if err != nil {
		return err
	}
	if err := eraseUser(ctx, pool, id); err != nil {
		return err
	}
	fmt.Fprintln(console.Out, "erased")

	return nil
}

// eraseUser forgets session by session, each in its own transaction: a single one would hold locks that running
// decisions wait for while it waits for them.
func eraseUser(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) error {
	if _, err := pool.Exec(ctx, `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE user_id = $1 AND revoked_at IS NULL`, id); err != nil {
		return fmt.Errorf("revoke the user's keys: %w", err)
	}
	for {
		if err := forgetSessions(ctx, pool, `SELECT s.id FROM sessions AS s WHERE s.user_id = $1`, id); err != nil {
			return err
		}
		var left bool
		err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
			// From here on, no session can be started for the user.
			if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, id); err != nil {
				return fmt.Errorf("lock the user: %w", err)
			}
			if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sessions WHERE user_id = $1)`, id).Scan(&left); err != nil || left {
				return err
			}
			_, err := tx.Exec(ctx, `DELETE FROM users WHERE id = $1`, id)

			return err
		})
		if err != nil {
			return fmt.Errorf("delete the user: %w", err)
		}
		if !left {
			return nil
		}
	}
}

// forgetSessions forgets the sessions selected by a query with one argument, one by one.
func forgetSessions(ctx context.Context, pool *pgxpool.Pool, query string, argument any) error {
	// A failed query surfaces when its rows are collected.
	rows, _ := pool.Query(ctx, query, argument)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	for _, id := range ids {
		if _, err := pool.Exec(ctx, `SELECT forget_session($1)`, id); err != nil {
			return fmt.Errorf("forget a session: %w", err)
		}
	}

	return nil
}
