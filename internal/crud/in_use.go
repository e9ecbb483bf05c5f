package crud

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/registry"
)

// usedError is a deletion that a foreign key refused, without a message of the owner's. Postgres does not say which of
// the rows are in use; that is looked up later, outside the savepoint that the refusal aborted.
type usedError struct {
	err    error
	entity *domain.Entity
	keys   []string
	table  string // that refers to them
}

func (e *usedError) Error() string { return e.err.Error() }
func (e *usedError) Unwrap() error { return e.err }

// inUse attaches the deleted rows to the error of a foreign key. Other errors stay as they are.
func inUse(e *domain.Entity, keys []string, err error) error {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pgErr.Code != pgerrcode.ForeignKeyViolation && pgErr.Code != pgerrcode.RestrictViolation || raised(pgErr) {
		return err
	}

	return &usedError{err, e, keys, pgErr.TableName}
}

// whichInUse words a refused deletion: it names each row that is in use, and by how many rows of which types, so that
// the others can be deleted. Rows that the user does not see are named by their type alone, if it is known.
func (t *Tools) whichInUse(ctx context.Context, tx pgx.Tx, user uuid.UUID, used *usedError) error {
	var found faults
	err := pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error {
		by, err := t.users(ctx, tenant, used.entity, used.keys)
		if err != nil || len(by) == 0 {
			return err
		}
		rows, err := t.worded(ctx, tenant, used.entity, used.keys, used.entity.Label, used.entity.Spoken)
		if err != nil {
			return err
		}
		labels := distinct(used.entity, rows.Rows)
		for i, key := range rows.keys() {
			if by[key] != nil {
				found.add(fail(CodeConflict, "The %s is still in use by %s.", called(used.entity, labels[i]), strings.Join(by[key], " and ")))
			}
		}

		return nil
	})
	if err != nil {
		return fmt.Errorf("look for rows in use: %w", err)
	}
	if fault := found.one(); fault != nil {
		if len(used.keys) > 1 {
			fault.Message += " Nothing was deleted."
		}

		return fault
	}
	by := "other rows"
	if other := t.domain.ByTable(used.table); other != nil {
		by = other.Plural
	}

	return fail(CodeConflict, "The %s is still in use by %s.", used.entity.Name, by)
}

// users counts the rows that keep others from being deleted, by the key of those: "3 visits". What is deleted with them
// keeps nothing.
func (t *Tools) users(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (map[string][]string, error) {
	by := map[string][]string{}
	for _, holder := range t.domain.Holders(e) {
		s := &statement{}
		s.add(`SELECT " keys".key, count(*) FROM unnest(`, s.value(keys), `::text[]) AS " keys" (key) JOIN `, table(t.domain, holder.Entity),
			" ON ", qualified(holder.Entity, holder.Column), ` = " keys".key::`, holder.Column.Type, " WHERE ", holder.Entity.Owned())
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

// distinct are the labels of rows; where some are alike, what else is said of the rows.
func distinct(e *domain.Entity, rows []map[string]any) []string {
	labels, seen, alike := make([]string, len(rows)), map[string]bool{}, false
	for i, row := range rows {
		labels[i] = registry.Scrub(e.Label.Render(row))
		alike, seen[labels[i]] = alike || seen[labels[i]], true
	}
	for i := range labels {
		if alike {
			labels[i] = spokenLine(e, rows[i])
		}
	}

	return labels
}
