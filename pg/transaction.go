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

// transaction is a transaction on its own connection. Unlike pgx's, it can begin and commit in the round trip of other
// statements (a [Batch]); each statement is sent when called and returns its own error.
type transaction struct {
	conn   *pgxpool.Conn
	points int  // number of savepoints so far, for their names
	closed bool // committed or rolled back, and the connection returned
}

// open takes a connection, which Commit or Rollback returns. The caller begins.
func open(ctx context.Context, pool *pgxpool.Pool) (*transaction, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}

	return &transaction{conn: conn}, nil
}

func (t *transaction) release() {
	t.closed = true
	t.conn.Release()
}

// Begin starts a savepoint.
func (t *transaction) Begin(ctx context.Context) (pgx.Tx, error) {
	t.points++
	name := "sp_" + strconv.Itoa(t.points)
	if _, err := t.Exec(ctx, "savepoint "+name); err != nil {
		return nil, err
	}

	return &savepoint{transaction: t, name: name}, nil
}

// Commit implements pgx.Tx.
func (t *transaction) Commit(ctx context.Context) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	defer t.release()
	tag, err := t.conn.Exec(ctx, "commit")
	if err == nil {
		err = committed(tag)
	}
	if err != nil && t.conn.Conn().PgConn().TxStatus() != 'I' {
		_ = t.conn.Conn().Close(ctx) // otherwise the pool would hand it out in the middle of a transaction
	}

	return err
}

// Rollback implements pgx.Tx.
func (t *transaction) Rollback(ctx context.Context) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	defer t.release()
	if t.conn.Conn().IsClosed() || t.conn.Conn().PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := t.conn.Exec(ctx, "rollback")
	if err != nil {
		_ = t.conn.Conn().Close(ctx) // otherwise the pool would hand it out in the middle of a transaction
	}

	return err
}

// Exec implements pgx.Tx.
func (t *transaction) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.closed {
		return pgconn.CommandTag{}, pgx.ErrTxClosed
	}

	return t.conn.Exec(ctx, sql, args...)
}

// Query implements pgx.Tx.
func (t *transaction) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.closed {
		return nil, pgx.ErrTxClosed
	}

	return t.conn.Query(ctx, sql, args...)
}

// QueryRow implements pgx.Tx.
func (t *transaction) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.closed {
		return refusedRow{err: pgx.ErrTxClosed}
	}

	return t.conn.QueryRow(ctx, sql, args...)
}

// SendBatch implements pgx.Tx.
func (t *transaction) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.closed {
		return &refused{err: pgx.ErrTxClosed}
	}

	return t.conn.SendBatch(ctx, b)
}

// CopyFrom implements pgx.Tx.
func (t *transaction) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, source pgx.CopyFromSource) (int64, error) {
	if t.closed {
		return 0, pgx.ErrTxClosed
	}

	return t.conn.CopyFrom(ctx, table, columns, source)
}

// LargeObjects implements pgx.Tx. There are none here.
func (t *transaction) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

// Prepare implements pgx.Tx.
func (t *transaction) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return t.conn.Conn().Prepare(ctx, name, sql)
}

// Conn implements pgx.Tx.
func (t *transaction) Conn() *pgx.Conn { return t.conn.Conn() }

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
	_, err := s.Exec(ctx, "release savepoint "+s.name)
	s.ended = err == nil

	return err
}

// Rollback undoes what was done since the savepoint.
func (s *savepoint) Rollback(ctx context.Context) error {
	if s.ended {
		return pgx.ErrTxClosed
	}
	s.ended = true
	_, err := s.Exec(ctx, "rollback to savepoint "+s.name)

	return err
}

// refused are the results of a batch that was not sent.
type refused struct {
	pgx.BatchResults

	err error
}

// Exec implements pgx.BatchResults.
func (r *refused) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, r.err }

// Query implements pgx.BatchResults.
func (r *refused) Query() (pgx.Rows, error) { return nil, r.err }

// QueryRow implements pgx.BatchResults.
func (r *refused) QueryRow() pgx.Row { return refusedRow{err: r.err} }

// Close implements pgx.BatchResults.
func (r *refused) Close() error { return r.err }

// refusedRow is the row of a query that was not sent.
type refusedRow struct{ err error }

// Scan implements pgx.Row.
func (r refusedRow) Scan(...any) error { return r.err }
