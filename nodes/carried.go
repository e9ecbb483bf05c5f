package nodes

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// carriable lists the tools whose calls a plan may write out, by step type.
var carriable = map[string][]string{
	"read":  {ToolRead},
	"write": {ToolCreate, ToolUpdate, ToolDelete},
}

// CarriedCalls returns the calls that the planner wrote out for a step, in Act's form. If a plan may not write out one
// of them, it returns none, and Act decides.
func (s *Step) CarriedCalls() []Call {
	calls := make([]Call, 0, len(s.Calls))
	for _, raw := range s.Calls {
		call, ok := carriedCall(raw)
		if !ok || !slices.Contains(carriable[s.Type], call.Tool) {
			return nil
		}
		calls = append(calls, call)
	}
	return calls
}

// placeCalls moves the calls into their steps. If one names no step, all are left to Act.
func (o *ThinkOutput) placeCalls() {
	calls := o.Calls
	o.Calls = nil
	for _, raw := range calls {
		var at struct {
			Step int `json:"step"`
		}
		if json.Unmarshal(raw, &at) != nil || at.Step < 1 || at.Step > len(o.Steps) {
			for i := range o.Steps {
				o.Steps[i].Calls = nil
			}
			return
		}
		o.Steps[at.Step-1].Calls = append(o.Steps[at.Step-1].Calls, raw)
	}
}

// carriedCall reads a call whose arguments are either beside the tool's name or under args.
func carriedCall(raw json.RawMessage) (Call, bool) {
	fields := map[string]any{}
	if decode(raw, &fields) != nil {
		return Call{}, false
	}
	tool, _ := fields["tool"].(string)
	delete(fields, "tool")
	delete(fields, "step")
	if args, below := fields["args"].(map[string]any); below {
		fields = args
	}
	for name, value := range fields {
		if list, isList := value.([]any); value == nil || value == "" || isList && len(list) == 0 {
			delete(fields, name)
		}
	}
	if set := fields["set"]; tool == ToolCreate && set != nil && fields["from_ref"] == nil {
		delete(fields, "set")
		fields["rows"] = []any{map[string]any{"set": set}}
	}
	args, err := json.Marshal(fields)
	return Call{Tool: tool, Args: args}, err == nil && tool != "" && fields["table"] != nil
}

// plannedCall is the schema of one call in a plan: the arguments of all tools it may name, side by side, because strict
// schemas cannot express alternatives of objects.
func plannedCall() *jsonschema.Schema {
	return object(fields{
		"step": integer("Number of the step, from 1."),
		"tool": enum("", ToolRead, ToolCreate, ToolUpdate, ToolDelete), "table": text(""),
		"filters":  filters(),
		"detail":   text("Of a read: summary, text, rows or full; else empty."),
		"from_ref": text("Of a create: the draft to save as it is; else empty."),
		"set":      set(),
	})
}
