package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/llm"
	"alfred/nodes"
)

// actor makes one decision of a step.
type actor struct {
	f     *facts
	tools []string
	op    *op
	table *domain.Entity
	calls []llm.ToolCall
}

func (m *model) act(f *facts, tools []llm.Tool) []llm.ToolCall {
	a := &actor{f: f}
	for _, t := range tools {
		a.tools = append(a.tools, t.Name)
	}
	if f.step == nil {
		a.complete("There was nothing to do.", "")
		return a.calls
	}
	a.op = a.readOp()
	if a.op == nil {
		a.blocked("plan_invalid", "The step does not say what to do in words a rule-based model knows.")
		return a.calls
	}
	a.table = f.lex.byTable(a.op.table)
	a.decide()
	return a.calls
}

// readOp takes the step's description for an op; else it plans the message, and
// then the description, as a request in plain words, and takes the step that
// fits this one.
func (a *actor) readOp() *op {
	if o, ok := parseOp(strings.TrimSpace(a.f.step.description)); ok {
		return o
	}
	for _, text := range []string{a.f.message, a.f.step.description} {
		if o := a.planOp(text); o != nil {
			return o
		}
	}
	if e := a.f.subdomainEntity(); e != nil && a.f.step.kind == "read" {
		return &op{act: opRead, table: e.Table}
	}
	return nil
}

func (a *actor) planOp(text string) *op {
	c := a.f.command(text)
	if c.verb == verbChat {
		return nil
	}
	p := &planned{f: a.f, out: &nodes.ThinkOutput{}}
	p.build(c)
	for _, s := range p.out.Steps {
		o, ok := parseOp(s.Description)
		if ok && s.Type == a.f.step.kind && (s.Subdomain == a.f.step.subdomain || len(a.f.lex.subdomains(a.f.step.subdomain)) == 0) {
			return o
		}
	}
	return nil
}

func (f *facts) subdomainEntity() *domain.Entity {
	for _, s := range f.lex.domain.Subdomains {
		if s.Name == f.step.subdomain && len(s.Tables) > 0 {
			return f.lex.byTable(s.Tables[0])
		}
	}
	return nil
}

func (a *actor) decide() {
	if failed := a.failure(); failed != "" {
		a.blocked("tool_failure", failed)
		return
	}
	switch a.op.act {
	case opCompare:
		a.compare()
	case opCount:
		a.count()
	case opCreate:
		a.create()
	case opDelete, opUpdate:
		a.change()
	case opDraft:
		a.draft()
	case opNote:
		a.note()
	case opPlan:
		a.planDays()
	case opRead:
		a.read()
	case opRecall:
		a.call(nodes.ToolRecall, map[string]any{"query": a.op.text})
		a.complete("Looked back for "+a.op.text+".", "")
	case opReview:
		a.review()
	case opRevise:
		a.revise()
	case opSave:
		a.save()
	case opVary:
		a.vary()
	}
}

// failure is the error of this step's newest call, or "".
func (a *actor) failure() string {
	if mine := a.mine(); len(mine) > 0 {
		return mine[len(mine)-1].failure
	}
	return ""
}

// mine are the results of the current step.
func (a *actor) mine() []stepResult {
	var out []stepResult
	for _, r := range a.f.results {
		if r.open {
			out = append(out, r)
		}
	}
	return out
}

func (a *actor) call(tool string, args map[string]any) {
	a.calls = append(a.calls, llm.ToolCall{Name: tool, Args: json.RawMessage(compact(args))})
}

func (a *actor) complete(summary, conclusions string) {
	args := map[string]any{"summary": summary}
	if conclusions != "" {
		args["conclusions"] = conclusions
	}
	a.call(nodes.ToolStepComplete, args)
}

func (a *actor) askUser(question string) {
	a.call(nodes.ToolAskUser, map[string]any{"question": question})
}

func (a *actor) blocked(code, details string) {
	a.call(nodes.ToolBlocked, map[string]any{"code": code, "details": details, "next": "fail"})
}

func (a *actor) read() {
	e := a.table
	if e == nil {
		a.blocked("plan_invalid", "There is no table "+a.op.table+".")
		return
	}
	args := map[string]any{"table": e.Table}
	filters := slices.Clone(a.op.filters)
	filters = append(filters, refFilter(a.op.refs)...)
	if a.op.name != "" {
		filters = append(filters, nameFilter(e, a.op.name)...)
	}
	if len(filters) > 0 {
		args["filters"] = filters
	} else {
		args["filters"] = []filter{}
	}
	if a.op.text != "" {
		args["or_filters"] = searchFilters(e, a.op.text)
	}
	if a.op.full {
		args["detail"] = "full"
	}
	if a.op.order != "" {
		args["order_by"] = a.op.order
	}
	a.call(nodes.ToolRead, args)
	a.complete("Looked up the "+plural(e)+".", "")
}

func refFilter(refs []string) []filter {
	switch len(refs) {
	case 0:
		return nil
	case 1:
		return []filter{{"id", "=", refs[0]}}
	}
	return []filter{{"id", "in", refs}}
}

// nameFilter finds by name: by the table's own rule where it has one, else by
// what the name contains.
func nameFilter(e *domain.Entity, name string) []filter {
	label := labelColumn(e)
	if label == nil {
		return nil
	}
	if e.Match != nil && e.Match.Column == label.Name {
		return []filter{{label.Name, "=", name}}
	}
	return []filter{{label.Name, "ilike", "%" + strings.Join(strings.Fields(name), "%") + "%"}}
}

// searchFilters look for words anywhere: the name, lists of words, long texts,
// and by meaning where the type is embedded.
func searchFilters(e *domain.Entity, text string) []filter {
	var out []filter
	label := labelColumn(e)
	for _, c := range e.Columns {
		switch {
		case c.Hidden:
		case c == label:
			out = append(out, nameFilter(e, text)...)
		case c.Kind == domain.KindText && len(c.Enum) == 0 && c.FK == nil:
			out = append(out, filter{c.Name, "ilike", "%" + text + "%"})
		case c.Kind == domain.KindArray && c.FK == nil && c.Elem == domain.KindText:
			out = append(out, filter{c.Name, "contains", []string{strings.ToLower(text)}})
		}
	}
	return out
}

func (a *actor) count() {
	if done := a.mine(); len(done) > 0 {
		a.complete("Counted the "+plural(a.table)+".", a.totals(done[len(done)-1].text))
		return
	}
	args := map[string]any{"table": a.table.Table, "aggregates": []map[string]any{{"fn": "count", "as": "count"}}}
	if a.op.by != "" {
		args["group_by"] = []string{a.op.by}
	}
	if len(a.op.filters) > 0 {
		args["filters"] = a.op.filters
	}
	a.call(nodes.ToolAnalyze, args)
}

// totals words the numbers of an analysis.
func (a *actor) totals(text string) string {
	_, list, ok := strings.Cut(text, "rows: ")
	if !ok {
		_, list, ok = strings.Cut(text, "row: ")
	}
	var rows []map[string]any
	if !ok || json.NewDecoder(strings.NewReader(list)).Decode(&rows) != nil {
		return "There is nothing to count."
	}
	var parts []string
	for _, row := range rows {
		n := asText(row["count"])
		if a.op.by == "" {
			return fmt.Sprintf("There are %s %s%s.", n, plural(a.table), a.narrowed())
		}
		parts = append(parts, orElse(asText(row[a.op.by]), "none")+": "+n)
	}
	return fmt.Sprintf("%s by %s: %s.", capitalize(plural(a.table)), strings.ReplaceAll(a.op.by, "_", " "), strings.Join(parts, ", "))
}

// narrowed says what was counted.
func (a *actor) narrowed() string {
	var parts []string
	for _, x := range a.op.filters {
		parts = append(parts, asText(x.Value))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// review answers from rows that are loaded: it states what they say.
func (a *actor) review() {
	var parts []string
	for _, ref := range a.op.refs {
		if e := a.f.find(ref); e != nil && a.f.lex.byType(e.kind) != nil {
			parts = append(parts, a.f.tell(a.f.entityCard(e), ""))
		}
	}
	a.complete("Looked at "+joinList(a.labels(a.op.refs))+".", strings.Join(parts, "\n\n"))
}

func (a *actor) labels(refs []string) []string {
	var out []string
	for _, ref := range refs {
		if e := a.f.find(ref); e != nil && e.label != "" {
			out = append(out, e.label)
		}
	}
	if len(out) == 0 {
		out = append(out, "it")
	}
	return out
}
