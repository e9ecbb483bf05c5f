package nodes

import (
	"encoding/json"
	"fmt"
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
	names = append(names, ToolStepComplete, ToolAskUser, ToolBlocked)
	if in.SchemaRequestsLeft > 0 {
		names = append(names, ToolRequestSchema)
	}
	return names
}

func (in *ActInput) tools() ([]llm.Tool, error) {
	var tools []llm.Tool
	for _, name := range in.offered() {
		spec := toolSpecs[name]
		params := spec.params(in)
		params.Type = "object"
		params.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		data, err := json.Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("schema of tool %s: %w", name, err)
		}
		tools = append(tools, llm.Tool{Name: name, Description: spec.about, Schema: data})
	}
	return tools, nil
}

type toolSpec struct {
	about  string
	params func(*ActInput) *jsonschema.Schema
}

type fields = map[string]*jsonschema.Schema

//nolint:gochecknoglobals // the tools' contract, a constant that Go has no form for
var toolSpecs = map[string]toolSpec{
	ToolRead: {"Read rows of a table. filters must all hold; of or_filters at least one. Zero rows is a valid result. Ids are refs such as those listed.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"table": in.table(), "filters": filters(), "or_filters": filters(), "columns": list(text("")),
				"detail":   enum("Column set: summary (default), text (long texts too), rows (child rows too), full.", "summary", "text", "rows", "full"),
				"limit":    integer("At most this many rows."),
				"order_by": text("A column."), "order_dir": enum("", "asc", "desc"),
			}, "table")
		}},
	ToolCreate: {"Save new rows. data: one row or a list; children stand in it under their table's name. from_ref saves a draft exactly as it is; patch changes it first (JSON merge patch).",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"table": in.writable(ToolCreate), "data": {Description: "A row as an object, or a list of rows."},
				"from_ref": text("A draft: gen_..."), "patch": {Description: "Merge patch over the draft.", Type: "object"},
			}, "table")
		}},
	ToolUpdate: {"Change the rows that match all filters. null clears a column.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{"table": in.writable(ToolUpdate), "filters": filters(), "data": {Type: "object"}}, "table", "filters", "data")
		}},
	ToolDelete: {"Delete the rows that match all filters.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{"table": in.writable(ToolDelete), "filters": filters()}, "table", "filters")
		}},
	ToolAnalyze: {"Count, sum, average, minimum, maximum, also per group. Returns numbers, no rows with refs.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"table": in.table(), "filters": filters(), "group_by": list(text("")), "limit": integer(""),
				"order_by": text("An alias or a group column."), "order_dir": enum("", "asc", "desc"),
				"aggregates": list(object(fields{
					"fn": enum("", "count", "sum", "avg", "min", "max"), "column": text("Not needed for count."), "as": text("Name of the number."),
				}, "fn")),
			}, "table", "aggregates")
		}},
	ToolGenerate: {"Draft content that is not saved. creates: one entry per row, children inside its content. updates: the whole new content of a draft.",
		func(in *ActInput) *jsonschema.Schema {
			return object(fields{
				"creates": list(object(fields{"type": enum("", in.EntityTypes...), "content": {Type: "object"}}, "type", "content")),
				"updates": list(object(fields{"ref": text("A draft: gen_..."), "content": {Type: "object"}}, "ref", "content")),
			})
		}},
	ToolCalculate: {"Exact arithmetic: each expression is evaluated, e.g. \"2.5 * 4\".",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"expressions": list(text(""))}, "expressions")
		}},
	ToolRecall: {"Search earlier turns of this conversation and the user's rows by meaning and words.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"query": text(""), "limit": integer("At most this many, 20 at most.")}, "query")
		}},
	ToolStepComplete: {"End the step. summary: what came of it, one line. conclusions: what an analysis found. note: a hint for the next step.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{"summary": text(""), "conclusions": text(""), "note": text("")}, "summary")
		}},
	ToolAskUser: {"Ask the user something that only they can decide; ends the turn.",
		func(*ActInput) *jsonschema.Schema { return object(fields{"question": text("")}, "question") }},
	ToolBlocked: {"Say that the step cannot be done and what should happen next.",
		func(*ActInput) *jsonschema.Schema {
			return object(fields{
				"code": enum("", blockedCodes...), "details": text(""), "next": enum("", blockedNexts...),
			}, "code", "details", "next")
		}},
	ToolRequestSchema: {"See the columns of another table.",
		func(*ActInput) *jsonschema.Schema { return object(fields{"table": text("")}, "table") }},
}

var (
	blockedCodes = []string{"insufficient_info", "plan_invalid", "tool_failure"}
	blockedNexts = []string{"ask_user", "replan", "fail"}
)

func (in *ActInput) table() *jsonschema.Schema { return enum("", in.Tables...) }

func (in *ActInput) writable(tool string) *jsonschema.Schema { return enum("", in.Writable[tool]...) }

func filters() *jsonschema.Schema {
	return list(object(fields{
		"field": text("A column, id, or _semantic."),
		"op":    enum("", "=", "!=", ">", ">=", "<", "<=", "in", "not_in", "ilike", "is_null", "is_not_null", "contains", "similar"),
		"value": {Description: "Not needed for is_null and is_not_null; a list for in and not_in."},
	}, "field", "op"))
}

func object(properties fields, required ...string) *jsonschema.Schema {
	slices.Sort(required)
	return &jsonschema.Schema{Type: "object", Properties: properties, Required: required}
}

func list(items *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: items}
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
