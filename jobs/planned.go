package jobs

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Which rows and columns a planned call is about, as far as its arguments say.

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

// resembles reports whether a planned call may be a known one, planned again in other words: it does the same, and it names no
// other rows or columns.
func (s *state) resembles(call, known vocab.Call) bool {
	if call.Tool != known.Tool || s.runner.typeOf(call) != s.runner.typeOf(known) {
		return false
	}
	rows, _ := actsOn(s.runner.Domain, call)
	others, _ := actsOn(s.runner.Domain, known)

	return meet(rows, others) && meet(changed(call), changed(known))
}

// meet reports whether two lists have an entry in common, as far as both have any.
func meet(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
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

// besides are the steps by which the answer's plan does what the message wants beside its yes: "and add milk", "and how many
// are left?". What it looks up before a write that was approved serves that write, and what has waited is done anyway. A yes alone
// wants nothing else written.
func (u *understand) besides(a *question, rest []nodes.Step) []nodes.Step {
	if u.out.Think == nil || u.in.Plan == nil {
		return nil
	}
	in, plan := *u.in.Plan, *u.out.Think
	in.Permission, plan.Steps = permit(u.out.Intent, a), nil
	known, alone := a.carriesOut(rest), saysYes.MatchString(u.s.Turn.Message)
	for _, step := range u.out.Think.Steps {
		if step.Type == vocab.StepWrite {
			more := u.s.beyond(step, known)
			if alone || len(more.Calls) < max(len(step.Calls), 1) {
				plan.Steps = slices.DeleteFunc(plan.Steps, func(s nodes.Step) bool { return s.Type != vocab.StepWrite })
			}
			undecided := func(r nodes.Step) bool {
				return r.Type == step.Type && r.Subdomain == step.Subdomain && len(r.Calls) == 0
			}
			if step = more; alone || len(step.Calls) == 0 || slices.ContainsFunc(rest, undecided) {
				continue
			}
		}
		waited := slices.ContainsFunc(rest, func(r nodes.Step) bool {
			return len(step.Calls) > 0 && slices.EqualFunc(step.ReadyCalls(), r.ReadyCalls(), alike)
		})
		if step.Type != vocab.StepGenerate && !waited {
			plan.Steps = append(plan.Steps, step)
		}
	}
	ready, _ := in.Ready(&plan)
	if ready == nil || ready.Decision != "plan" {
		return nil
	}

	return withReads(ready.Steps, thought{refs: u.in.Refs, home: u.s.runner.home, table: u.s.runner.table})
}

// carriesOut are the calls that a yes approves, and those that have waited for it.
func (q *question) carriesOut(rest []nodes.Step) (calls []vocab.Call) {
	for i := range q.Calls {
		calls = append(calls, q.Calls[i].Call)
	}
	for _, waited := range rest {
		calls = append(calls, waited.ReadyCalls()...)
	}

	return calls
}

// beyond leaves a planned write the calls that are none of these planned again.
func (s *state) beyond(step nodes.Step, known []vocab.Call) nodes.Step {
	var more []json.RawMessage
	var words []string
	for i, call := range step.ReadyCalls() {
		if !slices.ContainsFunc(known, func(k vocab.Call) bool { return s.resembles(call, k) }) {
			more, words = append(more, step.Calls[i]), append(words, nodes.InWords(call, s.runner.pluralOf(call)))
		}
	}
	if len(more) < len(step.Calls) {
		step.Description = strings.Join(words, "; ")
	}
	step.Calls = more

	return step
}

// alike reports whether two calls do the same.
func alike(a, b vocab.Call) bool { return crud.Fingerprint(a) == crud.Fingerprint(b) }
