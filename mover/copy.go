package mover

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"

	"alfred/directory"
	"alfred/pg"
)

// copy brings all rows over in one transaction, and compares what has arrived with what was sent. What an earlier attempt
// left is deleted first.
func (u *move) copy(ctx context.Context) error {
	// An attempt that failed may have opened the source again.
	if err := u.setPlace(ctx, u.source, u.Epoch, placeAway); err != nil {
		return err
	}
	if busy, err := u.busy(ctx); busy || err != nil {
		return errors.Join(err, ErrTurnRuns)
	}
	err := u.snapshot(ctx, func(from pgx.Tx) error {
		return pg.InTx(ctx, u.target, func(to pgx.Tx) error {
			if err := u.setPlace(ctx, to, u.Epoch+1, placeComing); err != nil {
				return err
			}
			if err := wipe(ctx, to, u.tables, u.User.ID); err != nil {
				return err
			}
			for i := range u.tables {
				if err := u.bring(ctx, from, to, &u.tables[i]); err != nil {
					return err
				}
			}
			if err := u.shareParts(ctx, from, to); err != nil {
				return err
			}
			if err := u.carryVersions(ctx, from, to); err != nil {
				return err
			}

			return advanceSequences(ctx, from, to, u.tables)
		})
	})
	if err != nil {
		return err
	}

	return u.Directory.Advance(ctx, u.Move, directory.StepCopied)
}

// snapshot reads the source as it is at one moment.
func (u *move) snapshot(ctx context.Context, work func(from pgx.Tx) error) error {
	from, err := u.source.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	defer func() { _ = from.Rollback(context.WithoutCancel(ctx)) }() // nothing was changed
	if _, err := from.Exec(ctx, moving); err != nil {
		return fmt.Errorf("read the source: %w", err)
	}

	return work(from)
}

// bring copies a table's rows and compares.
func (u *move) bring(ctx context.Context, from, to pgx.Tx, t *table) error {
	copied, err := stream(ctx, from, to, t.name, t.name, t.columns, t.rows)
	if err != nil {
		return copyError(t, err)
	}
	sent, err := digest(ctx, from, t)
	if err != nil {
		return err
	}
	arrived, err := digest(ctx, to, t)
	if err != nil {
		return err
	}
	if sent != arrived {
		return refused("rows of %s do not arrive as they were sent: a trigger of that table at %s changes or skips them", t.name, u.Target.Name)
	}
	u.report.Rows += copied

	return nil
}

// copyError says what only the owner of the tables can mend.
func copyError(t *table, err error) error {
	switch pg.Code(err) {
	case pgerrcode.UniqueViolation:
		return refused("a row of %s has a key that another user's row has there (%s): give the databases' sequences ranges of their own", t.name, detail(err))
	case pgerrcode.ForeignKeyViolation:
		return refused("a row of %s refers to one that is not there (%s): rows that all users share must be the same in every database", t.name, detail(err))
	case pgerrcode.InsufficientPrivilege:
		return refused("the role of this address may not read or write all rows of %s (%s)", t.name, detail(err))
	default:
		return fmt.Errorf("copy %s: %w", t.name, err)
	}
}

// sum is of a table's rows of the user.
type sum struct {
	rows int64
	hash string
}

// digest is the same for the same rows, in whatever order they come.
func digest(ctx context.Context, tx pgx.Tx, t *table) (sum, error) {
	var s sum
	err := tx.QueryRow(ctx, `SELECT count(*), coalesce(sum(hashtextextended(ROW(`+t.columns+`)::text, 0)::numeric), 0)::text FROM `+t.name+` AS x WHERE `+t.rows).Scan(&s.rows, &s.hash)
	if err != nil {
		return sum{}, fmt.Errorf("compare %s: %w", t.name, err)
	}

	return s, nil
}

// advanceSequences moves the target's counters past the source's, which has given all numbers of the user's rows. They are
// never set back: another session may have taken a number meanwhile.
func advanceSequences(ctx context.Context, from, to pgx.Tx, tables []table) error {
	for _, t := range tables {
		rows, _ := from.Query(ctx, `SELECT s.name FROM pg_attribute AS a CROSS JOIN LATERAL (SELECT pg_get_serial_sequence($1, a.attname) AS name) AS s
			WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND s.name IS NOT NULL`, t.name) // a failed query shows when its rows are collected
		sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("look for the counters of %s: %w", t.name, err)
		}
		for _, sequence := range sequences {
			var last int64
			if err := from.QueryRow(ctx, `SELECT last_value FROM `+sequence).Scan(&last); err != nil {
				return fmt.Errorf("read the counter %s: %w", sequence, err)
			}
			if _, err := to.Exec(ctx, `SELECT setval($1::regclass, $2) FROM `+sequence+` WHERE last_value < $2`, sequence, last); err != nil {
				return fmt.Errorf("set the counter %s: %w", sequence, err)
			}
		}
	}

	return nil
}
