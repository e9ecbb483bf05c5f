package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// writtenRows are rows of one type that a call wrote.
type writtenRows struct {
	entity *domain.Entity
	keys   []string
	call   int
}

// noteWritten notes rows that a call wrote: from now on the decision knows them. They are checked when all its calls
// are done, because one may correct what another leaves wrong for a while.
func (d *decision) noteWritten(e *domain.Entity, keys []string) {
	d.written = append(d.written, writtenRows{e, keys, d.running})
}

// hasWritten reports whether this decision has written the row.
func (d *decision) hasWritten(e *domain.Entity, key string) bool {
	return slices.ContainsFunc(d.written, func(w writtenRows) bool { return w.entity == e && slices.Contains(w.keys, key) })
}

// settling runs the deferred constraints after each of several writes, while it is still known which of them violated
// one. A violation that a later write mends does not count: two lines of a balanced entry change one after the other.
type settling struct {
	tools *Tools
	open  *callError // the first violation that is not mended
}

// after settles one of the writes. at is where a violation would be.
func (s *settling) after(ctx context.Context, tenant pgx.Tx, one *step, last bool, at callError) error {
	if d := s.tools.domain; d.Deferred && (vocab.Writes(one.call.Tool) || d.Operation(one.call.Tool) != nil) {
		at.err = s.settle(ctx, tenant, last)
		if one.call.Tool == vocab.ToolDelete { // a foreign key that is checked late has found what it would have found at once
			at.err = s.tools.inUse(at.entity, one.keys, at.err)
		}
		switch {
		case at.err == nil:
			s.open = nil
		case s.open == nil:
			s.open = &at
		}
	}
	if last && s.open != nil {
		return s.open
	}

	return nil
}

// settle runs them under a savepoint, unless nothing follows that a violation must not abort.
func (s *settling) settle(ctx context.Context, tenant pgx.Tx, last bool) error {
	settle := func(tx pgx.Tx) error { return s.tools.settle(ctx, tx) }
	if last && s.open == nil {
		return settle(tenant)
	}

	return pg.InTx(ctx, tenant, settle)
}

// settle runs the deferred constraints as the tenant. Later calls of the decision may again violate them temporarily.
func (t *Tools) settle(ctx context.Context, tenant pgx.Tx) error {
	if !t.domain.Deferred {
		return nil
	}
	sql := "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED"
	if t.domain.Settle != "" {
		sql = t.domain.Settle + "; " + sql
	}
	if _, err := tenant.Exec(ctx, sql); err != nil {
		return fmt.Errorf("check deferred constraints: %w", err)
	}

	return nil
}

// checkWritten runs the owner's checks on what was written.
func (d *decision) checkWritten(ctx context.Context, tx pgx.Tx) error {
	for _, w := range d.written {
		if len(w.entity.Checks) == 0 || len(w.keys) == 0 {
			continue
		}
		s := &statement{}
		s.add("SELECT * FROM ", w.entity.SQL(), " WHERE ", s.keyIn(w.entity, w.keys))
		if err := runChecks(ctx, tx, w.entity, s); err != nil {
			return &callError{index: w.call, entity: w.entity, err: err}
		}
	}

	return nil
}

// runChecks fails with what the owner's checks report for the rows of a query.
func runChecks(ctx context.Context, tx pgx.Tx, e *domain.Entity, source *statement) error {
	var said []string
	for _, check := range e.Checks {
		s := &statement{args: source.args}
		s.add(domain.CheckSQL(source.String(), check))
		found, err := s.texts(ctx, tx)
		if err != nil {
			return fmt.Errorf("check %s: %w", e.Table, err)
		}
		said = append(said, found...)
	}
	if len(said) == 0 {
		return nil
	}

	return fail(CodeViolation, "%s", sentences(said[:min(len(said), namedInQuestion)]...))
}

// checkWithDrafts runs the owner's checks on what the drafts would write, together with the session's other drafts: a plan
// consists of several.
func (op *generateOp) checkWithDrafts(ctx context.Context, d *decision, tx pgx.Tx) error {
	if !slices.ContainsFunc(d.tools.domain.Entities, func(e *domain.Entity) bool { return len(e.Checks) > 0 }) {
		return nil
	}
	pending, err := d.registry.PendingDrafts(ctx)
	if err != nil {
		return err
	}
	types, rows := map[string]*domain.Entity{}, map[*domain.Entity][]map[string]any{}
	for _, entry := range pending {
		types[entry.Ref] = d.tools.domain.ByType(entry.Type)
	}
	for _, one := range slices.Concat(op.creates, op.updates) {
		rows[one.entity] = append(rows[one.entity], one.content)
		delete(types, one.ref)
	}
	unchanged, err := d.registry.GetEntityData(ctx, slices.Collect(maps.Keys(types))...)
	if err != nil {
		return err
	}
	for _, entry := range pending {
		if content, is := unchanged[entry.Ref]; is {
			rows[types[entry.Ref]] = append(rows[types[entry.Ref]], content)
		}
	}
	for _, e := range d.tools.domain.Entities {
		if err := d.checkDrafts(ctx, tx, e, rows[e]); err != nil {
			return err
		}
	}

	return nil
}

// checkDrafts runs the checks on what drafts of one type would write. References are replaced by keys, except those to
// other drafts.
func (d *decision) checkDrafts(ctx context.Context, tx pgx.Tx, e *domain.Entity, drafts []map[string]any) error {
	if len(e.Checks) == 0 || len(drafts) == 0 {
		return nil
	}
	byType := map[*domain.Entity][]string{}
	for _, draft := range drafts {
		gatherRefs(byType, e, draft)
	}
	entries, err := d.registry.Lookup(ctx, slices.Concat(slices.Collect(maps.Values(byType))...))
	if err != nil {
		return err
	}
	rows := make([]map[string]any, len(drafts))
	for i, draft := range drafts {
		rows[i] = map[string]any{}
		for _, c := range e.Columns {
			value, given := draft[c.Name]
			ref, _ := value.(string)
			switch entry, known := entries[ref]; {
			case !given || c.Expr != "" || c == e.Key:
			case c.FK == nil:
				rows[i][c.Name] = value
			case known && !entry.Pending():
				rows[i][c.Name] = entry.ID
			}
		}
	}
	s := &statement{}
	s.add("SELECT * FROM jsonb_populate_recordset(NULL::", e.SQL(), ", ", s.value(rows), "::jsonb)")

	return runChecks(ctx, tx, e, s)
}
