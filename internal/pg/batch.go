package pg

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
)

// Batch is statements that belong together. They are sent in one round trip and run in order; the first that fails ends
// the transaction, and its error names it. Nothing is executed before the batch is sent.
//
// Queries are those that package db exports; params is a query's parameter struct, the value itself if there is one
// parameter, nil for none; for custom SQL, a []any. A query that cannot be parsed fails before the first one has run, and
// so outside any savepoint of the batch: SQL that may be wrong needs a savepoint that was sent before.
type Batch struct {
	batch pgx.Batch
	names []string
}

// Exec adds a statement whose result does not matter; what names it in an error.
func (q *Batch) Exec(what, query string, params any) {
	q.add(what, query, params, func(results pgx.BatchResults) error {
		_, err := results.Exec()

		return err
	})
}

// Count adds a statement and stores in n how many rows it affected.
func (q *Batch) Count(what, query string, params any, n *int64) {
	q.add(what, query, params, func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		*n = tag.RowsAffected()

		return err
	})
}

// Scan adds a statement whose single row is stored in dest.
func (q *Batch) Scan(what, query string, params any, dest ...any) {
	q.add(what, query, params, func(results pgx.BatchResults) error { return results.QueryRow().Scan(dest...) })
}

// Query adds a statement whose rows are read by a function.
func (q *Batch) Query(what, query string, params any, read func(pgx.Rows) error) {
	q.add(what, query, params, func(results pgx.BatchResults) error {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := read(rows); err != nil {
			return err
		}
		rows.Close()

		return rows.Err()
	})
}

// Rows adds an sqlc query: its exported text, its parameters, and where its rows go, in order. They are available once
// the batch has been sent without an error.
func Rows[Row any](q *Batch, what, query string, params any, rows *[]*Row) {
	Take(q, what, query, params, func(found []*Row) error {
		*rows = found

		return nil
	})
}

// Take is Rows for what takes the rows as soon as they are there.
func Take[Row any](q *Batch, what, query string, params any, take func(rows []*Row) error) {
	q.Query(what, query, params, func(found pgx.Rows) error {
		rows, err := pgx.CollectRows(found, pgx.RowToAddrOfStructByPos[Row])
		if err != nil {
			return err
		}

		return take(rows)
	})
}

// Send runs the statements in tx, after those that wait to be sent.
func (q *Batch) Send(ctx context.Context, tx batcher) error {
	if t := of(tx); t != nil {
		return t.send(ctx, q)
	}
	if len(q.names) == 0 {
		return nil
	}

	return q.named(tx.SendBatch(ctx, &q.batch).Close())
}

// Defer is Send for statements that nobody waits for: they are sent before the transaction's next ones, together with
// them if those are a Batch, or with its commit. If one fails, so does the whole transaction. Any other kind of
// transaction runs them now.
func (q *Batch) Defer(ctx context.Context, tx batcher) error {
	t := of(tx)
	if t == nil {
		return q.Send(ctx, tx)
	}
	if err := t.usable(); err != nil {
		return err
	}
	t.later.take(q)

	return nil
}

// InTx runs the statements in their own transaction, all in one round trip.
func (q *Batch) InTx(ctx context.Context, pool *pgxpool.Pool) error {
	return InTx(ctx, pool, func(tx pgx.Tx) error { return CommitWith(ctx, tx, q) })
}

func (q *Batch) add(what, query string, params any, read func(pgx.BatchResults) error) {
	q.names = append(q.names, what)
	q.batch.Queue(query, arguments(params)...).Fn = func(results pgx.BatchResults) error {
		if err := read(results); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}

		return nil
	}
}

// arguments are the fields of sqlc's parameter struct, which are in the order of their numbers. A []any is the
// parameters themselves, nil none.
func arguments(params any) []any {
	if params == nil {
		return nil
	}
	if list, ok := params.([]any); ok {
		return list
	}
	of := reflect.ValueOf(params)
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return []any{params}
	}
	fields := make([]any, of.Elem().NumField())
	for i := range fields {
		fields[i] = of.Elem().Field(i).Interface()
	}

	return fields
}

// take moves another's statements to the end of these.
func (q *Batch) take(other *Batch) {
	q.names = append(q.names, other.names...)
	q.batch.QueuedQueries = append(q.batch.QueuedQueries, other.batch.QueuedQueries...)
	*other = Batch{}
}

// dropFrom drops a statement and all after it; without that statement it drops all.
func (q *Batch) dropFrom(query string) (found bool) {
	at := max(0, slices.IndexFunc(q.batch.QueuedQueries, func(one *pgx.QueuedQuery) bool {
		found = one.SQL == query

		return found
	}))
	q.batch.QueuedQueries, q.names = q.batch.QueuedQueries[:at], q.names[:at]

	return found
}

// named adds the name of the statement that could not be parsed; the error of a statement that ran has it already.
func (q *Batch) named(err error) error {
	if unread, ok := errors.AsType[pgx.ErrPreprocessingBatch](err); ok {
		for i, one := range q.batch.QueuedQueries {
			if one.SQL == unread.SQL() {
				return fmt.Errorf("%s: %w", q.names[i], err)
			}
		}
	}

	return err
}

// CommitWith sends the last statements of a transaction from [InTx] on a pool together with its commit. Afterwards tx
// must not be used. For any other kind of transaction, the statements are run, and whoever began it commits.
func CommitWith(ctx context.Context, tx pgx.Tx, last *Batch) error {
	t, ok := tx.(*transaction)
	if !ok {
		return last.Send(ctx, tx)
	}
	if err := last.Defer(ctx, tx); err != nil {
		return err
	}

	return t.Commit(ctx)
}

// Literal is a text as SQL, for what no parameter can say.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// batcher sends batches: a pool, a connection, a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// OrNil is a value for a column that holds NULL for none.
func OrNil[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}

	return &value
}

// Collect returns the rows of a query; what names it in an error.
func Collect[T any](ctx context.Context, conn db.DBTX, row pgx.RowToFunc[T], what, query string, args ...any) ([]T, error) {
	rows, _ := conn.Query(ctx, query, args...) // a failed query shows when its rows are collected
	found, err := pgx.CollectRows(rows, row)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	return found, nil
}
