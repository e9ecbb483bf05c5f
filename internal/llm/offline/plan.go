package offline

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"alfred/internal/clean"
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
	st := &step{kind: kind, about: about, refs: refs, does: capitalize(cmp.Or(p.c.text, string(p.c.verb)))}
	if kind == vocab.StepRead {
		st.does = "Look up " + about.Plural
	}
	p.steps = append(p.steps, st)

	return st
}

// think writes the plan as Think's output, with the calls that look something up.
func (s *scene) think(most int) *nodes.ThinkOutput {
	out := &nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{}, Questions: []string{}}
	p := s.plan()
	if u := s.undo(); u != nil {
		out.Steps = append(out.Steps, u.Step())
		return out
	}
	if slices.ContainsFunc(s.Plan, func(x nodes.PlannedStep) bool { return x.Outcome == "failed" || x.Outcome == "skipped" }) {
		return out // the rules have no alternative plan
	}
	for _, st := range p.steps[:min(len(p.steps), most)] {
		step := nodes.Step{Type: st.kind, Subdomain: s.lex.subdomainOf(st.about), Description: st.does, Refs: append([]string{}, st.refs...), Needs: "refs"}
		for _, c := range st.calls {
			if vocab.Reads(c.Name) {
				step.Calls = append(step.Calls, json.RawMessage(flat(args{"tool": c.Name, "args": c.Args})))
			}
		}
		out.Steps = append(out.Steps, step)
	}
	if p.proposal != "" {
		out.Decision, out.Proposal = "propose", p.proposal
	}
	if len(out.Steps) > 0 { // what asks for nothing titles no conversation
		out.Goal = capitalize(cmp.Or(p.c.text, string(p.c.verb)))
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
		p.read(p.lex.domain.ByType(group[0].Type), inFull, refFilter(refsOf(group)...)).refs = refsOf(group)
	}
}

// called is the condition that rows have a name, as people use it: tables with a canonical lookup know variants; elsewhere a
// part suffices.
func called(e *domain.Entity, name string) []filter {
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

// looked reports whether this turn has read rows of e.
func (s *scene) looked(e *domain.Entity) bool {
	return slices.ContainsFunc(s.did(vocab.ToolRead), func(r nodes.Result) bool { return r.Type == e.Type })
}

func (p *planner) list() {
	by, order := p.c.rows, args{}
	if by.order != nil {
		order["order_by"], order["limit"] = by.order.Name, 1
	}
	if by.desc {
		order["order_dir"] = "desc"
	}
	p.read(p.c.kind, order, slices.Concat(by.where, called(p.c.kind, by.name))...)
	for _, e := range p.c.also {
		p.read(e, nil)
	}
}

func (p *planner) show() {
	r := p.c.about
	p.readThese(r.entities)
	if e := p.typeFor(r); e != nil && len(r.entities) == 0 && r.name != "" {
		p.read(e, inFull, called(e, r.name)...)
	}
}

// uses reads what may contain a thing and, if it is called the user's own, how much of it there is.
func (p *planner) uses() {
	if lead, _, _ := strings.Cut(strings.ToLower(p.c.object), " "); p.lex.stock != nil && (lead == "my" || lead == "our") {
		p.read(p.lex.stock, nil, called(p.lex.stock, trimName(p.c.object))...)
	}
	p.read(p.c.kind, withRows)
}

func (p *planner) count() {
	arguments := args{"table": p.c.kind.Table, "aggregates": []args{{"fn": "count", "as": "count"}}}
	if len(p.c.rows.where) > 0 {
		arguments["filters"] = p.c.rows.where
	}
	p.step(vocab.StepAnalyze, p.c.kind).call(vocab.ToolAnalyze, arguments)
}

// typeFor is the type that a command is about; if it only names a thing: the draftable type, else the first type with
// names.
func (p *planner) typeFor(r found) *domain.Entity {
	if len(r.entities) > 0 {
		return p.lex.domain.ByType(r.entities[0].Type)
	}
	if p.c.kind != nil || r.name == "" {
		return p.c.kind
	}

	return cmp.Or(p.lex.draftable, first(filtered(p.lex.ranked, func(e *domain.Entity) bool { return labelColumn(e) != nil })))
}

// await plans a write of what is not known yet: it is looked up by its name, or the user says which one is meant.
func (p *planner) await(writes, of *domain.Entity, detail args) {
	r := p.c.about
	if r.several {
		p.step(vocab.StepWrite, writes).ask(whichOne(r.entities))
		return
	}
	p.read(of, detail, called(of, r.name)...)
	p.step(vocab.StepWrite, writes).giveUp(notThere, "I found no "+of.Name+" called "+r.name+".")
}

func (p *planner) create(e *domain.Entity, rows []map[string]any, refs ...string) {
	p.step(vocab.StepWrite, e, refs...).call(vocab.ToolCreate, args{"table": e.Table, "data": rows})
}

// add creates rows by their own names, or by those of things that are known, whose parts are read first.
func (p *planner) add() {
	c, r := p.c, p.c.about
	unread := filtered(r.entities, func(e *nodes.Entity) bool {
		kind := p.lex.domain.ByType(e.Type)
		return len(kind.Children) > 0 && len(parts(p.lex, e)) == 0 && !p.looked(kind)
	})
	switch {
	case c.kind == nil || c.object == "" || labelColumn(c.kind) == nil: // Understand has asked, or nothing can be said of such rows
	case c.kind == p.lex.draftable:
		p.draft()
	case r.text == "", len(r.entities) == 0 && r.name == "": // a row may be called "it"
		p.create(c.kind, p.newRows(c, c.kind))
	case len(r.entities) == 0 || r.several:
		p.await(c.kind, p.lex.wholes[0], inFull)
	case len(unread) > 0:
		p.readThese(unread)
		p.step(vocab.StepWrite, c.kind, refsOf(r.entities)...)
	default:
		p.create(c.kind, p.named(c.kind, r.entities), refsOf(r.entities)...)
	}
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

// named returns rows of a kind that are called and counted like the parts of things, or like the things, if they have none.
func (p *planner) named(kind *domain.Entity, things []*nodes.Entity) []map[string]any {
	var rows []map[string]any
	for _, e := range things {
		of := parts(p.lex, e)
		if len(of) == 0 {
			rows = append(rows, p.defaults(kind, map[string]any{labelColumn(kind).Name: e.Label}))
		}
		for _, x := range of {
			row := map[string]any{}
			for _, same := range []func(*domain.Entity) *domain.Column{labelColumn, quantityColumn, unitColumn} {
				if from, to := same(x.kind), same(kind); from != nil && to != nil && x.row[from.Name] != nil {
					row[to.Name] = x.row[from.Name]
				}
			}
			rows = append(rows, p.defaults(kind, row))
		}
	}

	return rows
}

// change updates or deletes stored rows: by a known ref, as a set, or by name after a read, so that no ref is ever
// invented.
func (p *planner) change() {
	r, set := p.c.about, map[string]any(nil)
	e := p.typeFor(r)
	if e == nil {
		return
	}
	if p.c.verb == verbChange {
		if set = p.changes(p.c, e); len(set) == 0 {
			return
		}
	}
	drafts := filtered(r.entities, isPending)
	switch {
	case len(drafts) > 0 && set != nil:
		p.redraft(drafts[0], func(content map[string]any) { maps.Copy(content, set) })
	case p.isSet(p.c):
		if p.c.rows.name == "" { // a condition is never left out
			p.write(e, set, p.c.rows.where...)
		}
	case len(r.entities) == 0 || r.several:
		p.await(e, e, nil)
	default:
		for _, group := range byKind(filtered(r.entities, isStored)) {
			p.write(p.lex.domain.ByType(group[0].Type), set, refFilter(refsOf(group)...)).refs = refsOf(group)
		}
	}
}

// write sets values of the rows that fit, or deletes them if there are none to set.
func (p *planner) write(e *domain.Entity, set map[string]any, where ...filter) *step {
	st, arguments := p.step(vocab.StepWrite, e), args{"table": e.Table, "filters": append([]filter{}, where...)}
	if set == nil {
		return st.call(vocab.ToolDelete, arguments)
	}
	arguments["data"] = set

	return st.call(vocab.ToolUpdate, arguments)
}

// note adds a fact about the user to a singleton row, which may not exist yet.
func (p *planner) note() {
	c, col, row, known := p.c, p.c.column, first(p.rows(p.c.kind)), []string(nil)
	if !p.looked(c.kind) {
		p.read(c.kind, nil)
		p.step(vocab.StepWrite, c.kind)

		return
	}
	if row != nil {
		known = texts(row.Columns[col.Name])
	}
	set := map[string]any{col.Name: typed(col, c.value, p.Today)}
	if col.Kind == domain.KindArray {
		said := mapped(splitList(c.value), trimName)
		set[col.Name] = slices.Concat(known, filtered(said, func(w string) bool { return !slices.Contains(known, w) }))
	}
	if row == nil {
		p.create(c.kind, []map[string]any{set})
	} else {
		p.write(c.kind, set, refFilter(row.Ref))
	}
}

// save plans one write per type; referencing types come after those they reference. One draft may get a new name first.
func (p *planner) save() {
	drafts := filtered(p.c.about.entities, isPending)
	if p.c.value != "" {
		if len(drafts) != 1 || labelColumn(p.lex.domain.ByType(drafts[0].Type)) == nil {
			return
		}
		label := labelColumn(p.lex.domain.ByType(drafts[0].Type)).Name
		p.redraft(drafts[0], func(content map[string]any) { content[label] = p.c.value })
	}
	late := func(e *nodes.Entity) int { return btoi(p.lex.schedule != nil && e.Type == p.lex.schedule.Type) }
	slices.SortStableFunc(drafts, func(a, b *nodes.Entity) int { return late(a) - late(b) })
	for _, group := range byKind(drafts) {
		p.saveThese(group)
	}
}

// saveThese saves drafts of one type unchanged. One that references another unsaved draft is not saved without asking.
func (p *planner) saveThese(drafts []*nodes.Entity) {
	kind := p.lex.domain.ByType(drafts[0].Type)
	st := p.step(vocab.StepWrite, kind, refsOf(drafts)...)
	for _, e := range drafts {
		for _, v := range e.Draft {
			if linked := p.refs[clean.Value(v)]; linked != nil && linked.Pending && !slices.Contains(p.c.about.entities, linked) {
				st.calls = nil
				st.ask(linked.Label + " is not saved yet, and this refers to it. Shall I save it too?")

				return
			}
		}
		st.call(vocab.ToolCreate, args{"table": kind.Table, "from_ref": e.Ref})
	}
}

// schedule assigns one thing to a day. A draft is saved first, and only with the user's consent.
func (p *planner) schedule() {
	days, r := dates(p.c.text, p.Today), p.c.about
	if len(days) == 0 || len(r.entities) == 0 && r.name == "" {
		return // Understand has asked
	}
	if len(r.entities) == 0 || r.several {
		p.await(p.lex.schedule, p.lex.planned, nil)
		return
	}
	row, thing := p.dayRow(days[0], p.c.values), r.entities[0]
	if thing.Pending && !p.c.agreed {
		p.proposal = thing.Label + " is not saved yet. " + offerWords + "it and put it on " + strings.TrimSpace(days[0].Format("Monday, Jan 2 ")+clean.Value(row[p.lex.Plan.Slot])) + "?"
		return
	}
	if thing.Pending {
		p.saveThese([]*nodes.Entity{thing})
	}
	row[p.lex.link.Name] = thing.Ref
	p.create(p.lex.schedule, []map[string]any{row})
}

// dayRow is a schedule row for a day, with the declaration's defaults.
func (s *scene) dayRow(at time.Time, values []value) map[string]any {
	row := map[string]any{s.lex.day.Name: at.Format(time.DateOnly)}
	maps.Copy(row, s.lex.Plan.Content)
	row[s.lex.Plan.Slot] = s.lex.Plan.DefaultSlot
	for _, v := range values {
		row[v.column.Name] = typed(v.column, v.value, s.Today)
	}

	return row
}

// days drafts a schedule row for each day, or for each part of each day that is named, with one choice after the other.
func (p *planner) days() {
	choices := p.choices()
	if len(choices) == 0 && !p.looked(p.lex.planned) {
		p.read(p.lex.planned, withRows)
	}
	if m := unwanted.FindStringSubmatch(p.c.text); m != nil {
		terms := orComma.Split(m[1], -1)
		choices = filtered(choices, func(x *nodes.Entity) bool { return !p.holdsAny(x, terms) })
	}
	st := p.step(vocab.StepGenerate, p.lex.schedule)
	if len(choices) == 0 {
		st.giveUp(notThere, "There is nothing yet to plan with.")
		return
	}
	var creates []args
	for _, at := range p.plannedDays() {
		for i := range max(len(p.c.values), 1) {
			row := p.dayRow(at, p.c.values[i:min(i+1, len(p.c.values))])
			row[p.lex.link.Name] = choices[len(creates)%len(choices)].Ref
			creates = append(creates, args{"type": p.lex.schedule.Type, "content": row})
		}
	}
	st.call(vocab.ToolGenerate, args{"creates": creates}).words = "Here is a plan." + unsaved
}

// plannedDays are the days that the message names, or as many as it asks for.
func (p *planner) plannedDays() []time.Time {
	const mostDays = 14 // fits into one answer
	days := dates(p.c.text, p.Today)
	if len(days) > 0 {
		return days
	}
	n, start := p.lex.Plan.DefaultCount, p.Today.AddDate(0, 0, 1)
	if from, to, ok := period(p.c.text, p.Today); ok {
		start, n = from, int(to.Sub(from).Hours()/24)+1
	}
	for _, w := range words(p.c.text) {
		if several, ok := number(w); ok && several > 1 {
			n = int(several)
			break
		}
	}
	for i := range min(max(n, 1), mostDays) {
		days = append(days, start.AddDate(0, 0, i))
	}

	return days
}
