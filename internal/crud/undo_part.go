package crud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/registry"
)

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
	chosen, err := u.named(ctx)
	if err != nil {
		return err
	}
	if err := u.withCompany(ctx, tx, chosen); err != nil {
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
		return fail(CodeNotAllowed, "%s cannot be taken back in part. Nothing was changed.", capital(strings.ReplaceAll(u.writes[i].call.Operation, "_", " ")))
	}

	return nil
}

// takenBack reports whether what a turn did to a row was undone by a turn of which that was not undone in its turn.
func takenBack(undos []*db.RowChangeUndosRow, turn int, at rowKey) bool {
	return slices.ContainsFunc(undos, func(one *db.RowChangeUndosRow) bool {
		return int(one.Undone) == turn && at == rowKey{one.EntityType, one.EntityID} && !takenBack(undos, int(one.UndoneBy), at)
	})
}

// what is undone, for texts.
func (u *undoing) what() string {
	if len(u.kept) > 0 {
		return "part of " + u.Asked
	}

	return u.Asked
}

// named are the rows that the refs mean, those of deleted rows too. The turn has written each of them.
func (u *undoing) named(ctx context.Context) (map[rowKey]bool, error) {
	written := map[string]rowKey{}
	for e, keys := range u.keys() {
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

// keys are those of the rows that the turn wrote, by type.
func (u *undoing) keys() map[*domain.Entity][]string {
	keys := map[*domain.Entity][]string{}
	for _, w := range u.writes {
		keys[w.entity] = append(keys[w.entity], w.EntityID)
	}

	return keys
}

// withCompany adds to chosen rows those that cannot stay without them, or were deleted or changed with them.
func (u *undoing) withCompany(ctx context.Context, tx pgx.Tx, chosen map[rowKey]bool) error {
	reads := &pg.Batch{}
	rows := u.tools.imagesByKey(reads, u.keys(), false)
	if err := pg.AsTenant(ctx, tx, u.scope.UserID, func(tenant pgx.Tx) error { return reads.Send(ctx, tenant) }); err != nil {
		return err
	}
	for grown := true; grown; {
		grown = false
		for _, of := range u.writes {
			for _, dependent := range u.tools.domain.Dependents(of.entity) {
				for _, w := range u.writes {
					if chosen[of.at()] && !chosen[w.at()] && w.goesWith(of, dependent, rows[w.entity][w.EntityID]) {
						chosen[w.at()], grown = true, true
					}
				}
			}
		}
	}

	return nil
}

// goesWith reports whether undoing a write has to undo this one too: a part of a row that was created, and what the same
// decision deleted with a row, or took the name of it from.
func (w *formerWrite) goesWith(of *formerWrite, by domain.Dependent, now image) bool {
	points := func(row image) bool {
		var value any

		return w.entity == by.Entity && exact.Decode(row[by.Column.Name], &value) == nil && value != nil && fmt.Sprint(value) == of.EntityID
	}
	switch {
	case of.Action == registry.ActionCreated:
		return by.Cascade && w.Action == registry.ActionCreated && points(now)
	case of.Action != registry.ActionDeleted || w.Step != of.Step || w.Call != of.Call:
		return false
	case by.Cascade:
		return w.Action == registry.ActionDeleted && points(w.before)
	default:
		return w.Action == registry.ActionUpdated && points(w.before)
	}
}
