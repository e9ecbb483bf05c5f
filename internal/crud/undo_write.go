package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// reverse undoes writes of one kind to rows of one type.
func (u *undoing) reverse(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	e, keys := writes[0].entity, each(writes, func(w *formerWrite) string { return w.EntityID })
	var err error
	switch writes[0].Action {
	case registry.ActionCreated:
		err = u.remove(ctx, tx, e, keys)
	case registry.ActionDeleted:
		err = u.restore(ctx, tx, e, writes, keys)
	case registry.ActionUpdated:
		err = u.setBack(ctx, tx, e, writes)
	default:
		err = u.callInverse(ctx, tx, writes[0])
	}
	if err != nil {
		return err
	}
	for _, w := range slices.Backward(writes) {
		u.done, u.settled[w.at()] = append(u.done, w), true
		if noted := u.journal.lastWrite(e, w.EntityID); noted != nil && w.Draft != nil {
			noted.Draft = w.Draft
		}
	}

	return nil
}

// remove deletes rows that the turn created. Nothing else may be deleted or changed with them.
func (u *undoing) remove(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys []string) error {
	before := len(u.journal.writes)
	if err := u.journal.recordDeletions(ctx, tx, e, keys); err != nil {
		return err
	}
	for _, w := range u.journal.writes[before:] {
		switch {
		case w.unseen:
			return fail(CodeConflict, "%s Nothing was taken back.", *w.Lost)
		case u.kept[w.at()]:
			return fail(CodeConflict, "The %s, which is to stay, names the %s. Nothing was taken back.", nounAndLabel(w.entity, labelOf(w.entity, w.was)), e.Name)
		case w.entity != e || !slices.Contains(keys, w.EntityID):
			return u.notAsLeft(w.entity, w.EntityID, w.was, "came later and belongs to it")
		}
	}

	return u.deleteRows(ctx, tx, e, keys)
}

// restore inserts rows that the turn deleted, with their keys, as they were.
func (u *undoing) restore(ctx context.Context, tx pgx.Tx, e *domain.Entity, writes []*formerWrite, keys []string) error {
	rows := make([]image, len(writes))
	for i, w := range writes {
		rows[len(writes)-1-i] = w.before
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(rows[0])), func(name string) bool {
		c := e.Column(name)

		return c == nil || c.Derived
	})
	rows = pointedAtFirst(e, rows)
	circles, pointing := openCircles(e, rows)
	s := insertSQL(e, names, "OVERRIDING SYSTEM VALUE", rows)
	tag, err := tx.Exec(ctx, s.String(), s.args...)
	if err == nil {
		err = updateEach(ctx, tx, &journal{}, e, circles, pointing) // they count as created
	}
	if err != nil {
		return fmt.Errorf("bring back rows of %s: %w", e.Table, err)
	}
	u.journal.recordCreated(e, keys)

	return requireRows(e, tag.RowsAffected(), len(keys))
}

// openCircles empties the columns in which ordered rows of a view point at later ones. It returns the keys of these
// rows and what they held, to be set once all rows are there.
func openCircles(e *domain.Entity, rows []image) (keys []string, pointing []image) {
	left := map[string]bool{}
	for _, row := range rows {
		left[string(row[e.Key.Name])] = e.View
	}
	for i, row := range rows {
		key, held := string(row[e.Key.Name]), image{}
		left[key] = false // a row may point at itself
		for _, c := range e.Columns {
			if value := row[c.Name]; c.Target() == e && c.Nullable && left[string(value)] {
				held[c.Name] = value
			}
		}
		if len(held) == 0 {
			continue
		}
		rows[i] = maps.Clone(row)
		for name := range held {
			rows[i][name] = json.RawMessage("null")
		}
		keys, pointing = append(keys, row.text(e.Key)), append(pointing, held)
	}

	return keys, pointing
}

// pointedAtFirst puts rows of a type behind the rows of that type that they point at: a view's trigger checks each row
// as it is written.
func pointedAtFirst(e *domain.Entity, rows []image) []image {
	at, placed, ordered := map[string]int{}, make([]bool, len(rows)), make([]image, 0, len(rows))
	for i, row := range rows {
		at[string(row[e.Key.Name])] = i
	}
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, c := range e.Columns {
			if other, known := at[string(rows[i][c.Name])]; known && c.Target() == e {
				place(other)
			}
		}
		ordered = append(ordered, rows[i])
	}
	for i := range rows {
		place(i)
	}

	return ordered
}

// setBack restores the previous values of the columns that the turn changed.
func (u *undoing) setBack(ctx context.Context, tx pgx.Tx, e *domain.Entity, writes []*formerWrite) error {
	var keys []string
	var rows []image
	for _, w := range slices.Backward(writes) {
		keys, rows = append(keys, w.EntityID), append(rows, w.before)
	}

	return updateEach(ctx, tx, u.journal, e, keys, rows)
}

// inverse is the operation that undoes the one that was called, nil for none.
func (u *undoing) inverse(w *formerWrite) *domain.Operation {
	if o := u.tools.domain.Operation(w.call.Operation); o != nil && !w.call.Reached {
		return o.Inverse
	}

	return nil
}

// callInverse calls an operation's inverse, with those of the same arguments that it takes.
func (u *undoing) callInverse(ctx context.Context, tx pgx.Tx, w *formerWrite) error {
	if w.call.Reached {
		return nil
	}
	o := u.inverse(w)
	if o == nil {
		return fail(CodeNotAllowed, "%s cannot be taken back. Nothing was changed.", capital(domain.Spoken(w.call.Operation)))
	}
	args := map[string]any{}
	for name, value := range w.call.Args {
		if o.Args.Column(name) != nil && value != nil {
			args[name] = value
		}
	}
	args[o.This] = w.EntityID
	s := &step{call: vocab.Call{Tool: o.Name}, entity: o.On, unasked: true}
	op := &operateOp{declared: o, args: args, keys: args, step: s}
	if err := op.carryOut(ctx, u.decision, tx); err != nil {
		return err
	}
	u.operated = append(u.operated, op.changed...)

	return nil
}

// settleRefs updates refs to what the rows have become: saved drafts are drafts again, restored rows exist.
func (u *undoing) settleRefs(ctx context.Context, tx pgx.Tx) error {
	drafts := map[rowKey]string{}
	for _, w := range only(u.done, func(w *formerWrite) bool { return w.Draft != nil }) {
		ref, err := u.settleDraft(ctx, w)
		if err != nil {
			return err
		}
		drafts[w.at()] = ref
	}
	parts, err := u.affectedRows(ctx, tx)
	if err != nil {
		return err
	}
	call := u.steps[0].call
	u.steps = nil
	for _, part := range parts {
		draft := func(row map[string]any) string { return drafts[rowKey{part.Entity.Type, keyText(row, part.Entity)}] }
		isDraft := func(row map[string]any) bool { return part.Action == registry.ActionDeletedUser && draft(row) != "" }
		changes, again := changesOf(part), each(only(part.Rows, isDraft), draft)
		part.Rows = slices.DeleteFunc(part.Rows, isDraft) // which must not be buried
		s := &step{call: call, entity: part.Entity}
		if s.result, err = s.recorded(ctx, u.decision, tx, part); err != nil {
			return err
		}
		s.result.setBack = u.setBackIn(part)
		s.result.Changes, s.result.RowCount, s.result.Refs = changes, len(changes), append(again, s.result.Refs...)
		u.steps = append(u.steps, s)
	}

	return u.word(ctx)
}

// setBackIn are the columns of rows to which the undo gave their old values, but for those that programs fill.
func (u *undoing) setBackIn(part registry.Result) []*domain.Column {
	if part.Action != registry.ActionUpdatedUser {
		return nil
	}

	return only(visible(part.Entity), func(c *domain.Column) bool {
		return !c.Automatic() && slices.ContainsFunc(u.done, func(w *formerWrite) bool {
			_, was := w.before[c.Name]

			return was && w.entity == part.Entity && w.Action == registry.ActionUpdated
		})
	})
}

// settleDraft turns a saved row back into its draft, or saves it again. It returns the draft's ref if it is a draft
// now.
func (u *undoing) settleDraft(ctx context.Context, w *formerWrite) (string, error) {
	if w.Action == registry.ActionDeleted {
		_, err := u.registry.SaveAgain(ctx, *w.Draft, w.EntityType, w.EntityID)

		return "", err
	}
	isDraft, err := u.registry.Unsave(ctx, *w.Draft, w.EntityID)
	if err != nil || !isDraft {
		return "", err
	}

	return *w.Draft, nil
}

// affectedRows returns the rows that the undo affected, by type and by what became of them. Existing rows are read in their
// current state.
func (u *undoing) affectedRows(ctx context.Context, tx pgx.Tx) ([]registry.Result, error) {
	final, order := map[rowKey]*formerWrite{}, []rowKey{}
	for _, w := range u.done {
		if w.Action == actionCalled {
			continue // what its inverse changed is in operated
		}
		if final[w.at()] == nil {
			order = append(order, w.at())
		}
		final[w.at()] = w
	}
	var parts []registry.Result
	for _, at := range order {
		w := final[at]
		action := reverses[w.Action].action
		i := slices.IndexFunc(parts, func(p registry.Result) bool { return p.Entity == w.entity && p.Action == action })
		if i < 0 {
			i, parts = len(parts), append(parts, registry.Result{Entity: w.entity, Action: action})
		}
		parts[i].Rows = append(parts[i].Rows, w.visibleRow(final))
	}
	err := pg.AsTenant(ctx, tx, u.scope.UserID, func(tenant pgx.Tx) error {
		for i := range parts {
			if err := reread(ctx, tenant, &parts[i]); err != nil {
				return err
			}
		}

		return nil
	})
	for _, one := range u.operated {
		one.Action = u.attributed(one.Action)
		parts = append(parts, one)
	}

	return parts, err
}

// reread replaces what is known of rows by their current state, except for those that are gone.
func reread(ctx context.Context, tx pgx.Tx, part *registry.Result) error {
	if part.Action == registry.ActionDeletedUser {
		return nil
	}
	found, err := byKeys(ctx, tx, part.Entity, ownColumns(part.Entity), textsIn(part.Rows, part.Entity.Key))
	if err == nil {
		*part = found.after(part.Action)
	}

	return err
}

// visibleRow returns the row as models may see it, before the undo. References to rows that are removed too are left out: they
// would get refs for nothing.
func (w *formerWrite) visibleRow(final map[rowKey]*formerWrite) map[string]any {
	row := map[string]any{w.entity.Key.Name: w.EntityID}
	for _, c := range visible(w.entity) {
		var value any
		raw, ok := w.now[c.Name]
		if !ok || c == w.entity.Key || exact.Decode(raw, &value) != nil {
			continue
		}
		if to := c.Target(); to != nil {
			if target := final[rowKey{to.Type, fmt.Sprint(value)}]; target != nil && target.Action == registry.ActionCreated {
				continue
			}
		}
		row[c.Name] = value
	}

	return row
}
