package nodes

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"alfred/internal/answer"
	"alfred/internal/vocab"
)

// How the calls of a plan become its steps.

// placeCalls moves the calls into their steps, with every ref that their ranges stand for: who asks which rows a call is
// about looks for refs. What the plan takes back comes first: what else the message wants builds on what was there before.
func (o *ThinkOutput) placeCalls(in *ThinkInput) {
	undos := o.takeBack(in)
	o.Questions = slices.DeleteFunc(o.Questions, func(one string) bool { return isNothing(one) })
	if isNothing(o.Proposal) {
		o.Proposal = ""
	}
	o.shareCalls(in)
	o.Steps = slices.Concat(undos, slices.DeleteFunc(o.Steps, func(s Step) bool { return s.spent }))
	if in == nil {
		return
	}
	for _, step := range o.Steps {
		for i := range step.Calls {
			step.Calls[i] = in.Refs.withoutRanges(step.Calls[i])
		}
	}
}

// shareCalls gives each step its calls. If one names no step, all are left to Act. An answer without steps is a plan that
// consists of its calls.
func (o *ThinkOutput) shareCalls(in *ThinkInput) {
	calls := o.Calls
	o.Calls = nil
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
	o.Steps = in.sorted(o.Steps)
}

// sorted gives calls of both kinds in one step that only looks, to count and to read, a step for each kind: of one, Act would make
// only some of them.
func (in *ThinkInput) sorted(steps []Step) (sorted []Step) {
	for _, step := range steps {
		own := []Step{step}
		if in != nil && (step.Type == vocab.StepRead || step.Type == vocab.StepAnalyze) {
			apart := in.stepsOf(step.Calls)
			other := slices.ContainsFunc(apart, func(s Step) bool { return s.Type != step.Type })
			if other && !slices.ContainsFunc(apart, func(s Step) bool { return s.Type == vocab.StepWrite || s.Subdomain == "" }) {
				own = apart
			}
		}
		sorted = append(sorted, own...)
	}

	return sorted
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
		home, stepType := in.Homes[tableOf(raw, call)], stepTypeOf(call.Tool)
		if n := len(steps); n == 0 || steps[n-1].Type != stepType || steps[n-1].Subdomain != home.Subdomain {
			steps = append(steps, Step{Type: stepType, Subdomain: home.Subdomain, Needs: "refs"})
		}
		args, step := gjson.ParseBytes(call.Args), &steps[len(steps)-1]
		step.Calls = append(step.Calls, raw)
		step.Refs = append(step.Refs, in.Refs.among(mayNameRefs(call.Tool, args))...)
		step.Description = joined(step.Description, inWords(call.Tool, args, home.Plural, gjson.GetBytes(raw, "how").Str))
	}

	return steps
}

// mayNameRefs are the values of a call that may name rows it is about: any argument of an operation.
func mayNameRefs(tool string, args gjson.Result) []string {
	if operates(tool) {
		return texts(args.Get("@values|@flatten"))
	}

	return append(texts(args.Get("from_ref")), texts(args.Get(`filters.#(field=="id")#.value|@flatten`))...)
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

// unknownTable is the first table that calls name and no subdomain handles, "" for none.
func (in *ThinkInput) unknownTable(calls []json.RawMessage) string {
	for _, raw := range calls {
		call, ok := readyCall(raw)
		if table := tableOf(raw, call); ok && table != "" && in.Homes[table] == (Home{}) {
			return table
		}
	}

	return ""
}

// withoutRanges replaces the ranges in a call's filters by the refs that they stand for.
func (known Refs) withoutRanges(raw json.RawMessage) json.RawMessage {
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
	if written, err := json.Marshal(args); changed && err == nil {
		return written
	}

	return raw
}
