package jobs

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// withReads inserts a read step before each step that needs rows which are missing, incomplete or outdated: a model
// asked to compare rows it cannot see invents them.
func withReads(steps []nodes.Step, in thought) []nodes.Step {
	var (
		plan  []nodes.Step
		known = map[string]bool{} // refs that an earlier step reads
	)
	for i, s := range steps {
		switch {
		case s.Type == vocab.StepRead:
			if needed := wanted(s, steps[i+1:], in); len(needed) > 0 {
				s.Description = strings.TrimRight(s.Description, ". ") + " (" + strings.Join(needed, ", ") + " in full, for a later step)"
			}
			for _, ref := range s.Refs {
				known[ref] = true
			}
		case s.Needs == "rows":
			plan = append(plan, reads(s, in, known)...)
		}
		if unseen := looks(s, steps[:i], in, known); unseen != nil {
			plan = append(plan, *unseen)
			s.Calls = nil // the planner has not seen it: Act decides
		}
		plan = append(plan, s)
	}

	return plan
}

// wanted returns the refs of a planned read that a later step needs in full.
func wanted(read nodes.Step, later []nodes.Step, in thought) []string {
	return slices.DeleteFunc(slices.Clone(read.Refs), func(name string) bool {
		return !slices.ContainsFunc(later, func(s nodes.Step) bool {
			return s.Type != vocab.StepRead && s.Needs == "rows" && slices.Contains(s.Refs, name) && lacks(s, in.refs[name])
		})
	})
}

// lacks reports whether a step cannot see what it needs of a row: an analysis needs its summary, a write or draft all
// of it.
func lacks(s nodes.Step, ref nodes.Ref) bool {
	if s.Type == vocab.StepAnalyze {
		return unloaded(ref)
	}

	return !ref.Pending && !ref.Deleted && !ref.Gone && !ref.Has("summary", "text", "rows")
}

// unloaded says that not even the summary of a row that is there is loaded.
func unloaded(ref nodes.Ref) bool {
	return !ref.Pending && !ref.Deleted && !ref.Gone && !ref.Has("summary")
}

// reads returns the steps, one per subdomain, that load what a step lacks.
func reads(s nodes.Step, in thought, known map[string]bool) []nodes.Step {
	var missing []string
	for _, name := range s.Refs {
		if !known[name] && lacks(s, in.refs[name]) {
			known[name] = true
			missing = append(missing, name)
		}
	}
	var steps []nodes.Step
	for subdomain, refs := range grouped(missing, func(ref string) string { return in.home(in.refs[ref].Type, s.Subdomain) }) {
		steps = append(steps, nodes.Step{
			Type: vocab.StepRead, Subdomain: subdomain, Refs: refs, Needs: "refs",
			Description: "Read " + strings.Join(refs, ", ") + " in full, for the next step", Calls: readCalls(refs, in),
		})
	}

	return steps
}

// grouped divides refs by what they have in common, in the order in which the groups begin.
func grouped(refs []string, by func(ref string) string) iter.Seq2[string, []string] {
	var order []string
	groups := map[string][]string{}
	for _, ref := range refs {
		group := by(ref)
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], ref)
	}

	return func(yield func(string, []string) bool) {
		for _, group := range order {
			if !yield(group, groups[group]) {
				return
			}
		}
	}
}

// readCall is a planned read of all columns.
func readCall(table string, filters any) json.RawMessage {
	call, err := json.Marshal(map[string]any{"tool": vocab.ToolRead, "table": table, "detail": "full", "filters": filters})
	if err != nil {
		return nil
	}

	return call
}

// readCalls reads rows in full by ref, one call per type: what is missing is known, so no model is asked.
func readCalls(refs []string, in thought) []json.RawMessage {
	var calls []json.RawMessage
	for table, some := range grouped(refs, func(ref string) string { return in.table(in.refs[ref].Type) }) {
		if table == "" {
			return nil
		}
		calls = append(calls, readCall(table, []any{map[string]any{"field": "id", "op": "in", "value": some}}))
	}

	return calls
}

// looks returns a step that reads the rows that a planned update would overwrite unseen, or nil: rows named by refs
// that are not loaded, and rows found by other filters if no earlier step reads that table. A row is changed only by
// whoever has seen it.
func looks(s nodes.Step, earlier []nodes.Step, in thought, known map[string]bool) *nodes.Step {
	var calls []json.RawMessage
	var refs []string
	for _, call := range s.ReadyCalls() {
		table, filters := tableOf(call), gjson.GetBytes(call.Args, "filters")
		named, by := byRef(call)
		switch {
		case call.Tool != vocab.ToolUpdate || table == "" || len(filters.Array()) == 0:
		case by:
			for _, name := range named {
				if ref := in.refs[name]; ref.Type != "" && !known[name] && unloaded(ref) {
					known[name] = true
					refs = append(refs, name)
				}
			}
		case !slices.ContainsFunc(earlier, func(e nodes.Step) bool {
			return slices.ContainsFunc(e.ReadyCalls(), func(c vocab.Call) bool { return tableOf(c) == table })
		}):
			calls = append(calls, readCall(table, json.RawMessage(filters.Raw)))
		}
	}
	calls = append(readCalls(refs, in), calls...)
	if len(calls) == 0 {
		return nil
	}

	return &nodes.Step{Type: vocab.StepRead, Subdomain: s.Subdomain, Refs: refs, Needs: "refs", Description: "Read what the next step changes", Calls: calls}
}
