package registry

import (
	"fmt"
	"maps"
	"slices"

	"alfred/internal/domain"
)

// The pure half of translating what the database returned: what to register (collect) and what a model sees instead
// (translation). No database.

// collected is everything in results that has a key, in the order in which refs are numbered: rows first, then rows
// nested in them, then what they reference, then what was deleted. Columns are walked in catalog order, so that a replay
// assigns the same refs.
type collected struct {
	rows    []*sighting
	nested  []*sighting
	linked  []*sighting
	deleted []*sighting
}

func collect(d *domain.Domain, results []Result) *collected {
	c := &collected{}
	for _, result := range results {
		for _, row := range result.Rows {
			c.row(d, result.Entity, row, result, false)
		}
	}

	return c
}

func (c *collected) sightings() []*sighting {
	return slices.Concat(c.rows, c.nested, c.linked, c.deleted)
}

// row collects one row; of is the result that contains it or its parent.
func (c *collected) row(d *domain.Domain, e *domain.Entity, row map[string]any, of Result, nested bool) {
	s := &sighting{key: keyOf(e, row), Label: labelOf(e, row), Action: of.Action, row: row, part: nested}
	s.RowVersion = of.Versions[e.Type][s.id]
	switch {
	case s.id == "":
	case s.gone():
		c.deleted = append(c.deleted, s)
	case nested:
		if s.Action != ActionCreated && s.Action != ActionCreatedUser {
			s.Action = ActionRead // it was created with its row, or merely read with it
		}
		s.Sets, c.nested = []string{"summary"}, append(c.nested, s)
	default:
		s.Sets = of.Sets
		c.rows = append(c.rows, s)
	}
	if !s.gone() || !nested { // rows deleted with another are shown to nobody: what they reference would get a ref for nothing
		c.values(e, row)
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if e.Column(name) != nil {
			continue
		}
		child, inner := nestedRows(d, name, row[name])
		for _, one := range inner {
			c.row(d, child, one, of, true)
		}
	}
}

// values collects what a row's columns reference.
func (c *collected) values(e *domain.Entity, row map[string]any) {
	for _, column := range e.Columns {
		to := column.Target()
		if to == nil || isKey(e, column) {
			continue
		}
		eachIn(row[column.Name], func(one any) any {
			if id := keyText(one); id != "" {
				c.linked = append(c.linked, &sighting{key: key{to.Type, id}, Action: ActionLinked})
			}

			return nil
		})
	}
}

func isKey(e *domain.Entity, c *domain.Column) bool { return c.Name == e.Key.Name }

// nestedRows returns rows of another table nested in a row under that table's name.
func nestedRows(d *domain.Domain, name string, value any) (*domain.Entity, []map[string]any) {
	e := d.ByTable(name)
	list, ok := value.([]any)
	if e == nil || !ok {
		return nil, nil
	}
	rows := make([]map[string]any, len(list))
	for i, one := range list {
		if rows[i], ok = one.(map[string]any); !ok {
			return nil, nil
		}
	}

	return e, rows
}

// labelOf is "" when the columns that were read do not give a whole label: what the row points to may have to be named
// first.
func labelOf(e *domain.Entity, row map[string]any) string {
	if slices.ContainsFunc(e.Label.Links(), func(name string) bool { return row[name] != nil && row["_"+name+"_label"] == nil }) {
		return ""
	}

	return e.Label.RenderComplete(row)
}

// eachIn replaces a value, or each one in a list.
func eachIn(value any, with func(any) any) any {
	list, ok := value.([]any)
	if !ok {
		return with(value)
	}
	out := make([]any, len(list))
	for i, one := range list {
		out[i] = eachIn(one, with)
	}

	return out
}

// eachText replaces the texts in a value, at any depth, names included.
func eachText(value any, with func(string) string) any {
	switch v := value.(type) {
	case string:
		return with(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[Scrub(name)] = eachText(one, with)
		}

		return out
	case []any:
		return eachIn(v, func(one any) any { return eachText(one, with) })
	default:
		return value
	}
}

func keyOf(e *domain.Entity, row map[string]any) key { return key{e.Type, keyText(row[e.Key.Name])} }

// keyText is a key as entity_refs stores it, "" for what cannot be one: as Postgres prints it, since a text that reads like a UUID is the
// key of a row only as it is written.
func keyText(value any) string {
	switch v := value.(type) {
	case nil, map[string]any, []any, bool:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
