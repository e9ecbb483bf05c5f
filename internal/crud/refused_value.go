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

// probe reads the values of one column, of which Postgres may not be able to parse one.
type probe struct {
	column string
	sql    *statement
}

// nameless reports whether the error concerns a value but names no column: a data
// exception, or a domain type's rule.
func nameless(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && (pgerrcode.IsDataException(pgErr.Code) || pgErr.Code == pgerrcode.CheckViolation && pgErr.TableName == "")
}

// suspect is an error that names no column, but can be traced to one by probes. Other errors stay as they are.
func suspect(err error, probes func() []probe) error {
	if !nameless(err) {
		return err
	}

	return &unworded{err, func(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
		return cmp.Or(refusedColumn(ctx, tx, user, probes()), err)
	}}
}

// suspectRows suspects the values of written rows.
func (t *Tools) suspectRows(err error, e *domain.Entity, rows []map[string]any) error {
	return suspect(err, func() []probe { return t.rowProbes(e, rows) })
}

func (t *Tools) rowProbes(e *domain.Entity, rows []map[string]any) (probes []probe) {
	for _, name := range columnsOf(rows...) {
		s := &statement{}
		s.add("SELECT r.", quoted(name), " FROM jsonb_array_elements(", s.value(rows), "::jsonb) AS j (value)",
			" CROSS JOIN LATERAL jsonb_populate_record(NULL::", table(t.domain, e), ", jsonb_build_object(", s.value(name), "::text, j.value -> ",
			s.value(name), "::text)) AS r")
		probes = append(probes, probe{name, s})
	}

	return probes
}

// suspectFilters suspects the values of filters.
func suspectFilters(err error, e *domain.Entity, filters ...condition) error {
	return suspect(err, func() (probes []probe) {
		for _, c := range filters {
			if c.column == nil || len(c.texts) == 0 {
				continue
			}
			s := &statement{}
			as := comparedAs(e, c.column)
			if c.op == opContains {
				as = cmp.Or(c.column.Holds, as)
			}
			s.add("SELECT ", s.castList(c.texts, as))
			probes = append(probes, probe{c.column.Name, s})
		}

		return probes
	})
}

// refusedColumn names the column whose value could not be read. If each of them can be, it returns nil: then a value
// computed from them is at fault.
func refusedColumn(ctx context.Context, tx pgx.Tx, user uuid.UUID, probes []probe) error {
	for _, one := range probes {
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

	return nil
}
