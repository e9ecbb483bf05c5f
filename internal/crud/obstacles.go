package crud

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// namingObstacles is the error of a write of rows, of those with the keys if there are any. If they were not to stand beside others, it
// names those that the user sees: a new value would do, but nobody knows beside which.
func namingObstacles(err error, e *domain.Entity, rows []map[string]any, keys []string) error {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pgErr.Code != pgerrcode.ExclusionViolation || raised(pgErr) {
		return suspectRows(err, e, rows)
	}

	return &unworded{err, func(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
		rule, lookupErr := constraint(ctx, tx, pgErr.SchemaName, pgErr.TableName, pgErr.ConstraintName)
		said, _ := errors.AsType[*Error](explainPgError(ctx, tx, user, pgErr.SchemaName, e, err))
		s := obstacles(e, rule.definition, rows, keys)
		if lookupErr != nil || said == nil || s == nil {
			return err
		}
		_ = pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error { // what the rule compares may be no columns of a view
			found, err := s.texts(ctx, tenant)
			if err != nil || len(found) == 0 {
				return err
			}
			others, err := loadForTemplates(ctx, tenant, e, queryByKeys(e, found), furthestName, e.Label, e.Spoken)
			if err == nil {
				said.Message += " In the way: " + andMore(distinctLabels(e, others.Rows), len(others.Rows)) + "."
			}

			return err
		})

		return said
	}}
}

// obstacles selects the keys of the rows beside which an exclusion lets no such rows stand, nil if its text cannot be read. A column
// that only has to be equal may be filled in for a row without it.
func obstacles(e *domain.Entity, definition string, rows []map[string]any, keys []string) *statement {
	found := ruleApart.FindStringSubmatch(definition)
	if found == nil {
		return nil
	}
	var values, names, beside []string
	for i, compared := range ruleCompares.FindAllStringSubmatch(found[1], -1) {
		name := "c" + strconv.Itoa(i)
		test := "o." + name + " " + compared[2] + " n." + name
		if compared[2] == "=" {
			test = "coalesce(" + test + ", n." + name + " IS NULL)"
		}
		values, names, beside = append(values, "("+compared[1]+")"), append(names, name), append(beside, test)
	}
	s, shown, as := &statement{}, strings.Join(values, ", "), strings.Join(names, ", ")+")"
	s.add("SELECT DISTINCT o.key FROM (SELECT ", e.Qualified(e.Key), "::text, ", shown, " FROM ", e.SQL(), " WHERE ", e.Owned(), " AND (", cmp.Or(found[2], "TRUE"), ")")
	if len(keys) > 0 {
		s.add(" AND NOT ", s.keyIn(e, keys))
	}
	s.add(") AS o (key, ", as, " JOIN (SELECT ", shown, " FROM (SELECT (jsonb_populate_record(")
	if len(keys) > 0 {
		s.add(e.SQL(), ".*, ", s.value(rows[0]), "::jsonb)).* FROM ", e.SQL(), " WHERE ", s.keyIn(e, keys))
	} else {
		s.add("NULL::", e.SQL(), ", j.value)).* FROM jsonb_array_elements(", s.value(rows), "::jsonb) AS j (value)")
	}
	s.add(") AS r) AS n (", as, " ON ", strings.Join(beside, " AND "), " ORDER BY 1 LIMIT ", strconv.Itoa(maxTold))

	return s
}
