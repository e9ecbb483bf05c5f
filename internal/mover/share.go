package mover

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"alfred/internal/directory"
	"alfred/internal/pg"
)

// Share gives a database that nobody has talked to yet the rows that all users share, as another one has them: a user's rows refer
// to them by keys, which must be the same everywhere. One with conversations is left as it is. It returns how many rows
// were brought.
func (m *Mover) Share(ctx context.Context, from, to directory.Database) (int64, error) {
	source, err := m.open(ctx, from)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	target, err := m.open(ctx, to)
	if err != nil {
		return 0, err
	}
	defer target.Close()
	bound, err := m.bind(ctx, target, to.Name)
	if err != nil {
		return 0, err
	}
	var brought int64
	err = pg.InTx(ctx, target, func(tx pgx.Tx) error {
		var used bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sessions)`).Scan(&used); err != nil || used {
			return err
		}

		return pg.InReadTx(ctx, source, func(read pgx.Tx) error {
			for _, entity := range bound.Entities {
				if !entity.Reference || entity.Viewed {
					continue
				}
				n, err := share(ctx, read, tx, entity.Type, pgx.Identifier{bound.Schema, entity.Table}.Sanitize())
				if err != nil {
					return fmt.Errorf("share the rows of %s: %w", entity.Table, err)
				}
				brought += n
			}

			return nil
		})
	})

	return brought, err
}

// share replaces a table's rows. Their vectors are made anew by the worker.
func share(ctx context.Context, from, to pgx.Tx, kind, name string) (int64, error) {
	var columns string
	if err := to.QueryRow(ctx, storedSQL, name).Scan(&columns); err != nil {
		return 0, fmt.Errorf("read columns: %w", err)
	}
	if err := exec(ctx, to, "delete vectors", `DELETE FROM embeddings WHERE user_id IS NULL AND owner_kind = $1`, kind); err != nil {
		return 0, err
	}
	if err := exec(ctx, to, "delete rows", `DELETE FROM `+name); err != nil {
		return 0, err
	}

	return stream(ctx, from, to, name, name, columns, columns, "true")
}

// brought takes over what others' prompts at the target may have in common with the user's.
const brought = `INSERT INTO prompt_parts_shared (hash, month, text) SELECT b.hash, b.month, b.text FROM pg_temp.brought_parts AS b ORDER BY b.hash ON CONFLICT DO NOTHING`

// shareParts brings what the user's prompts have in common with everybody's, those of some calls c; what the target has of it
// stays.
func (u *move) shareParts(ctx context.Context, from, to pgx.Tx, some string) error {
	if err := exec(ctx, to, "prepare for shared parts of prompts", `CREATE TEMPORARY TABLE brought_parts (hash uuid, month date, text text) ON COMMIT DROP`); err != nil {
		return err
	}
	named := fmt.Sprintf(`(x.hash, x.month) IN (SELECT unnest(c.parts), uuid_v7_month(c.id) FROM sessions AS s JOIN llm_calls AS c ON c.session_id = s.id WHERE s.user_id = '%s' AND %s)`, u.User.ID, some)
	if _, err := stream(ctx, from, to, "prompt_parts_shared", "pg_temp.brought_parts", "hash, month, text", "hash, month, text", named); err != nil {
		return fmt.Errorf("copy shared parts of prompts: %w", err)
	}

	return exec(ctx, to, "keep shared parts of prompts", brought)
}

// stream copies rows without keeping them, however many there are.
func stream(ctx context.Context, from, to pgx.Tx, name, into, sent, columns, rows string) (int64, error) {
	reader, writer := io.Pipe()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := from.Conn().PgConn().CopyTo(ctx, writer, `COPY (SELECT `+sent+` FROM `+name+` AS x WHERE `+rows+`) TO STDOUT`)

		return errors.Join(err, writer.CloseWithError(err))
	})
	var copied int64
	group.Go(func() error {
		tag, err := to.Conn().PgConn().CopyFrom(ctx, reader, `COPY `+into+` (`+columns+`) FROM STDIN`)
		copied = tag.RowsAffected()

		return errors.Join(err, reader.CloseWithError(err))
	})

	return copied, group.Wait()
}
