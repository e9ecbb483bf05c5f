package crud

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// AnyVersion matches every version of a draft.
const AnyVersion = 0

// ChangeDraft replaces a draft's whole content for the user, as a new version, and checks it as generate does. version
// is the one the user saw: if it is no longer the newest, the error is CodeStale. A ref that is not a draft is
// [registry.RefErrors]. The user's session must be given.
func (t *Tools) ChangeDraft(ctx context.Context, tx pgx.Tx, user User, ref string, version int, content json.RawMessage) error {
	d, e, err := t.draftOf(ctx, tx, user, ref)
	if err != nil {
		return err
	}
	object, fault := rowObject(content)
	if fault != nil {
		return fault
	}
	clean, fault := newRow(e, object, nil)
	if fault != nil {
		return fault
	}
	refs := map[*domain.Entity][]string{}
	gatherRefs(refs, e, clean)
	if _, err = d.resolveRefs(ctx, refs); err != nil {
		return t.explained(ctx, tx, user.ID, e, err)
	}
	if err := d.lockDraft(ctx, ref, version); err != nil {
		return err
	}

	return d.registry.UpdateEntityData(ctx, ref, clean)
}

// DropDraft discards a draft for the user; its versions remain readable. version and errors are as in ChangeDraft.
func (t *Tools) DropDraft(ctx context.Context, tx pgx.Tx, user User, ref string, version int) error {
	d, _, err := t.draftOf(ctx, tx, user, ref)
	if err != nil {
		return err
	}
	if err := d.lockDraft(ctx, ref, version); err != nil {
		return err
	}

	return d.registry.Forget(ctx, ref, "discarded by the user")
}

// SaveDraft writes a draft's rows as db_create with from_ref does, at the user's direct request instead of a model's.
// version and errors are as in ChangeDraft; what a table refuses is an *Error.
func (t *Tools) SaveDraft(ctx context.Context, tx pgx.Tx, user User, ref string, version int) (Row, error) {
	d, e, err := t.draftOf(ctx, tx, user, ref)
	if err != nil {
		return Row{}, err
	}
	args, err := json.Marshal(createArgs{Table: e.Table, FromRef: ref})
	if err != nil {
		return Row{}, err
	}
	d.bounds = Bounds{StepType: vocab.StepWrite}
	if version != AnyVersion {
		d.bounds.Seen.Drafts = map[string]int{ref: version}
	}
	d.steps = []*step{{call: vocab.Call{Tool: vocab.ToolCreate, Args: args}}}
	if err := pg.InTx(ctx, tx, func(tx pgx.Tx) error { return d.run(ctx, tx) }); err != nil {
		if late, ok := errors.AsType[*registry.RefError](err); ok && late.Reason == registry.ReasonSaved {
			return Row{}, late // somebody else was faster
		}

		return Row{}, t.explained(ctx, tx, user.ID, e, err)
	}
	if err := noteChange(ctx, tx, user); err != nil {
		return Row{}, err
	}

	return t.Get(ctx, tx, user, e.Type, d.steps[0].result.Changes[0].ID)
}

// draftOf enters the user's session and finds a draft in it.
func (t *Tools) draftOf(ctx context.Context, tx pgx.Tx, user User, ref string) (*decision, *domain.Entity, error) {
	if user.Session == nil {
		return nil, nil, fail(CodeNotFound, "A draft is of a session.")
	}
	d, err := t.decisionOf(ctx, tx, user)
	if err != nil {
		return nil, nil, err
	}
	d.registry = registry.New(tx, t.domain, d.scope)
	entry, err := d.registry.ResolveDraft(ctx, ref)
	if err != nil {
		return nil, nil, err
	}

	return d, t.domain.ByType(entry.Type), nil
}

// lockDraft locks the draft and checks that it is as the user saw it.
func (d *decision) lockDraft(ctx context.Context, ref string, version int) error {
	if err := d.registry.LockDraft(ctx, ref); err != nil || version == AnyVersion {
		return err
	}

	return d.asRead(ctx, map[string]int{ref: version})
}
