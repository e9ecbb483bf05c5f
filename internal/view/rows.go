package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/vocab"
)

// wasField holds the previous values of an updated row's columns.
const wasField = "_was"

// Result is one tool call of the window and its decoded rows.
type Result struct {
	*db.TurnStepResultListWindowRow
	Rows []map[string]any
}

// Failed reports whether the call was refused or failed.
func (r *Result) Failed() bool { return r.ErrorCode != nil }

func newResult(row *db.TurnStepResultListWindowRow) (*Result, error) {
	r := &Result{TurnStepResultListWindowRow: row}
	if err := exact.Decode(row.Rows, &r.Rows); err != nil {
		return nil, fmt.Errorf("read rows of step %d call %d: %w", row.Step, row.Call, err)
	}

	return r, nil
}

// Row is what is known of one entity, merged by column, newest value first.
type Row struct {
	Ref      string
	Kind     *domain.Entity
	Columns  map[string]any
	Children map[string][]string // child table -> refs, in order; each has a row too
	Loose    map[string][]any    // child rows without a ref
	Turn     int                 // turn of its newest value
	Step     int
	Deleted  bool

	shown  int            // place of the newest result that has it, in the window
	listed map[string]int // the same for the newest list of a child table
}

// RowSet is the data of the window, each entity once.
type RowSet struct {
	ByRef map[string]*Row
	Order []string // refs in first-seen order, oldest result first
}

// mergeRows goes from the newest result to the oldest, so that the first value found for a column is its newest.
func (t *Scene) mergeRows() {
	set := &RowSet{ByRef: map[string]*Row{}}
	t.Rows = set
	for at, r := range slices.Backward(t.Results) {
		for _, columns := range r.Rows {
			if def := t.kindOf(r, columns); def != nil {
				t.mergeRow(def, columns, r, at)
			}
		}
	}
	for _, r := range t.Results {
		t.firstSeen(r)
	}
	t.attachChildren()
	t.markLoaded()
}

func (t *Scene) mergeRow(def *domain.Entity, columns map[string]any, from *Result, at int) *Row {
	ref, _ := columns[def.Key.Name].(string)
	known := t.ByRef[ref]
	if known == nil || known.EntityType != def.Type {
		return nil
	}
	r := t.Rows.ByRef[ref]
	if r == nil {
		r = &Row{Ref: ref, Kind: def, Columns: map[string]any{}, Children: map[string][]string{}, Loose: map[string][]any{},
			Turn: int(from.TurnNumber), Step: int(from.Step), Deleted: toolOf(from, columns) == vocab.ToolDelete, shown: at, listed: map[string]int{}}
		t.Rows.ByRef[ref] = r
	}
	for name, value := range columns {
		child := def.Child(name)
		_, newer := r.Columns[name]
		switch {
		case child != nil:
			t.mergeChildren(r, child, value, from, at)
		case name == wasField:
			if from.TurnID == t.Turn.ID { // previous values are shown in the turn that changed them, and are not facts afterwards
				r.Columns[name] = before(t.guard(def, name, value), r.Columns[name])
			}
		case newer, !t.shows(def, name), from.Tool == vocab.ToolRecall && name == TypeField:
		default:
			r.Columns[name] = t.guard(def, name, value)
		}
	}

	return r
}

// before merges the previous values of two updates of a row: column by column, the earlier update's value counts.
func before(earlier, later any) any {
	first, isFirst := earlier.(map[string]any)
	second, isSecond := later.(map[string]any)
	if !isFirst || !isSecond {
		return earlier
	}
	both := maps.Clone(second)
	maps.Copy(both, first)

	return both
}

// mergeChildren adds a list of child rows. The newest list determines which children exist.
func (t *Scene) mergeChildren(parent *Row, child *domain.Child, value any, from *Result, at int) {
	list, ok := value.([]any)
	_, newer := parent.Children[child.Entity.Table]
	if !ok {
		return
	}
	refs, loose := []string{}, []any(nil)
	for _, item := range list {
		columns, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if r := t.mergeRow(child.Entity, columns, from, at); r != nil {
			refs = append(refs, r.Ref)
		} else {
			loose = append(loose, columns)
		}
	}
	if !newer {
		parent.Children[child.Entity.Table], parent.Loose[child.Entity.Table], parent.listed[child.Entity.Table] = refs, loose, at
	}
}

// attachChildren places child rows that were written after their parent was read below it, and removes deleted ones.
func (t *Scene) attachChildren() {
	for _, ref := range t.Rows.Order {
		r := t.Rows.ByRef[ref]
		for _, parent := range t.Rows.ByRef {
			for _, child := range parent.Kind.Children {
				table := child.Entity.Table
				if r.isNewIn(parent, child) && !slices.Contains(parent.Children[table], ref) {
					parent.Children[table] = append(parent.Children[table], ref)
				}
			}
		}
	}
	for _, parent := range t.Rows.ByRef {
		for table, refs := range parent.Children {
			parent.Children[table] = slices.DeleteFunc(refs, t.Gone)
		}
	}
}

// isNewIn reports whether a row is a child of another whose list of such children is no newer than the row.
func (r *Row) isNewIn(parent *Row, child *domain.Child) bool {
	at, read := parent.listed[child.Entity.Table]

	return read && r.shown >= at && child.Entity == r.Kind && r.Columns[child.FK.Name] == parent.Ref
}

// Gone reports whether the ref is unknown here or its row was deleted.
func (t *Scene) Gone(ref string) bool {
	e := t.ByRef[ref]

	return e == nil || e.State == db.RefStateDeleted
}

// firstSeen keeps rows in first-seen order.
func (t *Scene) firstSeen(r *Result) {
	for _, columns := range r.Rows {
		def := t.kindOf(r, columns)
		if def == nil {
			continue
		}
		ref, _ := columns[def.Key.Name].(string)
		if t.Rows.ByRef[ref] != nil && !slices.Contains(t.Rows.Order, ref) {
			t.Rows.Order = append(t.Rows.Order, ref)
		}
	}
}

// TypeField holds the type of each row that a search has found; a search also finds turns.
const TypeField = "type"

// kindOf returns the entity type of a result's row, or nil if it is not a domain row.
func (t *Scene) kindOf(r *Result, columns map[string]any) *domain.Entity {
	switch {
	case r.Failed():
		return nil
	case r.Tool == vocab.ToolRecall:
		return t.Domain.ByType(clean.Value(columns[TypeField]))
	case !vocab.CarriesRows(r.Tool):
		return nil
	case columns[vocab.TypeField] != nil:
		return t.Domain.ByType(clean.Value(columns[vocab.TypeField]))
	default:
		return t.typeOf(r)
	}
}

// typeOf is the entity type that a call is about, nil for none.
func (t *Scene) typeOf(r *Result) *domain.Entity { return t.Domain.ByType(clean.Text(r.EntityType)) }

// shows reports whether a column may be shown. Hidden columns never are. Of the underscored names that tools add, only
// reference labels and previous values are.
func (t *Scene) shows(def *domain.Entity, name string) bool {
	if column := def.Column(name); column != nil {
		return !column.Hidden
	}

	return !strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_label") || name == wasField
}

// guard removes keys: a key or foreign-key column shows only registered refs, whatever kind of key the application
// uses. Times are shown as people tell them.
func (t *Scene) guard(def *domain.Entity, name string, value any) any {
	if was, ok := value.(map[string]any); ok && name == wasField {
		return t.guardRow(def, was)
	}
	column := def.Column(name)
	if column == nil {
		return value
	}
	if text, ok := value.(string); ok && (column.Kind == domain.KindTimestamp || column.Kind == domain.KindTime || column.Holds != "") {
		return domain.Clock(text)
	}
	if column != def.Key && column.FK == nil {
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
		if _, known := t.ByRef[v]; known {
			return v
		}
	}

	return clean.Redacted
}

// guardRow is what may be shown of a row's columns.
func (t *Scene) guardRow(def *domain.Entity, columns map[string]any) map[string]any {
	shown := map[string]any{}
	for name, value := range columns {
		if t.shows(def, name) {
			shown[name] = t.guard(def, name, value)
		}
	}

	return shown
}

// markLoaded records on each entity which column sets are loaded.
func (t *Scene) markLoaded() {
	for ref, r := range t.Rows.ByRef {
		if !r.Deleted {
			t.ByRef[ref].Loaded, t.ByRef[ref].Shown = r.sets(), true
		}
	}
}

// sets returns the column sets whose columns are all known: summary, text, and rows for the children.
func (r *Row) sets() []string {
	whole := func(set string, but []string) bool {
		return !slices.ContainsFunc(r.Kind.Sets[set], func(name string) bool {
			_, known := r.Columns[name]
			column := r.Kind.Column(name)

			return !known && name != r.Kind.Key.Name && (column == nil || !column.Hidden) && !slices.Contains(but, name)
		})
	}
	var sets []string
	if whole("summary", nil) {
		sets = append(sets, "summary")
	}
	if whole("text", r.Kind.Sets["summary"]) {
		sets = append(sets, "text")
	}
	if !slices.ContainsFunc(r.Kind.Children, func(c *domain.Child) bool { _, known := r.Children[c.Entity.Table]; return !known }) {
		sets = append(sets, "rows")
	}

	return sets
}
