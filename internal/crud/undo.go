package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// Undoing is what to undo.
type Undoing struct {
	Turn   uuid.UUID
	Number int      // of that turn
	Asked  string   // what was asked in it, for texts
	Refs   []string // of the rows for which to undo it; nil for all of them
	Agreed bool     // the user agreed to what the declaration does not allow
}

// undoing is the undo of one turn.
type undoing struct {
	*decision
	Undoing

	writes []*formerWrite
	kept   map[rowKey]bool // rows of the turn that are to stay as they are
	later  map[rowKey]*db.RowChangeLaterRow
	// done are the undone writes, in order; settled are their rows.
	done    []*formerWrite
	settled map[rowKey]bool
	// operated is what the inverses of operations changed.
	operated []registry.Result
}

// formerWrite is one write of the turn to undo.
type formerWrite struct {
	*db.RowChangeListRow

	entity *domain.Entity
	before image
	call   formerCall // instead of before, for an operation
	after  map[string]string
	now    image // the row before the undo
}

type rowKey struct{ entityType, id string }

func (w *formerWrite) at() rowKey { return rowKey{w.EntityType, w.EntityID} }

// stateBefore is how the rows were before the turn, as far as the undone writes tell.
func (u *undoing) stateBefore() map[rowKey]image {
	were := map[rowKey]image{}
	for _, w := range u.done {
		switch w.Action {
		case registry.ActionCreated:
			delete(were, w.at())
		case registry.ActionDeleted:
			were[w.at()] = maps.Clone(w.before)
		case registry.ActionUpdated:
			if were[w.at()] == nil {
				were[w.at()] = image{}
			}
			maps.Copy(were[w.at()], w.before)
		}
	}

	return were
}

// requireAsBefore compares the rows with their state before the turn. If triggers alter what is restored, the undo fails.
func (u *undoing) requireAsBefore() error {
	were := u.stateBefore()
	for _, w := range u.done {
		now := u.journal.now[w.entity][w.EntityID]
		for _, c := range w.entity.Columns {
			was, counts := were[w.at()][c.Name]
			if counts && !c.Automatic() && mark(c, was) != mark(c, now[c.Name]) {
				return fail(CodeConflict, "The database would not leave the %s as it was (%s). Nothing was taken back.",
					nounAndLabel(w.entity, labelOf(w.entity, were[w.at()])), domain.Spoken(c.Name))
			}
		}
	}

	return nil
}

// Undo undoes everything a turn wrote, in the caller's transaction, or nothing: every row must be as the turn left it,
// and nothing else may be deleted with them. The Outcome says in a sentence what prevents it; an error means that the
// database failed.
func (t *Tools) Undo(ctx context.Context, tx pgx.Tx, scope registry.Scope, what Undoing) (Outcome, error) {
	scope.Actor = registry.ActorUser
	request := map[string]any{"turn": what.Number}
	if len(what.Refs) > 0 {
		request["refs"] = what.Refs
	}
	u := &undoing{settled: map[rowKey]bool{}, decision: &decision{tools: t, scope: scope, steps: []*step{{call: vocab.Call{Tool: vocab.ToolUndo, Args: encoded(request)}}}}, Undoing: what}
	err := pg.InTx(ctx, tx, func(tx pgx.Tx) error { return u.takeBack(ctx, tx) })
	_, located := errors.AsType[*callError](err)
	_, refused := errors.AsType[*Error](err)
	_, changed := errors.AsType[*unworded](err)
	if !located && (refused || changed) {
		err = &callError{err: err}
	}
	if err != nil {
		u.steps = u.steps[:1]
	}
	if err := u.markFailed(ctx, tx, err); err != nil {
		return Outcome{}, err
	}
	u.tellRefusal()
	outcome, err := u.store(ctx, tx)
	outcome.Part = len(u.kept) > 0

	return outcome, err
}

// tellRefusal says of what the database refused that nothing was taken back.
func (u *undoing) tellRefusal() {
	fault := u.steps[0].fault
	switch {
	case fault == nil:
	case fault.Code == CodeBadValue: // the database once held this very value
		fault.Code, fault.Message = CodeSchemaChanged, "The tables were changed since then, so that an old value does not fit its column any more. Nothing was taken back."
	case fault.Code == CodeViolation:
		fault.Message = capital(fault.Message) + " Nothing was taken back."
		if slices.ContainsFunc(u.writes, func(w *formerWrite) bool { return u.oneOfSeveral(w.at()) }) {
			fault.Message += " Name the others to take back only those."
		}
	}
}

func (u *undoing) takeBack(ctx context.Context, tx pgx.Tx) error {
	u.registry, u.journal = registry.New(tx, u.tools.domain, u.scope), &journal{tools: u.tools}
	if err := u.read(ctx, tx); err != nil {
		return err
	}
	if err := u.choose(ctx, tx); err != nil {
		return err
	}
	if err := u.requireUndoable(); err != nil {
		return err
	}
	if u.mustAgree() {
		return errApproval
	}
	err := pg.AsUndo(ctx, tx, u.scope.UserID, func(tenant pgx.Tx) error {
		decisions := runs(u.writes, func(a, b *formerWrite) bool { return a.Step == b.Step && a.Call == b.Call })
		for _, writes := range slices.Backward(decisions) {
			if err := u.undoDecision(ctx, tenant, writes); err != nil {
				return err
			}
		}
		if err := errors.Join(u.journal.readResult(ctx, tenant), (&pg.Batch{}).Send(ctx, tenant)); err != nil {
			return err
		}

		return u.requireAsBefore()
	})
	if err != nil {
		return err
	}

	return u.settleRefs(ctx, tx)
}

// read loads what the turn wrote, and what has happened to it since.
func (u *undoing) read(ctx context.Context, tx pgx.Tx) error {
	q := db.New()
	rows, err := q.RowChangeList(ctx, tx, u.Turn)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	if len(rows) == 0 {
		return fail(CodeNotFound, "What %s wrote is no longer kept, so that it cannot be taken back.", u.Asked)
	}
	for _, row := range rows {
		w := &formerWrite{RowChangeListRow: row, entity: u.tools.domain.ByType(row.EntityType)}
		if w.entity == nil {
			return fail(CodeSchemaChanged, "Rows of the type %s are not known any more. Nothing was changed.", row.EntityType)
		}
		if err := w.decode(); err != nil {
			return err
		}
		u.writes = append(u.writes, w)
	}
	later, err := q.RowChangeLater(ctx, tx, u.Turn)
	if err != nil {
		return fmt.Errorf("read what was written since: %w", err)
	}
	u.later = make(map[rowKey]*db.RowChangeLaterRow, len(later))
	for _, row := range later {
		u.later[rowKey{row.EntityType, row.EntityID}] = row
	}

	return nil
}

// requireUndoable refuses writes that cannot be undone.
func (u *undoing) requireUndoable() error {
	for _, w := range u.writes {
		if w.Lost != nil {
			return fail(CodeNotAllowed, "%s Nothing was changed.", *w.Lost)
		}
		for _, name := range slices.Sorted(maps.Keys(w.before)) {
			if w.entity.Column(name) == nil {
				return failColumn(CodeSchemaChanged, name, "%s has no column %s any more, so that its old value cannot be set. Nothing was changed.", w.entity.Table, name)
			}
		}
	}

	return nil
}

func unmarshal(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}

	return json.Unmarshal(raw, into)
}

// decode reads how the row was before and after.
func (w *formerWrite) decode() (err error) {
	if w.Action == actionCalled {
		err = exact.Decode(w.Before, &w.call)
	} else {
		err = unmarshal(w.Before, &w.before)
	}
	if err = errors.Join(err, unmarshal(w.After, &w.after)); err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}

	return nil
}

// mustAgree reports whether undoing does something the declaration does not let the assistant do, and asks.
func (u *undoing) mustAgree() bool {
	effects := map[string]bool{}
	for _, w := range u.writes {
		reverse, isWrite := reverses[w.Action]
		switch o := u.inverse(w); {
		case w.Action == registry.ActionDeleted && !w.entity.May(domain.Delete): // it went along with another and comes back with that
		case isWrite && !w.entity.May(reverse.verb):
			effects[reverse.words+" "+w.entity.Plural] = true
		case o != nil && !o.Confirm.Never: // a conditional approval is always asked for
			effects["do "+domain.Spoken(o.Name)] = true
		}
	}
	if len(effects) == 0 || u.Agreed {
		return false
	}
	what := u.Asked
	if len(u.kept) > 0 {
		what = "part of " + what
	}
	u.approval = &Approval{
		Text:  fmt.Sprintf("Taking back %s would %s, which I may not do unasked. %s", what, strings.Join(slices.Sorted(maps.Keys(effects)), ", "), shallI),
		Calls: []ApprovedCall{{Call: u.steps[0].call, Keys: []string{u.Turn.String()}}},
	}

	return true
}

// reverses are what undoes each kind of write: the verb that has to be allowed, its words, and what the registry records.
var reverses = map[string]struct {
	verb          domain.Verb
	words, action string
}{
	registry.ActionCreated: {domain.Delete, "delete", registry.ActionDeletedUser},
	registry.ActionDeleted: {domain.Create, "bring back", registry.ActionCreatedUser},
	registry.ActionUpdated: {domain.Update, "change", registry.ActionUpdatedUser},
}

// undoDecision undoes the writes of one decision. All are checked before any is undone, because what triggers did to
// one row on behalf of another is undone together with that other.
func (u *undoing) undoDecision(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	if err := u.lockAndCompare(ctx, tx, writes); err != nil {
		return err
	}
	alike := func(a, b *formerWrite) bool {
		return a.entity == b.entity && a.Action == b.Action && a.Action != actionCalled
	}
	settling := settling{tools: u.tools}
	for i, some := range slices.Backward(runs(writes, alike)) {
		at := callError{entity: some[0].entity}
		if at.err = u.reverse(ctx, tx, some); at.err != nil {
			return &at
		}
		if err := settling.after(ctx, tx, &step{call: vocab.Call{Tool: vocab.ToolUpdate}}, i == 0, at); err != nil {
			return err
		}
	}

	return nil
}

// runs cuts a list where an element does not belong with the one before it.
func runs[T any](list []T, together func(a, b T) bool) [][]T {
	var cut [][]T
	for i, one := range list {
		if i == 0 || !together(list[i-1], one) {
			cut = append(cut, nil)
		}
		cut[len(cut)-1] = append(cut[len(cut)-1], one)
	}

	return cut
}
