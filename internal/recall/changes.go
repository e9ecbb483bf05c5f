package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// lookedAtAnyway is how many checks pass before a table is read although Postgres counted no change: its counters may
// be switched off, and lag behind a busy connection.
const lookedAtAnyway = 12

// mark is what a table's last sweep saw: Postgres's change count, and the oldest running transaction. What an
// unfinished transaction wrote has that id or a higher one.
type mark struct {
	changes int64
	horizon string
	passed  int // checks since then without any change
}

// SweepChanged embeds what other programs wrote since its last call; the first call only records the state, so [Sweep]
// comes after it. It reads all tables' change counters in one statement, and in changed tables only the rows written by
// transactions since then. While another process sweeps, it does nothing.
func (x *Index) SweepChanged(ctx context.Context) error {
	return pg.WithLock(ctx, x.pool, sweepLock, func(*pgxpool.Conn) error {
		entities := x.searcher.searched()
		marks, err := x.readMarks(ctx, entities)
		if err != nil {
			return err
		}
		changed := sweep{Index: x}
		for i, e := range entities {
			before, known := x.marks[e.Table]
			now := marks[i]
			if known && before.changes == now.changes && before.passed < lookedAtAnyway {
				now = mark{before.changes, before.horizon, before.passed + 1}
			} else if known {
				if err := changed.rows(ctx, e, before.horizon); err != nil {
					return err
				}
			}
			x.marks[e.Table] = now
		}

		return changed.refused
	})
}

// readMarks reads the marks of the searched tables.
func (x *Index) readMarks(ctx context.Context, entities []*domain.Entity) ([]mark, error) {
	tables := make([]string, len(entities))
	for i, e := range entities {
		tables[i] = e.SQL()
	}
	rows, err := x.q.RecallChanges(ctx, x.pool, tables)
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	if len(rows) != len(entities) {
		return nil, errors.New("look for changes: a table is gone")
	}
	marks := make([]mark, len(rows))
	for i, row := range rows {
		marks[i] = mark{changes: row.Changes, horizon: row.Horizon}
	}

	return marks, nil
}
