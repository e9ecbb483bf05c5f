package crud

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/vocab"
	"alfred/registry"
)

// ConfirmError asks a person to confirm an operation or a deletion: Text says what it would do.
type ConfirmError struct{ Text string }

// Error returns the question.
func (e *ConfirmError) Error() string { return e.Text }

// Asked is an operation that a person wants to run on a row, with its other arguments.
type Asked struct {
	Operation string
	Args      json.RawMessage
	// Told is the text of the *ConfirmError, "" before there was one.
	Told string
	// Version, if not "", must be the row's.
	Version string
}

// Operate runs an operation for a person. If the declaration requires approval, it returns *ConfirmError until
// asked.Told is that error's text.
func (t *Tools) Operate(ctx context.Context, tx pgx.Tx, user User, entityType, id string, asked Asked) (Row, error) {
	e, fault := t.rowType(entityType)
	if fault != nil {
		return Row{}, fault
	}
	o := t.domain.Operation(asked.Operation)
	if o == nil || o.On != e {
		return Row{}, fail(CodeUnknownTool, "There is no operation %s on %s.", registry.Scrub(asked.Operation), e.Table)
	}
	if !isKeyOf(e, id) {
		return Row{}, noSuch(e)
	}
	object, fault := rowObject(asked.Args)
	if fault != nil {
		return Row{}, fault
	}
	object[o.This] = id
	s := &step{call: vocab.Call{Tool: o.Name}, entity: e, approved: asked.Told != "", preview: asked.Told}
	op := &operateOp{declared: o, args: object, keys: object, step: s}
	if fault := op.check(); fault != nil {
		return Row{}, fault
	}

	return t.operate(ctx, tx, user, op, id, asked.Version)
}

func (t *Tools) operate(ctx context.Context, tx pgx.Tx, user User, op *operateOp, id, version string) (Row, error) {
	d, err := t.decisionOf(ctx, tx, user)
	if err != nil {
		return Row{}, err
	}
	e := op.declared.On
	var row Row
	err = t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error {
		if version != "" {
			if _, err := lockOne(ctx, tenant, e, id, version); err != nil {
				return err
			}
		}
		if err := op.carryOut(ctx, d, tenant); err != nil {
			return err
		}
		if d.approval != nil {
			return &ConfirmError{Text: op.step.preview}
		}
		if err := t.settle(ctx, tenant); err != nil {
			return err
		}
		found, err := byKeys(ctx, tenant, e, wholeRow(e), []string{op.this})
		if err == nil && len(found.Rows) == 1 {
			row = found.row(0)
		}

		return err
	})
	if err != nil {
		return Row{}, err
	}

	return row, d.noteDone(ctx, tx, user, &op.declared.Name, op.done(user, row.Data)...)
}

// done is what a person's call did. Without a session, no registry says what was called.
func (op *operateOp) done(user User, row map[string]any) []registry.Result {
	if user.Session != nil {
		return op.changed
	}
	if row == nil { // the operation has done away with it
		row = map[string]any{op.declared.On.Key.Name: op.this}
	}
	called := registry.Result{Entity: op.declared.On, Rows: []map[string]any{row}, Action: actionCalled}

	return slices.Insert(op.changed, 0, called)
}
