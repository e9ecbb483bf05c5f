package jobs

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// planReads adds to a plan the reads without which a model would have to invent rows, or overwrite them unseen.
type planReads struct {
	thought

	read map[string]bool // refs that an earlier step of the plan reads
}

// withReads inserts a read step before each step that needs rows which are missing, incomplete or outdated.
func withReads(steps []nodes.Step, in thought) []nodes.Step {
	p := planReads{in, map[string]bool{}}
	var plan []nodes.Step
	for i, s := range steps {
		s.Calls = p.withMentionedRefs(s.Calls)
		switch {
		case s.Type == vocab.StepRead:
			if needed := p.neededInFull(s, steps[i+1:]); len(needed) > 0 {
				s.Description = strings.TrimRight(s.Description, ". ") + " (" + strings.Join(needed, ", ") + " in full, for a later step)"
			}
			for _, ref := range s.Refs {
				p.read[ref] = true
			}
		case s.Needs == "rows":
			plan = append(plan, p.missingRows(s)...)
		}
		if overwritten := p.overwrittenRows(s, steps[:i]); overwritten != nil {
			plan = append(plan, *overwritten)
			s.Calls = nil // the planner has not seen these rows: Act decides
		}
		plan = append(plan, s)
	}

	return plan
}

// withMentionedRefs adds to planned changes by name the refs of the rows that the message means by that name: those are known, so that nothing
// has to be read, and nobody is asked which of several namesakes.
func (p *planReads) withMentionedRefs(calls []json.RawMessage) []json.RawMessage {
	calls = slices.Clone(calls)
	for i, raw := range calls {
		var call map[string]any
		filters := gjson.GetBytes(raw, "filters")
		refs := p.refsNamed(gjson.GetBytes(raw, "table").Str, filters)
		if gjson.GetBytes(raw, "tool").Str != vocab.ToolUpdate || len(refs) == 0 || json.Unmarshal(raw, &call) != nil {
			continue
		}
		call["filters"] = append([]any{map[string]any{"field": "id", "op": "in", "value": refs}}, filters.Value().([]any)...)
		if changed, err := json.Marshal(call); err == nil {
			calls[i] = changed
		}
	}

	return calls
}

// refsNamed are the rows of a table that the message means and whose name a filter says, none if filters name any by ref.
func (p *planReads) refsNamed(table string, filters gjson.Result) (refs []string) {
	for _, mention := range p.mentions {
		ref := p.refs[mention.Ref]
		meant := (mention.Resolution == "exact" || mention.Resolution == "inferred") && p.table(ref.Type) == table && !slices.Contains(refs, mention.Ref)
		if meant && slices.ContainsFunc(filters.Array(), func(f gjson.Result) bool { return f.Get("op").Str == "=" && sameName(f.Get("value").Str, ref.Label) }) {
			refs = append(refs, mention.Ref)
		}
	}
	if slices.ContainsFunc(filters.Array(), func(f gjson.Result) bool { return f.Get("field").Str == "id" }) {
		return nil
	}

	return refs
}

// sameName reports whether two names have the same words, whatever stands between them.
func sameName(a, b string) bool {
	words := func(name string) []string {
		return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}

	return len(words(a)) > 0 && slices.Equal(words(a), words(b))
}

// neededInFull returns the refs of a planned read that a later step needs in full.
func (p *planReads) neededInFull(read nodes.Step, later []nodes.Step) []string {
	return slices.DeleteFunc(slices.Clone(read.Refs), func(name string) bool {
		return !slices.ContainsFunc(later, func(s nodes.Step) bool {
			return s.Type != vocab.StepRead && s.Needs == "rows" && slices.Contains(s.Refs, name) && lacksRows(s, p.refs[name])
		})
	})
}

// lacksRows reports whether a step cannot see what it needs of a row: an analysis needs its summary, a write or draft all
// of it.
func lacksRows(s nodes.Step, ref nodes.Ref) bool {
	if s.Type == vocab.StepAnalyze {
		return unloaded(ref, "summary")
	}

	return unloaded(ref, "summary", "text", "rows")
}

// unloaded reports whether a stored row is there of which one of these column sets is not loaded.
func unloaded(ref nodes.Ref, sets ...string) bool {
	return !ref.Pending && !ref.Deleted && !ref.Gone && !ref.Has(sets...)
}

// missingRows returns the steps, one per subdomain, that load what a step lacks.
func (p *planReads) missingRows(s nodes.Step) []nodes.Step {
	var missing []string
	for _, name := range s.Refs {
		if !p.read[name] && lacksRows(s, p.refs[name]) {
			p.read[name] = true
			missing = append(missing, name)
		}
	}
	var steps []nodes.Step
	for subdomain, refs := range grouped(missing, func(ref string) string { return p.home(p.refs[ref].Type, s.Subdomain) }) {
		steps = append(steps, nodes.Step{
			Type: vocab.StepRead, Subdomain: subdomain, Refs: refs, Needs: "refs",
			Description: "Read " + strings.Join(refs, ", ") + " in full, for the next step", Calls: p.readCalls(refs),
		})
	}

	return steps
}

// home is the subdomain in which a step reads refs of a type: its own, if that can see their table.
func (in thought) home(entityType, subdomain string) string {
	e, own := in.domain.ByType(entityType), in.domain.Subdomain(subdomain)
	if e == nil || own != nil && (slices.Contains(own.Tables, e.Table) || slices.Contains(own.Readable, e.Table)) {
		return subdomain
	}
	if of := in.domain.SubdomainOf(e); of != nil {
		return of.Name
	}

	return subdomain
}

// table is a type's table; "" for an unknown type.
func (in thought) table(entityType string) string {
	if e := in.domain.ByType(entityType); e != nil {
		return e.Table
	}

	return ""
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
func (p *planReads) readCalls(refs []string) []json.RawMessage {
	var calls []json.RawMessage
	for table, some := range grouped(refs, func(ref string) string { return p.table(p.refs[ref].Type) }) {
		if table == "" {
			return nil
		}
		calls = append(calls, readCall(table, []any{map[string]any{"field": "id", "op": "in", "value": some}}))
	}

	return calls
}

// overwrittenRows returns a step that reads the rows that a planned update would overwrite unseen, or nil: rows named by refs
// that are not loaded, and rows found by other filters if no earlier step has a call on their table.
func (p *planReads) overwrittenRows(s nodes.Step, earlier []nodes.Step) *nodes.Step {
	var calls []json.RawMessage
	var refs []string
	for _, call := range s.ReadyCalls() {
		table, filters := tableOf(call), gjson.GetBytes(call.Args, "filters")
		if call.Tool != vocab.ToolUpdate || table == "" || len(filters.Array()) == 0 {
			continue
		}
		named, byRef := selectedRefs(call)
		for _, name := range named {
			if ref := p.refs[name]; ref.Type != "" && !p.read[name] && unloaded(ref, "summary") {
				p.read[name] = true
				refs = append(refs, name)
			}
		}
		if !byRef && !haveCallOn(earlier, table) {
			calls = append(calls, readCall(table, json.RawMessage(filters.Raw)))
		}
	}
	calls = append(p.readCalls(refs), calls...)
	if len(calls) == 0 {
		return nil
	}

	return &nodes.Step{Type: vocab.StepRead, Subdomain: s.Subdomain, Refs: refs, Needs: "refs", Description: vocab.ReadsWhatChanges, Calls: calls}
}

func haveCallOn(steps []nodes.Step, table string) bool {
	return slices.ContainsFunc(steps, func(s nodes.Step) bool {
		return slices.ContainsFunc(s.ReadyCalls(), func(call vocab.Call) bool { return tableOf(call) == table })
	})
}
