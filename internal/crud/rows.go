package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/registry"
)

// Row is one row for a user interface, keys included. Version changes with every write and serves as an ETag.
type Row struct {
	Key     string
	Data    map[string]any
	Version string
	// Was is what a change without a version overwrote, by column.
	Was map[string]any
	// Parts are the rows that belong to it, as Data holds them under their tables' names.
	Parts []Row
}

func (l *loaded) row(i int) Row {
	row := l.rowOf(l.Entity, l.Rows[i])
	for _, child := range l.Entity.Children {
		for _, part := range rowsIn(row.Data[child.Entity.Table]) {
			row.Parts = append(row.Parts, l.rowOf(child.Entity, part))
		}
	}

	return row
}

func (l *loaded) rowOf(e *domain.Entity, data map[string]any) Row {
	key := keyText(data, e)

	return Row{Key: key, Data: data, Version: l.Versions[e.Type][key]}
}

// Get returns one row with its children, or an *Error with CodeNotFound.
func (t *Tools) Get(ctx context.Context, tx pgx.Tx, user User, entityType, id string) (Row, error) {
	e, fault := t.rowType(entityType)
	if fault != nil {
		return Row{}, fault
	}
	var row Row
	err := t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error {
		found, err := readOne(ctx, tenant, e, id, query{sel: wholeRow(e)})
		if err == nil {
			row = found.row(0)
		}

		return err
	})

	return row, err
}

// Create writes a row, with children under the child table's name.
func (t *Tools) Create(ctx context.Context, tx pgx.Tx, user User, entityType string, data json.RawMessage) (Row, error) {
	return t.change(ctx, tx, user, entityType, domain.Create, func(d *decision, tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		object, fault := rowObject(data)
		if fault != nil {
			return nil, fault
		}
		row, fault := newRow(e, object, nil)
		if fault != nil {
			return nil, fault
		}
		result, err := d.save(ctx, tenant, e, []map[string]any{row})
		if err != nil {
			return nil, err
		}

		return readBack(ctx, tenant, e, wholeRow(e), result)
	})
}

// Patch changes the columns that data names; null clears one. version, if not "", must be the row's, or one of several
// separated by commas, else the error is CodeStale. Without one, the row's Was holds what was overwritten, so that no write is lost silently.
func (t *Tools) Patch(ctx context.Context, tx pgx.Tx, user User, entityType, id, version string, data json.RawMessage) (Row, error) {
	var was map[string]any
	row, err := t.change(ctx, tx, user, entityType, domain.Update, func(d *decision, tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		object, fault := rowObject(data)
		if fault != nil {
			return nil, fault
		}
		written, fault := changes(e, object)
		if fault != nil {
			return nil, fault
		}
		before, err := lockOne(ctx, tenant, e, id, version)
		if err != nil {
			return nil, err
		}
		if _, err := d.update(ctx, tenant, e, []string{id}, written); err != nil {
			return nil, err
		}
		after, err := readOne(ctx, tenant, e, id, query{sel: wholeRow(e)})
		if err == nil && version == "" {
			was = overwrittenValues(written, before.Rows[0], after.Rows[0])
		}

		return after, err
	})
	row.Was = was

	return row, err
}

// overwrittenValues returns the written columns whose value changed.
func overwrittenValues(written, before, after map[string]any) map[string]any {
	was := map[string]any{}
	for name := range written {
		if !reflect.DeepEqual(before[name], after[name]) {
			was[name] = before[name]
		}
	}

	return was
}

// Deletion is what a person knows of a row that is to go.
type Deletion struct {
	// Version works as in Patch: without one, Was is the deleted row, parts included.
	Version string
	// Told is the text of the *ConfirmError, "" before there was one.
	Told string
}

// Delete removes a row and its children. If rows of other people's go with it, it returns *ConfirmError until what.Told is that
// error's text.
func (t *Tools) Delete(ctx context.Context, tx pgx.Tx, user User, entityType, id string, what Deletion) (Row, error) {
	row, err := t.change(ctx, tx, user, entityType, domain.Delete, func(d *decision, tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		found, err := lockOne(ctx, tenant, e, id, what.Version)
		if err != nil {
			return nil, err
		}
		would, err := t.takesOthers(ctx, tenant, found)
		if err != nil {
			return nil, err
		}
		if would.others && would.undoNotice() != what.Told {
			return nil, &ConfirmError{Text: would.undoNotice()}
		}

		return found, d.delete(ctx, tenant, e, found)
	})
	if what.Version == "" {
		row.Was = maps.Clone(row.Data)
	}

	return row, err
}

// rowType finds a type by its name or its table's.
func (t *Tools) rowType(name string) (*domain.Entity, *Error) {
	if e := t.domain.ByType(name); e != nil {
		return e, nil
	}
	if e := t.domain.ByTable(name); e != nil {
		return e, nil
	}

	return nil, fail(CodeUnknownTable, "There is no type %q.", registry.Scrub(name))
}

func rowObject(data json.RawMessage) (map[string]any, *Error) {
	var object map[string]any
	if err := exact.Decode(data, &object); err != nil || object == nil {
		return nil, fail(CodeBadArgument, "The row has to be a JSON object.")
	}
	exact.Tame(object)

	return object, nil
}

func noSuch(e *domain.Entity) *Error { return fail(CodeNotFound, "There is no such %s.", e.Name) }

// readOne reads a row as a query says, or fails with CodeNotFound.
func readOne(ctx context.Context, tx pgx.Tx, e *domain.Entity, id string, q query) (*loaded, error) {
	if !isKeyOf(e, id) {
		return nil, noSuch(e)
	}
	q.keys = []string{id}
	found, err := load(ctx, tx, e, &q)
	if err == nil && len(found.Rows) == 0 {
		err = noSuch(e)
	}

	return found, err
}

// lockOne reads and locks a row and compares its version.
func lockOne(ctx context.Context, tx pgx.Tx, e *domain.Entity, id, version string) (*loaded, error) {
	found, err := readOne(ctx, tx, e, id, query{sel: ownColumns(e), lock: true})
	if err == nil && version != "" && !slices.Contains(strings.Split(version, ","), found.row(0).Version) {
		err = fail(CodeStale, "The %s was changed by somebody else in the meantime.", e.Name)
	}

	return found, err
}

// asUser runs work under the tenant's role and words its errors.
func (t *Tools) asUser(ctx context.Context, tx pgx.Tx, user User, e *domain.Entity, work func(pgx.Tx) error) error {
	return t.explained(ctx, tx, user.ID, e, pg.AsTenant(ctx, tx, user.ID, work))
}

// byUser ends an action that a person did.
const byUser = ":user"

// attributed returns an action as the registry records it for the decision's actor.
func (d *decision) attributed(action string) string {
	if d.scope.Actor == registry.ActorUser {
		return action + byUser
	}

	return action
}

// change runs a write as the user and registers it in the user's session.
func (t *Tools) change(
	ctx context.Context, tx pgx.Tx, user User, entityType string, verb domain.Verb, write func(*decision, pgx.Tx, *domain.Entity) (*loaded, error),
) (Row, error) {
	e, fault := t.rowType(entityType)
	if fault != nil {
		return Row{}, fault
	}
	if fault := allowed(e, verb); fault != nil {
		return Row{}, fault
	}
	d, err := t.decisionOf(ctx, tx, user)
	if err != nil {
		return Row{}, err
	}
	var found *loaded
	err = t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error {
		var err error
		if found, err = write(d, tenant, e); err != nil {
			return err
		}
		if err := d.checkWritten(ctx, tenant); err != nil || user.Settles {
			return err
		}

		return t.settled(ctx, tenant, e, deleted(verb, found))
	})
	if err != nil {
		return Row{}, err
	}

	return found.row(0), d.noteDone(ctx, tx, user, nil, found.after(pastActions[verb]))
}

// deleted are the keys of what a change deletes.
func deleted(verb domain.Verb, found *loaded) []string {
	if verb != domain.Delete {
		return nil
	}

	return found.keys()
}

// Settle checks what the database checks late, after changes of rows of a type, of which these keys were deleted. One of several changes may
// mend what another violates: two lines of a balanced entry change one after the other.
func (t *Tools) Settle(ctx context.Context, tx pgx.Tx, user User, entityType string, gone ...string) error {
	e, fault := t.rowType(entityType)
	switch {
	case fault != nil:
		return fault
	case !t.domain.Deferred:
		return nil
	}

	return t.asUser(ctx, tx, user, e, func(tenant pgx.Tx) error { return t.settled(ctx, tenant, e, gone) })
}

// settled is settle, with an error that says what rows use those that were deleted.
func (t *Tools) settled(ctx context.Context, tenant pgx.Tx, e *domain.Entity, gone []string) error {
	err := t.settle(ctx, tenant)
	if len(gone) > 0 {
		err = t.inUse(e, gone, err)
	}

	return err
}

// decisionOf returns a decision of the user's outside the chat: in none of the user's sessions, or in the next turn of one,
// whose running turn is notified.
func (t *Tools) decisionOf(ctx context.Context, tx pgx.Tx, user User) (*decision, error) {
	d := &decision{tools: t, scope: registry.Scope{UserID: user.ID, Actor: registry.ActorUser}, journal: &journal{}}
	if user.Session == nil {
		return d, nil
	}
	last, err := db.New().SessionChange(ctx, tx, &db.SessionChangeParams{ID: *user.Session, UserID: user.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fail(CodeNotFound, "There is no such session.")
	}
	if err != nil {
		return nil, fmt.Errorf("enter session: %w", err)
	}
	d.scope.SessionID, d.scope.Turn = *user.Session, int(last)+1

	return d, nil
}

// pastActions maps verbs to the actions in row_events.
var pastActions = map[domain.Verb]string{
	domain.Create: registry.ActionCreated, domain.Update: registry.ActionUpdated, domain.Delete: registry.ActionDeleted,
}

// noteDone registers what the user did to rows in the user's session or, without a session, records it in row_events,
// and notifies the user's running turns.
func (d *decision) noteDone(ctx context.Context, tx pgx.Tx, user User, operation *string, done ...registry.Result) error {
	var err error
	if user.Session == nil {
		err = keepEvents(ctx, tx, user, operation, done)
	} else {
		for i := range done {
			done[i].Action = d.attributed(done[i].Action)
		}
		_, err = registry.New(tx, d.tools.domain, d.scope).TranslateRows(ctx, done, namesByKey(labels).asTenant(tx, user.ID))
	}
	if err != nil {
		return err
	}

	return noteChange(ctx, tx, user)
}

// keepEvents records what was done to rows outside all conversations. A label that needs another row's is left out:
// that would have to be read for each row.
func keepEvents(ctx context.Context, tx pgx.Tx, user User, operation *string, done []registry.Result) error {
	var kept []map[string]string
	for _, part := range done {
		for _, row := range part.Rows {
			kept = append(kept, map[string]string{
				"entity_type": part.Entity.Type, "entity_id": keyText(row, part.Entity), "label": part.Entity.Label.RenderComplete(row), "action": part.Action,
			})
		}
	}
	if err := db.New().RowEventAdd(ctx, tx, &db.RowEventAddParams{UserID: user.ID, Operation: operation, Rows: encoded(kept)}); err != nil {
		return fmt.Errorf("keep what was done to rows: %w", err)
	}

	return nil
}

// noteChange tells the user's running turns that rows have changed.
func noteChange(ctx context.Context, tx pgx.Tx, user User) error {
	if _, err := db.New().UserChange(ctx, tx, user.ID); err != nil {
		return fmt.Errorf("note the change: %w", err)
	}

	return nil
}
