package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// updateOp is db_update.
type updateOp struct {
	*step

	args    updateArgs
	written map[string]any
	before  *loaded
	after   *loaded
}

func (d *decision) newUpdate(s *step) (operation, *Error) {
	op := &updateOp{step: s}
	if err := d.begin(s, &op.args, &op.args.Table, domain.Update); err != nil {
		return nil, err
	}
	var err *Error
	op.args.Data, err = oneForm(s.entity, op.args.Data, &op.args.changeArgs, "db_update takes its change once.")
	if err != nil {
		return nil, err
	}
	if len(op.args.Data) == 0 {
		return nil, fail(CodeBadArgument, "set or clear has to name at least one column.")
	}

	return op, nil
}

func (op *updateOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	if fault := knownNames(op.entity, op.args.Data); fault != nil {
		return fault
	}
	if err := d.plainTexts(ctx, op.entity, op.args.Data); err != nil {
		return err
	}
	data, err := d.registry.TranslatePayload(ctx, op.entity, op.args.Data)
	var wrong faults
	if err != nil {
		wrong.add(refFault(err))
		if len(wrong) == 0 {
			return err
		}
		data = op.args.Data // what else is wrong is told with it
	}
	var fault *Error
	op.written, fault = changes(op.entity, data)
	wrong.add(fault)
	if err := wrong.err(); err != nil {
		return err
	}
	op.before, err = d.targets(ctx, tx, op.step, op.args.Filters)
	if err != nil || len(op.before.Rows) == 0 {
		return err
	}
	if !op.asks {
		if err := d.asShown(op.entity, op.before, slices.Sorted(maps.Keys(op.written))); err != nil {
			return err
		}
	}
	if d.approval != nil {
		return nil
	}
	op.after, err = d.update(ctx, tx, op.entity, op.before.keys(), op.written)

	return err
}

// changes checks the columns of an update; null clears one.
func changes(e *domain.Entity, data map[string]any) (map[string]any, *Error) {
	written := map[string]any{}
	var wrong faults
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if e.Child(name) != nil {
			wrong.add(failColumn(CodeBadArgument, name, "Rows of %s are changed one by one: use db_update, db_create or db_delete on %s.", name, name))

			continue
		}
		if isAnnotation(e, name) {
			continue
		}
		c, value, err := writable(e, name, data[name])
		if err == nil && value == nil && !c.Nullable && c.Kind != domain.KindArray {
			err = failColumn(CodeViolation, name, "%s cannot be empty.", name)
		}
		if err != nil {
			wrong.add(err)

			continue
		}
		if value == nil && !c.Nullable {
			value = []any{}
		}
		written[c.Name] = value
	}
	if len(written) == 0 && len(wrong) == 0 {
		wrong.add(fail(CodeBadArgument, "set or clear has to name at least one column."))
	}

	return written, wrong.one()
}

// update writes the same columns to the rows and reads them back. A new name is linked again; otherwise the row would
// still stand for its old name.
func (d *decision) update(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string, columns map[string]any) (*loaded, error) {
	row := columns
	if m := e.Match; m != nil && columns[m.Column] != nil && columns[m.Link.Name] == nil {
		row = map[string]any{m.Link.Name: nil}
		maps.Copy(row, columns)
		if err := d.linkRows(ctx, tx, e, []map[string]any{row}); err != nil {
			return nil, err
		}
	}
	s, err := updateSQL(d.tools, e, keys, row)
	if err != nil {
		return nil, err
	}
	if err := d.journal.updating(ctx, tx, e, keys, slices.Sorted(maps.Keys(row))); err != nil {
		return nil, err
	}
	tag, err := tx.Exec(ctx, s.String(), s.args...)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", e.Table, d.tools.suspectRows(err, e, []map[string]any{row}))
	}
	if err := requireRows(e, tag, len(keys)); err != nil {
		return nil, err
	}
	d.noteWritten(e, keys)
	after, err := d.tools.byKeys(ctx, tx, e, ownColumns(e), keys)
	if err != nil {
		return nil, err
	}
	for _, found := range after.Rows {
		if fault := compareStored(e, columns, found); fault != nil {
			return nil, fault
		}
	}

	return after, nil
}

// updateSQL sets the columns that a row names in the rows with these keys.
func updateSQL[V any](t *Tools, e *domain.Entity, keys []string, row map[string]V) (*statement, error) {
	raw, err := jsonRows(row)
	if err != nil {
		return nil, err
	}
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		sets = append(sets, quoted(name)+" = r."+quoted(name))
	}
	s := &statement{}
	into := table(t.domain, e)
	s.add("UPDATE ", into, " SET ", strings.Join(sets, ", "), " FROM jsonb_populate_record(NULL::", into, ", ", s.value(string(raw)),
		"::text::jsonb) AS r WHERE ", e.Owned(), " AND ")
	s.keyIn(e, keys)

	return s, nil
}

func (op *updateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	if op.after == nil {
		return Result{}, nil
	}
	result, err := op.recorded(ctx, d, tx, op.after.after(registry.ActionUpdated))
	if err != nil {
		return Result{}, err
	}
	before := op.before.byKey()
	for i, key := range op.after.keys() {
		if was := op.was(before[key]); len(was) > 0 {
			result.rows[i]["_was"] = was
		}
	}

	return result, nil
}

// was returns the written columns' previous values, so that the reply can state the change. References are left out:
// their keys are not for a model.
func (op *updateOp) was(row map[string]any) map[string]any {
	old := map[string]any{}
	for name := range op.written {
		c := op.entity.Column(name)
		if c != nil && c.FK == nil && !slices.Contains([]domain.Kind{domain.KindUUID, domain.KindJSON}, c.Kind) && row != nil &&
			!same(c, c.Kind, op.written[name], row[name]) {
			old[name] = row[name]
		}
	}

	return old
}
