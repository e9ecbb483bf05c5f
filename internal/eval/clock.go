package eval

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed clock.sql
var clockSQL string

// clock starts a case's turns at the times it states, so that "Friday" is the same Friday as then. Turns without a time
// follow the previous one; a case without times runs now.
func (t *trial) clock(ctx context.Context) error {
	batch := &pgx.Batch{}
	for i := range t.c.Turns {
		if at := t.c.Turns[i].At; !at.IsZero() {
			batch.Queue(`INSERT INTO alfred.eval_clock (number, at) VALUES ($1, $2)`, i+1, at)
		}
	}
	if batch.Len() == 0 {
		return nil
	}
	if _, err := t.pool.Exec(ctx, clockSQL); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}
	if err := t.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}

	return nil
}
