package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// valueError is a value that Postgres could not parse without saying in which
// column. Each probe reads the values of one column.
type valueError struct {
	err    error
	probes []probe
}

type probe struct {
	column string
	sql    *statement
}

func (e *valueError) Error() string { return e.err.Error() }
func (e *valueError) Unwrap() error { return e.err }

// nameless reports whether the error concerns a value but names no column: a data
// exception, or a domain type's rule.
func nameless(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && (pgerrcode.IsDataException(pgErr.Code) || pgErr.Code == pgerrcode.CheckViolation && pgErr.TableName == "")
}

// suspectRows attaches the written rows to an error that names no column, so that
// it can be traced. Other errors stay as they are.
func (t *Tools) suspectRows(err error, e *domain.Entity, rows []map[string]any) error {
	if !nameless(err) {
		return err
	}
	suspect := &valueError{err: err}
	for _, name := range columnsOf(rows...) {
		s := &statement{}
		s.add("SELECT r.", quoted(name), " FROM jsonb_array_elements(", s.value(rows), "::jsonb) AS j (value)",
			" CROSS JOIN LATERAL jsonb_populate_record(NULL::", table(t.domain, e), ", jsonb_build_object(", s.value(name), "::text, j.value -> ",
			s.value(name), "::text)) AS r")
		suspect.probes = append(suspect.probes, probe{name, s})
	}

	return suspect
}

// suspectFilters is suspectRows for the values of filters.
func suspectFilters(err error, e *domain.Entity, lists ...[]condition) error {
	if !nameless(err) {
		return err
	}
	suspect := &valueError{err: err}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			if c.column == nil || len(c.texts) == 0 {
				continue
			}
			s := &statement{}
			as := comparedAs(e, c.column)
			if c.op == opContains {
				as = cmp.Or(c.column.Holds, as)
			}
			s.add("SELECT ", s.castList(c.texts, as))
			suspect.probes = append(suspect.probes, probe{c.column.Name, s})
		}
	}

	return suspect
}

// refusedColumn names the column whose value could not be read. If each of them can be, it leaves the error as it is:
// then a value computed from them is at fault.
func refusedColumn(ctx context.Context, tx pgx.Tx, user uuid.UUID, suspect *valueError) error {
	for _, one := range suspect.probes {
		err := pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error { // the role that may use the domain's types
			_, err := tenant.Exec(ctx, one.sql.String(), one.sql.args...)

			return err
		})
		if err == nil {
			continue
		}
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || !nameless(err) {
			return fmt.Errorf("read value: %w", err)
		}

		return failColumn(CodeBadValue, one.column, "%s cannot hold this value: %s.", one.column, dataRule(pgErr))
	}

	return suspect.err
}
