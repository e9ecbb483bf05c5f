package nodes

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"

	"alfred/internal/answer"
	"alfred/internal/vocab"
)

// ReadyCalls returns the calls that the planner wrote out for a step, in Act's form. If a plan may not write out one
// of them, it returns none, and Act decides.
func (s *Step) ReadyCalls() []vocab.Call {
	calls := make([]vocab.Call, 0, len(s.Calls))
	for _, raw := range s.Calls {
		call, ok := readyCall(raw)
		if !ok || !isPlannable(s.Type, call.Tool) || gjson.GetBytes(call.Args, "how").Exists() {
			return nil
		}
		calls = append(calls, call)
	}

	return calls
}

// isPlannable reports whether a plan may write out calls of a tool for a step of a type.
func isPlannable(stepType, tool string) bool {
	if stepType == vocab.StepWrite {
		return vocab.Writes(tool) || tool == vocab.ToolUndo || operates(tool)
	}

	return stepType == stepTypeOf(tool)
}

// stepTypeOf is the type of the step that a planned call is for.
func stepTypeOf(tool string) string {
	switch tool {
	case vocab.ToolRead:
		return vocab.StepRead
	case vocab.ToolAnalyze:
		return vocab.StepAnalyze
	default:
		return vocab.StepWrite
	}
}

// operates reports whether a tool can only be an operation of the domain.
func operates(tool string) bool {
	return tool != vocab.ToolUndo && !slices.Contains(vocab.DataTools(), tool) && !slices.Contains(vocab.EveryStep, tool)
}

// tableOf is the table that a planned call is about. An operation has it beside its arguments.
func tableOf(raw json.RawMessage, call vocab.Call) string {
	return cmp.Or(gjson.GetBytes(call.Args, "table").Str, gjson.GetBytes(raw, "table").Str)
}

// readyCall reads a call whose arguments are either next to the tool's name or under args; false if it names no tool or no
// table.
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
	maps.DeleteFunc(fields, func(_ string, value any) bool {
		list, isList := value.([]any)

		return value == nil || value == "" || isList && len(list) == 0
	})
	if operates(tool) {
		return operation(tool, fields, asAct)
	}
	toActsForm(tool, fields)
	encoded, err := json.Marshal(fields)

	return vocab.Call{Tool: tool, Args: encoded}, err == nil && tool != "" && (fields["table"] != nil || tool == vocab.ToolUndo)
}

// toActsForm changes what a plan writes in another form than Act: a new row's values, and how rows are ordered and counted.
func toActsForm(tool string, fields map[string]any) {
	if set := fields["set"]; tool == vocab.ToolCreate && set != nil && fields["from_ref"] == nil {
		delete(fields, "set")
		fields["rows"] = []any{map[string]any{"set": set}}
	}
	if tool == vocab.ToolAnalyze {
		delete(fields, "detail")
	}
	how, _ := fields["how"].(string)
	if arguments, ok := clause(tool, how); ok && (how != "" || fields["aggregates"] == nil) {
		maps.Copy(fields, arguments)
		delete(fields, "how")
	}
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

// maxTables is for how many tables the schema lists their names; servers limit how many values a schema may have.
const maxTables = 200

// tables are those that a plan's calls may name.
func (in *ThinkInput) tables() []string {
	if len(in.Homes) > maxTables {
		return nil
	}

	return slices.Sorted(maps.Keys(in.Homes))
}

// plannedCall is the schema of one call in a plan: the arguments of all tools it may name, side by side, because strict
// schemas cannot express alternatives of objects.
func plannedCall() *jsonschema.Schema {
	return object(fields{
		"step": integer("The step, from 1; 0 without steps."),
		"tool": text(""), "table": text(""),
		"filters":  filters(),
		"detail":   text("Of a read: summary, text, rows or full; else empty."),
		"how":      text("SQL or empty. Reads: order by made_at desc limit 5. Analyses: count, count(distinct kind), sum(rate * (end - start)) group by item_id.state, made_at:month (hour, day, weekday, week, year) order by count desc."),
		"from_ref": text("Of a create: the draft to save; else empty."),
		"set":      set(),
	})
}
