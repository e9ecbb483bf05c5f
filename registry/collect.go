package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/internal/domain"
)

// The pure half of translating what the database returned: what to register (collect) and what a model sees instead
// (translation). No database.

// collected is everything in results that has a key, in the order in which refs are numbered: rows first, then rows
// nested in them, then what they reference. Columns are walked in catalog order, so that a replay assigns the same
// refs.
type collected struct {
	rows   []*sighted
	nested []*sighted
	linked []*sighted
	loose  []string // UUIDs in columns that do not say what they identify
	// deleted are the rows that a statement deleted, by type.
	deleted map[string][]gone
}

// gone is a deleted row. A row that has a label but no ref gets one, so that the log can name it, unless it was deleted
// as part of another row.
type gone struct {
	id    string
	label string
	part  bool
	row   map[string]any
}

// sighted is a sighting and the row it was seen in, nil if only a foreign key mentions the row.
type sighted struct {
	Sighting

	row map[string]any
}

func collect(d *domain.Domain, results []Result) *collected {
	c := &collected{deleted: map[string][]gone{}}
	for _, result := range results {
		for _, row := range result.Rows {
			c.row(d, result.Entity, row, result, false)
		}
	}

	return c
}

func (c *collected) sightings() []*sighted { return slices.Concat(c.rows, c.nested, c.linked) }

// row collects one row; of is the result that contains it or its parent.
func (c *collected) row(d *domain.Domain, e *domain.Entity, row map[string]any, of Result, nested bool) {
	switch id := keyText(row[e.Key.Name]); {
	case id == "":
	case of.Action == ActionDeleted || of.Action == ActionDeletedUser:
		c.deleted[e.Type] = append(c.deleted[e.Type], gone{id, labelOf(e, row), nested, row})
	default:
		s := Sighting{Type: e.Type, ID: id, Label: labelOf(e, row), Action: of.Action, RowVersion: of.Versions[e.Type][id]}
		if nested {
			s.Action, s.Sets = nestedAction(of.Action), []string{"summary"}
			c.nested = append(c.nested, &sighted{s, row})
		} else {
			s.Sets = of.Sets
			c.rows = append(c.rows, &sighted{s, row})
		}
	}

	// Rows deleted with another are shown to nobody: what they reference would get a ref for nothing.
	if gone := of.Action == ActionDeleted || of.Action == ActionDeletedUser; !gone || !nested {
		c.values(e, row)
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if e.Column(name) != nil {
			continue
		}
		child, inner := nestedRows(d, name, row[name])
		if child == nil {
			c.looseIn(row[name])
		}
		for _, one := range inner {
			c.row(d, child, one, of, true)
		}
	}
}

// values collects what a row's columns reference.
func (c *collected) values(e *domain.Entity, row map[string]any) {
	for _, column := range e.Columns {
		switch value := row[column.Name]; {
		case value == nil || isKey(e, column):
		case column.Target() != nil:
			c.links(column.Target(), value)
		case !column.Hidden:
			c.looseIn(value)
		}
	}
}

// nestedAction is what happened to the rows inside a row: they were created with it, or merely read with it.
func nestedAction(action string) string {
	if action == ActionCreated || action == ActionCreatedUser {
		return action
	}

	return ActionRead
}

func (c *collected) links(target *domain.Entity, value any) {
	if list, ok := asList(value); ok {
		for _, one := range list {
			c.links(target, one)
		}

		return
	}
	if id := keyText(value); id != "" {
		c.linked = append(c.linked, &sighted{Sighting: Sighting{Type: target.Type, ID: id, Action: ActionLinked}})
	}
}

// looseIn records texts that consist of a UUID: each may be the key of a row that has a ref.
func (c *collected) looseIn(value any) {
	switch v := value.(type) {
	case string:
		if id, ok := uuidText(v); ok {
			c.loose = append(c.loose, id)
		}
	case uuid.UUID:
		c.loose = append(c.loose, v.String())
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c.looseIn(v[k])
		}
	default:
		if list, ok := asList(value); ok {
			for _, one := range list {
				c.looseIn(one)
			}
		}
	}
}

func isKey(e *domain.Entity, c *domain.Column) bool { return c.Name == e.Key.Name }

// nestedRows returns rows of another table nested in a row under that table's name.
func nestedRows(d *domain.Domain, name string, value any) (*domain.Entity, []map[string]any) {
	e := d.ByTable(name)
	if e == nil {
		return nil, nil
	}
	switch v := value.(type) {
	case map[string]any:
		return e, []map[string]any{v}
	case []map[string]any:
		return e, v
	case []any:
		rows := make([]map[string]any, 0, len(v))
		for _, one := range v {
			row, ok := one.(map[string]any)
			if !ok {
				return nil, nil
			}
			rows = append(rows, row)
		}

		return e, rows
	default:
		return nil, nil
	}
}

// labelOf is "" when the columns that were read do not give a whole label: what the row points to may have to be named
// first.
func labelOf(e *domain.Entity, row map[string]any) string {
	if slices.ContainsFunc(e.Label.Links(), func(name string) bool { return row[name] != nil && row["_"+name+"_label"] == nil }) {
		return ""
	}

	return e.Label.RenderComplete(row)
}

// asList returns any list as []any; bytes and UUIDs are not lists.
func asList(value any) ([]any, bool) {
	switch v := value.(type) {
	case []any:
		return v, true
	case []string:
		return anyList(v), true
	case []uuid.UUID:
		return anyList(v), true
	case []int64:
		return anyList(v), true
	case []map[string]any:
		return anyList(v), true
	default:
		return nil, false
	}
}

func anyList[T any](list []T) []any {
	result := make([]any, len(list))
	for i, one := range list {
		result[i] = one
	}

	return result
}

// keyText is a key as entity_refs stores it, "" for what cannot be one.
func keyText(value any) string {
	switch v := value.(type) {
	case nil, map[string]any, []any, bool:
		return ""
	case string:
		if id, ok := uuidText(v); ok {
			return id
		}

		return v
	case json.Number:
		return v.String()
	case [16]byte:
		return uuid.UUID(v).String()
	default:
		return fmt.Sprint(v)
	}
}

// uuidText normalizes a UUID to the form Postgres prints.
func uuidText(text string) (string, bool) {
	if strings.ContainsAny(text, " \n") {
		return "", false
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return "", false
	}

	return id.String(), true
}
