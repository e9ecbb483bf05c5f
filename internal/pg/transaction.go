package pg

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	beginWrite = "begin"
	beginRead  = "begin isolation level repeatable read read only"
)

// transaction is a [pgx.Tx] on its own connection. Unlike pgx's, it begins and commits in the round trips of its
// other statements, and takes along statements that nobody waits for (see [Batch.Defer]). A statement that comes
// through pgx's methods, whose text may be wrong, is sent by itself, after everything before it.
type transaction struct {
	pgx.Tx // nil: what is not written here is not used

	conn   *pgxpool.Conn
	later  Batch // not sent yet, its begin included
	points int   // number of savepoints so far, for their names
	closed bool  // committed or rolled back, and the connection returned
}

// of returns the transaction that tx is, or in which it is a savepoint; nil for any other kind.
func of(tx any) *transaction {
	switch t := tx.(type) {
	case *transaction:
		return t
	case *savepoint:
		return t.transaction
	}

	return nil
}

// usable returns an error for a transaction that has ended or can only be rolled back.
func (t *transaction) usable() error {
	switch {
	case t.closed:
		return pgx.ErrTxClosed
	case t.conn.Conn().PgConn().TxStatus() == 'E':
		return pgx.ErrTxCommitRollback
	}

	return nil
}

// send sends a batch after what waits to be sent, in one round trip.
func (t *transaction) send(ctx context.Context, q *Batch) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	var all Batch
	all.take(&t.later)
	all.take(q)
	if len(all.names) == 0 {
		return nil
	}

	return all.named(t.conn.SendBatch(ctx, &all.batch).Close())
}

// flush sends what waits to be sent.
func (t *transaction) flush(ctx context.Context) error { return t.send(ctx, &Batch{}) }

func (t *transaction) release() {
	t.closed = true
	t.conn.Release()
}

// Begin starts a savepoint.
func (t *transaction) Begin(ctx context.Context) (pgx.Tx, error) {
	t.points++
	s := &savepoint{transaction: t, name: "sp_" + strconv.Itoa(t.points)}
	first := &Batch{}
	first.Exec("begin savepoint", "savepoint "+s.name, nil)
	if err := first.Defer(ctx, t); err != nil {
		return nil, err
	}

	return s, nil
}

// Commit can fail by a statement before it; then the transaction can still be rolled back.
func (t *transaction) Commit(ctx context.Context) error {
	ended, last := false, &Batch{}
	last.add("commit transaction", "commit", nil, func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		if ended = err == nil; ended && tag.String() == "ROLLBACK" { // because an earlier statement had failed
			err = pgx.ErrTxCommitRollback
		}

		return err
	})
	err := t.send(ctx, last)
	if ended {
		t.release()
	}

	return err
}

func (t *transaction) Rollback(ctx context.Context) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	defer t.release()
	t.later = Batch{}
	if t.conn.Conn().IsClosed() || t.conn.Conn().PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := t.conn.Exec(ctx, "rollback")
	if err != nil {
		_ = t.conn.Conn().Close(ctx) // otherwise the pool would hand it out in the middle of a transaction
	}

	return err
}

func (t *transaction) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := t.flush(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}

	return t.conn.Exec(ctx, sql, args...)
}

func (t *transaction) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.flush(ctx); err != nil {
		return refusedRows{err: err}, err
	}

	return t.conn.Query(ctx, sql, args...)
}

func (t *transaction) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.flush(ctx); err != nil {
		return refusedRows{err: err}
	}

	return t.conn.QueryRow(ctx, sql, args...)
}

func (t *transaction) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.flush(ctx); err != nil {
		return &refused{err: err}
	}

	return t.conn.SendBatch(ctx, b)
}

func (t *transaction) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return t.conn.Conn().Prepare(ctx, name, sql)
}

// Conn is the connection, on which the transaction has begun; if it cannot begin, the connection is closed.
func (t *transaction) Conn() *pgx.Conn {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	if err := t.flush(ctx); err != nil && t.conn.Conn().PgConn().TxStatus() == 'I' {
		_ = t.conn.Conn().Close(ctx)
	}

	return t.conn.Conn()
}

// savepoint is a transaction within one.
type savepoint struct {
	*transaction

	name  string
	ended bool
}

// Commit releases the savepoint. If that fails, it can still be rolled back.
func (s *savepoint) Commit(ctx context.Context) error {
	if s.ended {
		return pgx.ErrTxClosed
	}
	last := &Batch{}
	last.Exec("release savepoint", "release savepoint "+s.name, nil)
	err := last.Defer(ctx, s)
	s.ended = err == nil

	return err
}

// Rollback undoes what was done since the savepoint.
func (s *savepoint) Rollback(ctx context.Context) error {
	if s.ended {
		return pgx.ErrTxClosed
	}
	s.ended = true
	if s.later.dropFrom("savepoint " + s.name) {
		return nil
	}
	_, err := s.conn.Exec(ctx, "rollback to savepoint "+s.name+"; release savepoint "+s.name)

	return err
}

// refused are the results of a batch that was not sent.
type refused struct {
	pgx.BatchResults

	err error
}

func (r *refused) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, r.err }

func (r *refused) Query() (pgx.Rows, error) { return refusedRows{err: r.err}, r.err }

func (r *refused) QueryRow() pgx.Row { return refusedRows{err: r.err} }

func (r *refused) Close() error { return r.err }

// refusedRows are the rows of a query that was not sent: as pgx's, they may be read without a look at the query's error.
type refusedRows struct {
	pgx.Rows

	err error
}

func (r refusedRows) Close() {}

func (r refusedRows) Next() bool { return false }

func (r refusedRows) Err() error { return r.err }

func (r refusedRows) Scan(...any) error { return r.err }

func (r refusedRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }
