package jobs

import (
	"slices"

	"github.com/tidwall/gjson"

	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Which rows and columns a planned call is about, as far as its arguments say.

func tableOf(call vocab.Call) string { return gjson.GetBytes(call.Args, "table").Str }

// byRef reports whether the call selects its rows by ref, and returns the refs. One that names refs in order to leave
// their rows out does not.
func byRef(call vocab.Call) (refs []string, by bool) {
	for _, filter := range gjson.GetBytes(call.Args, "filters").Array() {
		if op := filter.Get("op").Str; filter.Get("field").Str != "id" || op != "=" && op != "in" {
			continue
		}
		ids := filter.Get("value")
		refs, by = append(refs, slices.Collect(vocab.Refs(ids.Raw))...), by || len(ids.Array()) > 0
	}

	return refs, by
}

// fits reports whether a planned call may be made as it is written, which one that changes no rows always may. The values that an update
// overwrites must be known, and must not be a list, an object or a longer text: the planner was not shown those, and
// may have meant to add to them. To delete a row, or for an operation on it, it is enough that nobody has changed it since it was last read.
func fits(known *view.Scene, call vocab.Call) bool {
	rows, changes := actsOn(known.Domain, call)
	switch {
	case !changes:
		return true
	case call.Tool != vocab.ToolUpdate:
		return known.Unchanged(rows)
	}
	columns := changed(call)

	return len(columns) > 0 && known.Knows(rows, columns) && !known.Composed(rows, columns)
}

// changedBy are the rows that a step's calls name in order to change them.
func (s *state) changedBy(step *nodes.Step) (rows []string) {
	for _, call := range step.ReadyCalls() {
		if named, changes := actsOn(s.runner.Domain, call); changes {
			rows = append(rows, named...)
		}
	}

	return rows
}

// changed returns the columns that an update changes, none if it is written in another form than was asked for.
func changed(call vocab.Call) (columns []string) {
	for _, name := range []string{"set.#.column", "clear"} {
		for _, column := range gjson.GetBytes(call.Args, name).Array() {
			columns = append(columns, column.Str)
		}
	}

	return columns
}

// actsOn are the rows that a call names in order to change them, an operation by ref or in another way; false for a call that
// changes no row.
func actsOn(d *domain.Domain, call vocab.Call) (rows []string, changes bool) {
	o := d.Operation(call.Tool)
	if o == nil {
		rows, _ = byRef(call)

		return rows, call.Tool == vocab.ToolUpdate || call.Tool == vocab.ToolDelete
	}
	for _, c := range o.Args.Columns {
		if value := gjson.GetBytes(call.Args, c.Name); c.FK != nil && value.Exists() {
			for _, one := range value.Array() {
				rows = append(rows, one.String())
			}
		}
	}

	return rows, true
}
