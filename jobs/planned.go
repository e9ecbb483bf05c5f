package jobs

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Calls that the plan or an earlier step wrote out for a step: whether code may make them as they are, and which rows and
// columns they are about.

// readyCalls returns the decision that consists of a step's planned calls, nil if the step has started or Act has to look
// first.
func (s *state) readyCalls(step *db.TurnSteps) *nodes.ActOutput {
	calls := plannedCalls(step)
	if len(calls) == 0 || len(s.ActsOf(step.Step)) > 0 {
		return nil
	}
	for _, call := range calls {
		if !mayRunAsWritten(s.Scene(false), call) || vocab.Writes(call.Tool) && s.tookBack(call) {
			return nil
		}
	}
	out, err := nodes.FromCalls(calls)
	if err != nil {
		return nil
	}

	return out
}

// plannedCalls are those that the plan or an earlier step wrote out for a step; none if they cannot be read, so that Act decides them.
func plannedCalls(step *db.TurnSteps) (calls []vocab.Call) {
	if json.Unmarshal(step.Calls, &calls) != nil {
		return nil
	}

	return calls
}

// tookBack reports whether a call changes rows that this turn has set back: it was written before.
func (s *state) tookBack(call vocab.Call) bool {
	refs, _ := selectedRefs(call)

	return slices.ContainsFunc(s.Results, func(r *view.Result) bool {
		return r.TurnID == s.Turn.ID && r.Tool == vocab.ToolUndo && slices.ContainsFunc(r.Refs, func(ref string) bool { return slices.Contains(refs, ref) })
	})
}

func tableOf(call vocab.Call) string { return gjson.GetBytes(call.Args, "table").Str }

// typeOf is the type of the rows that a call names by their table, or by any other word for them; nil for an operation.
func (r *Runner) typeOf(call vocab.Call) *domain.Entity { return r.Domain.Entity(tableOf(call)) }

// pluralOf is what people call the rows of the call's table, "" for an operation.
func (r *Runner) pluralOf(call vocab.Call) string {
	if e := r.typeOf(call); e != nil {
		return e.Plural
	}

	return ""
}

// selectedRefs returns the refs by which a call selects its rows, and whether it selects them so. A filter that leaves rows
// out by ref selects none.
func selectedRefs(call vocab.Call) (refs []string, byRef bool) {
	for _, filter := range gjson.GetBytes(call.Args, "filters").Array() {
		if op := filter.Get("op").Str; filter.Get("field").Str != "id" || op != "=" && op != "in" {
			continue
		}
		ids := filter.Get("value")
		refs, byRef = append(refs, slices.Collect(vocab.Refs(ids.Raw))...), byRef || len(ids.Array()) > 0
	}

	return refs, byRef
}

// mayRunAsWritten reports whether a planned call may be made without asking Act. One that changes no rows always may. An
// update may if the values that it overwrites are known, and none is a list, an object or a longer text: the planner has not
// seen those and may have meant to add to them. Any other change may if nobody has changed its rows since they were read.
func mayRunAsWritten(known *view.Scene, call vocab.Call) bool {
	rows, changes := changedRows(known.Domain, call)
	switch {
	case !changes:
		return true
	case call.Tool != vocab.ToolUpdate:
		return known.Unchanged(rows)
	}
	columns := changedColumns(call)

	return len(columns) > 0 && known.Knows(rows, columns) && !known.Composed(rows, columns)
}

// rowsChangedIn are the rows that a step's calls name in order to change them.
func (s *state) rowsChangedIn(step *nodes.Step) (rows []string) {
	for _, call := range step.ReadyCalls() {
		if named, changes := changedRows(s.runner.Domain, call); changes {
			rows = append(rows, named...)
		}
	}

	return rows
}

// mayRepeat reports whether a planned call may be a known one in other words: it has the same tool and table, and it names no
// other rows or columns.
func (s *state) mayRepeat(call, known vocab.Call) bool {
	if call.Tool != known.Tool || s.runner.typeOf(call) != s.runner.typeOf(known) {
		return false
	}
	rows, _ := changedRows(s.runner.Domain, call)
	others, _ := changedRows(s.runner.Domain, known)

	return mayOverlap(rows, others) && mayOverlap(changedColumns(call), changedColumns(known))
}

// namesOfRows are the names by which a call selects rows, by column, also those of the rows by which rows are called; none if it selects
// rows otherwise.
func (s *state) namesOfRows(call vocab.Call) map[string][]string {
	e, names := s.runner.typeOf(call), map[string][]string{}
	for _, filter := range gjson.GetBytes(call.Args, "filters").Array() {
		column, _, _ := strings.Cut(filter.Get("field").Str, ".")
		isName := e != nil && slices.ContainsFunc(e.Label.Columns(), func(name string) bool { return domain.Labelled(name) == column })
		if !isName || !slices.Contains([]string{"=", "in", "ilike"}, filter.Get("op").Str) {
			continue
		}
		for _, value := range filter.Get("value").Array() {
			names[column] = append(names[column], strings.Trim(value.String(), "% "))
		}
	}

	return names
}

// valuesIn are the values in a call's arguments, by which it filters and which it writes.
func valuesIn(args gjson.Result) (values []string) {
	args.ForEach(func(key, one gjson.Result) bool {
		switch {
		case one.IsObject() || one.IsArray():
			values = append(values, valuesIn(one)...)
		case !slices.Contains([]string{"table", "column", "field", "op"}, key.Str):
			values = append(values, one.String())
		}

		return true
	})

	return values
}

// mayOverlap reports whether two lists have an entry in common; an empty list may stand for any.
func mayOverlap(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// changedColumns are the columns that an update changes, none if it is not written as its schema asks.
func changedColumns(call vocab.Call) (columns []string) {
	for _, name := range []string{"set.#.column", "clear"} {
		for _, column := range gjson.GetBytes(call.Args, name).Array() {
			columns = append(columns, column.Str)
		}
	}

	return columns
}

// changedRows are the rows that a call names, in order to change them if changes is true. An operation may name them in
// another way than by ref.
func changedRows(d *domain.Domain, call vocab.Call) (rows []string, changes bool) {
	o := d.Operation(call.Tool)
	if o == nil {
		rows, _ = selectedRefs(call)

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
