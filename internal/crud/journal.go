package crud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// journal records what a turn's decision does to rows, with what is needed to undo it.
type journal struct {
	tools  *Tools // nil outside a turn, where nothing is kept, and so nothing has to be read
	counts bool   // it only says which rows there are: nothing else of them is read
	hides  bool   // it says what views no longer show: of rows that point at others of their table, those that point at the marked ones
	writes []*rowChange
	left   []*rowChange                        // rows that go on naming what is deleted; nothing is done to them
	now    map[*domain.Entity]map[string]image // the rows as the decision left them, once they are read
	others bool                                // rows of other people's are deleted or changed with them
}

// rowChange is one row of row_changes while its decision runs.
type rowChange struct {
	EntityType string            `json:"entity_type"`
	EntityID   string            `json:"entity_id"`
	Action     string            `json:"action"`
	Before     any               `json:"before"`
	After      map[string]string `json:"after"`
	Draft      *string           `json:"draft"`
	Lost       *string           `json:"lost"`

	entity *domain.Entity
	// unseen: Lost describes rows deleted with this one, rather than a missing privilege to restore it.
	unseen bool
	// was is the row before an update or deletion; columns are those the update wrote.
	was     image
	columns []string
}

// concerned are the rows that are written, and those that go on naming some.
func (j *journal) concerned() []*rowChange { return slices.Concat(j.writes, j.left) }

func (w *rowChange) at() rowKey { return rowKey{w.EntityType, w.EntityID} }

// Actions that are not part of any lifecycle: of an operation, and of what stays as it is.
const (
	actionCalled = "called"
	actionLeft   = "left"
)

// image is a row as stored, column by column, in Postgres's own JSON. In a column of JSON, its null, which is not SQL's, is
// wrapped in an object with the key "", as is an object that has such a key; [populated] unwraps them.
type image map[string]json.RawMessage

// text is the value of a column as text, "" for none.
func (row image) text(c *domain.Column) string {
	var value any
	if exact.Decode(row[c.Name], &value) != nil || value == nil {
		return ""
	}

	return fmt.Sprint(value)
}

// imageSQL is the row as an image.
func imageSQL(e *domain.Entity) string {
	row := "to_jsonb(" + quoted(e.Table) + ".*)"
	for _, c := range e.Columns {
		name := strings.ReplaceAll(c.Name, "'", "''")
		switch {
		case c.Kind == domain.KindVector && c.Plain: // an extension may turn its type into JSON in a way that does not lead back
			row += fmt.Sprintf(" || jsonb_build_object('%s', %s::text)", name, e.Qualified(c))
		case c.Kind == domain.KindJSON && c.Expr == "":
			row += fmt.Sprintf(" || CASE WHEN jsonb_typeof(%[1]s::jsonb) = 'null' OR %[1]s::jsonb -> '' IS NOT NULL"+
				" THEN jsonb_build_object('%[2]s', jsonb_build_object('', %[1]s)) ELSE '{}' END", e.Qualified(c), name)
		}
	}

	return row
}

// populated is the value of a column in [givenRow], a record that was populated from a row, or from one of several.
func populated(e *domain.Entity, name string, from any) string {
	value := givenRow + "." + quoted(name)
	switch from.(type) {
	case image, []image:
		if c := e.Column(name); c != nil && c.Kind == domain.KindJSON {
			return fmt.Sprintf("coalesce((%[1]s::jsonb -> '')::%[2]s, %[1]s)", value, c.Type)
		}
	}

	return value
}

// images reads whole rows by the column that identifies them; a journal that only counts reads their keys.
func (j *journal) images(ctx context.Context, tx pgx.Tx, e *domain.Entity, by *domain.Column, keys []string) (map[string]image, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	read := imageSQL(e)
	if j.counts {
		read = "NULL"
	}
	reads, found := &pg.Batch{}, map[string]image(nil)
	queueImages(reads, e, read, by, keys, false, func(rows map[string]image) { found = rows })
	err := reads.Send(ctx, tx)

	return found, err
}

// imagesByKey adds reads of whole rows, one query per type, and returns where they go. lock locks the rows too, in a
// fixed order, so that two who do so cannot deadlock.
func (t *Tools) imagesByKey(reads *pg.Batch, keys map[*domain.Entity][]string, lock bool) map[*domain.Entity]map[string]image {
	found := map[*domain.Entity]map[string]image{}
	for _, e := range t.domain.Entities {
		if len(keys[e]) > 0 {
			queueImages(reads, e, imageSQL(e), e.Key, keys[e], lock && e.Lockable, func(rows map[string]image) { found[e] = rows })
		}
	}

	return found
}

// queueImages adds a read of rows as read selects them.
func queueImages(reads *pg.Batch, e *domain.Entity, read string, by *domain.Column, keys []string, lock bool, take func(map[string]image)) {
	s := &statement{}
	s.add("SELECT ", e.Qualified(e.Key), "::text, ", read, " FROM ", e.SQL(),
		" WHERE ", e.Owned(), " AND ", s.pointsAt(e, by, keys), " ORDER BY ", e.Qualified(e.Key))
	if lock {
		s.add(" FOR UPDATE OF ", quoted(e.Table))
	}
	queueByKey(reads, "read "+e.Table+" as it is", s, take)
}

func (j *journal) add(e *domain.Entity, key, action string) *rowChange {
	w := &rowChange{EntityType: e.Type, EntityID: key, Action: action, entity: e}
	j.writes = append(j.writes, w)

	return w
}

// recordCreated records inserted rows.
func (j *journal) recordCreated(e *domain.Entity, keys []string) {
	var lost *string
	if !e.Removable {
		lost = new(fmt.Sprintf("What was created among the %s cannot be taken away again: the database does not allow it.", e.Plural))
	}
	for _, key := range keys {
		j.add(e, key, registry.ActionCreated).Lost = lost
	}
}

// recordUpdates records rows about to be updated. columns are those that the statement writes.
func (j *journal) recordUpdates(ctx context.Context, tx pgx.Tx, e *domain.Entity, keys, columns []string) error {
	if j.tools == nil {
		return nil
	}
	were, err := j.images(ctx, tx, e, e.Key, keys)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(were)) {
		j.recordUpdate(e, key, were[key], columns)
	}

	return nil
}

// lastWrite returns the last write of a row in this decision, nil for none.
func (j *journal) lastWrite(e *domain.Entity, key string) *rowChange {
	for _, w := range slices.Backward(j.writes) {
		if w.entity == e && w.EntityID == key {
			return w
		}
	}

	return nil
}

// recordUpdate records one row. Several updates of a row in one decision count as one; an update of a row that the decision
// created does not count.
func (j *journal) recordUpdate(e *domain.Entity, key string, was image, columns []string) {
	w := j.lastWrite(e, key)
	switch {
	case w == nil || w.Action == actionCalled:
		w = j.add(e, key, registry.ActionUpdated)
		w.was, w.columns = was, slices.Clone(columns)
	case w.Action == registry.ActionUpdated:
		w.columns = append(w.columns, columns...)
	}
}

// readResult reads how the decision left its rows, in one query per type that is sent with the next statements.
func (j *journal) readResult(ctx context.Context, tx pgx.Tx) error {
	if len(j.writes) == 0 {
		return nil
	}
	keys := map[*domain.Entity][]string{}
	for _, w := range j.writes {
		keys[w.entity] = append(keys[w.entity], w.EntityID)
	}
	reads := &pg.Batch{}
	j.now = j.tools.imagesByKey(reads, keys, false)

	return reads.Defer(ctx, tx)
}

// unread reports whether what readResult asks for has not been sent yet.
func (j *journal) unread() bool { return len(j.writes) > 0 && len(j.now) == 0 }

// finish records how each write left its row, once that has been read. An update that changed nothing is not a write.
func (j *journal) finish() {
	for _, w := range j.writes {
		now := j.now[w.entity][w.EntityID]
		if w.Action == registry.ActionUpdated {
			w.Before = replaced(w.was, now, w.columns)
		}
		if w.Action != registry.ActionDeleted && now != nil {
			w.After = fingerprint(w.entity, now, w.was, w.columns)
		}
	}
	j.writes = slices.DeleteFunc(j.writes, func(w *rowChange) bool {
		was, isUpdate := w.Before.(image)

		return w.Action == registry.ActionUpdated && isUpdate && len(was) == 0
	})
}

// replaced returns the columns' previous values where they differ. now is nil for a row that a later write of the
// decision deleted.
func replaced(was, now image, columns []string) image {
	old := image{}
	for _, name := range columns {
		if value, ok := was[name]; ok && (now == nil || string(value) != string(now[name])) {
			old[name] = value
		}
	}

	return old
}

// fingerprint is a short hash of each column's value. It omits columns that the database sets by itself: those known
// for it, and those that an update changed without naming them.
func fingerprint(e *domain.Entity, now, was image, written []string) map[string]string {
	marks := map[string]string{}
	for _, c := range e.Columns {
		value, ok := now[c.Name]
		bySelf := was != nil && !slices.Contains(written, c.Name) && string(was[c.Name]) != string(value)
		if ok && !c.Automatic() && !bySelf {
			marks[c.Name] = mark(c, value)
		}
	}

	return marks
}

// mark hashes one value. Times hash the same in whatever time zone a connection prints them.
func mark(c *domain.Column, value json.RawMessage) string {
	var text string
	switch {
	case c.Elem == domain.KindTimestamp:
		value = zoned.ReplaceAllFunc(value, inUTC)
	case c.Kind == domain.KindTimestamp && json.Unmarshal(value, &text) == nil:
		value = inUTC([]byte(text))
	}
	sum := sha256.Sum256(value)

	return hex.EncodeToString(sum[:6])
}

// zoned matches a time with its offset, as Postgres writes it into JSON.
var zoned = regexp.MustCompile(`\d{4,}-\d\d-\d\dT[\d:.]+[+-][\d:]+`)

func inUTC(text []byte) []byte {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return text
	}

	return at.UTC().AppendFormat(nil, time.RFC3339Nano)
}

// store queues what was recorded.
func (j *journal) store(queue *pg.Batch, scope registry.Scope) {
	if len(j.writes) > 0 {
		queue.Exec("keep what was written", db.RowChangeKeep, &db.RowChangeKeepParams{
			Step: int32(scope.Step), Call: int32(scope.Call), Changes: encoded(j.writes), TurnID: scope.TurnID,
		})
	}
}

// formerCall is what row_changes stores about an operation, and about each row it affected.
type formerCall struct {
	Operation string         `json:"operation"`
	Args      map[string]any `json:"args,omitempty"`
	Reached   bool           `json:"reached,omitempty"` // a row the operation changed besides its target
}

// recordCall records an operation. Only its inverse undoes what it does to rows.
func (j *journal) recordCall(o *domain.Operation, key string, args map[string]any) {
	w := j.add(o.On, key, actionCalled)
	w.Before = formerCall{Operation: o.Name, Args: args}
	if o.Inverse == nil {
		w.Lost = new(fmt.Sprintf("%s %s", capital(domain.Spoken(o.Name)), vocab.NoWayBack))
	}
}

// recordReached records rows that an operation changed: they must still be as it left them when its inverse is called.
func (j *journal) recordReached(o *domain.Operation, e *domain.Entity, rows []map[string]any) {
	for _, row := range rows {
		key := keyText(row, e)
		if w := j.lastWrite(e, key); w == nil || w.Action != actionCalled {
			j.add(e, key, actionCalled).Before = formerCall{Operation: o.Name, Reached: true}
		}
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
