package crud

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// maxCompared is how many rows of a type are compared before and after an operation.
const maxCompared = 5000

// versions returns the versions of the user's rows of the types that the function changes.
func (op *operateOp) versions(ctx context.Context, d *decision, tx pgx.Tx) (map[string]map[string]string, error) {
	return d.tools.versions(ctx, tx, func(e *domain.Entity, s *statement) bool {
		s.add("TRUE ORDER BY ", qualified(e, e.Key), " LIMIT ", s.value(maxCompared))

		return slices.Contains(op.declared.Changes, e)
	})
}

// compare finds which of the user's visible rows the function changed, whatever it returned.
func (op *operateOp) compare(ctx context.Context, d *decision, tx pgx.Tx) error {
	after, err := op.versions(ctx, d, tx)
	if err != nil {
		return err
	}
	for _, e := range op.declared.Changes {
		var created, updated, gone []string
		for key, version := range after[e.Type] {
			switch was, known := op.before[e.Type][key]; {
			case !known:
				created = append(created, key)
			case was != version:
				updated = append(updated, key)
			}
		}
		for key := range op.before[e.Type] {
			if _, there := after[e.Type][key]; !there {
				gone = append(gone, key)
			}
		}
		if err := op.keep(ctx, d, tx, e, registry.ActionCreated, created); err != nil {
			return err
		}
		if err := op.keep(ctx, d, tx, e, registry.ActionUpdated, updated); err != nil {
			return err
		}
		slices.Sort(gone)
		if len(gone) > 0 {
			rows := make([]map[string]any, len(gone))
			for i, key := range gone {
				rows[i] = map[string]any{e.Key.Name: key}
			}
			op.changed = append(op.changed, registry.Result{Entity: e, Rows: rows, Action: registry.ActionDeleted})
		}
	}

	return nil
}

func (op *operateOp) keep(ctx context.Context, d *decision, tx pgx.Tx, e *domain.Entity, action string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	found, err := d.tools.byKeys(ctx, tx, e, ownColumns(e), keys)
	if err != nil {
		return err
	}
	op.changed = append(op.changed, found.after(action))

	return nil
}

func (op *operateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (record, error) {
	for i := range op.changed {
		op.changed[i].Action = d.attributed(op.changed[i].Action)
	}
	result, err := op.step.recorded(ctx, d, tx, op.changed...)
	result.notice = spoken(op.told...)

	return result, err
}
