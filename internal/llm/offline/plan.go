package offline

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

type args = map[string]any

// filter is one condition of a data tool.
type filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
}

func refFilter(refs ...string) filter {
	if len(refs) == 1 {
		return filter{"id", "=", refs[0]}
	}

	return filter{"id", "in", refs}
}

// step is a step with the calls that carry it out: none, or one that gives up or asks, as long as they depend on what another
// step has yet to find.
type step struct {
	kind  string
	about *domain.Entity
	refs  []string
	does  string
	calls []llm.ToolCall
	words string // introduce what the step drafts
}

func (st *step) call(tool string, arguments args) *step {
	st.calls = append(st.calls, llm.ToolCall{Name: tool, Args: []byte(flat(arguments))})
	return st
}

// reads are the calls that look something up, in the form of a plan.
func (st *step) reads() []json.RawMessage {
	var out []json.RawMessage
	for _, c := range st.calls {
		if vocab.Reads(c.Name) {
			out = append(out, json.RawMessage(`{"tool":`+flat(c.Name)+`,`+string(c.Args[1:])))
		}
	}

	return out
}

// giveUp ends the step, and says why.
func (st *step) giveUp(code, why string) *step {
	return st.call(vocab.ToolBlocked, args{"code": code, "details": why, "next": "fail"})
}

// notThere is the code for what a step needs and nobody has.
const notThere = "insufficient_info"

func (st *step) ask(question string) { st.call(vocab.ToolAskUser, args{"question": question}) }

// planner plans what a command needs with what is known now. Act plans again, and takes the calls of its step.
type planner struct {
	*scene
	c        *command
	steps    []*step
	proposal string
}

// plans are what verbs need. All others are unrelated to rows: the reply says it all.
var plans = map[verb]func(*planner){
	verbAdd: (*planner).add, verbChange: (*planner).change, verbRemove: (*planner).change, verbSchedule: (*planner).schedule, verbSave: (*planner).save,
	verbNote: (*planner).note, verbDraft: (*planner).draft, verbRevise: (*planner).revise, verbPlan: (*planner).days,
	verbList: (*planner).list, verbShow: (*planner).show, verbUses: (*planner).uses, verbCount: (*planner).count,
}

func (s *scene) plan() *planner {
	p := &planner{scene: s, c: s.read()}
	if verbPlans := plans[p.c.verb]; verbPlans != nil {
		verbPlans(p)
	}

	return p
}

func (p *planner) step(kind string, about *domain.Entity, refs ...string) *step {
	st := &step{kind: kind, about: about, refs: refs, does: p.c.title()}
	if kind == vocab.StepRead {
		st.does = "Look up " + about.Plural
	}
	p.steps = append(p.steps, st)

	return st
}

// think writes the plan as Think's output, with the calls that look something up.
func (s *scene) think(most int) *nodes.ThinkOutput {
	out := &nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{}, Questions: []string{}}
	if u := s.undo(); u != nil {
		out.Steps = append(out.Steps, u.Step())
		return out
	}
	if slices.ContainsFunc(s.Plan, func(x nodes.PlannedStep) bool { return x.Outcome == "failed" || x.Outcome == "skipped" }) {
		return out // the rules have no alternative plan
	}
	p := s.plan()
	for _, st := range p.steps[:min(len(p.steps), most)] {
		out.Steps = append(out.Steps, nodes.Step{
			Type: st.kind, Subdomain: s.lex.subdomainOf(st.about), Description: st.does, Refs: append([]string{}, st.refs...), Needs: "refs", Calls: st.reads(),
		})
	}
	if p.proposal != "" {
		out.Decision, out.Proposal = "propose", p.proposal
	}
	if len(out.Steps) > 0 { // what asks for nothing titles no conversation
		out.Goal = p.c.title()
	}

	return out
}

// How much of rows a read shows.
var (
	inFull   = args{"detail": "full"}
	withRows = args{"detail": "rows"} // those that they consist of
)

// read looks up the rows of e that fit; more says how.
func (p *planner) read(e *domain.Entity, more args, where ...filter) *step {
	arguments := args{"table": e.Table, "filters": append([]filter{}, where...)}
	maps.Copy(arguments, more)

	return p.step(vocab.StepRead, e).call(vocab.ToolRead, arguments)
}

// readThese looks up known rows, in full.
func (p *planner) readThese(rows []*nodes.Entity) {
	for _, group := range byKind(rows) {
		p.read(p.typeOf(group), inFull, refFilter(refsOf(group)...)).refs = refsOf(group)
	}
}

// nameFilters are the condition that rows have a name. A table with a canonical lookup knows the name's variants; in others a part
// of it suffices.
func nameFilters(e *domain.Entity, name string) []filter {
	label := labelColumn(e)
	switch {
	case name == "" || label == nil:
		return nil
	case e.Match != nil && e.Match.Column == label.Name:
		return []filter{{label.Name, "=", name}}
	default:
		return []filter{{label.Name, "ilike", "%" + strings.NewReplacer("%", "", "_", "").Replace(name) + "%"}}
	}
}

// hasRead reports whether this turn has read rows of e.
func (s *scene) hasRead(e *domain.Entity) bool {
	return slices.ContainsFunc(s.did(vocab.ToolRead), func(r nodes.Result) bool { return r.Type == e.Type })
}

// filters are the conditions of a look or a count.
func (c *command) filters() []filter {
	if len(c.among) == 0 {
		return c.rows.where
	}

	return append([]filter{refFilter(refsOf(c.among)...)}, c.rows.where...)
}

func (p *planner) list() {
	by, where, order := p.c.rows, p.c.filters(), args{}
	if by.order != nil {
		order["order_by"], order["limit"] = by.order.Name, 1
	}
	if soon.MatchString(p.c.object) {
		order["order_by"] = dayColumn(p.c.kind).Name
	}
	if by.desc {
		order["order_dir"] = "desc"
	}
	names := filtered(mapped(splitList(p.c.object), func(item string) string { return p.restOf(item, p.c.kind) }), isText)
	if len(names) < 2 || quantityColumn(p.c.kind) == nil || by.name == "" || len(p.c.also) > 0 {
		names = []string{by.name}
	}
	if by.name != "" && slices.Contains(p.lex.wholes, p.c.kind) {
		maps.Copy(order, inFull)
	}
	st := p.read(p.c.kind, order, slices.Concat(where, nameFilters(p.c.kind, names[0]))...)
	for _, name := range names[1:] {
		st.call(vocab.ToolRead, args{"table": p.c.kind.Table, "filters": slices.Concat(where, nameFilters(p.c.kind, name))})
	}
	for _, e := range p.c.also {
		p.read(e, nil)
	}
}

func (p *planner) show() {
	r := p.c.about
	p.readThese(r.entities)
	if e := p.typeFor(r); e != nil && len(r.entities) == 0 && r.name != "" {
		p.read(e, inFull, nameFilters(e, r.name)...)
	}
}

// uses reads what may contain a thing and, if it is called the user's own, how much of it there is.
func (p *planner) uses() {
	if lead, _, _ := strings.Cut(strings.ToLower(p.c.object), " "); p.lex.stock != nil && (lead == "my" || lead == "our") {
		p.read(p.lex.stock, nil, nameFilters(p.lex.stock, trimName(p.c.object))...)
	}
	p.read(p.c.kind, withRows)
}

func (p *planner) count() {
	arguments := args{"table": p.c.kind.Table, "aggregates": []args{{"fn": "count", "as": "count"}}}
	if filters := p.c.filters(); len(filters) > 0 {
		arguments["filters"] = filters
	}
	p.step(vocab.StepAnalyze, p.c.kind).call(vocab.ToolAnalyze, arguments)
}

// typeFor is the type that a command is about; if it only names a thing: the draftable type, else the first type with
// names.
func (p *planner) typeFor(r found) *domain.Entity {
	if e := p.typeOf(r.entities); e != nil {
		return e
	}
	if p.c.kind != nil || r.name == "" {
		return p.c.kind
	}

	return cmp.Or(p.lex.draftable, first(filtered(p.lex.ranked, func(e *domain.Entity) bool { return labelColumn(e) != nil })))
}
