package crud

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/registry"
)

// updateOp is db_update.
type updateOp struct {
	*step

	args    updateArgs
	written map[string]any
	becomes string  // written, as a question says it
	after   *loaded // the rows once they are changed; found are as they were
}

func (d *decision) newUpdate(s *step) (operation, *Error) {
	op := &updateOp{step: s}
	if err := d.begin(s, &op.args, &op.args.Table, domain.Update); err != nil {
		return nil, err
	}
	var err *Error
	op.args.Data, err = op.args.oneForm(s.entity, op.args.Data, "db_update takes its change once.")

	return op, err
}

func (op *updateOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	if err := d.plainTexts(ctx, op.entity, op.args.Data); err != nil {
		return err
	}
	var wrong faults
	data, fault := changes(op.entity, op.args.Data)
	wrong.add(fault)
	written, err := d.withKeys(ctx, tx, op.entity, wrong, data)
	if err != nil {
		return err
	}
	op.written = written[0]
	if err := d.targets(ctx, tx, op.step, op.args.Filters); err != nil || len(op.found.Rows) == 0 {
		return err
	}
	if err := op.keepsStructure(); err != nil {
		return err
	}
	if !op.asks && !op.agreed { // the user looks at what a question is about
		if err := d.requireShown(op.entity, op.found, slices.Sorted(maps.Keys(op.written))); err != nil {
			return err
		}
	}
	if d.approval != nil {
		return nil
	}
	if op.after, err = d.update(ctx, tx, op.entity, op.found.keys(), op.written); err != nil {
		return err
	}

	return addLinkLabels(ctx, tx, op.entity, op.found.Rows, furthestName, slices.Collect(maps.Keys(op.written))...)
}

// keepsStructure refuses a word in place of an object or a list, and an object without some of what stands there: "phone: 0170-555"
// took the mother's name along, which stood beside the phone.
func (op *updateOp) keepsStructure() error {
	for _, name := range slices.Sorted(maps.Keys(op.written)) {
		c, value := op.entity.Column(name), op.written[name]
		if c == nil || c.Kind != domain.KindJSON || value == nil {
			continue
		}
		if i := slices.IndexFunc(op.found.Rows, func(row map[string]any) bool { return losesPart(row[name], value) }); i >= 0 {
			held := registry.CleanText(argumentText(c.Kind, op.found.Rows[i][name]), longestValue)

			return failColumn(CodeBadValue, name, "%s holds %s: give the whole of it as it is to be, as JSON, with null for what is to go.", name, held)
		}
	}

	return nil
}

// losesPart reports whether a value of JSON leaves out something of the one that it replaces. A list may become another.
func losesPart(held, value any) bool {
	parts, isObject := held.(map[string]any)
	given, staysObject := value.(map[string]any)
	if !isObject || !staysObject {
		return isStructure(held) && !isStructure(value)
	}
	for name, part := range parts {
		if one, named := given[name]; part != nil && (!named || one != nil && losesPart(part, one)) {
			return true
		}
	}

	return false
}

// isStructure reports whether a value of JSON is an object or a list.
func isStructure(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	default:
		return false
	}
}

// changes checks the columns of an update; null clears one.
func changes(e *domain.Entity, data map[string]any) (map[string]any, *Error) {
	written := map[string]any{}
	var wrong faults
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !isAnnotation(e, name) {
			wrong.add(setChanged(written, e, name, data[name]))
		}
	}
	clearInstead(written, e)
	if len(written) == 0 && len(wrong) == 0 {
		wrong.add(fail(CodeBadArgument, "set or clear has to name at least one column."))
	}

	return written, wrong.one()
}

// clearInstead clears the references that the one which is set stands in for, so that an undo finds them among what was written.
func clearInstead(written map[string]any, e *domain.Entity) {
	for _, name := range slices.Collect(maps.Keys(written)) {
		if written[name] == nil {
			continue
		}
		for _, other := range e.Column(name).Instead {
			if _, given := written[other.Name]; !given {
				written[other.Name] = nil
			}
		}
	}
}

// setChanged puts a value into what an update writes. A list that cannot be null is cleared by being emptied.
func setChanged(written map[string]any, e *domain.Entity, name string, value any) *Error {
	if e.Child(name) != nil {
		return failColumn(CodeBadArgument, name, "Rows of %s are changed one by one: use db_update, db_create or db_delete on %s.", name, name)
	}
	c, value, err := writable(e, name, value)
	switch {
	case err != nil:
		return err
	case value != nil || c.Nullable:
		written[c.Name] = value
	case c.Kind == domain.KindArray:
		written[c.Name] = []any{}
	default:
		return failColumn(CodeViolation, name, "%s cannot be empty.", name)
	}

	return nil
}

// update writes the same columns to the rows and reads them back. A new name is linked again; otherwise the row would
// still stand for its old name.
func (d *decision) update(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string, columns map[string]any) (*loaded, error) {
	row := columns
	if m := e.Match; m != nil && columns[m.Column] != nil && columns[m.Link.Name] == nil {
		row = map[string]any{m.Link.Name: nil}
		maps.Copy(row, columns)
		if err := linkRows(ctx, tx, e, []map[string]any{row}); err != nil {
			return nil, err
		}
	}
	s := updateSQL(e, keys, columnsOf(row), row)
	if err := d.journal.recordUpdates(ctx, tx, e, keys, columnsOf(row)); err != nil {
		return nil, err
	}
	tag, err := tx.Exec(ctx, s.String(), s.args...)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", e.Table, namingObstacles(err, e, []map[string]any{row}, keys))
	}
	if err := requireRows(e, tag.RowsAffected(), len(keys)); err != nil {
		return nil, err
	}
	d.noteWritten(e, keys)
	after, err := byKeys(ctx, tx, e, ownColumns(e), keys)
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

// updateSQL sets columns to what a row has in them, in the rows with these keys.
func updateSQL(e *domain.Entity, keys, columns []string, row any) *statement {
	s, into := &statement{}, e.SQL()
	set := func(name string) string { return quoted(name) + " = " + populated(e, name, row) }
	s.add("UPDATE ", into, " SET ", joinEach(columns, ", ", set), " FROM jsonb_populate_record(NULL::", into, ", ", s.value(row),
		"::jsonb) AS ", givenRow, " WHERE ", e.Owned(), " AND ", s.keyIn(e, keys))

	return s
}

// updateEach records and sets in each row the columns that are given for it, all in one round trip.
func updateEach[R ~map[string]V, V any](ctx context.Context, tx pgx.Tx, j *journal, e *domain.Entity, keys []string, rows []R) error {
	if err := j.recordUpdates(ctx, tx, e, keys, columnsOf(rows...)); err != nil {
		return err
	}
	updates, counts, reached := &pg.Batch{}, make([]int64, len(keys)), int64(0)
	for i, key := range keys {
		s := updateSQL(e, []string{key}, columnsOf(rows[i]), rows[i])
		updates.Count("update "+e.Table, s.String(), s.args, &counts[i])
	}
	err := updates.Send(ctx, tx)
	for _, n := range counts {
		reached += n
	}

	return cmp.Or(err, requireRows(e, reached, len(keys)))
}

func (op *updateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	if op.after == nil {
		return Result{}, nil
	}
	before, action := op.found.byKey(), registry.ActionUpdated
	if op.changedNothing(before) {
		action = registry.ActionRead
	}
	result, err := op.recorded(ctx, d, tx, op.after.after(action))
	if err != nil {
		return Result{}, err
	}
	if action == registry.ActionRead {
		result.RowCount = 0
	}
	for i, key := range op.after.keys() {
		if was := op.previousValues(before[key], op.after.Rows[i]); len(was) > 0 {
			result.rows[i]["_was"] = was
		}
	}

	return result, nil
}

// changedNothing reports whether the rows had these values already: who meant another value must not hear that it is changed.
func (op *updateOp) changedNothing(before map[string]map[string]any) bool {
	for i, key := range op.after.keys() {
		if len(overwrittenValues(op.written, before[key], op.after.Rows[i])) > 0 {
			return false
		}
	}

	return true
}

// previousValues returns the previous values of written columns, so that the reply can state the change. Of a reference it is what the
// row was called, since keys are not for a model; long JSON is left out.
func (op *updateOp) previousValues(before, after map[string]any) map[string]any {
	was := map[string]any{}
	for name, value := range overwrittenValues(op.written, before, after) {
		c := op.entity.Column(name)
		label, called := before["_"+name+"_label"]
		switch {
		case c == nil:
		case c.FK != nil && (called || value == nil):
			said := columnInWords(c)
			if op.entity.Column(said) != nil { // under which only refs are shown
				said = "_" + name + "_label"
			}
			was[said] = label
		case c.FK != nil, c.Kind == domain.KindUUID:
		case c.Kind == domain.KindJSON:
			if part := encoded(value); len(part) <= longestValue {
				was[name] = json.RawMessage(registry.Scrub(string(part)))
			}
		default:
			was[name] = value
		}
	}

	return was
}

// deleteOp is db_delete.
type deleteOp struct {
	*step

	args deleteArgs
	done bool // the rows that were found are gone
}

func (d *decision) newDelete(s *step) (operation, *Error) {
	op := &deleteOp{step: s}

	return op, d.begin(s, &op.args, &op.args.Table, domain.Delete)
}

func (op *deleteOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	if err := d.targets(ctx, tx, op.step, op.args.Filters); err != nil || d.approval != nil || len(op.found.Rows) == 0 {
		return err
	}
	op.done = true
	hidden, left, err := d.journal.hiddenWith(ctx, tx, op.entity, op.found.keys())
	if err != nil {
		return err
	}
	before, leftBefore := len(d.journal.writes), len(d.journal.left)
	err = d.delete(ctx, tx, op.entity, op.found)
	// A question about a later call names these rows too, which are no longer there to be counted.
	op.deletes = slices.Concat(hidden, left, d.journal.writes[before:], d.journal.left[leftBefore:])

	return err
}

// delete removes rows. The keys of children deleted with them are read first, because their refs have to be closed too.
func (d *decision) delete(ctx context.Context, tx pgx.Tx, e *domain.Entity, targets *loaded) error {
	for _, child := range e.Children {
		if e.Marks || !cascades(child) {
			continue
		}
		if err := loadChildren(ctx, tx, child, targets); err != nil {
			return err
		}
	}
	if err := d.journal.recordDeletions(ctx, tx, e, targets.keys()); err != nil {
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
	if !op.done {
		return Result{}, nil
	}
	result, err := op.recorded(ctx, d, tx, op.found.after(registry.ActionDeleted))
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
