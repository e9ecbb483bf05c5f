package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/domain"
	"alfred/registry"
)

// deleteOp is db_delete.
type deleteOp struct {
	args   deleteArgs
	entity *domain.Entity
	step   *step
	gone   *loaded
}

func (d *decision) newDelete(s *step) (operation, *Error) {
	op := &deleteOp{step: s}
	if err := parse(s.call, &op.args); err != nil {
		return nil, err
	}
	e, err := d.writableEntity(s.call, op.args.Table, domain.Delete)
	if err != nil {
		return nil, err
	}
	op.entity, s.entity = e, e

	return op, nil
}

func (op *deleteOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	targets, err := d.targets(ctx, tx, op.step, op.args.Filters)
	if err != nil || d.approval != nil || len(targets.rows) == 0 {
		return err
	}
	op.gone = targets

	return d.delete(ctx, tx, op.entity, targets)
}

// delete removes rows. The keys of children that go with them are read before,
// because their refs have to be closed too.
func (d *decision) delete(ctx context.Context, tx pgx.Tx, e *domain.Entity, targets *loaded) error {
	for _, child := range e.Children {
		if !cascades(child) {
			continue
		}
		if err := d.tools.loadChildren(ctx, tx, e, child, targets.rows); err != nil {
			return err
		}
	}
	s := &statement{}
	s.add("DELETE FROM ", table(d.tools.domain, e), " WHERE ", qualified(e, e.Key), " = ANY(", s.castList(targets.keys(e), e.Key.Type), ")")
	if _, err := tx.Exec(ctx, s.String(), s.args...); err != nil {
		return fmt.Errorf("delete from %s: %w", e.Table, err)
	}

	return nil
}

func (op *deleteOp) record(ctx context.Context, d *decision, tx pgx.Tx) (record, error) {
	if op.gone == nil {
		return record{}, nil
	}
	result := record{total: len(op.gone.rows)}
	for _, row := range op.gone.rows {
		result.changes = append(result.changes, Change{EntityType: op.entity.Type, ID: keyText(row, op.entity), Action: registry.ActionDeleted})
	}
	translated, err := d.translate(ctx, tx, registry.Result{Entity: op.entity, Rows: op.gone.rows, Action: registry.ActionDeleted})
	if err != nil {
		return record{}, err
	}
	result.rows, result.refs = translated[0].Rows, translated[0].Refs
	for _, row := range result.rows {
		for _, child := range op.entity.Children {
			delete(row, child.Entity.Table)
		}
	}

	return result, nil
}

// cascades says that the child rows go with the parent.
func cascades(child *domain.Child) bool {
	return child.FK.FK != nil && strings.EqualFold(child.FK.FK.OnDelete, "cascade")
}
