package pg

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// inFlight is a batch that has been sent. A failure before its first answer is kept and returned by everything.
type inFlight struct {
	pgx.BatchResults

	err error
}

// last reads the answer that is left and ends the batch.
func (b *inFlight) last() (pgconn.CommandTag, error) {
	tag, err := b.Exec()
	if closeErr := b.Close(); err == nil {
		err = closeErr
	}

	return tag, err
}

// Exec implements pgx.BatchResults.
func (b *inFlight) Exec() (pgconn.CommandTag, error) {
	if b.err != nil {
		return pgconn.CommandTag{}, b.err
	}

	return b.BatchResults.Exec() //nolint:wrapcheck // as pgx returns it
}

// Query implements pgx.BatchResults.
func (b *inFlight) Query() (pgx.Rows, error) {
	if b.err != nil {
		return nil, b.err
	}

	return b.BatchResults.Query() //nolint:wrapcheck // as pgx returns it
}

// QueryRow implements pgx.BatchResults.
func (b *inFlight) QueryRow() pgx.Row {
	if b.err != nil {
		return oneRow{err: b.err}
	}

	return b.BatchResults.QueryRow()
}

// Close implements pgx.BatchResults.
func (b *inFlight) Close() error {
	if b.BatchResults == nil {
		return b.err
	}
	err := b.BatchResults.Close()
	if b.err != nil {
		return b.err
	}

	return err //nolint:wrapcheck // as pgx returns it
}

// batchRows are rows of a batch's last query; the batch ends with them.
type batchRows struct {
	pgx.Rows

	batch pgx.BatchResults
	err   error
}

// Next implements pgx.Rows.
func (r *batchRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}

	return more
}

// Close implements pgx.Rows.
func (r *batchRows) Close() {
	r.Rows.Close()
	r.err = r.batch.Close()
}

// Err implements pgx.Rows.
func (r *batchRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err //nolint:wrapcheck // as pgx returns it
	}

	return r.err
}

// oneRow is the first of some rows.
type oneRow struct {
	rows pgx.Rows
	err  error
}

// Scan implements pgx.Row.
func (r oneRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err //nolint:wrapcheck // as pgx returns it
		}

		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err //nolint:wrapcheck // as pgx returns it
	}
	r.rows.Close()

	return r.rows.Err() //nolint:wrapcheck // as pgx returns it
}

// ignoreSame keeps an error from being told twice.
func ignoreSame(err, told error) error {
	if errors.Is(err, told) || errors.Is(told, err) {
		return nil
	}

	return err
}
