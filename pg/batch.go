package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Batch is statements that belong together. They are sent in one round trip and run in order; the first that fails ends
// the transaction, and its error names it. Nothing is sent or executed before the queue is.
//
// Queries are those that package db exports; params is a query's parameter struct, the value itself if there is one
// parameter, nil for none; for custom SQL, a []any.
type Batch struct {
	batch pgx.Batch
	names []string
	done  int
}

// Exec adds a statement whose result does not matter; what names it in an error.
func (q *Batch) Exec(what, query string, params any) {
	q.add(what, query, params).Exec(func(pgconn.CommandTag) error {
		q.done++

		return nil
	})
}

// Count adds a statement and stores in n how many rows it affected.
func (q *Batch) Count(what, query string, params any, n *int64) {
	q.add(what, query, params).Exec(func(tag pgconn.CommandTag) error {
		*n = tag.RowsAffected()
		q.done++

		return nil
	})
}

// Scan adds a statement whose single row is stored in dest.
func (q *Batch) Scan(what, query string, params any, dest ...any) {
	q.add(what, query, params).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(dest...); err != nil {
			return err
		}
		q.done++

		return nil
	})
}

// Rows adds an sqlc query whose rows are stored in order.
func Rows[Row any](q *Batch, what, query string, params any, rows *[]*Row) {
	q.add(what, query, params).Query(func(found pgx.Rows) error {
		var err error
		if *rows, err = pgx.CollectRows(found, pgx.RowToAddrOfStructByPos[Row]); err == nil {
			q.done++
		}

		return err
	})
}

// Send runs the statements in tx.
func (q *Batch) Send(ctx context.Context, tx batcher) error {
	if len(q.names) == 0 {
		return nil
	}

	return q.sent(tx.SendBatch(ctx, &q.batch).Close())
}

// InTx runs the statements in their own transaction, all in one round trip.
func (q *Batch) InTx(ctx context.Context, pool *pgxpool.Pool) error {
	tx, err := open(ctx, pool)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer rollback(ctx, tx)
	q.beginBy(beginWrite)

	return CommitWith(ctx, tx, q)
}

func (q *Batch) add(what, query string, params any) *pgx.QueuedQuery {
	q.names = append(q.names, what)

	return q.batch.Queue(query, arguments(params)...)
}

// beginBy puts the statement that begins a transaction before the others.
func (q *Batch) beginBy(begin string) {
	q.batch.QueuedQueries = append([]*pgx.QueuedQuery{{SQL: begin}}, q.batch.QueuedQueries...)
}

// sent names the failed statement. A statement that cannot be parsed fails before the first one has run, whichever it
// is.
func (q *Batch) sent(err error) error {
	if err == nil {
		return nil
	}
	what := "commit transaction"
	switch {
	case q.done == 0 && strings.HasPrefix(Code(err), "42"):
		what = strings.Join(q.names, ", ")
	case q.done < len(q.names):
		what = q.names[q.done]
	}

	return fmt.Errorf("%s: %w", what, err)
}

// CommitWith sends the last statements of a transaction from [InTx] on a pool together with its commit. Afterwards tx
// must not be used. For any other kind of transaction, the statements are run, and whoever began it commits.
func CommitWith(ctx context.Context, tx pgx.Tx, last *Batch) error {
	t, ok := tx.(*transaction)
	if !ok {
		return last.Send(ctx, tx)
	}
	if t.closed {
		return pgx.ErrTxClosed
	}
	ended := false
	last.batch.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		ended = true

		return committed(tag)
	})
	err := last.sent(t.conn.SendBatch(ctx, &last.batch).Close())
	if ended {
		t.release()
	}

	return err
}

// committed returns an error if Postgres answered a commit with a rollback, because an earlier statement had failed.
func committed(tag pgconn.CommandTag) error {
	if tag.String() == "ROLLBACK" {
		return pgx.ErrTxCommitRollback
	}

	return nil
}

// batcher sends batches: a pool, a connection, a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}
