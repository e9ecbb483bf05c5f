package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// unworded is an error that only further queries can explain. They have to run outside the savepoint that it aborted.
type unworded struct {
	error

	word func(ctx context.Context, tx pgx.Tx, user uuid.UUID) error
}

func (e *unworded) Unwrap() error { return e.error }

// probe reads the values of one column, of which Postgres may not be able to parse one.
type probe struct {
	column string
	sql    *statement
	form   string // of the column's values, "" if any may do
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
func suspectRows(err error, e *domain.Entity, rows []map[string]any) error {
	return suspect(err, func() []probe { return rowProbes(e, rows) })
}

func rowProbes(e *domain.Entity, rows []map[string]any) (probes []probe) {
	for _, name := range columnsOf(rows...) {
		s := &statement{}
		s.add("SELECT r.", quoted(name), " FROM jsonb_array_elements(", s.value(rows), "::jsonb) AS j (value)",
			" CROSS JOIN LATERAL jsonb_populate_record(NULL::", e.SQL(), ", jsonb_build_object(", s.value(name), "::text, j.value -> ",
			s.value(name), "::text)) AS r")
		form := ""
		if c := e.Column(name); c != nil {
			form = c.Form
		}
		probes = append(probes, probe{name, s, form})
	}

	return probes
}

// suspectFilters suspects the values of filters.
func suspectFilters(err error, e *domain.Entity, filters ...condition) error {
	return suspect(err, func() []probe { return filterProbes(e, filters) })
}

func filterProbes(e *domain.Entity, filters []condition) (probes []probe) {
	for _, c := range filters {
		if c.pointing != nil {
			probes = append(probes, filterProbes(c.pointing.entity, c.pointing.where)...)
		}
		if c.column == nil || len(c.texts) == 0 {
			continue
		}
		s := &statement{}
		as, form := comparedAs(e, c.column), c.column.Form
		if c.column.Holds != "" && (c.op == opContains || c.op == opOverlaps || slices.Contains(orderOps, c.op)) {
			as = c.heldAs()
		}
		if as == c.column.Holds {
			form = ""
		}
		s.add("SELECT ", s.castList(c.texts, as))
		probes = append(probes, probe{c.column.Name, s, form})
	}

	return probes
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

		return failColumn(CodeBadValue, one.column, "%s cannot hold this value: %s.", one.column, dataRule(pgErr, one.form))
	}

	return nil
}

// inUse is the error of a deletion for which a foreign key may have been the reason, without a message of the owner's.
// Postgres does not say which of the rows are in use.
func (t *Tools) inUse(e *domain.Entity, keys []string, err error) error {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pgErr.Code != pgerrcode.ForeignKeyViolation && pgErr.Code != pgerrcode.RestrictViolation || raised(pgErr) {
		return err
	}

	return &unworded{err, func(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
		return t.whichInUse(ctx, tx, user, e, keys, pgErr.TableName)
	}}
}

// whichInUse words a refused deletion. It names each row in use, and counts what uses it by type, so that the others
// can be deleted. Rows that the user does not see are named by their type alone, if it is known from the table that
// refers to them.
func (t *Tools) whichInUse(ctx context.Context, tx pgx.Tx, user uuid.UUID, e *domain.Entity, keys []string, table string) error {
	var found *Error
	err := pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) (err error) {
		found, err = t.rowsInUse(ctx, tenant, e, keys)

		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("look for rows in use: %w", err)
	case found != nil && len(keys) > 1:
		found.Message += " Nothing was deleted."

		return found
	case found != nil:
		return found
	}
	by := "other rows"
	if other := t.domain.ByTable(table); other != nil {
		by = other.Plural
	}

	return fail(CodeConflict, "The %s is still in use by %s.", e.Name, by)
}

// rowsInUse says which of the rows others that the tenant sees keep from being deleted, nil for none.
func (t *Tools) rowsInUse(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (*Error, error) {
	by, err := t.users(ctx, tenant, e, keys)
	if err != nil || len(by) == 0 {
		return nil, err
	}
	rows, err := loadDistinguishing(ctx, tenant, e, keys)
	if err != nil {
		return nil, err
	}
	var found faults
	labels := distinctLabels(e, rows.Rows)
	for i, key := range rows.keys() {
		if by[key] != nil {
			found.add(fail(CodeConflict, "The %s is still in use by %s.", nounAndLabel(e, labels[i]), strings.Join(by[key], " and ")))
		}
	}

	return found.one(), nil
}

// users counts the rows that keep others from being deleted, by the key of those: "3 visits". What is deleted with them
// keeps nothing.
func (t *Tools) users(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (map[string][]string, error) {
	by, columns, holders := map[string][]string{}, map[*domain.Entity][]*domain.Column{}, t.domain.RestrictingKeys(e)
	for _, holder := range holders { // an order may name one customer three times
		columns[holder.Entity] = append(columns[holder.Entity], holder.Column)
	}
	for _, holder := range holders {
		if columns[holder.Entity][0] != holder.Column {
			continue
		}
		s := &statement{}
		s.add(`SELECT " keys".key, count(*) FROM unnest(`, s.value(keys), `::text[]) AS " keys" (key) JOIN `, holder.Entity.SQL(),
			" ON (", joinEach(columns[holder.Entity], " OR ", func(c *domain.Column) string { return holder.Entity.Qualified(c) + ` = " keys".key::` + c.Type }),
			") WHERE ", holder.Entity.Owned())
		if holder.Entity == e {
			s.add(" AND NOT ", s.keyIn(e, keys))
		}
		s.add(" GROUP BY 1")
		var (
			key  string
			many int
		)
		err := s.each(ctx, tenant, []any{&key, &many}, func() error {
			by[key] = append(by[key], counted(many, holder.Entity.Name, holder.Entity.Plural))

			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", holder.Entity.Table, err)
		}
	}

	return by, nil
}
