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
	"alfred/domain"
	"alfred/pg"
	"alfred/registry"
)

// ToolUndo is the tool of what takes a turn back. No model calls it.
const ToolUndo = "undo"

// Undoing is what shall be taken back.
type Undoing struct {
	Turn   uuid.UUID
	Number int  // of that turn, for words
	Agreed bool // the user has agreed to what the declaration does not allow
}

// undoing takes back one turn.
type undoing struct {
	*decision
	Undoing

	writes []*formerWrite
	later  map[rowKey]*db.RowChangeLaterRow
	// done are the writes that were taken back, in order, and settled the rows of these.
	done    []*formerWrite
	settled map[rowKey]bool
	// operated is what the inverses of operations changed.
	operated []registry.Result
}

// formerWrite is one write of the turn that is taken back.
type formerWrite struct {
	*db.RowChangeListRow

	entity *domain.Entity
	before image
	after  map[string]string
	now    image // the row before it was taken back
}

type rowKey struct{ entityType, id string }

func (w *formerWrite) at() rowKey { return rowKey{w.EntityType, w.EntityID} }

// asBefore compares the rows with what they were before the turn. Where triggers make something else of what is given
// back, an undo would not be one.
func (u *undoing) asBefore() error {
	were := map[rowKey]image{}
	for _, w := range u.done {
		switch w.Action {
		case registry.ActionCreated:
			delete(were, w.at())
		case registry.ActionDeleted, registry.ActionUpdated:
			if were[w.at()] == nil || w.Action == registry.ActionDeleted {
				were[w.at()] = image{}
			}
			maps.Copy(were[w.at()], w.before)
		}
	}
	for _, w := range u.done {
		now := u.journal.now[w.entity][w.EntityID]
		for _, c := range w.entity.Columns {
			was, counts := were[w.at()][c.Name]
			if counts && !c.Automatic() && mark(c, was) != mark(c, now[c.Name]) {
				return fail(CodeConflict, "The database would not leave the %s%s as it was (%s). Nothing was taken back.",
					w.entity.Name, spaced(labelOf(w.entity, were[w.at()])), c.Name)
			}
		}
	}

	return nil
}

func spaced(label string) string {
	if label == "" {
		return ""
	}

	return " " + label
}

// moved is a row that is not as the turn left it.
type moved struct {
	entity *domain.Entity
	key    string
	label  string
	what   string
	later  *db.RowChangeLaterRow // by whom, where a turn did it
}

func (m *moved) Error() string { return m.entity.Type + " " + m.what }

// Undo takes back all that a turn has written, in the caller's transaction, or nothing: every row must be as the turn left
// it, and nothing else may go with them. What is in the way stands in the Outcome, in a sentence; an error means that the
// database failed.
func (t *Tools) Undo(ctx context.Context, tx pgx.Tx, scope registry.Scope, what Undoing) (Outcome, error) {
	scope.Actor = registry.ActorUser
	args, err := jsonRows(map[string]any{"turn": what.Number})
	if err != nil {
		return Outcome{}, err
	}
	u := &undoing{settled: map[rowKey]bool{}, decision: &decision{tools: t, scope: scope, steps: []*step{{call: Call{Tool: ToolUndo, Args: args}}}}, Undoing: what}
	last, err := db.New().TurnStepResultLastCall(ctx, tx, &db.TurnStepResultLastCallParams{TurnID: scope.TurnID, Step: int32(scope.Step)})
	if err != nil {
		return Outcome{}, fmt.Errorf("number calls: %w", err)
	}
	u.lastCall = int(last)
	err = pg.InTx(ctx, tx, func(tx pgx.Tx) error { return u.takeBack(ctx, tx) })
	if row, ok := errors.AsType[*moved](err); ok {
		text, whoErr := u.tell(ctx, tx, row)
		err = errors.Join(whoErr, &callError{err: fail(CodeStale, "%s", text)})
	}
	if fault, ok := errors.AsType[*Error](err); ok {
		err = &callError{err: fault}
	}
	if err != nil {
		u.steps = u.steps[:1]
	}
	if err := u.blame(ctx, tx, err); err != nil {
		return Outcome{}, err
	}
	for i, s := range u.steps {
		s.number = u.lastCall + i + 1
	}

	return u.store(ctx, tx)
}

func (u *undoing) takeBack(ctx context.Context, tx pgx.Tx) error {
	if err := u.read(ctx, tx); err != nil {
		return err
	}
	if u.mustAgree() {
		return errApproval
	}
	u.registry, u.journal = registry.New(tx, u.tools.domain, u.scope), &journal{tools: u.tools}
	err := pg.AsUndo(ctx, tx, u.scope.UserID, func(tenant pgx.Tx) error {
		rest := u.writes
		for len(rest) > 0 {
			from := len(rest) - 1
			for from > 0 && rest[from-1].Step == rest[from].Step && rest[from-1].Call == rest[from].Call {
				from--
			}
			if err := u.decided(ctx, tenant, rest[from:]); err != nil {
				return err
			}
			rest = rest[:from]
		}

		if err := u.journal.finish(ctx, tenant); err != nil {
			return err
		}

		return u.asBefore()
	})
	if err != nil {
		return err
	}

	return u.settleRefs(ctx, tx)
}

// read loads what the turn wrote, and what became of it since.
func (u *undoing) read(ctx context.Context, tx pgx.Tx) error {
	q := db.New()
	rows, err := q.RowChangeList(ctx, tx, u.Turn)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	if len(rows) == 0 {
		return fail(CodeNotFound, "What turn %d wrote is no longer kept, so that it cannot be taken back.", u.Number)
	}
	for _, row := range rows {
		w := &formerWrite{RowChangeListRow: row, entity: u.tools.domain.ByType(row.EntityType)}
		if w.entity == nil {
			return fail(CodeSchemaChanged, "Rows of the type %s are not known any more. Nothing was changed.", row.EntityType)
		}
		if row.Lost != nil {
			return fail(CodeNotAllowed, "%s Nothing was changed.", *row.Lost)
		}
		if row.Action != actionCalled {
			err = errors.Join(err, unmarshal(row.Before, &w.before))
		}
		if err = errors.Join(err, unmarshal(row.After, &w.after)); err != nil {
			return fmt.Errorf("read what was written: %w", err)
		}
		if fault := w.fits(); fault != nil {
			return fault
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

func unmarshal(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}

	return json.Unmarshal(raw, into)
}

// fits says that the table still has the columns that are to be given.
func (w *formerWrite) fits() *Error {
	for _, name := range slices.Sorted(maps.Keys(w.before)) {
		if w.entity.Column(name) == nil {
			return failColumn(CodeSchemaChanged, name, "%s has no column %s any more, so that its old value cannot be set. Nothing was changed.", w.entity.Table, name)
		}
	}

	return nil
}

// mustAgree says that taking it back does what the declaration does not let the assistant do, and asks.
func (u *undoing) mustAgree() bool {
	deeds := map[string]bool{}
	for _, w := range u.writes {
		verb, what := map[string]domain.Verb{
			registry.ActionCreated: domain.Delete, registry.ActionDeleted: domain.Create, registry.ActionUpdated: domain.Update,
		}[w.Action], map[string]string{registry.ActionCreated: "delete ", registry.ActionDeleted: "bring back ", registry.ActionUpdated: "change "}[w.Action]
		switch {
		case w.Action == actionCalled:
			if was, err := w.called(); err == nil && !was.Reached {
				u.mustCall(was, deeds)
			}
		case !w.entity.May(verb):
			deeds[what+w.entity.Plural] = true
		}
	}
	if len(deeds) == 0 || u.Agreed {
		return false
	}
	u.approval = &Approval{
		Text:    fmt.Sprintf("Taking back turn %d would %s, which I may not do unasked. %s", u.Number, strings.Join(slices.Sorted(maps.Keys(deeds)), ", "), shallI),
		Options: []ApprovalOption{{ID: OptionYes, Label: "Yes"}, {ID: OptionNo, Label: "No"}},
		Calls:   []ApprovedCall{{Tool: ToolUndo, Args: u.steps[0].call.Args, Keys: []string{u.Turn.String()}}},
	}

	return true
}

// mustCall adds what takes an operation back to what the user has to agree to. One with a condition is asked for whatever
// the row is like.
func (u *undoing) mustCall(was formerCall, deeds map[string]bool) {
	if o := u.inverse(was); o != nil && !o.Confirm.Never {
		deeds["do "+spokenName(o)] = true
	}
}

// decided takes back the writes of one decision: all are looked at before any is taken back, because what triggers did to
// one for the sake of another goes back with that one.
func (u *undoing) decided(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	if err := u.check(ctx, tx, writes); err != nil {
		return err
	}
	for len(writes) > 0 {
		from := len(writes) - 1
		for from > 0 && writes[from-1].entity == writes[from].entity && writes[from-1].Action == writes[from].Action && writes[from].Action != actionCalled {
			from--
		}
		if err := u.reverse(ctx, tx, writes[from:]); err != nil {
			return &callError{entity: writes[from].entity, err: err}
		}
		if err := u.tools.settle(ctx, tx, ToolUpdate); err != nil {
			return &callError{entity: writes[from].entity, err: err}
		}
		writes = writes[:from]
	}

	return nil
}

// check compares each row with how the decision left it, and locks it. What a later decision of the turn did to it is taken
// back by now: that one was compared.
func (u *undoing) check(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	rows, err := u.there(ctx, tx, writes)
	if err != nil {
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
		if err := u.asLeft(w); err != nil {
			return err
		}
	}

	return nil
}

func (u *undoing) there(ctx context.Context, tx pgx.Tx, writes []*formerWrite) (map[*domain.Entity]map[string]image, error) {
	batch, found := &pgx.Batch{}, map[*domain.Entity]map[string]image{}
	for _, e := range u.tools.domain.Entities { // in one order for all, so that two undos never wait for each other
		var keys []string
		for _, w := range writes {
			if w.entity == e {
				keys = append(keys, w.EntityID)
			}
		}
		if len(keys) == 0 {
			continue
		}
		found[e] = map[string]image{}
		s := u.tools.imagesSQL(e, e.Key, keys)
		if e.Lockable {
			s.add(" FOR UPDATE OF ", quoted(e.Table))
		}
		batch.Queue(s.String(), s.args...).Query(func(rows pgx.Rows) error { return collectImages(e, rows, found[e]) })
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read rows as they are: %w", err)
	}

	return found, nil
}

// asLeft compares one row. Where later turns changed it and all of that has been taken back, it is compared with what the
// last of these left: what the database counts up by itself has gone on.
func (u *undoing) asLeft(w *formerWrite) error {
	later := u.later[w.at()]
	gone, marks := w.after == nil, w.after
	if later != nil && later.Cancelled {
		var newest map[string]string
		if err := unmarshal(later.After, &newest); err != nil {
			return fmt.Errorf("read what was written since: %w", err)
		}
		if !gone && newest != nil {
			marks = newest
		}
	}
	what := ""
	switch {
	case gone && w.now != nil:
		what = "is there again"
	case !gone && w.now == nil:
		what = "is gone"
	case !gone:
		if name := differs(w.entity, w.now, marks); name != "" {
			what = "has changed since (" + name + ")"
		}
	}
	if what == "" {
		return nil
	}

	return u.moved(w.entity, w.EntityID, w.now, what)
}

// differs names a column of a row that is not as its marks say, "" for none.
func differs(e *domain.Entity, row image, marks map[string]string) string {
	for _, c := range e.Columns {
		value, ok := row[c.Name]
		if left, counts := marks[c.Name]; counts && ok && !c.Automatic() && mark(c, value) != left {
			return c.Name
		}
	}

	return ""
}

func (u *undoing) moved(e *domain.Entity, key string, row image, what string) *moved {
	m := &moved{entity: e, key: key, what: what, label: labelOf(e, row)}
	if later := u.later[rowKey{e.Type, key}]; later != nil && !later.Cancelled {
		m.later = later
	}

	return m
}

// labelOf is what people call a row, "" where its own columns do not say.
func labelOf(e *domain.Entity, row image) string {
	plain := make(map[string]any, len(row))
	for name, raw := range row {
		var value any
		if decode(raw, &value) == nil {
			plain[name] = value
		}
	}
	if len(row) == 0 || !e.Label.Complete(plain) {
		return ""
	}

	return registry.Scrub(e.Label.Render(plain))
}

// tell says which row is in the way, and by whom.
func (u *undoing) tell(ctx context.Context, tx pgx.Tx, m *moved) (string, error) {
	if m.label == "" {
		known, err := registry.New(tx, u.tools.domain, u.scope).LookupKeys(ctx, m.entity.Type, []string{m.key})
		if err != nil {
			return "", err
		}
		if entry := known[m.key]; !entry.LabelIsPlaceholder {
			m.label = entry.Label
		}
	}
	name := strings.TrimSpace("The " + m.entity.Name + " " + m.label)
	by := "by another program, or the database itself"
	switch {
	case m.later != nil && m.later.SameSession:
		by = fmt.Sprintf("by turn %d", m.later.Number)
	case m.later != nil:
		by = "by you in another conversation"
	default:
		user, err := db.New().TurnUndoUserChange(ctx, tx, &db.TurnUndoUserChangeParams{
			SessionID: u.scope.SessionID, EntityType: m.entity.Type, EntityID: m.key, TurnID: u.Turn,
		})
		if err != nil {
			return "", fmt.Errorf("look for who changed a row: %w", err)
		}
		if user {
			by = "by you, outside the chat"
		}
	}

	return fmt.Sprintf("%s %s, %s. Nothing was taken back.", name, m.what, by), nil
}
