package mover

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// copy brings all rows over in one transaction, and compares what has arrived with what was sent. What an earlier attempt
// left is deleted first.
func (u *move) copy(ctx context.Context) error {
	// An attempt that failed may have opened the source again.
	if err := u.setPlace(ctx, u.source, u.Epoch, placeAway); err != nil {
		return err
	}
	if runs, err := u.turnRuns(ctx); runs || err != nil {
		return errors.Join(err, ErrTurnRuns)
	}

	return u.transfer(ctx, func(from, to pgx.Tx) error {
		if err := u.renumber(ctx, from, to); err != nil {
			return err
		}
		if err := u.bringAll(ctx, from, to); err != nil {
			return err
		}

		return u.settle(ctx, from, to)
	})
}

// transfer works on what the source has at one moment, and on the target, which keeps all of it or nothing.
func (u *move) transfer(ctx context.Context, work func(from, to pgx.Tx) error) error {
	return u.snapshot(ctx, func(from pgx.Tx) error {
		return pg.InTx(ctx, u.target, func(to pgx.Tx) error {
			if err := u.setPlace(ctx, to, u.Epoch+1, placeComing); err != nil {
				return err
			}
			if err := exec(ctx, to, "say that a user moves", moving); err != nil {
				return err
			}

			return work(from, to)
		})
	})
}

// bringAll copies all rows in place of what an earlier attempt left, and compares.
func (u *move) bringAll(ctx context.Context, from, to pgx.Tx) error {
	if err := wipe(ctx, to, u.tables, u.User.ID); err != nil {
		return err
	}
	u.report.Rows = 0
	for i := range u.tables {
		if err := u.bring(ctx, from, to, &u.tables[i], u.tables[i].rows); err != nil {
			return err
		}
		if u.changes != nil { // what the server keeps for the slot must not become more than one table's copy takes
			if err := u.changes.read(ctx); err != nil {
				return err
			}
		}
	}
	err := u.verify(ctx, from, to, everyRow)
	if errors.Is(err, errDiffers) {
		return refused("%s: a trigger of that table at %s changes or skips them", err, u.Target.Name)
	}
	if err != nil {
		return err
	}

	return u.shareParts(ctx, from, to, "true")
}

// settle carries over what belongs to the rows: versions and sequences.
func (u *move) settle(ctx context.Context, from, to pgx.Tx) error {
	if err := u.carryVersions(ctx, from, to); err != nil {
		return err
	}

	return advanceSequences(ctx, from, to, u.tables)
}

// snapshot reads the source as it is at one moment.
func (u *move) snapshot(ctx context.Context, work func(from pgx.Tx) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	if u.NewKeys {
		options.AccessMode = pgx.ReadWrite // for temporary tables
	}
	from, err := u.source.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	defer func() { _ = from.Rollback(context.WithoutCancel(ctx)) }() // nothing was changed
	if err := exec(ctx, from, "read the source", moving); err != nil {
		return err
	}

	return work(from)
}

// bring copies rows of a table.
func (u *move) bring(ctx context.Context, from, to pgx.Tx, t *table, rows string) error {
	copied, err := stream(ctx, from, to, t.name, t.name, t.sent, t.columns, rows)
	if err != nil {
		return u.copyError(t, err)
	}
	u.report.Rows += copied

	return nil
}

var errDiffers = errors.New("rows do not arrive as they were sent")

// everyRow compares all rows of the user.
func everyRow(t *table) string { return t.rows }

// verify compares both sides table by table: how many rows there are that a condition over x names, and what they hold.
// Errors: errDiffers.
func (u *move) verify(ctx context.Context, from, to pgx.Tx, looked func(*table) string) error {
	var sums [2][]string
	group, within := errgroup.WithContext(ctx)
	for i, tx := range []pgx.Tx{from, to} {
		group.Go(func() (err error) {
			sums[i], err = digests(within, tx, u.tables, looked, tx == from)

			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, t := range u.tables {
		if sums[0][i] != sums[1][i] {
			return fmt.Errorf("%s: %w", t.name, errDiffers)
		}
	}

	return nil
}

// copyError says what only the owner of the tables can mend.
func (u *move) copyError(t *table, err error) error {
	switch pg.Code(err) {
	case pgerrcode.UniqueViolation:
		return u.keyTaken(t, detail(err))
	case pgerrcode.ForeignKeyViolation:
		return refused("a row of %s refers to one that is not there (%s): rows that all users share must be the same in every database", t.name, detail(err))
	case pgerrcode.InsufficientPrivilege:
		return refused("the role of this address may not read or write all rows of %s (%s)", t.name, detail(err))
	case pgerrcode.CheckViolation:
		return refused("a row of %s has no place there, such as a partition (%s)", t.name, detail(err))
	default:
		return fmt.Errorf("copy %s: %w", t.name, err)
	}
}

func (u *move) keyTaken(t *table, key string) error {
	fresh := ", or have rows that a sequence numbers get new keys with --off --new-keys"
	if u.NewKeys {
		fresh = ""
	}

	return refused("a row of %s has a key that another user's row has there (%s): move this user to a database that has none of these keys, such as a new one%s; sequences with ranges of their own in each database prevent it", t.name, key, fresh)
}

// digests are by table how many rows there are, and a hash: the same for the same rows, in whatever order they come.
func digests(ctx context.Context, tx pgx.Tx, tables []table, looked func(*table) string, source bool) ([]string, error) {
	batch, sums := &pgx.Batch{}, make([]string, len(tables))
	for i, t := range tables {
		columns := t.columns
		if source {
			columns = t.sent
		}
		batch.Queue(`SELECT concat_ws(' ', count(*), sum(hashtextextended(ROW(` + columns + `)::text, 0)::numeric)) FROM ` + t.name + ` AS x WHERE ` + looked(&t)).
			QueryRow(func(row pgx.Row) error { return row.Scan(&sums[i]) })
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("compare rows: %w", err)
	}

	return sums, nil
}

// advanceSequences moves the target's counters past the source's, which has given all numbers of the user's rows. They are
// never set back: another session may have taken a number meanwhile.
func advanceSequences(ctx context.Context, from, to pgx.Tx, tables []table) error {
	sequences, err := pg.Collect(ctx, from, pgx.RowTo[string], "look for counters", `
		SELECT s.name FROM unnest($1::text[]) AS t (name)
		JOIN pg_attribute AS a ON a.attrelid = t.name::regclass AND a.attnum > 0 AND NOT a.attisdropped
		CROSS JOIN LATERAL (SELECT pg_get_serial_sequence(t.name, a.attname) AS name) AS s
		WHERE s.name IS NOT NULL`, names(tables))
	if err != nil {
		return err
	}
	for _, name := range sequences {
		// Read as a table: pg_sequence_last_value skips one that was set and has given no number since, and, from Postgres 17 on,
		// one that this role may not read.
		var last int64
		if err := from.QueryRow(ctx, `SELECT last_value FROM `+name).Scan(&last); err != nil {
			return fmt.Errorf("read the counter %s: %w", name, err)
		}
		if err := exec(ctx, to, "set the counter "+name, `SELECT setval($1::regclass, $2) FROM `+name+` WHERE last_value < $2`, name, last); err != nil {
			return err
		}
	}

	return nil
}

// CopyShared gives a database that nobody has talked to yet the rows that all users share, as another one has them: a user's rows refer
// to them by keys, which must be the same everywhere. One with conversations is left as it is. It returns how many rows
// were brought.
func (m *Mover) CopyShared(ctx context.Context, from, to directory.Database) (brought int64, err error) {
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
	err = pg.InTx(ctx, target, func(into pgx.Tx) error {
		var used bool
		if err := into.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sessions)`).Scan(&used); err != nil || used {
			return err
		}

		return pg.InReadTx(ctx, source, func(read pgx.Tx) (err error) {
			brought, err = shareAll(ctx, read, into, bound.Entities)

			return err
		})
	})

	return brought, err
}

func shareAll(ctx context.Context, from, to pgx.Tx, entities []*domain.Entity) (brought int64, err error) {
	for _, entity := range entities {
		if !entity.Reference || entity.View {
			continue
		}
		n, err := share(ctx, from, to, entity.Type, entity.SQL())
		if err != nil {
			return 0, fmt.Errorf("share the rows of %s: %w", entity.Table, err)
		}
		brought += n
	}

	return brought, nil
}

// share replaces a table's rows. The worker computes their vectors again.
func share(ctx context.Context, from, to pgx.Tx, kind, name string) (int64, error) {
	var columns string
	if err := to.QueryRow(ctx, storedSQL, name).Scan(&name, &columns); err != nil {
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
