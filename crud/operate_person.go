package crud

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"alfred/registry"
)

// ConfirmError asks a person whether an operation shall be carried out: Text says what it would do.
type ConfirmError struct{ Text string }

// Error is the question.
func (e *ConfirmError) Error() string { return e.Text }

// Operate carries out an operation for a person. Where the declaration has the user agree
// first, it is *ConfirmError until told is what that said.
func (t *Tools) Operate(ctx context.Context, tx pgx.Tx, user User, entityType, id, name string, args json.RawMessage, told string) (Row, error) {
	e, fault := t.rowType(entityType)
	if fault != nil {
		return Row{}, fault
	}
	o := t.domain.Operation(name)
	if o == nil || o.On != e {
		return Row{}, fail(CodeUnknownTool, "There is no operation %s on %s.", registry.Scrub(name), e.Table)
	}
	if !isKeyOf(e, id) {
		return Row{}, fail(CodeNotFound, "There is no such %s.", e.Name)
	}
	object, fault := rowObject(args)
	if fault != nil {
		return Row{}, fault
	}
	object[o.This] = id
	raw, err := jsonRows(object)
	if err != nil {
		return Row{}, err
	}
	s := &step{call: Call{Tool: name, Args: raw}, approved: told != "", preview: told}
	d := &decision{tools: t, scope: registry.Scope{UserID: user.ID, Actor: registry.ActorUser}}
	op, fault := newOperation(s, o)
	if fault != nil {
		return Row{}, fault
	}
	op.keys = op.args

	return t.operate(ctx, tx, user, d, op)
}

func (t *Tools) operate(ctx context.Context, tx pgx.Tx, user User, d *decision, op *operateOp) (Row, error) {
	if user.Session != nil {
		if err := d.enter(ctx, tx, *user.Session); err != nil {
			return Row{}, err
		}
	}
	var row Row
	e := op.declared.On
	err := t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error {
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
		if err == nil && len(found.rows) == 1 {
			row = found.row(e, 0)
		}

		return err
	})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeApprovalNeeded {
		return Row{}, &ConfirmError{Text: refused.Message}
	}
	if err == nil && user.Session != nil {
		d.registry = registry.New(tx, t.domain, d.scope)
		_, err = op.record(ctx, d, tx)
	}
	if err != nil {
		return row, err
	}

	return row, wrote(ctx, tx, user)
}
