package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// How many strict tools a provider's grammar supports; with more, none are enforced.
const (
	maxStrictTools = 20
	maxUnions      = 16
)

// Allowed lists the tools that the step may use on data, in a stable order.
func (in *ActInput) Allowed() []string { return in.usable(vocab.StepTools(in.StepType)) }

// usable returns the named tools that have something to work on, and the operations.
func (b *Toolbox) usable(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return vocab.Writes(name) && len(b.Writable[name]) == 0 })
	for _, o := range b.Operations {
		names = append(names, o.Name)
	}

	return names
}

// TurnTools are the tools of all steps of a turn. Each step is offered all of them, so that providers cache them; the
// prompt says which of them a step may use, and code refuses the others. It returns nil if there are more than
// providers can enforce: then a step is offered only its own.
func (b *Toolbox) TurnTools() (Tools, error) {
	all, err := b.list(append(b.usable(vocab.DataTools()), vocab.EveryStep...))
	if err != nil || !areEnforceable(all) {
		return nil, err
	}

	return all, nil
}

// tools returns the turn's tools, or those of the step.
func (in *ActInput) tools() (Tools, error) {
	if in.Turn != nil {
		return in.Turn, nil
	}
	names := append(in.Allowed(), vocab.ToolStepComplete, vocab.ToolAskUser, vocab.ToolBlocked)
	if in.SchemaRequestsLeft > 0 {
		names = append(names, vocab.ToolRequestSchema)
	}

	return in.list(names)
}

func (b *Toolbox) list(names []string) (Tools, error) {
	var tools Tools
	for _, name := range names {
		spec, fixed := toolSpecs[name]
		if !fixed {
			spec = b.operation(name)
		}
		data, err := json.Marshal(constrained(spec.params(b)))
		if err != nil {
			return nil, fmt.Errorf("schema of tool %s: %w", name, err)
		}
		tools = append(tools, llm.Tool{Name: name, Description: spec.about, Schema: data})
	}

	return tools, nil
}

// areEnforceable reports whether providers can enforce the schemas of all the tools.
func areEnforceable(tools Tools) bool {
	alternatives := 0
	for _, tool := range tools {
		text := string(tool.Schema)
		alternatives += strings.Count(text, `"anyOf":`) + strings.Count(text, `"type":[`)
	}

	return len(tools) <= maxStrictTools && alternatives <= maxUnions
}

// operation is the tool of a declared operation.
func (b *Toolbox) operation(name string) toolSpec {
	o := b.Operations[slices.IndexFunc(b.Operations, func(o Operation) bool { return o.Name == name })]

	return toolSpec{o.About, func(*Toolbox) *jsonschema.Schema { return o.Params.CloneSchemas() }}
}

type toolSpec struct {
	about  string
	params func(*Toolbox) *jsonschema.Schema
}

type fields = map[string]*jsonschema.Schema

var toolSpecs = map[string]toolSpec{
	vocab.ToolRead: {"Read rows of a table. filters must all hold; of or_filters at least one.",
		func(b *Toolbox) *jsonschema.Schema {
			return object(fields{
				"table": b.table(), "filters": filters(), "or_filters": filters(), "columns": list("Empty for all of the column set.", text("")),
				"detail":   enum("Column set: summary (default), text (long texts too), rows (child rows too), full.", "summary", "text", "rows", "full"),
				"limit":    integer("At most this many rows; 0 for all."),
				"order_by": text("Columns as in SQL, or empty."), "order_dir": enum("", "asc", "desc"),
			})
		}},
	vocab.ToolCreate: {"Save new rows, each with its children; or from_ref, which saves a draft exactly as it is. set, clear and children change that draft first, as in generate, and are empty otherwise.",
		func(b *Toolbox) *jsonschema.Schema {
			change := row(fields{"table": b.writable(vocab.ToolCreate), "from_ref": text("A draft: gen_...; empty for new rows."), "clear": list("Columns of the draft to empty.", text(""))})
			change.Properties["rows"] = list("New rows.", row(fields{}))

			return change
		}},
	vocab.ToolUpdate: {"Change the rows that match all filters.",
		func(b *Toolbox) *jsonschema.Schema {
			return object(fields{"table": b.writable(vocab.ToolUpdate), "filters": filters(), "set": set(), "clear": list("Columns to empty.", text(""))})
		}},
	vocab.ToolDelete: {"Delete the rows that match all filters.",
		func(b *Toolbox) *jsonschema.Schema {
			return object(fields{"table": b.writable(vocab.ToolDelete), "filters": filters()})
		}},
	vocab.ToolAnalyze: {"Count, sum, average, minimum, maximum, also per group. Returns numbers, no rows with refs.",
		func(b *Toolbox) *jsonschema.Schema {
			return object(fields{
				"table": b.table(), "filters": filters(), "group_by": list("Columns; of a date or time also its hour, day, weekday, week, month or year: due_on:month.", text("")), "limit": integer("0 for all."),
				"order_by": text("Aliases or group columns, or empty."), "order_dir": enum("", "asc", "desc"),
				"aggregates": list("", object(fields{
					"fn": enum("", vocab.Aggregates...), "column": text("Or price * coalesce(n, 1). Empty for count."), "as": text("Its name, or empty."),
				})),
			})
		}},
	vocab.ToolGenerate: {"Draft content that is not saved. creates: one entry per new draft. updates: only what changes of a draft. Its children: one with a position (from 1) is changed, or removed if its set is empty; the position after the last adds one; those without positions replace all.",
		func(b *Toolbox) *jsonschema.Schema {
			return object(fields{
				"creates": list("", row(fields{"type": enum("", b.EntityTypes...)})),
				"updates": list("", row(fields{"ref": text("A draft: gen_..."), "clear": list("Columns to empty.", text(""))})),
			})
		}},
	vocab.ToolCalculate: {"Exact arithmetic: each expression is evaluated, e.g. \"2.5 * 4\".",
		func(*Toolbox) *jsonschema.Schema {
			return object(fields{"expressions": list("", text(""))})
		}},
	vocab.ToolRecall: {"Search earlier turns of this conversation and the user's rows by meaning and words.",
		func(*Toolbox) *jsonschema.Schema {
			return object(fields{"query": text(""), "limit": integer("At most this many, 20 at most; 0 for a few.")})
		}},
	vocab.ToolStepComplete: {"End the step. summary: what came of it, one line. conclusions: what an analysis found, or a write left out. note: a hint for the next step.",
		func(*Toolbox) *jsonschema.Schema {
			return object(fields{"summary": text(""), "conclusions": text("Empty for none."), "note": text("Empty for none.")})
		}},
	vocab.ToolAskUser: {"Ask the user, in their language, what only they can decide; ends the turn.",
		func(*Toolbox) *jsonschema.Schema {
			return object(fields{
				"question": text(""), "options": list("Answers to choose from, a few words each; empty for an open question.", text("")),
				"would_write": {Type: "boolean", Description: "True when a yes asks for something to be saved, changed or deleted."},
			})
		}},
	vocab.ToolBlocked: {"The step cannot be done. With ask_user, details ask the user, in their language.",
		func(*Toolbox) *jsonschema.Schema {
			return object(fields{"code": enum("", blockedCodes...), "details": text(""), "next": enum("", blockedNexts...)})
		}},
	vocab.ToolRequestSchema: {"See the columns of another table.",
		func(*Toolbox) *jsonschema.Schema { return object(fields{"table": text("")}) }},
}

var (
	blockedCodes = []string{"insufficient_info", "plan_invalid", "tool_failure"}
	blockedNexts = []string{"ask_user", "replan", "fail"}
)

func (b *Toolbox) table() *jsonschema.Schema { return enum("", b.Tables...) }

func (b *Toolbox) writable(tool string) *jsonschema.Schema { return enum("", b.Writable[tool]...) }

func filters() *jsonschema.Schema {
	return list("", object(fields{
		"field": text("A column, id, or _semantic."),
		"op":    enum("", "=", "!=", ">", ">=", "<", "<=", "in", "not_in", "ilike", "is_null", "is_not_null", "contains", "overlaps", "similar", "exists", "not_exists"),
		"value": value("null for is_null; a list for in and exists."),
	}))
}

// row is the schema of a row's content together with the given fields.
func row(beside fields) *jsonschema.Schema {
	beside["set"] = set()
	beside["children"] = list("Child rows, one entry each.", object(fields{
		"table": text("A child table."), "set": set(), "position": integer("Which one of a draft, from 1; 0 in new content."),
	}))

	return object(beside)
}

func set() *jsonschema.Schema {
	return list("", object(fields{"column": text(""), "value": value("A ref or name where the column points to a row; JSON as a text.")}))
}

// value is any column value. It excludes objects: free-form content cannot be constrained.
func value(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: about, AnyOf: []*jsonschema.Schema{
		text(""), {Type: "number"}, {Type: "boolean"}, {Type: "null"}, list("", text("")),
	}}
}

// object requires every property, as strict modes do. Anything omissible is optional, a list, or a text that may be
// empty.
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
