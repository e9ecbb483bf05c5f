package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"alfred/llm"
)

// Names of the tools an act decision may call.
const (
	ToolAnalyze       = "db_analyze"
	ToolAskUser       = "ask_user"
	ToolBlocked       = "blocked"
	ToolCalculate     = "calculate"
	ToolCreate        = "db_create"
	ToolDelete        = "db_delete"
	ToolGenerate      = "generate"
	ToolRead          = "db_read"
	ToolRecall        = "recall"
	ToolRequestSchema = "request_schema"
	ToolStepComplete  = "step_complete"
	ToolUpdate        = "db_update"
)

// DataTools are the tools that a step of a type may use on data; no other is
// offered, and none other is accepted.
func DataTools(stepType string) []string {
	switch stepType {
	case "read":
		return []string{ToolRead, ToolRecall, ToolCalculate}
	case "analyze":
		return []string{ToolAnalyze, ToolRecall, ToolCalculate}
	case "generate":
		return []string{ToolGenerate, ToolCalculate}
	case "write":
		return []string{ToolCreate, ToolUpdate, ToolDelete, ToolRead}
	default:
		return nil
	}
}

// offered are the tools of one decision, in a stable order.
func (in *ActInput) offered() []string {
	names := slices.DeleteFunc(DataTools(in.StepType), func(name string) bool {
		return slices.Contains([]string{ToolCreate, ToolUpdate, ToolDelete}, name) && len(in.Writable[name]) == 0
	})
	for _, o := range in.Operations {
		names = append(names, o.Name)
	}
	names = append(names, ToolStepComplete, ToolAskUser, ToolBlocked)
	if in.SchemaRequestsLeft > 0 {
		names = append(names, ToolRequestSchema)
	}
	return names
}

func (in *ActInput) tools() ([]llm.Tool, error) {
	var tools []llm.Tool
	for _, name := range in.offered() {
		spec, fixed := toolSpecs[name]
		if !fixed {
			spec = in.operation(name)
		}
		data, err := json.Marshal(constrained(spec.params(in)))
		if err != nil {
			return nil, fmt.Errorf("schema of tool %s: %w", name, err)
		}
		tools = append(tools, llm.Tool{Name: name, Description: spec.about, Schema: data})
	}
	return tools, nil
}

// operation is the tool of a declared operation.
func (in *ActInput) operation(name string) toolSpec {
	o := in.Operations[slices.IndexFunc(in.Operations, func(o Operation) bool { return o.Name == name })]

	return toolSpec{o.About, func(*ActInput) *jsonschema.Schema { return o.Params.CloneSchemas() }}
}

type toolSpec struct {
	about  string
	params func(*ActInput) *jsonschema.Schema
}

type fields = map[string]*jsonschema.Schema

var toolSpecs = map[string]toolSpec{
	ToolRead: {"Read rows of a table. filters must all hold; of or_filters at least one. Zero rows is a valid result. Ids are refs such as those listed.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"table": in.table(), "filters": filters(), "or_filters": filters(), "columns": list("Empty for all of the column set.", text("")),
				"detail":   enum("Column set: summary (default), text (long texts too), rows (child rows too), full.", "summary", "text", "rows", "full"),
				"limit":    optional(integer("At most this many rows.")),
				"order_by": optional(text("A column.")), "order_dir": enum("", "asc", "desc"),
			})
		}},
	ToolCreate: {"Save new rows, each with its children; or from_ref, which saves a draft exactly as it is. set, clear and children change that draft first, as in generate, and are empty otherwise.",
		func(in *ActInput) *jsonschema.Schema {
			change := row(fields{"table": in.writable(ToolCreate), "from_ref": optional(text("A draft: gen_...")), "clear": list("Columns of the draft to empty.", text(""))})
			change.Properties["rows"] = list("New rows.", row(fields{}))
			return change
		}},
	ToolUpdate: {"Change the rows that match all filters.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{"table": in.writable(ToolUpdate), "filters": filters(), "set": set(), "clear": list("Columns to empty.", text(""))})
		}},
	ToolDelete: {"Delete the rows that match all filters.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{"table": in.writable(ToolDelete), "filters": filters()})
		}},
	ToolAnalyze: {"Count, sum, average, minimum, maximum, also per group. Returns numbers, no rows with refs.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"table": in.table(), "filters": filters(), "group_by": list("", text("")), "limit": optional(integer("")),
				"order_by": optional(text("An alias or a group column.")), "order_dir": enum("", "asc", "desc"),
				"aggregates": list("", object(fields{
					"fn": enum("", "count", "sum", "avg", "min", "max"), "column": optional(text("Not needed for count.")), "as": optional(text("Name of the number.")),
				})),
			})
		}},
	ToolGenerate: {"Draft content that is not saved. creates: one entry per new draft. updates: only what changes of a draft. Its children: with a position (from 1) that one changes, with an empty set it is removed, the position after the last adds one; without positions they are all there are.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"creates": list("", row(fields{"type": enum("", in.EntityTypes...)})),
				"updates": list("", row(fields{"ref": text("A draft: gen_..."), "clear": list("Columns to empty.", text(""))})),
			})
		}},
	ToolCalculate: {"Exact arithmetic: each expression is evaluated, e.g. \"2.5 * 4\".",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"expressions": list("", text(""))})
		}},
	ToolRecall: {"Search earlier turns of this conversation and the user's rows by meaning and words.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"query": text(""), "limit": optional(integer("At most this many, 20 at most."))})
		}},
	ToolStepComplete: {"End the step. summary: what came of it, one line. conclusions: what an analysis found. note: a hint for the next step.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"summary": text(""), "conclusions": text("Empty for none."), "note": text("Empty for none.")})
		}},
	ToolAskUser: {"Ask the user something that only they can decide; ends the turn. Stands alone, without other calls.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{
				"question": text(""), "options": list("Answers to choose from, a few words each; empty for an open question.", text("")),
				"would_write": {Type: "boolean", Description: "True when a yes asks for something to be saved, changed or deleted."},
			})
		}},
	ToolBlocked: {"Say that the step cannot be done and what should happen next. Stands alone, without other calls.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"code": enum("", blockedCodes...), "details": text(""), "next": enum("", blockedNexts...)})
		}},
	ToolRequestSchema: {"See the columns of another table. Stands alone, without other calls.",
		func(*ActInput) *jsonschema.Schema { return object(fields{"table": text("")}) }},
}

var (
	blockedCodes = []string{"insufficient_info", "plan_invalid", "tool_failure"}
	blockedNexts = []string{"ask_user", "replan", "fail"}
)

func (in *ActInput) table() *jsonschema.Schema { return enum("", in.Tables...) }

func (in *ActInput) writable(tool string) *jsonschema.Schema { return enum("", in.Writable[tool]...) }

func filters() *jsonschema.Schema {
	return list("", object(fields{
		"field": text("A column, id, or _semantic."),
		"op":    enum("", "=", "!=", ">", ">=", "<", "<=", "in", "not_in", "ilike", "is_null", "is_not_null", "contains", "similar"),
		"value": value("null for is_null and is_not_null; a list for in and not_in."),
	}))
}

// row is what a row is made of, beside what else stands with it.
func row(beside fields) *jsonschema.Schema {
	beside["set"] = set()
	beside["children"] = list("Child rows, one entry each.", object(fields{
		"table": text("A child table."), "set": set(), "position": optional(integer("Which one of a draft, from 1; null in new content.")),
	}))
	return object(beside)
}

func set() *jsonschema.Schema {
	return list("", object(fields{"column": text(""), "value": value("A ref for a column that points to another row; JSON as a text for a JSON column.")}))
}

// value is any value of a column. It has no objects: what a model may write freely
// cannot be constrained.
func value(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: about, AnyOf: []*jsonschema.Schema{
		text(""), {Type: "number"}, {Type: "boolean"}, {Type: "null"}, list("", text("")),
	}}
}

// object has every property required: strict modes take no other. What may be left
// out is optional, or a list, or a text that may be empty.
func object(properties fields) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: properties, Required: slices.Sorted(maps.Keys(properties))}
}

func list(about string, items *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: about, Items: items}
}

func text(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about}
}

func integer(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: about}
}

func enum(about string, values ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: about}
	if len(values) > 0 {
		s.Enum = anys(values)
	}
	return s
}
