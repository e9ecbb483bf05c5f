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
		keys := map[string][]string{}
		for key, version := range after[e.Type] {
			switch was, known := op.before[e.Type][key]; {
			case !known:
				keys[registry.ActionCreated] = append(keys[registry.ActionCreated], key)
			case was != version:
				keys[registry.ActionUpdated] = append(keys[registry.ActionUpdated], key)
			}
		}
		for key := range op.before[e.Type] {
			if _, there := after[e.Type][key]; !there {
				keys[registry.ActionDeleted] = append(keys[registry.ActionDeleted], key)
			}
		}
		for _, action := range []string{registry.ActionCreated, registry.ActionUpdated, registry.ActionDeleted} {
			slices.Sort(keys[action])
			if err := op.keep(ctx, d, tx, e, action, keys[action]); err != nil {
				return err
			}
		}
	}

	return nil
}

// keep reads rows that the function changed. Of those that are gone only the key is known.
func (op *operateOp) keep(ctx context.Context, d *decision, tx pgx.Tx, e *domain.Entity, action string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	if action == registry.ActionDeleted {
		gone := registry.Result{Entity: e, Action: action}
		for _, key := range keys {
			gone.Rows = append(gone.Rows, map[string]any{e.Key.Name: key})
		}
		op.changed = append(op.changed, gone)

		return nil
	}
	found, err := d.tools.byKeys(ctx, tx, e, ownColumns(e), keys)
	if err == nil {
		op.changed = append(op.changed, found.after(action))
	}

	return err
}

func (op *operateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (record, error) {
	for i := range op.changed {
		op.changed[i].Action = d.attributed(op.changed[i].Action)
	}
	result, err := op.step.recorded(ctx, d, tx, op.changed...)
	result.notice = spoken(op.told...)

	return result, err
}
