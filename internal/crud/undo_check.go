package crud

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/registry"
)

// notAsLeft is the error for a row that is not as the turn left it.
func (u *undoing) notAsLeft(e *domain.Entity, key string, row image, what string) error {
	return &unworded{fmt.Errorf("%s %s", e.Type, what), func(ctx context.Context, tx pgx.Tx, _ uuid.UUID) error {
		return u.changedBy(ctx, tx, e, key, labelOf(e, row), what)
	}}
}

// lockAndCompare compares each row with how the decision left it, and locks it. What a later decision of the turn did to a row
// has been compared and undone by now.
func (u *undoing) lockAndCompare(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	reads := &pg.Batch{}
	rows := u.tools.imagesByKey(reads, keysByType(writes), true)
	if err := reads.Send(ctx, tx); err != nil {
		return err
	}
	last := map[rowKey]*formerWrite{}
	for _, w := range writes {
		w.now = rows[w.entity][w.EntityID]
		last[w.at()] = w
	}
	for _, w := range writes {
		if u.settled[w.at()] || last[w.at()] != w {
			continue
		}
		if err := u.requireAsLeft(w); err != nil {
			return err
		}
	}

	return nil
}

// requireAsLeft compares one row. If later turns changed it and all of that was undone, it is compared with what the last of
// those left: the database's own counters have advanced.
func (u *undoing) requireAsLeft(w *formerWrite) error {
	marks := w.after
	if later := u.later[w.at()]; later != nil && later.Cancelled {
		var newest map[string]string
		if err := unmarshal(later.After, &newest); err != nil {
			return fmt.Errorf("read what was written since: %w", err)
		}
		if newest != nil {
			marks = newest
		}
	}
	var what string
	switch changed := differs(w.entity, w.now, marks); {
	case w.after == nil && w.now == nil:
		return nil
	case w.after == nil:
		what = "is there again"
	case w.now == nil:
		what = "is gone"
	case changed == "":
		return nil
	default:
		what = "has changed since (" + domain.Spoken(changed) + ")"
	}

	return u.notAsLeft(w.entity, w.EntityID, w.now, what)
}

// differs names a column of a row that does not match its marks, "" for none.
func differs(e *domain.Entity, row image, marks map[string]string) string {
	for _, c := range e.Columns {
		value, ok := row[c.Name]
		if left, counts := marks[c.Name]; counts && ok && !c.Automatic() && mark(c, value) != left {
			return c.Name
		}
	}

	return ""
}

// changedBy says which row is in the way, and who changed it.
func (u *undoing) changedBy(ctx context.Context, tx pgx.Tx, e *domain.Entity, key, label, what string) error {
	if label == "" {
		known, err := registry.New(tx, u.tools.domain, u.scope).LookupKeys(ctx, e.Type, []string{key})
		if err != nil {
			return err
		}
		if entry := known[key]; entry != nil && !entry.LabelIsPlaceholder {
			label = entry.Label
		}
	}
	who, err := db.New().TurnUndoChangedBy(ctx, tx, &db.TurnUndoChangedByParams{
		SessionID: u.scope.SessionID, UserID: u.scope.UserID, EntityType: e.Type, EntityID: key, TurnID: u.Turn,
	})
	if err != nil {
		return fmt.Errorf("look for who changed a row: %w", err)
	}
	by, way := "by another program, or the database itself", ""
	switch {
	case who.Asked != "" && who.SameSession:
		by, way = "by what you asked with "+registry.Scrub(who.Asked), " Take that back first."
	case who.Asked != "":
		by = "by you in another conversation"
	case who.ByUser:
		by = "by you, outside the chat"
	}

	if u.oneOfSeveral(rowKey{e.Type, key}) {
		way += " Name the others to take back only those."
	}

	return fail(CodeStale, "The %s %s, %s. Nothing was taken back.%s", nounAndLabel(e, label), what, by, way)
}

// oneOfSeveral reports whether the turn wrote this row and others, not counting parts of rows.
func (u *undoing) oneOfSeveral(row rowKey) bool {
	return slices.ContainsFunc(u.writes, func(w *formerWrite) bool { return w.at() == row }) &&
		slices.ContainsFunc(u.writes, func(w *formerWrite) bool { return w.at() != row && !w.entity.Part && w.Action != actionCalled })
}

// choose leaves of the turn's writes those that are to be undone: what an earlier undo of a part took back is not undone
// again, and with refs only their rows are, with what belongs to them.
func (u *undoing) choose(ctx context.Context, tx pgx.Tx) error {
	undos, err := db.New().RowChangeUndos(ctx, tx, u.Turn)
	if err != nil {
		return fmt.Errorf("read what was undone before: %w", err)
	}
	u.writes = slices.DeleteFunc(u.writes, func(w *formerWrite) bool { return takenBack(undos, u.Number, w.at()) })
	if len(u.writes) == 0 {
		return fail(CodeConflict, "What %s wrote has been taken back already.", u.Asked)
	}
	if len(u.Refs) == 0 {
		return nil
	}
	chosen, err := u.rowsOfRefs(ctx)
	if err != nil {
		return err
	}
	if err := u.addDependents(ctx, tx, chosen); err != nil {
		return err
	}
	u.kept = map[rowKey]bool{}
	u.writes = slices.DeleteFunc(u.writes, func(w *formerWrite) bool {
		if !chosen[w.at()] {
			u.kept[w.at()] = true
		}

		return !chosen[w.at()]
	})
	if i := slices.IndexFunc(u.writes, func(w *formerWrite) bool { return w.Action == actionCalled }); i >= 0 && len(u.kept) > 0 {
		return fail(CodeNotAllowed, "%s cannot be taken back in part. Nothing was changed.", capital(domain.Spoken(u.writes[i].call.Operation)))
	}

	return nil
}

// takenBack reports whether what a turn did to a row counts as undone: an undo counts unless it was undone itself.
func takenBack(undos []*db.RowChangeUndosRow, turn int, at rowKey) bool {
	return slices.ContainsFunc(undos, func(one *db.RowChangeUndosRow) bool {
		return int(one.Undone) == turn && at == rowKey{one.EntityType, one.EntityID} && !takenBack(undos, int(one.UndoneBy), at)
	})
}

// rowsOfRefs are the rows that the refs mean, those of deleted rows too. The turn has written each of them.
func (u *undoing) rowsOfRefs(ctx context.Context) (map[rowKey]bool, error) {
	written := map[string]rowKey{}
	for e, keys := range keysByType(u.writes) {
		entries, err := u.registry.LookupKeys(ctx, e.Type, keys)
		if err != nil {
			return nil, err
		}
		for id, entry := range entries {
			written[entry.Ref] = rowKey{e.Type, id}
		}
	}
	chosen := map[rowKey]bool{}
	for _, ref := range u.Refs {
		at, is := written[ref]
		if !is {
			return nil, fail(CodeUnknownRef, "%s did nothing to %s that could be taken back. Nothing was changed.", u.Asked, ref)
		}
		chosen[at] = true
	}

	return chosen, nil
}

// keysByType are the keys of the rows that were written, by type.
func keysByType(writes []*formerWrite) map[*domain.Entity][]string {
	keys := map[*domain.Entity][]string{}
	for _, w := range writes {
		keys[w.entity] = append(keys[w.entity], w.EntityID)
	}

	return keys
}

// addDependents adds to chosen rows those that cannot stay without them, or were deleted or changed with them.
func (u *undoing) addDependents(ctx context.Context, tx pgx.Tx, chosen map[rowKey]bool) error {
	reads := &pg.Batch{}
	rows := u.tools.imagesByKey(reads, keysByType(u.writes), false)
	if err := pg.AsTenant(ctx, tx, u.scope.UserID, func(tenant pgx.Tx) error { return reads.Send(ctx, tenant) }); err != nil {
		return err
	}
	needed := func(w *formerWrite) bool {
		return !chosen[w.at()] && slices.ContainsFunc(u.writes, func(of *formerWrite) bool {
			return chosen[of.at()] && u.undoneWith(w, of, rows[w.entity][w.EntityID])
		})
	}
	for more := only(u.writes, needed); len(more) > 0; more = only(u.writes, needed) {
		for _, w := range more {
			chosen[w.at()] = true
		}
	}

	return nil
}

// undoneWith reports whether undoing the write of a row has to undo w too: a part of a row that was created, and what the
// same decision deleted with a row, or took the name of it from. now is w's row.
func (u *undoing) undoneWith(w, of *formerWrite, now image) bool {
	together := w.Step == of.Step && w.Call == of.Call

	return slices.ContainsFunc(u.tools.domain.Dependents(of.entity), func(by domain.Dependent) bool {
		points := func(row image) bool { return w.entity == by.Entity && row.text(by.Column) == of.EntityID }
		switch {
		case of.Action == registry.ActionCreated:
			return by.Cascade && w.Action == registry.ActionCreated && points(now)
		case of.Action != registry.ActionDeleted || !together:
			return false
		case by.Cascade:
			return w.Action == registry.ActionDeleted && points(w.before)
		default:
			return w.Action == registry.ActionUpdated && points(w.before)
		}
	})
}
