package crud

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// maxCompared is how many rows of a type are compared before and after an operation.
const maxCompared = 5000

// versions returns the versions of the user's rows of a type.
func (t *Tools) versions(ctx context.Context, tx pgx.Tx, e *domain.Entity) (map[string]string, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT %s::text, %s FROM %s WHERE %s ORDER BY %s LIMIT %d", qualified(e, e.Key), e.VersionSQL(), table(t.domain, e), e.Owned(), qualified(e, e.Key), maxCompared))
	if err != nil {
		return nil, fmt.Errorf("read versions of %s: %w", e.Table, err)
	}
	found := map[string]string{}
	var key, version string
	_, err = pgx.ForEachRow(rows, []any{&key, &version}, func() error {
		found[key] = version

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read versions of %s: %w", e.Table, err)
	}

	return found, nil
}

// compare finds which of the user's visible rows the function changed, whatever it returned.
func (op *operateOp) compare(ctx context.Context, d *decision, tx pgx.Tx) error {
	for _, e := range op.declared.Changes {
		after, err := d.tools.versions(ctx, tx, e)
		if err != nil {
			return err
		}
		var created, updated, gone []string
		for key, version := range after {
			switch was, known := op.before[e][key]; {
			case !known:
				created = append(created, key)
			case was != version:
				updated = append(updated, key)
			}
		}
		for key := range op.before[e] {
			if _, there := after[key]; !there {
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
	op.changed = append(op.changed, registry.Result{Entity: e, Rows: found.rows, Action: action, Sets: ownColumns(e).sets, Versions: found.versions})

	return nil
}

var byUser = map[string]string{
	registry.ActionCreated: registry.ActionCreatedUser, registry.ActionUpdated: registry.ActionUpdatedUser, registry.ActionDeleted: registry.ActionDeletedUser,
}

func (op *operateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (record, error) {
	result := record{notice: spoken(op.told...)}
	for i := range op.changed {
		one := &op.changed[i]
		for _, row := range one.Rows {
			result.changes = append(result.changes, Change{EntityType: one.Entity.Type, ID: keyText(row, one.Entity), Action: one.Action})
		}
		result.total += len(one.Rows)
		if d.scope.Actor == registry.ActorUser {
			one.Action = byUser[one.Action]
		}
	}
	translated, err := d.translate(ctx, tx, op.changed...)
	if err != nil {
		return record{}, err
	}
	for i, part := range translated {
		result.refs = append(result.refs, part.Refs...)
		if op.changed[i].Entity == op.declared.On {
			result.rows = append(result.rows, part.Rows...)
		}
	}

	return result, nil
}
