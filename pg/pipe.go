package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pipe is a transaction on a connection of its own that saves round trips. What nobody reads an answer of (begin,
// savepoints, settings, sqlc's :exec queries) waits and travels with the next statement, at the latest with the commit.
// The order stays. An error of a statement that waited comes back from the one that it travelled with; it has ended the
// transaction either way.
type pipe struct {
	conn    *pgxpool.Conn
	waiting []*pgx.QueuedQuery
	work    int      // of those waiting, the ones that write; control statements cannot fail by themselves
	sent    bool     // the server knows of the transaction
	closed  bool     // committed, rolled back, or the connection is given back
	ended   bool     // the commit has travelled with a batch, and was carried out
	points  int      // savepoints so far, for their names
	actor   []string // role and user in force, empty for those of the connection
}

// openPipe takes a connection; begin is how its transaction will begin. The caller gives it back by Commit or Rollback.
func openPipe(ctx context.Context, pool *pgxpool.Pool, begin string) (*pipe, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // wrapped by the caller
	}
	p := &pipe{conn: conn}
	p.control(begin)

	return p, nil
}

// control queues a statement that only steers the transaction.
func (p *pipe) control(sql string, args ...any) {
	p.waiting = append(p.waiting, &pgx.QueuedQuery{SQL: sql, Arguments: args})
}

// Begin starts a savepoint.
func (p *pipe) Begin(context.Context) (pgx.Tx, error) {
	if p.closed {
		return nil, pgx.ErrTxClosed
	}
	p.points++
	s := &savepoint{pipe: p, name: "pipe_" + strconv.Itoa(p.points), actor: p.actor, work: p.work}
	s.at = len(p.waiting)
	p.control("savepoint " + s.name)

	return s, nil
}

// Commit sends what waits and the commit.
func (p *pipe) Commit(ctx context.Context) error {
	if p.closed {
		return pgx.ErrTxClosed
	}
	if p.ended || !p.sent && p.work == 0 {
		p.release()

		return nil
	}
	defer p.release()
	tag, err := p.send(ctx, "commit").last()

	return committed(tag, err)
}

func committed(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.String() == "ROLLBACK" {
		return pgx.ErrTxCommitRollback
	}

	return err
}

// Querier runs statements: a pool or a transaction.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// WithCommit is for a transaction's last batch: it travels with the commit, if the transaction is one of [InTx] on a
// pool. Nothing may be asked of tx afterwards, and an error of the batch has to be returned from its work.
func WithCommit(tx pgx.Tx) Querier {
	if p, ok := tx.(*pipe); ok {
		return lastBatch{p}
	}

	return tx
}

type lastBatch struct{ *pipe }

// SendBatch implements Querier.
func (l lastBatch) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if l.closed {
		return &inFlight{err: pgx.ErrTxClosed}
	}
	sent := l.flush(ctx, append(slices.Clone(b.QueuedQueries), &pgx.QueuedQuery{SQL: "commit"}))

	return &committing{inFlight: sent, pipe: l.pipe}
}

// committing is a batch whose last statement is the commit, which Close reads.
type committing struct {
	*inFlight

	pipe *pipe
}

// Close implements pgx.BatchResults.
func (c *committing) Close() error {
	if c.pipe.ended {
		return nil
	}
	err := committed(c.last())
	c.pipe.ended = err == nil

	return err
}

// Rollback forgets what waits.
func (p *pipe) Rollback(ctx context.Context) error {
	if p.closed {
		return pgx.ErrTxClosed
	}
	defer p.release()
	p.waiting = nil
	if !p.sent || p.conn.Conn().IsClosed() {
		return nil
	}
	_, err := p.conn.Exec(ctx, "rollback")
	if err != nil {
		_ = p.conn.Conn().Close(ctx) // or the pool would hand it out in the midst of a transaction
	}

	return err //nolint:wrapcheck // as pgx returns it
}

func (p *pipe) release() {
	p.closed = true
	p.conn.Release()
}

// Exec lets a :exec query of sqlc wait, and a SET LOCAL: the caller wants to know of an error and nothing else.
func (p *pipe) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if p.closed {
		return pgconn.CommandTag{}, pgx.ErrTxClosed
	}
	line, _, _ := strings.Cut(sql, "\n")
	switch {
	case strings.HasPrefix(line, "-- name: ") && strings.HasSuffix(line, " :exec"):
		p.control(sql, args...)
		p.work++

		return pgconn.CommandTag{}, nil
	case strings.HasPrefix(line, "SET LOCAL "):
		p.control(sql, args...)

		return pgconn.CommandTag{}, nil
	}

	return p.send(ctx, sql, args...).last()
}

// Query implements pgx.Tx.
func (p *pipe) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if p.closed {
		return nil, pgx.ErrTxClosed
	}
	sent := p.send(ctx, sql, args...)
	rows, err := sent.Query()
	if err != nil {
		return nil, errors.Join(err, ignoreSame(sent.Close(), err))
	}

	return &batchRows{Rows: rows, batch: sent}, nil
}

// QueryRow implements pgx.Tx.
func (p *pipe) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := p.Query(ctx, sql, args...)

	return oneRow{rows: rows, err: err}
}

// SendBatch sends what waits before the batch.
func (p *pipe) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if p.closed {
		return &inFlight{err: pgx.ErrTxClosed}
	}

	return p.flush(ctx, b.QueuedQueries)
}

// CopyFrom implements pgx.Tx.
func (p *pipe) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, source pgx.CopyFromSource) (int64, error) {
	if err := p.flush(ctx, nil).Close(); err != nil {
		return 0, err
	}

	return p.conn.CopyFrom(ctx, table, columns, source) //nolint:wrapcheck // as pgx returns it
}

// LargeObjects implements pgx.Tx. There are none here.
func (p *pipe) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

// Prepare implements pgx.Tx.
func (p *pipe) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return p.conn.Conn().Prepare(ctx, name, sql) //nolint:wrapcheck // as pgx returns it
}

// Conn implements pgx.Tx. What is sent on it directly goes before what waits.
func (p *pipe) Conn() *pgx.Conn { return p.conn.Conn() }

func (p *pipe) send(ctx context.Context, sql string, args ...any) *inFlight {
	return p.flush(ctx, []*pgx.QueuedQuery{{SQL: sql, Arguments: args}})
}

// flush sends what waits and then these, in one round trip, and reads the answers to the former.
func (p *pipe) flush(ctx context.Context, queries []*pgx.QueuedQuery) *inFlight {
	before := p.waiting
	p.waiting, p.work, p.sent = nil, 0, true
	if len(before)+len(queries) == 0 {
		return &inFlight{}
	}
	b := &inFlight{BatchResults: p.conn.SendBatch(ctx, &pgx.Batch{QueuedQueries: slices.Concat(before, queries)})}
	for _, q := range before {
		if _, err := b.Exec(); err != nil {
			b.err = fmt.Errorf("%s: %w", firstLine(q.SQL), err)
			_ = b.Close()

			break
		}
	}

	return b
}

func firstLine(sql string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), "\n")

	return line
}
