package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/llm"
	"alfred/nodes"
)

// actor makes one decision of one step.
type actor struct {
	*scene
	in    *nodes.ActInput
	op    *op
	kind  *domain.Entity
	calls []llm.ToolCall
}

func (s *scene) act(in *nodes.ActInput) []llm.ToolCall {
	a := &actor{scene: s, in: in, op: opOf(in.Step.Description)}
	if failed := a.failure(); failed != "" {
		a.blocked("tool_failure", failed)

		return a.calls
	}
	switch {
	case a.op == nil && len(in.Step.Refs) > 0:
		a.readRefs()
	case a.op == nil:
		a.quick()
	default:
		a.kind = s.lex.byTable(a.op.table)
		a.carryOut()
	}

	return a.calls
}

// failure is what the last call of this step failed with, "" for nothing.
func (a *actor) failure() string {
	failed := ""
	for _, r := range a.Results {
		if r.Current && r.Step == a.in.Step.Number {
			failed = r.Error
		}
	}

	return failed
}

func (a *actor) carryOut() {
	switch {
	case a.kind == nil && a.op.act != opRecall:
		a.blocked("plan_invalid", "There is no table "+a.op.table+".")

		return
	case writeTool[a.op.act] != "" && !slices.Contains(a.in.Writable[a.writeTool()], a.kind.Table):
		a.blocked("plan_invalid", "That may not be done with the "+plural(a.kind)+" here; nothing was changed.")

		return
	}
	switch a.op.act {
	case opRead:
		a.read()
	case opRecall:
		a.call(nodes.ToolRecall, map[string]any{"query": a.op.About})
		a.complete("Looked for "+a.op.About+".", "")
	case opCount:
		a.count()
	case opMatch:
		a.match()
	case opCompare:
		a.compare()
	case opDraft:
		a.draft()
	case opRevise:
		a.revise()
	case opPlan:
		a.planDays()
	case opCreate:
		a.create()
	case opSave:
		a.save()
	case opNote:
		a.note()
	case opUpdate, opDelete:
		a.change()
	}
}

// writeTool is what an op writes with.
var writeTool = map[string]string{
	opCreate: nodes.ToolCreate, opSave: nodes.ToolCreate, opNote: nodes.ToolUpdate, opUpdate: nodes.ToolUpdate, opDelete: nodes.ToolDelete,
}

// writeTool is the tool that the op calls: a note without a row yet makes one.
func (a *actor) writeTool() string {
	if a.op.act == opNote && a.single() == nil {
		return nodes.ToolCreate
	}

	return writeTool[a.op.act]
}

func (a *actor) call(tool string, args map[string]any) {
	data, err := json.Marshal(args)
	if err != nil {
		data = []byte("{}") // only what came from JSON is in there
	}
	a.calls = append(a.calls, llm.ToolCall{Name: tool, Args: data})
}

func (a *actor) complete(summary, conclusions string) {
	args := map[string]any{"summary": summary}
	if conclusions != "" {
		args["conclusions"] = conclusions
	}
	a.call(nodes.ToolStepComplete, args)
}

func (a *actor) blocked(code, details string) {
	a.calls = nil
	a.call(nodes.ToolBlocked, map[string]any{"code": code, "details": details, "next": "fail"})
}

func (a *actor) askUser(question string) {
	a.calls = nil
	a.call(nodes.ToolAskUser, map[string]any{"question": question})
}

// quick reads what the message asks for: such a step is not planned.
func (a *actor) quick() {
	c := a.scene.read()
	a.kind, a.op = c.kind, &op{act: opRead}
	if c.kind != nil && c.verb == verbList {
		a.op = a.listOp(c)
	}
	if a.kind == nil {
		for _, table := range a.in.Tables[:min(1, len(a.in.Tables))] {
			a.kind = a.lex.byTable(table)
		}
	}
	if a.kind == nil {
		a.complete("There was nothing to look up.", "")

		return
	}
	a.read()
}

// readRefs reads the refs of a step that code has put into the plan.
func (a *actor) readRefs() {
	for _, group := range a.byKind(a.all(a.in.Step.Refs, a.lex.domain.Entities)) {
		if e := a.lex.byType(group[0].Type); e != nil && slices.Contains(a.in.Tables, e.Table) {
			a.call(nodes.ToolRead, map[string]any{"table": e.Table, "filters": refFilter(refsOf(group)), "detail": "full"})
		}
	}
	a.complete("Read what the next step needs.", "")
}

func (a *actor) read() {
	filters := slices.Clone(a.op.Where)
	if len(a.op.Refs) > 0 {
		filters = append(filters, refFilter(a.op.Refs)...)
	}
	if a.op.Name != "" {
		filters = append(filters, nameFilter(a.kind, a.op.Name)...)
	}
	if filters == nil {
		filters = []filter{}
	}
	args := map[string]any{"table": a.kind.Table, "filters": filters}
	if a.op.Detail != "" {
		args["detail"] = a.op.Detail
	}
	if a.op.By != "" {
		args["order_by"] = a.op.By
	}
	a.call(nodes.ToolRead, args)
	a.complete("Looked up the "+plural(a.kind)+".", "")
}

func (a *actor) count() {
	for _, r := range slices.Backward(a.Results) {
		if r.Current && r.Step == a.in.Step.Number && r.Tool == nodes.ToolAnalyze {
			a.complete("Counted the "+plural(a.kind)+".", a.counted(r.Rows))

			return
		}
	}
	args := map[string]any{"table": a.kind.Table, "aggregates": []map[string]any{{"fn": "count", "as": "count"}}}
	if len(a.op.Where) > 0 {
		args["filters"] = a.op.Where
	}
	if a.op.By != "" {
		args["group_by"] = []string{a.op.By}
	}
	a.call(nodes.ToolAnalyze, args)
}

func (a *actor) counted(rows []map[string]any) string {
	if a.op.By == "" && len(rows) > 0 {
		n := asText(rows[0]["count"])
		where := ""
		for _, f := range a.op.Where {
			where += " (" + human(f.Field) + ": " + asText(f.Value) + ")"
		}
		if n == "1" {
			return "There is 1 " + a.kind.Name + where + "."
		}

		return "There are " + n + " " + plural(a.kind) + where + "."
	}
	var parts []string
	for _, row := range rows {
		parts = append(parts, orElse(asText(row[a.op.By]), "none")+": "+asText(row["count"]))
	}

	return capitalize(plural(a.kind)) + " by " + human(a.op.By) + ": " + strings.Join(parts, ", ") + "."
}

// match says which rows have a thing among their parts.
func (a *actor) match() {
	var lines []string
	for i := range a.Entities {
		e := &a.Entities[i]
		if e.Type != a.kind.Type || e.Deleted || e.Pending {
			continue
		}
		for _, child := range a.kind.Children {
			for _, row := range e.Children[child.Entity.Table] {
				if a.isThing(child.Entity, row, a.op.About) {
					lines = append(lines, "- "+e.Label+": "+a.line(child.Entity, row))
				}
			}
		}
	}
	have := ""
	if stock := a.lex.stock(); stock != nil {
		have = a.held(stock, a.op.About)
	}
	text := "None of your " + plural(a.kind) + " has " + a.op.About + " in it."
	if len(lines) > 0 {
		text = capitalize(plural(a.kind)) + " with " + a.op.About + ":\n" + strings.Join(lines, "\n")
	}
	a.complete("Looked for "+a.op.About+" in the "+plural(a.kind)+".", strings.TrimSpace(text+"\n"+have))
}

// isThing compares a row's name with a thing: the name has its word, or one of its
// family.
func (a *actor) isThing(e *domain.Entity, row map[string]any, thing string) bool {
	label := labelColumn(e)
	if label == nil {
		return false
	}
	name := stems(asText(row[label.Name]))

	return slices.ContainsFunc(a.lex.covers(thing), func(w string) bool { return containsWords(name, stems(w)) })
}

// held says what there is of a thing, by the rows that this turn read; "" when it
// read none.
func (a *actor) held(stock *domain.Entity, thing string) string {
	looked := false
	var have []string
	for _, r := range a.Results {
		if !r.Current || r.Type != stock.Type || r.Tool != nodes.ToolRead {
			continue
		}
		looked = true
		for _, row := range r.Rows {
			if a.isThing(stock, row, thing) {
				have = append(have, a.line(stock, row))
			}
		}
	}
	switch {
	case !looked:
		return ""
	case len(have) == 0:
		return "You have no " + thing + " at home."
	default:
		return "At home: " + joinList(have) + "."
	}
}

// compare says which parts of a thing are there and which are missing, by name:
// whether the amount is enough is for the person to see.
func (a *actor) compare() {
	stock := a.lex.stock()
	r := found{entities: a.all(a.op.Refs, nil)}
	if len(r.entities) == 0 {
		r = a.find(a.op.Name, a.kind)
	}
	if len(r.entities) == 0 || stock == nil {
		a.complete("I found no "+a.kind.Name+" called "+a.op.Name+".", "")

		return
	}
	e := r.entities[0]
	var buy, have []string
	for _, child := range a.kind.Children {
		for _, row := range a.parts(e, child.Entity.Table) {
			name := asText(row[labelColumn(child.Entity).Name])
			if text, ok := strings.CutPrefix(a.held(stock, name), "At home: "); ok {
				have = append(have, a.line(child.Entity, row)+" (at home: "+strings.TrimSuffix(text, ".")+")")
			} else {
				buy = append(buy, a.line(child.Entity, row))
			}
		}
	}
	text := "You have something of everything for " + e.Label + ":\n- " + strings.Join(have, "\n- ")
	if len(buy) > 0 {
		text = "To buy for " + e.Label + ":\n- " + strings.Join(buy, "\n- ")
		if len(have) > 0 {
			text += "\n\nThere already:\n- " + strings.Join(have, "\n- ")
		}
	}
	a.complete("Compared "+e.Label+" with the "+plural(stock)+".", text)
}

// parts are the child rows of an entity, stored or drafted.
func (s *scene) parts(e *nodes.Entity, table string) []map[string]any {
	if e.Pending {
		return objects(e.Draft[table])
	}

	return e.Children[table]
}
