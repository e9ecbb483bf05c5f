package offline

import (
	"cmp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// actor makes one decision of one step.
type actor struct {
	*scene
	in    *nodes.ActInput
	op    *op
	kind  *domain.Entity
	tool  string // with which it writes rows, if it does
	calls []llm.ToolCall
	words string // introduce what is drafted
}

type args = map[string]any

func (s *scene) act(in *nodes.ActInput) (words string, calls []llm.ToolCall) {
	a := &actor{scene: s, in: in, op: opOf(in.Step.Description)}
	if mine := a.results(); len(mine) > 0 && mine[len(mine)-1].Error != "" {
		a.blocked("tool_failure", mine[len(mine)-1].Error)
		return "", a.calls
	}
	switch {
	case a.op == nil && len(in.Step.Refs) > 0: // code added the step to the plan
		for _, group := range byKind(s.these(in.Step.Refs, s.lex.domain.Entities...)) {
			a.call(vocab.ToolRead, args{"table": s.lex.domain.ByType(group[0].Type).Table, "filters": []filter{refFilter(refsOf(group))}, "detail": "full"})
		}
		a.complete("Read what the next step needs.")
	case a.op == nil: // quick: the step was not planned; the message says what to read
		c := s.read()
		a.op, a.kind = c.listing(), c.kind
		a.carryOut()
	default:
		a.kind = s.lex.domain.ByTable(a.op.table)
		a.carryOut()
	}
	if !in.Introduces {
		a.words = ""
	}

	return a.words, a.calls
}

// results are what the calls of this step returned.
func (a *actor) results() []nodes.Result {
	return filtered(a.Results, func(r nodes.Result) bool { return r.Current && r.Step == a.in.Step.Number })
}

func (a *actor) call(tool string, arguments args) {
	a.calls = append(a.calls, llm.ToolCall{Name: tool, Args: []byte(flat(arguments))})
}

func (a *actor) complete(summary string) { a.call(vocab.ToolStepComplete, args{"summary": summary}) }

func (a *actor) conclude(summary, conclusions string) {
	a.call(vocab.ToolStepComplete, args{"summary": summary, "conclusions": conclusions})
}

func (a *actor) blocked(code, details string) {
	a.call(vocab.ToolBlocked, args{"code": code, "details": details, "next": "fail"})
}

// doings say how an op is carried out, and with which tool it writes rows, if it does.
var doings = map[string]struct {
	tool  string
	doing func(*actor)
}{
	opCount:  {"", (*actor).count},
	opCreate: {vocab.ToolCreate, (*actor).create},
	opDelete: {vocab.ToolDelete, (*actor).change},
	opDraft:  {"", (*actor).draft},
	opMatch:  {"", (*actor).match},
	opNote:   {vocab.ToolUpdate, (*actor).note},
	opPlan:   {"", (*actor).planDays},
	opRead:   {"", (*actor).read},
	opRevise: {"", (*actor).revise},
	opSave:   {vocab.ToolCreate, (*actor).save},
	opUpdate: {vocab.ToolUpdate, (*actor).change},
}

func (a *actor) carryOut() {
	how := doings[a.op.act]
	if a.tool = how.tool; a.op.act == opNote && a.kind != nil && a.profile() == nil {
		a.tool = vocab.ToolCreate
	}
	switch {
	case a.kind == nil:
		a.blocked("plan_invalid", "There is nothing like that to look up.")
	case a.tool != "" && !slices.Contains(a.in.Writable[a.tool], a.kind.Table):
		a.blocked("plan_invalid", "That may not be done with the "+a.kind.Plural+" here; nothing was changed.")
	default:
		how.doing(a)
	}
}

func (a *actor) read() {
	a.call(vocab.ToolRead, a.op.read(a.kind))
	a.complete("Looked up the " + a.kind.Plural + ".")
}

func (a *actor) count() {
	done := a.results()
	if len(done) == 0 {
		arguments := args{"table": a.kind.Table, "aggregates": []args{{"fn": "count", "as": "count"}}}
		if len(a.op.Where) > 0 {
			arguments["filters"] = a.op.Where
		}
		a.call(vocab.ToolAnalyze, arguments)

		return
	}
	where := ""
	for _, f := range a.op.Where {
		where += " (" + human(f.Field) + cmp.Or(boundWords[f.Op], ":") + " " + asText(f.Value) + ")"
	}
	text := "There is 1 " + a.kind.Name
	if n := asText(done[len(done)-1].Rows[0]["count"]); n != "1" {
		text = "There are " + n + " " + a.kind.Plural
	}
	a.conclude("Counted the "+a.kind.Plural+".", text+where+".")
}

// match says which rows contain a thing among their parts and, if the turn has looked, how much of it is in stock.
func (a *actor) match() {
	isThing := func(e *domain.Entity, row map[string]any) bool {
		name := stems(asText(row[labelColumn(e).Name]))
		return slices.ContainsFunc(a.lex.covers(a.op.About), func(w string) bool { return indexWords(name, stems(w)) >= 0 })
	}
	text := ""
	for _, e := range a.rows(a.kind) {
		for _, child := range a.kind.Children {
			for _, row := range filtered(e.Children[child.Entity.Table], func(row map[string]any) bool { return isThing(child.Entity, row) }) {
				text += "\n- " + e.Label + ": " + a.line(child.Entity, row)
			}
		}
	}
	if text == "" {
		text = "None of your " + a.kind.Plural + " has " + a.op.About + " in it."
	} else {
		text = capitalize(a.kind.Plural) + " with " + a.op.About + ":" + text
	}
	for _, r := range a.Results {
		if stock := a.lex.stock; r.Current && stock != nil && r.Type == stock.Type && r.Tool == vocab.ToolRead {
			held := filtered(r.Rows, func(row map[string]any) bool { return isThing(stock, row) })
			have := mapped(held, func(row map[string]any) string { return a.line(stock, row) })
			if len(have) == 0 {
				have = []string{"no " + a.op.About}
			}
			text += "\nAt home: " + list(have, "and") + "."
		}
	}
	a.conclude("Looked for "+a.op.About+" in the "+a.kind.Plural+".", text)
}

// pick finds the one stored thing with a name. If there is none or more than one, it ends the step itself.
func (a *actor) pick(e *domain.Entity) *nodes.Entity {
	found := filtered(a.find(a.op.Name, e).entities, isStored)
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		a.blocked("insufficient_info", "I found no "+e.Name+" called "+a.op.Name+".")
	default:
		a.call(vocab.ToolAskUser, args{"question": whichOne(found)})
	}

	return nil
}

// create adds rows; a row that references a thing by name takes its ref from what was read, and so do rows that name what
// a thing consists of.
func (a *actor) create() {
	rows := a.op.Rows
	planning := a.kind == a.lex.schedule
	if a.op.Name != "" {
		source := first(a.lex.wholes)
		if planning {
			source = a.lex.planned
		}
		target := a.pick(source)
		if target == nil {
			return
		}
		if a.op.Refs = []string{target.Ref}; planning {
			rows[0][a.lex.link.Name] = target.Ref
		}
	}
	if len(rows) == 0 {
		rows = a.named(a.these(a.op.Refs, a.lex.domain.Entities...))
	}
	var data any = rows
	if len(rows) == 1 {
		data = rows[0]
	}
	a.call(vocab.ToolCreate, args{"table": a.kind.Table, "data": data})
	if planning {
		a.complete("Planned " + a.lex.slotText(rows[0]) + ": " + a.plain(asText(rows[0][a.lex.link.Name])) + ".")
		return
	}
	names := mapped(rows, func(row map[string]any) string { return a.line(a.kind, row) })
	a.complete("Added " + list(names, "and") + " to the " + a.kind.Plural + ".")
}

// part is one of the rows that a thing consists of.
type part struct {
	kind *domain.Entity
	row  map[string]any
}

func parts(lex *lexicon, e *nodes.Entity) []part {
	var out []part
	for _, child := range lex.domain.ByType(e.Type).Children {
		rows := e.Children[child.Entity.Table]
		if e.Pending {
			rows = objects(e.Draft[child.Entity.Table])
		}
		out = append(out, mapped(rows, func(row map[string]any) part { return part{child.Entity, row} })...)
	}

	return out
}

// named returns rows that are called and counted like the parts of things, or like the things, if they have none.
func (a *actor) named(things []*nodes.Entity) []map[string]any {
	var rows []map[string]any
	for _, e := range things {
		list := parts(a.lex, e)
		if len(list) == 0 {
			rows = append(rows, a.defaults(a.kind, map[string]any{labelColumn(a.kind).Name: e.Label}))
		}
		for _, p := range list {
			row := map[string]any{}
			for _, same := range []func(*domain.Entity) *domain.Column{labelColumn, quantityColumn, unitColumn} {
				if v, to := valueOf(p.row, same(p.kind)), same(a.kind); v != nil && to != nil {
					row[to.Name] = v
				}
			}
			rows = append(rows, a.defaults(a.kind, row))
		}
	}

	return rows
}

// change updates or deletes rows: by ref, by filter, or by a name that a read has found.
func (a *actor) change() {
	what := "the " + a.kind.Plural
	if a.op.Name != "" {
		target := a.pick(a.kind)
		if target == nil {
			return
		}
		a.op.Refs, a.op.Name = []string{target.Ref}, ""
	}
	if len(a.op.Refs) > 0 {
		what = list(labelsOf(a.these(a.op.Refs, a.lex.domain.Entities...)), "and")
	}
	arguments := args{"table": a.kind.Table, "filters": a.op.filters(a.kind)}
	summary := "Deleted " + what + "."
	if a.tool == vocab.ToolUpdate {
		arguments["data"] = a.op.Rows[0]
		summary = "Updated " + what + ": " + a.changeText(a.op.Rows[0]) + "."
	}
	a.call(a.tool, arguments)
	a.complete(summary)
}

// changeText words new values.
func (a *actor) changeText(row map[string]any) string {
	quantity, unit := quantityColumn(a.kind), unitColumn(a.kind)
	var out []string
	for _, c := range a.kind.Columns {
		switch v := row[c.Name]; {
		case v == nil, c == unit && valueOf(row, quantity) != nil:
		case c == quantity:
			out = append(out, strings.TrimSpace("now "+asText(v)+" "+asText(valueOf(row, unit))))
		case v == true:
			out = append(out, human(c.Name))
		case v == false:
			out = append(out, "not "+human(c.Name))
		default:
			out = append(out, human(c.Name)+": "+dayText(asText(v)))
		}
	}

	return a.plain(strings.Join(out, ", "))
}

// valueOf is the value of a column that the row's type may not have.
func valueOf(row map[string]any, c *domain.Column) any {
	if c == nil {
		return nil
	}

	return row[c.Name]
}

// profile is the only row of a singleton type, or nil.
func (a *actor) profile() *nodes.Entity {
	return first(a.rows(a.kind))
}

// note adds a fact about the user to a singleton row, which may not exist yet.
func (a *actor) note() {
	col, row := a.kind.Column(a.op.By), a.profile()
	data := args{col.Name: typed(col, a.op.About, a.Today)}
	arguments := args{"table": a.kind.Table, "data": data}
	var known []string
	if row != nil {
		known, arguments["filters"] = texts(row.Columns[col.Name]), []filter{refFilter([]string{row.Ref})}
	}
	if col.Kind == domain.KindArray {
		for _, w := range splitList(a.op.About) {
			if w = trimName(w); !slices.Contains(known, w) {
				known = append(known, w)
			}
		}
		data[col.Name] = known
	}
	a.call(a.tool, arguments)
	a.complete("Noted " + a.op.About + " under " + human(col.Name) + ".")
}

// save saves drafts unchanged. A draft that references another unsaved one is not saved without asking.
func (a *actor) save() {
	drafts := a.these(a.op.Refs, a.lex.domain.Entities...)
	for _, e := range drafts {
		for _, v := range e.Draft {
			if linked := a.refs[asText(v)]; linked != nil && linked.Pending {
				a.calls = nil
				a.call(vocab.ToolAskUser, args{"question": linked.Label + " is not saved yet, and this refers to it. Shall I save it too?"})

				return
			}
		}
		a.call(vocab.ToolCreate, args{"table": a.kind.Table, "from_ref": e.Ref})
	}
	a.complete("Saved " + list(labelsOf(drafts), "and") + ".")
}
