package nodes

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"

	"alfred/internal/answer"
	"alfred/internal/vocab"
)

// plannable lists the tools whose calls a plan may write out, by step type.
var plannable = map[string][]string{
	vocab.StepRead:    {vocab.ToolRead},
	vocab.StepAnalyze: {vocab.ToolAnalyze},
	vocab.StepWrite:   append(vocab.WriteTools(), vocab.ToolUndo),
}

// ReadyCalls returns the calls that the planner wrote out for a step, in Act's form. If a plan may not write out one
// of them, it returns none, and Act decides.
func (s *Step) ReadyCalls() []vocab.Call {
	calls := make([]vocab.Call, 0, len(s.Calls))
	for _, raw := range s.Calls {
		call, ok := readyCall(raw)
		if !ok || !slices.Contains(plannable[s.Type], call.Tool) && (s.Type != vocab.StepWrite || !operates(call.Tool)) || gjson.GetBytes(call.Args, "how").Exists() {
			return nil
		}
		calls = append(calls, call)
	}

	return calls
}

// operates reports whether a tool can only be an operation of the domain.
func operates(tool string) bool {
	return tool != vocab.ToolUndo && !slices.Contains(vocab.DataTools(), tool) && !slices.Contains(vocab.EveryStep, tool)
}

// maxTables is for how many tables the schema lists their names; servers limit how many values a schema may have.
const maxTables = 200

// tables are those that a plan's calls may name.
func (in *ThinkInput) tables() []string {
	if len(in.Homes) > maxTables {
		return nil
	}

	return slices.Sorted(maps.Keys(in.Homes))
}

// strange is the first table that calls name and no subdomain handles, "" for none.
func (in *ThinkInput) strange(calls []json.RawMessage) string {
	for _, raw := range calls {
		call, ok := readyCall(raw)
		if table := home(raw, call); ok && table != "" && in.Homes[table] == (Home{}) {
			return table
		}
	}

	return ""
}

// home is the table that a call is about, which is no argument of an operation.
func home(raw json.RawMessage, call vocab.Call) string {
	return cmp.Or(gjson.GetBytes(call.Args, "table").Str, gjson.GetBytes(raw, "table").Str)
}

// settle moves the calls into their steps, with every ref that their ranges stand for: who asks which rows a call is about
// looks for refs.
func (o *ThinkOutput) settle(in *ThinkInput) {
	o.assign(in)
	if in == nil {
		return
	}
	for _, step := range o.Steps {
		for i := range step.Calls {
			step.Calls[i] = in.Refs.spread(step.Calls[i])
		}
	}
}

// spread replaces the ranges in a call's filters.
func (known Refs) spread(raw json.RawMessage) json.RawMessage {
	call, ok := readyCall(raw)
	var args map[string]any
	if !ok || answer.Decode(call.Args, &args) != nil {
		return raw
	}
	filters, _ := args["filters"].([]any)
	changed := false
	for i, f := range gjson.GetBytes(call.Args, "filters").Array()[:len(filters)] { // none of what is no list
		named := texts(f.Get("value"))
		one, isObject := filters[i].(map[string]any)
		if !isObject || !slices.ContainsFunc(named, func(text string) bool { return len(known.within(text)) > 0 }) {
			continue
		}
		changed, one["value"] = true, known.expand(named)
		one["op"] = cmp.Or(map[string]string{"=": "in", "!=": "not_in"}[f.Get("op").Str], f.Get("op").Str)
	}
	args["tool"] = call.Tool
	if spread, err := json.Marshal(args); changed && err == nil {
		return spread
	}

	return raw
}

// assign gives each step its calls, after what the plan takes back: what else the message wants builds on what was there
// before.
func (o *ThinkOutput) assign(in *ThinkInput) {
	first := o.takeBack(in)
	o.share(in)
	o.Steps = slices.Concat(first, slices.DeleteFunc(o.Steps, func(s Step) bool { return s.spent }))
}

// share gives each step its calls. If one names no step, all are left to Act. An answer without steps is a plan that
// consists of its calls.
func (o *ThinkOutput) share(in *ThinkInput) {
	calls := o.Calls
	o.Calls = nil
	o.Questions = slices.DeleteFunc(o.Questions, func(one string) bool { return isNothing(one) })
	if isNothing(o.Proposal) {
		o.Proposal = ""
	}
	if len(o.Steps) == 0 && in != nil && cmp.Or(o.Decision, o.implied()) == "plan" {
		o.Steps = in.stepsOf(calls)

		return
	}
	for _, raw := range calls {
		at := int(gjson.GetBytes(raw, "step").Int())
		if at < 1 || at > len(o.Steps) {
			for i := range o.Steps {
				o.Steps[i].Calls = nil
			}

			return
		}
		o.Steps[at-1].Calls = append(o.Steps[at-1].Calls, raw)
	}
}

// stepsOf returns the plan that consists of these calls: what a call does determines its step. Consecutive calls in one
// subdomain, all reading or all writing, are one step.
func (in *ThinkInput) stepsOf(calls []json.RawMessage) []Step {
	var steps []Step
	for _, raw := range calls {
		call, ok := readyCall(raw)
		if !ok {
			return nil
		}
		args := gjson.ParseBytes(call.Args)
		home, kind := in.Homes[home(raw, call)], vocab.StepWrite
		for _, looks := range []string{vocab.StepRead, vocab.StepAnalyze} {
			if slices.Contains(plannable[looks], call.Tool) {
				kind = looks
			}
		}
		if n := len(steps); n == 0 || steps[n-1].Type != kind || steps[n-1].Subdomain != home.Subdomain {
			steps = append(steps, Step{Type: kind, Subdomain: home.Subdomain, Needs: "refs"})
		}
		step := &steps[len(steps)-1]
		step.Calls = append(step.Calls, raw)
		about := append(texts(args.Get("from_ref")), texts(args.Get(`filters.#(field=="id")#.value|@flatten`))...)
		if operates(call.Tool) {
			about = texts(args.Get("@values|@flatten"))
		}
		step.Refs = append(step.Refs, in.Refs.in(about)...)
		step.Description = joined(step.Description, inWords(call.Tool, args, home.Plural, gjson.GetBytes(raw, "how").Str))
	}

	return steps
}

// described says what a step's calls do, "" if that cannot be told.
func (in *ThinkInput) described(calls []json.RawMessage) string {
	description := ""
	for _, step := range in.stepsOf(calls) {
		description = joined(description, step.Description)
	}

	return description
}

// maxDescription bounds a description made from calls, in characters.
const maxDescription = 300

func joined(before, more string) string {
	if before != "" {
		more = before + "; " + more
	}
	if runes := []rune(more); len(runes) > maxDescription {
		return string(runes[:maxDescription-1]) + "…"
	}

	return more
}

// InWords says what a call does with rows that are called so.
func InWords(call vocab.Call, rows string) string {
	return inWords(call.Tool, gjson.ParseBytes(call.Args), rows, "")
}

func inWords(tool string, args gjson.Result, rows, how string) string {
	var filters, set []string
	for _, f := range args.Get("filters").Array() {
		filters = append(filters, strings.TrimSpace(f.Get("field").String()+" "+f.Get("op").String()+" "+strings.Join(texts(f.Get("value")), ", ")))
	}
	for _, v := range append(args.Get("set").Array(), args.Get("rows.#.set|@flatten").Array()...) {
		set = append(set, v.Get("column").String()+" "+strings.Join(texts(v.Get("value")), ", "))
	}
	if !isNothing(how) {
		set = []string{how}
	}
	what := verbs[tool] + rows
	if operates(tool) {
		what = "Carry out " + strings.ReplaceAll(tool, "_", " ") + ": " + strings.Join(texts(args.Get("@values|@flatten")), ", ")
	}
	if draft := args.Get("from_ref").Str; draft != "" {
		what = "Save " + draft + " to the " + rows
	}
	if len(filters) > 0 {
		what += " with " + strings.Join(filters, " and ")
	}
	if len(set) > 0 {
		what += ": " + strings.Join(set, ", ")
	}

	return what
}

var verbs = map[string]string{
	vocab.ToolAnalyze: "Figures of the ", vocab.ToolRead: "Read the ", vocab.ToolCreate: "Add to the ", vocab.ToolUpdate: "Change the ", vocab.ToolDelete: "Delete the ",
}

// texts words a value, or each of a list; nothing is none.
func texts(value gjson.Result) []string {
	var list []string
	for _, one := range value.Array() {
		list = append(list, one.String())
	}

	return list
}

// readyCall reads a call whose arguments are either next to the tool's name or under args.
func readyCall(raw json.RawMessage) (vocab.Call, bool) {
	fields := map[string]any{}
	if answer.Decode(raw, &fields) != nil {
		return vocab.Call{}, false
	}
	tool, _ := fields["tool"].(string)
	delete(fields, "tool")
	delete(fields, "step")
	args, asAct := fields["args"].(map[string]any)
	if asAct {
		fields = args
	}
	for name, value := range fields {
		if list, isList := value.([]any); value == nil || value == "" || isList && len(list) == 0 {
			delete(fields, name)
		}
	}
	if set := fields["set"]; tool == vocab.ToolCreate && set != nil && fields["from_ref"] == nil {
		delete(fields, "set")
		fields["rows"] = []any{map[string]any{"set": set}}
	}
	if operates(tool) {
		return operation(tool, fields, asAct)
	}
	if tool == vocab.ToolAnalyze {
		delete(fields, "detail")
	}
	how, _ := fields["how"].(string)
	if arguments, ok := clause(tool, how); ok && (how != "" || fields["aggregates"] == nil) {
		maps.Copy(fields, arguments)
		delete(fields, "how")
	}
	encoded, err := json.Marshal(fields)

	return vocab.Call{Tool: tool, Args: encoded}, err == nil && tool != "" && (fields["table"] != nil || tool == vocab.ToolUndo)
}

// operation reads the call of one: its arguments are what it sets. One written as Act writes it names no table.
func operation(tool string, fields map[string]any, asAct bool) (vocab.Call, bool) {
	table, set := fields["table"], fields["set"]
	delete(fields, "table")
	if list, isList := set.([]any); isList {
		delete(fields, "set")
		for _, one := range list {
			pair, _ := one.(map[string]any)
			name, _ := pair["column"].(string)
			fields[name] = pair["value"]
		}
	}
	args, err := json.Marshal(fields)

	return vocab.Call{Tool: tool, Args: args}, err == nil && tool != "" && (table != nil || asAct)
}

// plannedCall is the schema of one call in a plan: the arguments of all tools it may name, side by side, because strict
// schemas cannot express alternatives of objects.
func plannedCall() *jsonschema.Schema {
	return object(fields{
		"step": integer("The step, from 1; 0 without steps."),
		"tool": text(""), "table": text(""),
		"filters":  filters(),
		"detail":   text("Of a read: summary, text, rows or full; else empty."),
		"how":      text("SQL or empty. Reads: order by made_at desc limit 5. Analyses: count, count(distinct kind), sum(price) group by item_id.state, made_at:month (hour, day, weekday, week, year) order by count desc."),
		"from_ref": text("Of a create: the draft to save; else empty."),
		"set":      set(),
	})
}
