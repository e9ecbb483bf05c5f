package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/registry"
)

// ConfirmError asks a person to confirm an operation: Text says what it would do.
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
		return Row{}, fail(CodeNotFound, "There is no such %s.", e.Name)
	}
	object, fault := rowObject(asked.Args)
	if fault != nil {
		return Row{}, fault
	}
	object[o.This] = id
	raw, err := jsonRows(object)
	if err != nil {
		return Row{}, err
	}
	s := &step{call: Call{Tool: o.Name, Args: raw}, approved: asked.Told != "", preview: asked.Told}
	d := &decision{tools: t, scope: registry.Scope{UserID: user.ID, Actor: registry.ActorUser}}
	op, fault := newOperation(s, o)
	if fault != nil {
		return Row{}, fault
	}
	op.keys = op.args

	return t.operate(ctx, tx, user, d, op, asked.Version)
}

func (t *Tools) operate(ctx context.Context, tx pgx.Tx, user User, d *decision, op *operateOp, version string) (Row, error) {
	if user.Session != nil {
		if err := d.enter(ctx, tx, *user.Session); err != nil {
			return Row{}, err
		}
	}
	var row Row
	e := op.declared.On
	err := t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error {
		if version != "" {
			if _, err := t.locked(ctx, tenant, e, fmt.Sprint(op.keys[op.declared.This]), version); err != nil {
				return err
			}
		}
		if err := op.carryOut(ctx, d, tenant); err != nil {
			return err
		}
		if d.approval != nil {
			return fail(CodeApprovalNeeded, "%s", op.step.preview)
		}
		if err := t.settle(ctx, tenant, op.declared.Name); err != nil {
			return err
		}
		found, err := t.byKeys(ctx, tenant, e, all(e), []string{op.this})
		if err == nil && len(found.Rows) == 1 {
			row = found.row(0)
		}

		return err
	})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeApprovalNeeded {
		return Row{}, &ConfirmError{Text: refused.Message}
	}
	if err != nil {
		return row, err
	}
	if user.Session != nil {
		d.registry = registry.New(tx, t.domain, d.scope)
		_, err = op.record(ctx, d, tx)
	} else {
		called := row.Data
		if called == nil { // the operation has done away with it
			called = map[string]any{e.Key.Name: op.this}
		}
		err = keepEvents(ctx, tx, user, &op.declared.Name, op.events(called)...)
	}
	if err != nil {
		return row, err
	}

	return row, noteChange(ctx, tx, user)
}
