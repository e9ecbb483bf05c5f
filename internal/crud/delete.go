package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// deleteOp is db_delete.
type deleteOp struct {
	*step

	args deleteArgs
	gone *loaded
}

func (d *decision) newDelete(s *step) (operation, *Error) {
	op := &deleteOp{step: s}

	return op, d.begin(s, &op.args, &op.args.Table, domain.Delete)
}

func (op *deleteOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	targets, err := d.targets(ctx, tx, op.step, op.args.Filters)
	if err != nil || d.approval != nil || len(targets.Rows) == 0 {
		return err
	}
	op.gone = targets
	before := len(d.journal.writes)
	err = d.delete(ctx, tx, op.entity, targets)
	op.deletes = d.journal.writes[before:] // a question about a later call names these rows too, which are no longer there to be counted

	return err
}

// delete removes rows. The keys of children deleted with them are read first, because their refs have to be closed too.
func (d *decision) delete(ctx context.Context, tx pgx.Tx, e *domain.Entity, targets *loaded) error {
	for _, child := range e.Children {
		if !cascades(child) {
			continue
		}
		if err := loadChildren(ctx, tx, child, targets); err != nil {
			return err
		}
	}
	if err := d.journal.deleting(ctx, tx, e, targets.keys()); err != nil {
		return err
	}

	return d.deleteRows(ctx, tx, e, targets.keys())
}

// deleteRows deletes exactly the rows with these keys.
func (d *decision) deleteRows(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) error {
	s := &statement{}
	s.add("DELETE FROM ", e.SQL(), " WHERE ", e.Owned(), " AND ", s.keyIn(e, keys))
	tag, err := tx.Exec(ctx, s.String(), s.args...)
	if err != nil {
		return fmt.Errorf("delete from %s: %w", e.Table, d.tools.inUse(e, keys, err))
	}

	return requireRows(e, tag.RowsAffected(), len(keys))
}

// requireRows refuses a write that affected another number of rows than were found. Rows that the tenant may not update
// cannot be locked, so somebody else may have been faster; or a trigger left some out without a word.
func requireRows(e *domain.Entity, reached int64, rows int) error {
	if reached != int64(rows) {
		return fail(CodeStale, "Rows of %s were changed by somebody else in the meantime, or a rule keeps them as they are: read them again.", e.Table)
	}

	return nil
}

func (op *deleteOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	if op.gone == nil {
		return Result{}, nil
	}
	result, err := op.recorded(ctx, d, tx, op.gone.after(registry.ActionDeleted))
	for _, row := range result.rows {
		for _, child := range op.entity.Children {
			delete(row, child.Entity.Table)
		}
	}

	return result, err
}

// cascades reports whether child rows are deleted with their parent.
func cascades(child *domain.Child) bool {
	return child.FK.FK != nil && strings.EqualFold(child.FK.FK.OnDelete, "cascade")
}
