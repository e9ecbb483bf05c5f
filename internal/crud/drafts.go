package crud

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// draft is an unsaved row, with refs in place of keys.
type draft struct {
	ref     string // "" for one that is to be made
	entity  *domain.Entity
	content map[string]any
	points  []companion // to others that are made with it
}

// withoutDrafts removes refs of drafts from conditions on the key. A condition that named only drafts is decided: no
// stored row matches it.
func withoutDrafts(e *domain.Entity, filters []registry.Filter, drafts []string) ([]registry.Filter, []condition) {
	isDraft := func(value any) bool {
		ref, isText := value.(string)

		return isText && slices.Contains(drafts, ref)
	}
	var (
		rest    []registry.Filter
		decided []condition
	)
	for _, filter := range filters {
		values := asList(filter.Value)
		stored := slices.DeleteFunc(slices.Clone(values), isDraft)
		switch {
		case !isKey(e, filter.Field) || len(stored) == len(values):
		case len(stored) > 0:
			filter.Value = stored
		default:
			decided = append(decided, condition{column: e.Key, op: listOp(filter), texts: []string{}})

			continue
		}
		rest = append(rest, filter)
	}

	return rest, decided
}

func isKey(e *domain.Entity, field string) bool {
	return field == domain.KeyField || field == e.Key.Name
}

// loadDrafts loads the drafts that the read asks for by their refs. They are in no table, so that no other filter can be
// applied to them.
func (op *readOp) loadDrafts(ctx context.Context, d *decision) error {
	var err error
	if op.named, err = op.namedDrafts(ctx, d); err != nil || len(op.named) == 0 {
		return err
	}
	filters := op.args.allFilters()
	asked := namedKeys(op.entity, only(filters, func(f registry.Filter) bool { return listOp(spelled(f)) == opIn }))
	refs := only(op.named, func(ref string) bool { return slices.Contains(asked, ref) })
	switch {
	case len(refs) == 0:
		return nil
	case len(filters) > 1:
		return fail(CodeBadFilter, "%s is a draft, which is read by its ref alone: leave the other filters out.", refs[0])
	}
	contents, err := d.registry.GetEntityData(ctx, refs...)
	for _, ref := range refs {
		op.drafts = append(op.drafts, draft{ref: ref, entity: op.entity, content: contents[ref]})
	}

	return err
}

// namedDrafts returns the refs of drafts among those that filters on the key name.
func (op *readOp) namedDrafts(ctx context.Context, d *decision) ([]string, error) {
	refs := namedKeys(op.entity, op.args.allFilters())
	if len(refs) == 0 {
		return nil, nil
	}
	entries, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return nil, err
	}
	var pending []string
	for _, ref := range refs {
		entry := entries[ref]
		if entry == nil || !entry.Pending() {
			continue
		}
		if entry.Type != op.entity.Type {
			return nil, fail(CodeTypeMismatch, "%s is a %s, not a row of %s.", ref, entry.Type, op.entity.Table)
		}
		pending = append(pending, ref)
	}

	return pending, nil
}

// namedKeys returns the refs in conditions on the key, each once.
func namedKeys(e *domain.Entity, filters []registry.Filter) []string {
	var refs []string
	for _, filter := range filters {
		if !isKey(e, filter.Field) {
			continue
		}
		for _, value := range asList(filter.Value) {
			if ref, ok := value.(string); ok && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}

	return refs
}

// holdsRefs reports whether a column's values are refs to models.
func holdsRefs(e *domain.Entity, c *domain.Column) bool { return c == e.Key || c.FK != nil }

// draftRow returns a draft as a row: all of it, or the requested columns.
func (op *readOp) draftRow(one draft) map[string]any {
	row := map[string]any{op.entity.Key.Name: one.ref}
	for name, value := range one.content {
		if len(op.args.Columns) == 0 || op.sel.shows(name) {
			row[name] = value
		}
	}

	return row
}

// links are the refs of single rows in a draft, by column.
func (one draft) links() map[string]string {
	refs := map[string]string{}
	for _, c := range one.entity.Columns {
		if ref, ok := one.content[c.Name].(string); ok && c.FK != nil && c.Kind != domain.KindArray {
			refs[c.Name] = ref
		}
	}

	return refs
}

// labelDrafts adds labels beside the refs in drafts, as in stored rows.
func (d *decision) labelDrafts(ctx context.Context, drafts []draft) error {
	var refs []string
	for _, one := range drafts {
		refs = slices.AppendSeq(refs, maps.Values(one.links()))
	}
	entries, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return err
	}
	for _, one := range drafts {
		for name, ref := range one.links() {
			if entry := entries[ref]; entry != nil && !entry.LabelIsPlaceholder {
				one.content["_"+name+"_label"] = entry.Label
			}
		}
	}

	return nil
}

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
	d.bounds = Bounds{StepType: vocab.StepWrite}
	if version != AnyVersion {
		d.bounds.Seen.Drafts = map[string]int{ref: version}
	}
	d.steps = []*step{{call: vocab.Call{Tool: vocab.ToolCreate, Args: encoded(createArgs{Table: e.Table, FromRef: ref})}}}
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
	entry, err := d.registry.Resolve(ctx, ref, registry.Want{Draft: true})
	if err != nil {
		return nil, nil, err
	}

	return d, t.domain.ByType(entry.Type), nil
}

// lockDraft locks the draft and checks that it is as the user saw it.
func (d *decision) lockDraft(ctx context.Context, ref string, version int) error {
	if _, err := d.registry.LockDraft(ctx, ref); err != nil || version == AnyVersion {
		return err
	}

	return d.requireRead(ctx, map[string]int{ref: version})
}
