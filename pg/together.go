package pg

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier runs statements: a pool, a transaction, or the handle of one of the readers of [Together].
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// batcher sends batches: a pool, a connection, a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Together runs readers that do not depend on each other so that what they ask for at the same time is one round trip:
// the first statements of all of them, then the second ones, and so on. They take turns and never run at once, so they
// may share memory. The rows of a statement must be read before the reader's next one. The first error ends all.
func Together(ctx context.Context, conn batcher, readers ...func(q Querier) error) error {
	var (
		asking []*reader
		failed error
	)
	for _, work := range readers {
		r := &reader{}
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			r.wait = func() bool { return yield(struct{}{}) }
			r.err = work(r)
		})
		r.next = next
		defer stop()
		if asks := r.step(); asks {
			asking = append(asking, r)
		}
		if failed = r.err; failed != nil {
			return failed
		}
	}
	for len(asking) > 0 {
		if asking, failed = round(ctx, conn, asking); failed != nil {
			return failed
		}
	}

	return nil
}

// round sends one statement of each reader, and returns those who then ask for another.
func round(ctx context.Context, conn batcher, readers []*reader) (asking []*reader, err error) {
	batch := &pgx.Batch{}
	for _, r := range readers {
		batch.Queue(r.sql, r.args...)
	}
	results := conn.SendBatch(ctx, batch)
	for _, r := range readers {
		rows, queryErr := results.Query()
		r.rows, r.failed = rows, queryErr
		asks := r.step()
		if rows != nil {
			rows.Close()
		}
		if r.err != nil {
			return nil, errors.Join(r.err, ignoreSame(results.Close(), r.err))
		}
		if asks {
			asking = append(asking, r)
		}
	}

	return asking, results.Close() //nolint:wrapcheck // as pgx returns it
}

// reader is one of those that Together runs, and the statement that it waits for.
type reader struct {
	next func() (struct{}, bool)
	wait func() bool
	err  error // of its work, once that is over

	sql    string
	args   []any
	rows   pgx.Rows
	failed error
}

var errStopped = errors.New("another reader failed")

// step lets the reader go on; false when it is done.
func (r *reader) step() bool {
	_, asks := r.next()

	return asks
}

// Query implements Querier.
func (r *reader) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	r.sql, r.args = sql, args
	if !r.wait() {
		return nil, errStopped
	}

	return r.rows, r.failed
}

// QueryRow implements Querier.
func (r *reader) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := r.Query(ctx, sql, args...)

	return oneRow{rows: rows, err: err}
}

// Exec implements Querier.
func (r *reader) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	rows, err := r.Query(ctx, sql, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()

	return rows.CommandTag(), rows.Err() //nolint:wrapcheck // as pgx returns it
}

// SendBatch implements Querier. A reader has no batches of its own: the statements of all are one.
func (r *reader) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults {
	return &inFlight{err: errors.New("a reader sends no batches")}
}
