package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/registry"
)

// recordDeletions records rows about to be deleted, after everything deleted or changed with them: undone in reverse order, a
// row exists before whatever references it.
func (j *journal) recordDeletions(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) error {
	if j.tools == nil {
		return nil
	}

	if e.Marks {
		were, err := j.images(ctx, tx, e, e.Key, keys)
		j.addDeletions(e, were, nil)
		if err != nil || !j.counts {
			return err
		}
		hidden, left, err := j.hiddenWith(ctx, tx, e, keys)
		j.writes, j.left = append(j.writes, hidden...), append(j.left, left...)

		return err
	}

	return j.recordDeletedBy(ctx, tx, e, e.Key, keys, map[rowKey]bool{})
}

// hiddenWith returns what is no longer shown once rows are marked, because it would be deleted with them, and what goes on naming
// these. It is there still.
func (j *journal) hiddenWith(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) (hidden, left []*rowChange, err error) {
	if j.tools == nil || !e.Marks {
		return nil, nil, nil
	}
	would := &journal{tools: j.tools, counts: true, hides: true}
	err = would.recordDeletedBy(ctx, tx, e, e.Key, keys, map[rowKey]bool{})
	hidden = only(would.writes, func(w *rowChange) bool { return w.entity != e && w.Action == registry.ActionDeleted })
	for _, w := range hidden {
		w.Lost = nil
	}

	return hidden, would.left, err
}

// recordDeletedBy records the rows that a column references, deepest first. seen breaks cycles.
func (j *journal) recordDeletedBy(ctx context.Context, tx pgx.Tx, e *domain.Entity, by *domain.Column, keys []string, seen map[rowKey]bool) error {
	were, err := j.images(ctx, tx, e, by, keys)
	if err != nil {
		return err
	}
	maps.DeleteFunc(were, func(key string, _ image) bool { return seen[rowKey{e.Type, key}] })
	if len(were) == 0 {
		return nil
	}
	gone := slices.Sorted(maps.Keys(were))
	for _, key := range gone {
		seen[rowKey{e.Type, key}] = true
	}
	for _, dependent := range j.tools.domain.Dependents(e) {
		if j.hides && dependent.Entity == e && by.Target() == e {
			continue
		}
		if err := j.recordDependents(ctx, tx, dependent, gone, seen); err != nil {
			return err
		}
	}
	if err := j.recordLeft(ctx, tx, e, gone); err != nil {
		return err
	}
	lost, others, err := lostUnseen(ctx, tx, e, gone)
	if err != nil {
		return err
	}
	j.others = j.others || others
	j.addDeletions(e, were, lost)

	return nil
}

// addDeletions adds deleted rows; lost says what else is lost with them that nobody sees.
func (j *journal) addDeletions(e *domain.Entity, were map[string]image, lost *string) {
	unseen := lost != nil
	if lost == nil && !e.Restorable {
		lost = new(fmt.Sprintf("Deleted %s cannot be brought back: the database does not allow it.", e.Plural))
	}
	for _, key := range slices.Sorted(maps.Keys(were)) {
		w := j.add(e, key, registry.ActionDeleted)
		w.Before, w.was, w.Lost, w.unseen = insertable(e, were[key]), were[key], lost, unseen
	}
}

// recordDependents records rows that reference deleted ones: they are deleted too, or lose the reference.
func (j *journal) recordDependents(ctx context.Context, tx pgx.Tx, dependent domain.Dependent, keys []string, seen map[rowKey]bool) error {
	e := dependent.Entity
	if dependent.Cascade {
		return j.recordDeletedBy(ctx, tx, e, dependent.Column, keys, seen)
	}
	were, err := j.images(ctx, tx, e, dependent.Column, keys)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(were)) {
		if !seen[rowKey{e.Type, key}] {
			j.recordUpdate(e, key, were[key], []string{dependent.Column.Name})
			if !dependent.Column.SetBack {
				j.lastWrite(e, key).Lost = new(fmt.Sprintf("The %s that name it lose that for good: the database does not allow to set it back.", e.Plural))
			}
		}
	}

	return nil
}

// recordLeft notes the rows that will name deleted ones, because no foreign key knows of it.
func (j *journal) recordLeft(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) error {
	counting, leaves := &journal{counts: true}, &journal{}
	for _, r := range j.tools.domain.LooseReferences(e) {
		found, err := counting.images(ctx, tx, r.Entity, r.Column, keys)
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(found)) {
			leaves.add(r.Entity, key, actionLeft)
		}
	}
	j.left = append(j.left, leaves.writes...)

	return nil
}

// lostUnseen describes invisible rows that are deleted with the given ones, nil for none, and whether they are other
// people's. The tenant cannot see them, so the engine looks; where it may not, there may be some.
func lostUnseen(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) (lost *string, others bool, err error) {
	for _, unseen := range e.Unseen {
		there, err := dependsUnseen(ctx, tx, e, unseen, keys)
		if err != nil {
			return nil, false, err
		}
		if there && unseen.Shown != nil {
			return new(fmt.Sprintf("With the %s, %s of others are deleted or changed, which I do not see and cannot bring back.", e.Name, unseen.Shown.Plural)), true, nil
		}
		if there {
			return new(fmt.Sprintf("With the %s, rows of %s are deleted or changed that I do not see and cannot bring back.", e.Name, domain.Spoken(unseen.Name))), false, nil
		}
	}

	return nil, false, nil
}

// mayLook asks whether the role may read all rows of a table. A policy would hide some of them.
const mayLook = `
	SELECT coalesce((SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND NOT row_security_active(c.oid)
	                 FROM parse_ident($1) AS name
	                 JOIN pg_catalog.pg_namespace AS n ON n.nspname = name[1]
	                 JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = name[2]), false)`

func dependsUnseen(ctx context.Context, tx pgx.Tx, e *domain.Entity, unseen domain.Unseen, keys []string) (there bool, err error) {
	pointed, seen, err := pointedAt(ctx, tx, e, unseen, keys)
	if err != nil {
		return false, err
	}
	err = pg.AsEngine(ctx, tx, func(engine pgx.Tx) error {
		var may bool
		if err := engine.QueryRow(ctx, mayLook, unseen.Table).Scan(&may); err != nil {
			return err
		}
		if there = unseen.Shown == nil; !may || len(unseen.Targets) == 0 {
			return nil
		}
		s := &statement{}
		values := make([]string, len(unseen.Targets))
		for i, c := range unseen.Targets {
			values[i] = fmt.Sprintf("(r ->> %d)::%s", i, c.Type)
		}
		s.add("SELECT EXISTS (SELECT FROM ", unseen.Table, " WHERE (", joinEach(unseen.Columns, ", ", quoted), ") IN (SELECT ", strings.Join(values, ", "),
			" FROM jsonb_array_elements(", s.value(pointed), "::jsonb) AS r) OFFSET ", s.value(seen), "::bigint)")

		return engine.QueryRow(ctx, s.String(), s.args...).Scan(&there)
	})
	if err != nil {
		return false, fmt.Errorf("look for rows of %s: %w", unseen.Name, err)
	}

	return there, nil
}

// pointedAt reads what unseen rows hold of those with the keys, and counts those of the tenant's own that hold it.
func pointedAt(ctx context.Context, tx pgx.Tx, e *domain.Entity, unseen domain.Unseen, keys []string) (pointed []byte, seen int, err error) {
	s := &statement{}
	holds := joinEach(unseen.Targets, ", ", func(c *domain.Column) string { return e.Qualified(c) })
	s.add("SELECT (SELECT jsonb_agg(jsonb_build_array(", holds, ")) FROM ", e.SQL(), " WHERE ", s.keyIn(e, keys), "), ")
	if unseen.Shown == nil {
		s.add("0")
	} else {
		s.add("(SELECT count(*) FROM ", unseen.Shown.SQL(), " WHERE ", s.in(quoted(unseen.By.Name), keys, unseen.By.Type), ")")
	}
	if err := tx.QueryRow(ctx, s.String(), s.args...).Scan(&pointed, &seen); err != nil {
		return nil, 0, fmt.Errorf("look for rows of %s: %w", unseen.Name, err)
	}

	return pointed, seen, nil
}

// insertable returns a row as an insert may write it.
func insertable(e *domain.Entity, row image) image {
	whole := image{}
	for _, c := range e.Columns {
		if value, ok := row[c.Name]; ok && !c.Derived && c.Expr == "" {
			whole[c.Name] = value
		}
	}

	return whole
}
