package prompt

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// schema describes a step's tables: its subdomain's, their children, and those it asked for.
func (t *page) schema(s *section) {
	left := t.config.Budget.Schema
	tables := t.ofSteps(t.schemaTables)
	if only(t.steps, db.StepTypeAnalyze) { // who writes nothing needs no rules
		tables = t.ofSteps(t.requestedTables)
	}
	shown := 0
	for _, table := range tables {
		def := t.Domain.ByTable(table)
		if def == nil {
			continue
		}
		text := clean.Block(def.Describe())
		if !left.take(text) {
			break
		}
		if shown > 0 {
			s.line()
		}
		s.item("schema", "", 0, text)
		shown++
	}
	t.otherTables(s, tables)
	s.shown(shown, len(tables), "; request_schema shows another")
}

// otherTables names the columns of tables the step may only read, so that filtering by one does not require requesting the
// whole schema.
func (t *page) otherTables(s *section, described []string) {
	first := true
	for _, table := range t.ofSteps(t.readableTables) {
		def := t.Domain.ByTable(table)
		if def == nil || slices.Contains(described, table) {
			continue
		}
		if first && len(described) > 0 {
			s.line()
			s.head("Also readable:")
		}
		first = false
		s.line(measuredLine(def))
	}
}

var writeTools = map[domain.Verb]string{
	domain.Create: vocab.ToolCreate, domain.Update: vocab.ToolUpdate, domain.Delete: vocab.ToolDelete,
}

// writableByTool lists, by tool, which of these tables may be written.
func (t *page) writableByTool(tables []string) map[string][]string {
	by := map[string][]string{}
	for _, name := range tables {
		def := t.Domain.ByTable(name)
		if def == nil {
			continue
		}
		for _, verb := range def.Writes {
			tool := writeTools[verb]
			by[tool] = append(by[tool], name)
		}
	}

	return by
}

// ownTables lists the subdomain's tables with their children.
func (t *page) ownTables(sub *domain.Subdomain) []string {
	if sub == nil {
		return []string{}
	}
	var tables []string
	for _, name := range sub.Tables {
		tables = append(tables, name)
		if def := t.Domain.ByTable(name); def != nil {
			for _, child := range def.Children {
				tables = append(tables, child.Entity.Table)
			}
		}
	}

	return unique(tables)
}

// unique are the names of several lists, each once, in order.
func unique(lists ...[]string) []string {
	names := []string{}
	for _, name := range slices.Concat(lists...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	return names
}

// ofSteps lists the tables of all steps that are worked on.
func (t *page) ofSteps(tables func(step *db.TurnSteps) []string) []string {
	var all []string
	for _, step := range t.steps {
		all = append(all, tables(step)...)
	}

	return unique(all)
}

// schemaTables lists the subdomain's tables with their children, then those requested.
func (t *page) schemaTables(step *db.TurnSteps) []string {
	return unique(t.ownTables(t.Domain.Subdomain(step.Subdomain)), t.requestedTables(step))
}

// requestedTables lists the tables that a step asked for.
func (t *page) requestedTables(step *db.TurnSteps) []string {
	var tables []string
	for _, name := range step.SchemaTables {
		if def := t.Domain.ByTable(name); def != nil {
			tables = append(tables, def.Table)
		}
	}

	return unique(tables)
}

// readableTables lists what a step's tools may name: the tables of its schema and, except in a generate step, what else the
// subdomain may read.
func (t *page) readableTables(step *db.TurnSteps) []string {
	tables := t.schemaTables(step)
	if step.StepType == db.StepTypeRead || step.StepType == db.StepTypeAnalyze { // its calls may be of any tables: they are read at once
		for _, table := range gjson.GetBytes(step.Calls, "#.args.table").Array() {
			tables = unique(tables, []string{table.Str})
		}
	}
	if sub := t.Domain.Subdomain(step.Subdomain); sub != nil && step.StepType != db.StepTypeGenerate {
		return unique(tables, sub.Readable)
	}

	return tables
}

// draftable lists the entity types a generate step may create: its subdomain's first, then those they may reference.
// Children come with their parent.
func (t *page) draftable(step *db.TurnSteps) []string {
	sub := t.Domain.Subdomain(step.Subdomain)
	if sub == nil {
		return nil
	}
	own := t.ownTables(sub)
	var types []string
	for _, table := range append(slices.Clone(sub.Tables), sub.Readable...) {
		def := t.Domain.ByTable(table)
		if def != nil && def.May(domain.Create) && !def.Part && (slices.Contains(own, table) || t.mayReference(own, def)) {
			types = append(types, def.Type)
		}
	}

	return unique(types)
}

// mayReference reports whether rows of some of the tables may point to rows of a type.
func (t *page) mayReference(tables []string, def *domain.Entity) bool {
	return slices.ContainsFunc(tables, func(table string) bool {
		from := t.Domain.ByTable(table)

		return from != nil && slices.ContainsFunc(from.Columns, func(c *domain.Column) bool { return c.Target() == def })
	})
}

// plannerPersona says who the assistant is and what it can plan with.
func (t *page) plannerPersona() string {
	var b strings.Builder
	b.WriteString(t.Domain.Persona)
	b.WriteString("\n\n## Subdomains\n")
	for _, sub := range t.Domain.Subdomains {
		tables := strings.Join(sub.Tables, ", ")
		if len(sub.Readable) > 0 {
			tables += "; reads " + strings.Join(sub.Readable, ", ")
		}
		b.WriteString("\n**" + sub.Name + "** (" + tables + "): " + sub.Description + "\n")
		if sub.Guidance != "" {
			b.WriteString(sub.Guidance + "\n")
		}
		if sub.Examples != "" {
			b.WriteString("Plans, by example:\n" + sub.Examples + "\n")
		}
	}
	b.WriteString("\n## Columns (* needed in a new row)\n") // that it may filter by and fill when it writes out a step's calls
	for _, def := range t.Domain.Entities {
		if t.readable(def) || !def.Reference && !def.Part {
			b.WriteString("- " + def.Table + def.WritesNote() + ": " + columnNames(def, needed(def)...) + "\n")
		}
	}
	if len(t.Domain.Operations) > 0 {
		b.WriteString("\n## Operations\nA write step of the subdomain may also do these; never imitate one by writing rows. As a call, with the operation as `tool` and its arguments as columns of `set`, it takes refs of loaded rows, and says nothing of what will come of it.\n")
	}
	for _, o := range t.Domain.Operations {
		b.WriteString("- " + o.Name + " (" + o.On.Type + "; arguments: " + columnNames(o.Args) + "): " + o.Description + "\n")
	}

	return b.String()
}

// readable reports whether some subdomain may read a table.
func (t *page) readable(def *domain.Entity) bool {
	return slices.ContainsFunc(t.Domain.Subdomains, func(s *domain.Subdomain) bool {
		return slices.Contains(s.Tables, def.Table) || slices.Contains(s.Readable, def.Table)
	})
}

func columnsLine(def *domain.Entity) string { return "- " + def.Table + ": " + columnNames(def) }

// needed are the columns without which a model can create no row.
func needed(def *domain.Entity) []*domain.Column {
	if !def.May(domain.Create) {
		return nil
	}

	return slices.DeleteFunc(slices.Clone(def.Columns), func(c *domain.Column) bool { return !c.Writable || !c.Required() })
}

// columnNames lists a table's columns, with the allowed values of enumerations and the form of what is no plain text.
func columnNames(def *domain.Entity, starred ...*domain.Column) string {
	var names []string
	for _, c := range def.Columns {
		name := c.Name
		if slices.Contains(starred, c) {
			name += "*"
		}
		switch {
		case c.Hidden || c.Repeats || c == def.Key:
		case len(c.Enum) > 0:
			names = append(names, name+" ("+strings.Join(c.Enum, "|")+codeWords(c)+")")
		case c.FK != nil && c.FK.Entity != nil:
			names = append(names, name+" ("+c.FK.Entity.Type+")")
		case c.Form != "":
			names = append(names, name+" ("+c.Form+codeWords(c)+")")
		case isScale(c):
			names = append(names, name+" ("+strings.TrimRight(c.Comment, ".")+")")
		default:
			names = append(names, name)
		}
	}

	return strings.Join(names, ", ")
}

// measuredLine is columnsLine with what the numbers measure: whoever adds prices has to know their currency.
func measuredLine(def *domain.Entity) string {
	line := columnsLine(def)
	for _, c := range def.Columns {
		if isMeasured(c) && !isScale(c) && c != def.Key {
			line += "; " + c.Name + ": " + strings.TrimRight(c.Comment, ".")
		}
	}

	return clean.Block(line)
}

// isMeasured reports whether the owner says what a column's numbers measure.
func isMeasured(c *domain.Column) bool {
	return c.Kind == domain.KindNumber && c.Comment != "" && !c.Hidden && c.FK == nil
}

// listedMeanings finds a comment that says what each number means: "0 = open, 1 = done".
var listedMeanings = regexp.MustCompile(`(?s)(^|[^\pL\d])\d+\s*[=:–-]?\s*\pL.*[,;/]\s*\d+\s*[=:–-]?\s*\pL`)

// isScale reports whether the owner says what the numbers of a column with a greatest one, or single ones, mean: of priorities from 1 to
// 5, either end may be the urgent one.
func isScale(c *domain.Column) bool {
	return isMeasured(c) && (strings.Contains(c.Check, "<") || listedMeanings.MatchString(c.Comment))
}

// longestCode is how many letters a value has at most that says nothing by itself: who asks for what is open looks for an O.
const longestCode = 3

// codeWords is what the owner says of a column's codes, or of its bits, "" for words.
func codeWords(c *domain.Column) string {
	long := func(code string) bool { return utf8.RuneCountInString(code) > longestCode }
	if bits := strings.HasPrefix(c.Form, "bits"); c.Comment == "" || slices.ContainsFunc(c.Enum, long) || len(c.Enum) == 0 && !bits {
		return ""
	}

	return ": " + strings.TrimRight(c.Comment, ".")
}

// operations lists what a write step may do to rows of its own tables besides writing them.
func (t *page) operations(step *db.TurnSteps) []nodes.Operation {
	var list []nodes.Operation
	if step.StepType != db.StepTypeWrite {
		return nil
	}
	own := t.ownTables(t.Domain.Subdomain(step.Subdomain))
	for _, o := range t.Domain.Operations {
		if slices.Contains(own, o.On.Table) {
			list = append(list, operation(o))
		}
	}

	return list
}

func operation(o *domain.Operation) nodes.Operation {
	params := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, c := range o.Args.Columns {
		params.Properties[c.Name] = parameter(c)
		if !c.HasDefault {
			params.Required = append(params.Required, c.Name)
		}
	}

	return nodes.Operation{Name: o.Name, About: o.Description, Params: params}
}

// parameter is a function's parameter as shown to a model.
func parameter(c *domain.Column) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	switch kind := c.Kind; {
	case kind == domain.KindArray:
		item := *c
		item.Kind = c.Elem

		return &jsonschema.Schema{Type: "array", Items: parameter(&item)}
	case c.FK != nil:
		s.Description = "A ref: " + c.FK.Entity.Type + "_1."
	case kind == domain.KindNumber:
		s.Type = "number"
	case kind == domain.KindBool:
		s.Type = "boolean"
	case kind == domain.KindJSON:
		return &jsonschema.Schema{}
	case kind == domain.KindDate:
		s.Description = "A date: 2026-01-31."
	case c.Form != "":
		s.Description = "Written as " + c.Form + "."
	}
	for _, value := range c.Enum {
		s.Enum = append(s.Enum, value)
	}

	return s
}

// stepGuidance is what a step of this type needs to know about its subdomain. It follows what all steps of a turn
// share.
func (t *page) stepGuidance(s *section) {
	var guidance, examples []string
	for _, step := range t.steps {
		if sub := t.Domain.Subdomain(step.Subdomain); sub != nil {
			guidance = append(guidance, sub.Guidance)
		}
		examples = append(examples, t.callExamples(step))
	}
	parts := slices.DeleteFunc(unique(guidance, examples), func(part string) bool { return part == "" })
	s.line(strings.Join(parts, "\n\n"))
}

// toolbox lists what the tools of all steps may name: one list for all, so that prompts share a prefix.
func (t *page) toolbox() nodes.Toolbox {
	var box nodes.Toolbox
	for _, def := range t.Domain.Entities {
		box.Tables = append(box.Tables, def.Table)
		if def.May(domain.Create) && !def.Part {
			box.EntityTypes = append(box.EntityTypes, def.Type)
		}
	}
	box.Writable = t.writableByTool(box.Tables)
	for _, o := range t.Domain.Operations {
		box.Operations = append(box.Operations, operation(o))
	}

	return box
}
