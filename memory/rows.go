package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/domain"
)

// wasField holds what an update's columns held before.
const wasField = "_was"

// result is one tool call of the window and its decoded rows.
type result struct {
	*db.TurnStepResultListTurnsRow
	rows []map[string]any
}

func (r *result) failed() bool { return r.ErrorCode != nil }

// row is what is known of one entity, merged by column, newest value first.
type row struct {
	ref      string
	kind     *domain.Entity
	columns  map[string]any
	children map[string][]string // child table -> refs, in order
	loose    map[string][]any    // child rows without a ref
	turn     int                 // of its newest value
	step     int
	deleted  bool
}

// rowSet is the data of the window, each entity once.
type rowSet struct {
	byRef map[string]*row
	order []string // in which rows were first seen, oldest result first
}

// loadResults reads what the tools of this turn and of the window before it
// returned.
func loadResults(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	ids := []uuid.UUID{t.row.ID}
	for _, p := range t.window(t.memory.config.RetentionWindow) {
		ids = append(ids, p.ID)
	}
	found, err := q.TurnStepResultListTurns(ctx, conn, ids)
	if err != nil {
		return fmt.Errorf("load step results: %w", err)
	}
	for _, f := range found {
		r := &result{TurnStepResultListTurnsRow: f}
		if err := decodeRows(f.Rows, &r.rows); err != nil {
			return fmt.Errorf("read rows of step %d call %d: %w", f.Step, f.Call, err)
		}
		t.results = append(t.results, r)
	}

	return nil
}

// decodeRows takes a list of objects, or one object as a list of one.
func decodeRows(data json.RawMessage, out *[]map[string]any) error {
	if len(data) > 0 && data[0] == '{' {
		var one map[string]any
		if err := decode(data, &one); err != nil {
			return err
		}
		*out = []map[string]any{one}

		return nil
	}
	var list []any
	if err := decode(data, &list); err != nil {
		return err
	}
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			*out = append(*out, object)
		}
	}

	return nil
}

// carriesRows are the tools whose rows are rows of the domain. The others'
// results (totals, formulas) stand under Step Results.
func carriesRows(tool string) bool {
	switch tool {
	case "db_read", "db_create", "db_update", "db_delete", "ui_change", "mention":
		return true
	default:
		return false
	}
}

// mergeRows goes from the newest result to the oldest, so that the first value
// of a column is the newest one.
func (t *turn) mergeRows() {
	set := &rowSet{byRef: map[string]*row{}}
	t.rows = set
	for _, r := range slices.Backward(t.results) {
		for _, columns := range r.rows {
			if def := t.kindOf(r, columns); def != nil {
				t.mergeRow(def, columns, r)
			}
		}
	}
	for _, r := range t.results {
		t.firstSeen(r)
	}
	t.attachChildren()
	t.markLoaded()
}

func (t *turn) mergeRow(def *domain.Entity, columns map[string]any, from *result) *row {
	ref, _ := columns[def.Key.Name].(string)
	known := t.byRef[ref]
	if known == nil || known.EntityType != def.Type {
		return nil
	}
	r := t.rows.byRef[ref]
	if r == nil {
		r = &row{ref: ref, kind: def, columns: map[string]any{}, children: map[string][]string{}, loose: map[string][]any{},
			turn: int(from.TurnNumber), step: int(from.Step), deleted: from.Tool == "db_delete"}
		t.rows.byRef[ref] = r
	}
	for name, value := range columns {
		if child := childOf(def, name); child != nil {
			t.mergeChildren(r, child, value, from)

			continue
		}
		if name == wasField && from.TurnID != t.row.ID {
			continue // what a value was before is told in the turn that changed it, and is no fact afterwards
		}
		if from.Tool == toolRecall && name == typeField {
			continue
		}
		if _, newer := r.columns[name]; !newer && t.shows(def, name) {
			r.columns[name] = t.guard(def, name, value)
		}
	}

	return r
}

func childOf(def *domain.Entity, name string) *domain.Child {
	for _, child := range def.Children {
		if child.Entity.Table == name {
			return child
		}
	}

	return nil
}

// mergeChildren takes a list of child rows. The newest list says which there are.
func (t *turn) mergeChildren(parent *row, child *domain.Child, value any, from *result) {
	list, ok := value.([]any)
	_, newer := parent.children[child.Entity.Table]
	if !ok {
		return
	}
	refs, loose := []string{}, []any(nil)
	for _, item := range list {
		columns, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if r := t.mergeRow(child.Entity, columns, from); r != nil {
			refs = append(refs, r.ref)
		} else {
			loose = append(loose, columns)
		}
	}
	if !newer {
		parent.children[child.Entity.Table], parent.loose[child.Entity.Table] = refs, loose
	}
}

// attachChildren puts child rows that were written after their parent was read
// below it, and takes deleted ones away.
func (t *turn) attachChildren() {
	for _, ref := range t.rows.order {
		r := t.rows.byRef[ref]
		for _, parent := range t.rows.byRef {
			for _, child := range parent.kind.Children {
				table := child.Entity.Table
				if _, read := parent.children[table]; !read || child.Entity != r.kind || r.columns[child.FK.Name] != parent.ref {
					continue
				}
				if !slices.Contains(parent.children[table], ref) {
					parent.children[table] = append(parent.children[table], ref)
				}
			}
		}
	}
	for _, parent := range t.rows.byRef {
		for table, refs := range parent.children {
			parent.children[table] = slices.DeleteFunc(refs, t.gone)
		}
	}
}

func (t *turn) gone(ref string) bool {
	e := t.byRef[ref]

	return e == nil || e.State == db.RefStateDeleted
}

// firstSeen keeps the order in which rows were first seen.
func (t *turn) firstSeen(r *result) {
	for _, columns := range r.rows {
		def := t.kindOf(r, columns)
		if def == nil {
			continue
		}
		ref, _ := columns[def.Key.Name].(string)
		if t.rows.byRef[ref] != nil && !slices.Contains(t.rows.order, ref) {
			t.rows.order = append(t.rows.order, ref)
		}
	}
}

// toolRecall finds rows of several types and turns; typeField says what each is.
const (
	toolRecall = "recall"
	typeField  = "type"
)

// kindOf is the entity type of a result's row, or nil where it is no row of the
// domain.
func (t *turn) kindOf(r *result, columns map[string]any) *domain.Entity {
	switch {
	case r.failed():
		return nil
	case r.Tool == toolRecall:
		return t.memory.domain.ByType(plainValue(columns[typeField]))
	case carriesRows(r.Tool) && r.EntityType != nil:
		return t.memory.domain.ByType(*r.EntityType)
	default:
		return nil
	}
}

// shows says whether a column may be seen: hidden ones never are, and of the
// names with an underscore, which tools add, those that label a reference and
// the values before an update.
func (t *turn) shows(def *domain.Entity, name string) bool {
	if column := def.Column(name); column != nil {
		return !column.Hidden
	}

	return !strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_label") || name == wasField
}

// guard refuses keys: in a key or foreign-key column only a registered ref is
// shown, whatever kind of key the application has.
func (t *turn) guard(def *domain.Entity, name string, value any) any {
	if was, ok := value.(map[string]any); ok && name == wasField {
		return t.guardWas(def, was)
	}
	column := def.Column(name)
	if column == nil || (column != def.Key && column.FK == nil) {
		return value
	}
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		refs := make([]any, len(v))
		for i, item := range v {
			refs[i] = t.guard(def, name, item)
		}

		return refs
	case string:
		if _, known := t.byRef[v]; known {
			return v
		}
	}

	return redacted
}

func (t *turn) guardWas(def *domain.Entity, was map[string]any) map[string]any {
	shown := map[string]any{}
	for name, value := range was {
		if t.shows(def, name) {
			shown[name] = t.guard(def, name, value)
		}
	}

	return shown
}

// markLoaded tells the entities how much of them is loaded.
func (t *turn) markLoaded() {
	for ref, r := range t.rows.byRef {
		e := t.byRef[ref]
		e.loaded = !r.deleted
		e.full = true
		for _, name := range r.kind.Sets["text"] {
			_, read := r.columns[name]
			if !read && !slices.Contains(r.kind.Sets["summary"], name) {
				e.full = false
			}
		}
	}
}
