package crud

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/registry"
)

// maxBatch bounds the rows of one call, against runaway models.
const maxBatch = 200

// createOp is db_create: rows as given, or a draft saved unchanged.
type createOp struct {
	*step

	args    createArgs
	rows    []map[string]any
	read    map[string]int // the version of the draft
	removed removals       // what the patch removes
	saved   *saved
}

func (d *decision) newCreate(s *step) (operation, *Error) {
	op := &createOp{step: s}
	if err := d.begin(s, &op.args, &op.args.Table, domain.Create); err != nil {
		return nil, err
	}
	var err *Error
	op.rows, err = op.args.rows(s.entity)

	return op, err
}

// allowed refuses what the declaration does not allow, in words for model and user.
func allowed(e *domain.Entity, verb domain.Verb) *Error {
	switch {
	case e.May(verb):
		return nil
	case e.Reference:
		return fail(CodeNotAllowed, "%s is shared reference data and cannot be changed.", e.Table)
	case len(e.Writes) == 0:
		return fail(CodeNotAllowed, "Rows of %s can be read, and not written.", e.Table)
	}
	ways := joinEach(e.Writes, ", ", func(one domain.Verb) string { return string(one) })

	return fail(CodeNotAllowed, "%s of %s is not possible; what is: %s.", verbNouns[verb], e.Table, ways)
}

var verbNouns = map[domain.Verb]string{domain.Create: "Creating rows", domain.Update: "Changing rows", domain.Delete: "Deleting rows"}

// rowList reads one row or a list of rows.
func rowList(data any) ([]map[string]any, *Error) {
	if text, ok := data.(string); ok { // JSON within JSON
		_ = exact.Decode([]byte(text), &data)
	}
	list := asList(data)
	if len(list) == 0 || len(list) > maxBatch {
		return nil, fail(CodeBadArgument, "rows has to hold 1 to %d rows.", maxBatch)
	}
	rows := make([]map[string]any, len(list))
	for i, item := range list {
		row, ok := item.(map[string]any)
		if !ok || len(row) == 0 {
			return nil, fail(CodeBadArgument, "rows has to be a list of rows.")
		}
		rows[i] = row
	}

	return rows, nil
}

func (op *createOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	if err := d.plainTexts(ctx, op.entity, append(op.rows, op.args.Patch)...); err != nil {
		return err
	}
	if op.args.FromRef != "" {
		if err := op.compile(ctx, d); err != nil {
			return err
		}
	}
	var wrong faults
	checked := checkedRows(op.entity, op.rows, &wrong)
	rows, err := d.withKeys(ctx, tx, op.entity, wrong, checked...)
	if err != nil {
		return err
	}
	if op.saved, err = d.save(ctx, tx, op.entity, rows); err != nil {
		return err
	}
	if op.found, err = readBack(ctx, tx, op.entity, wholeRow(op.entity), op.saved); err != nil {
		return err
	}
	if op.args.FromRef != "" {
		d.registry.ResolveAs(op.args.FromRef, op.saved.keys[0])
		if w := d.journal.lastWrite(op.entity, op.saved.keys[0]); w != nil {
			w.Draft = &op.args.FromRef
		}
	}

	return nil
}

// checkedRows are new rows as far as they can be read, and what is wrong with them.
func checkedRows(e *domain.Entity, given []map[string]any, wrong *faults) []map[string]any {
	checked := make([]map[string]any, len(given))
	for i := range given {
		row, fault := newRow(e, given[i], nil)
		wrong.add(rowFault(fault, i, len(given)))
		checked[i] = row
	}

	return checked
}

// withKeys replaces refs and names by keys, with one lookup for all rows, and one for the names of a column. What is wrong with them
// is reported together with what is wrong already.
func (d *decision) withKeys(ctx context.Context, tx pgx.Tx, e *domain.Entity, wrong faults, rows ...map[string]any) ([]map[string]any, error) {
	if err := putKeysForNames(ctx, tx, e, &wrong, rows...); err != nil {
		return nil, err
	}
	translated, err := d.registry.TranslatePayload(ctx, e, rows...)
	fault := refFault(err)
	if err != nil && fault == nil {
		return nil, err
	}
	wrong.add(fault)

	return translated, wrong.err()
}

// rowFault says which of several rows is at fault.
func rowFault(fault *Error, i, rows int) *Error {
	if rows == 1 || fault == nil {
		return fault
	}

	return failColumn(fault.Code, fault.Column, "Row %d: %s", i+1, fault.Message)
}

// compile builds the row to save from the stored draft. The model names the draft and retypes nothing, so that what is
// saved is what was shown.
func (op *createOp) compile(ctx context.Context, d *decision) error {
	entry, err := d.registry.Resolve(ctx, op.args.FromRef, registry.Want{Type: op.entity.Type})
	if err != nil {
		return err
	}
	if !entry.Pending() {
		return fail(CodeConflict, "%s is saved already. Change it with db_update.", op.args.FromRef)
	}
	versions, err := d.registry.NewestVersions(ctx, op.args.FromRef)
	if err != nil {
		return err
	}
	contents, err := d.registry.GetEntityData(ctx, op.args.FromRef)
	if err != nil {
		return err
	}
	op.read = versions
	patched, removed, fault := patchDraft(op.entity, contents[op.args.FromRef], op.args.Patch)
	if fault != nil {
		return fault
	}
	op.rows, op.removed = []map[string]any{patched}, removed

	return nil
}

func (op *createOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	if op.args.FromRef != "" {
		key := op.saved.keys[0] // its label comes with the row, below
		err := d.registry.Promote(ctx, op.args.FromRef, key, op.found.Versions[op.entity.Type][key])
		if err != nil {
			return Result{}, err
		}
		if err := d.requireRead(ctx, op.read); err != nil { // the promotion holds the registry's lock
			return Result{}, err
		}
	}
	at := func(key string) int { return slices.Index(op.saved.keys, key) }
	merged := func(row map[string]any) bool { return op.saved.merged[at(keyText(row, op.entity))] }
	created, updated := op.found.after(d.attributed(registry.ActionCreated)), op.found.after(d.attributed(registry.ActionUpdated))
	created.Rows = only(op.found.Rows, func(row map[string]any) bool { return !merged(row) })
	updated.Rows = only(op.found.Rows, merged)
	result, err := op.recorded(ctx, d, tx, created, updated)
	slices.SortFunc(result.Changes, func(a, b Change) int { return at(a.ID) - at(b.ID) })
	result.Notice = op.removed.String()

	return result, err
}
