package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// maxDrafts bounds the drafts of one call.
const maxDrafts = 50

const contentTwice = "generate takes a content once."

// generateOp is generate: unsaved content.
type generateOp struct {
	*step

	args    generateArgs
	creates []draft
	changed []registry.Entry // the drafts to be updated, as args.Updates are
	updates []draft
	removed removals        // what the updates remove
	had     map[string]bool // refs that the drafts already contained
	read    map[string]int  // versions of the drafts to be updated
}

func (d *decision) newGenerate(s *step) (operation, *Error) {
	op := &generateOp{step: s, had: map[string]bool{}}
	if err := parse(s.call, &op.args); err != nil {
		return nil, err
	}
	if n := len(op.args.Creates) + len(op.args.Updates); n == 0 || n > maxDrafts {
		return nil, fail(CodeBadArgument, "generate needs creates or updates, %d at most.", maxDrafts)
	}
	var wrong faults
	for i, create := range op.args.Creates {
		e := d.tools.domain.Entity(create.Type)
		if e == nil || !e.May(domain.Create) {
			wrong.add(fail(CodeUnknownTable, "There is no type %q to generate.", registry.Scrub(create.Type)))

			continue
		}
		s.entity = e
		create.dropPositions()
		given, err := create.oneForm(e, create.Content, contentTwice)
		wrong.add(rowFault(err, i, len(op.args.Creates)))
		content, err := newRow(e, given, nil)
		wrong.add(rowFault(err, i, len(op.args.Creates)))
		op.creates = append(op.creates, draft{entity: e, content: content})
	}

	return op, wrong.one()
}

// run checks that every ref in the contents has the type required there; a draft may reference a draft.
func (op *generateOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	refs := map[*domain.Entity][]string{}
	for i := range op.creates {
		create := &op.creates[i]
		if err := d.plainTexts(ctx, create.entity, create.content); err != nil {
			return err
		}
		points, err := d.companions(ctx, create.entity, create.content, d.draftedBefore(op, i))
		if err != nil {
			return err
		}
		create.points = points
		if err := d.nameRefs(ctx, tx, create.entity, create.content); err != nil {
			return err
		}
		gatherRefs(refs, create.entity, create.content)
	}
	if err := op.nameUpdates(ctx, d, tx); err != nil {
		return err
	}
	if err := op.checkUpdates(ctx, d, refs); err != nil {
		return err
	}
	entries, err := d.resolveRefs(ctx, refs)
	if err != nil {
		return err
	}

	if err := notExcluded(slices.DeleteFunc(entries, func(e registry.Entry) bool { return op.had[e.Ref] })); err != nil {
		return err
	}

	return op.checkWithDrafts(ctx, d, tx)
}

// resolveRefs looks up refs by the type required where they appear.
func (d *decision) resolveRefs(ctx context.Context, refs map[*domain.Entity][]string) ([]registry.Entry, error) {
	var all []registry.Entry
	for _, e := range d.tools.domain.Entities {
		if len(refs[e]) == 0 {
			continue
		}
		entries, err := d.registry.ResolveAll(ctx, refs[e], registry.Want{Type: e.Type})
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}

	return all, nil
}

// notExcluded refuses a draft that references what the user rejected.
func notExcluded(entries []registry.Entry) error {
	for _, entry := range entries {
		if entry.ExcludedReason != "" {
			return fail(CodeNotAllowed, "%s is excluded (%s): draft without it.", entry.Ref, entry.ExcludedReason)
		}
	}

	return nil
}

// nameUpdates finds the drafts of the updates and puts these in one form, with refs in the place of names.
func (op *generateOp) nameUpdates(ctx context.Context, d *decision, tx pgx.Tx) (err error) {
	if op.changed, err = d.registry.ResolveAll(ctx, op.updatedRefs(), registry.Want{}); err != nil {
		return err
	}
	for i, entry := range op.changed {
		e, update := d.tools.domain.ByType(entry.Type), &op.args.Updates[i]
		patch, fault := update.oneForm(e, update.Content, contentTwice)
		if fault != nil {
			return fault
		}
		if err := d.plainTexts(ctx, e, patch); err != nil {
			return err
		}
		if err := d.nameRefs(ctx, tx, e, patch); err != nil {
			return err
		}
		*update = generateUpdate{Ref: update.Ref, Content: patch}
	}

	return nil
}

// updatedRefs are the refs of the drafts to be updated.
func (op *generateOp) updatedRefs() []string {
	return each(op.args.Updates, func(update generateUpdate) string { return update.Ref })
}

// checkUpdates applies the updates to the drafts' newest contents, and gathers the refs in these.
func (op *generateOp) checkUpdates(ctx context.Context, d *decision, refs map[*domain.Entity][]string) (err error) {
	if len(op.changed) == 0 {
		return nil
	}
	if op.read, err = d.registry.NewestVersions(ctx, op.updatedRefs()...); err != nil {
		return err
	}
	stored, err := d.registry.GetEntityData(ctx, op.updatedRefs()...)
	if err != nil {
		return err
	}
	op.updates = nil
	var wrong faults
	for i, entry := range op.changed {
		e, patch := d.tools.domain.ByType(entry.Type), op.args.Updates[i].Content
		content, fault := op.patched(entry, e, stored[entry.Ref], patch)
		wrong.add(fault)
		op.updates = append(op.updates, draft{ref: entry.Ref, entity: e, content: content})
		gatherRefs(refs, e, content)
	}

	return wrong.err()
}

// patched returns a draft's content with an update applied.
func (op *generateOp) patched(entry registry.Entry, e *domain.Entity, was, patch map[string]any) (map[string]any, *Error) {
	if !entry.Pending() {
		return nil, fail(CodeTypeMismatch, "%s is not a draft: change saved rows with db_update.", entry.Ref)
	}
	if slices.ContainsFunc(op.updates, func(u draft) bool { return u.ref == entry.Ref }) {
		return nil, fail(CodeBadArgument, "%s is updated twice in one call; give its changes together.", entry.Ref)
	}
	before := map[*domain.Entity][]string{}
	gatherRefs(before, e, was)
	for _, refs := range before {
		for _, ref := range refs {
			op.had[ref] = patch == nil || !holdsText(patch, ref)
		}
	}
	whole, removed, fault := patchDraft(e, was, patch)
	if fault != nil {
		return nil, fault
	}
	op.removed = append(op.removed, removed...)

	return newRow(e, whole, nil)
}

// holdsText reports whether a value contains the text anywhere.
func holdsText(value any, text string) bool {
	found := false
	replaceTexts(value, func(one string) string {
		found = found || one == text

		return one
	})

	return found
}

// gatherRefs collects the refs in a content by the type required where they appear.
func gatherRefs(refs map[*domain.Entity][]string, e *domain.Entity, content map[string]any) {
	for _, one := range rowsWithin(e, content) {
		for _, c := range one.entity.Columns {
			to := c.Target()
			if to == nil || one.row[c.Name] == nil {
				continue
			}
			for _, value := range asList(one.row[c.Name]) {
				refs[to] = append(refs[to], fmt.Sprint(value))
			}
		}
	}
}

// lockUpdated locks the drafts to be changed, so that no concurrent change is lost. Changes by earlier calls of this decision
// are built upon.
func (op *generateOp) lockUpdated(ctx context.Context, d *decision) error {
	if len(op.updates) == 0 {
		return nil
	}
	built := false
	for _, update := range op.updates {
		if _, err := d.registry.LockDraft(ctx, update.ref); err != nil {
			return err
		}
		if own, was := d.drafted[update.ref]; was {
			op.read[update.ref], built = own, true
		}
	}
	if err := d.requireRead(ctx, op.read); err != nil {
		return err
	}
	maps.Copy(d.drafted, op.read)
	if !built {
		return nil
	}
	op.had, op.removed = map[string]bool{}, nil

	return op.checkUpdates(ctx, d, map[*domain.Entity][]string{})
}

func (op *generateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	scope := d.scope
	scope.Call = d.number(op.step) // drafts of one call belong together
	drafts := registry.New(tx, d.tools.domain, scope)
	if err := op.lockUpdated(ctx, d); err != nil {
		return Result{}, err
	}
	for _, update := range op.updates {
		if err := drafts.UpdateEntityData(ctx, update.ref, update.content); err != nil {
			return Result{}, err
		}
		d.drafted[update.ref]++
	}
	if err := op.store(ctx, drafts); err != nil {
		return Result{}, err
	}
	all := slices.Concat(op.updates, op.creates)
	result := Result{RowCount: len(all), Notice: op.removed.String(), removed: op.removed}
	for _, one := range all {
		one.content[one.entity.Key.Name] = one.ref
		result.rows, result.Refs = append(result.rows, one.content), append(result.Refs, one.ref)
	}

	return result, d.labelDrafts(ctx, all)
}
