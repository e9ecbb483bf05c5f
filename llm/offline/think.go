package offline

import (
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// planner puts a plan together.
type planner struct {
	*scene
	c   *command
	out *nodes.ThinkOutput
}

func (s *scene) think(most int) *nodes.ThinkOutput {
	c := s.read()
	p := &planner{scene: s, c: c, out: &nodes.ThinkOutput{
		Goal: capitalize(orElse(c.text, string(c.verb))), Decision: "plan", Steps: []nodes.Step{}, Questions: []string{},
	}}
	if !replanned(s.Plan) {
		p.build()
	}
	if most > 0 && len(p.out.Steps) > most {
		p.out.Steps = p.out.Steps[:most]
	}

	return p.out
}

// replanned: a plan of this turn was given up. Rules have no second idea.
func replanned(plan []nodes.PlannedStep) bool {
	return slices.ContainsFunc(plan, func(p nodes.PlannedStep) bool { return p.Outcome == "failed" || p.Outcome == "skipped" })
}

func (p *planner) step(kind string, e *domain.Entity, o *op) {
	p.out.Steps = append(p.out.Steps, p.scene.step(kind, e, o))
}

func (p *planner) clarify(question string) {
	p.out.Decision, p.out.Questions = "clarify", []string{question}
}

func (p *planner) build() {
	c := p.c
	switch c.verb {
	case verbAdd:
		p.add()
	case verbChange:
		p.change()
	case verbRemove:
		p.remove()
	case verbMove:
		p.move()
	case verbSchedule:
		p.schedule()
	case verbSave:
		p.save()
	case verbNote:
		p.step("read", c.kind, &op{act: opRead})
		p.step("write", c.kind, &op{act: opNote, By: c.column.Name, About: c.value})
	case verbDraft:
		if fromStock.MatchString(c.text) {
			p.readAll(p.lex.stock(), "")
		}
		p.step("generate", c.kind, &op{act: opDraft, About: c.object})
	case verbRevise:
		if r := p.targets(c); len(r.entities) == 1 && r.entities[0].Pending {
			p.step("generate", c.kind, &op{act: opRevise, Refs: refsOf(r.entities), About: c.value})
		}
	case verbPlan:
		p.plan()
	default:
		p.look()
	}
}

func (p *planner) look() {
	c := p.c
	switch c.verb {
	case verbList:
		for i, e := range append([]*domain.Entity{c.kind}, c.also...) {
			o := &op{act: opRead}
			if i == 0 {
				o = p.listOp(c)
			}
			p.step("read", e, o)
		}
	case verbSearch:
		o := p.listOp(c)
		if vague.MatchString(c.text) && !c.kind.Semantic.IsZero() {
			o.Where = append(o.Where, filter{"_semantic", "similar", c.object})
		} else {
			o.Where = append(o.Where, nameFilter(c.kind, c.object)...)
		}
		p.step("read", c.kind, o)
	case verbShow:
		p.show()
	case verbUses:
		thing := trimName(c.object)
		if stock := p.lex.stock(); stock != nil && mine(c.object) {
			p.step("read", stock, &op{act: opRead, Name: thing})
		}
		p.readAll(c.kind, "rows")
		p.step("analyze", c.kind, &op{act: opMatch, About: thing})
	case verbMissing:
		p.missing()
	case verbCount:
		o := &op{act: opCount, Where: p.valueFilters(c.values)}
		if c.column != nil {
			o.By = c.column.Name
		}
		p.step("analyze", c.kind, o)
	case verbRecall:
		p.step("read", nil, &op{act: opRecall, About: c.value})
	default: // nothing to do with rows: the reply says it all
	}
}

// mine: what the user says to have.
func mine(object string) bool {
	lead, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(object)), " ")

	return lead == "my" || lead == "our"
}

// readAll reads a table unless all that is asked of it stands in view.
func (p *planner) readAll(e *domain.Entity, detail string) {
	if e != nil {
		p.step("read", e, &op{act: opRead, Detail: detail})
	}
}

// listOp reads what a list command asks for.
func (s *scene) listOp(c *command) *op {
	o := &op{act: opRead, Where: s.valueFilters(c.values)}
	if c.column != nil {
		o.By = c.column.Name
		o.Where = append(o.Where, filter{c.column.Name, "is_not_null", nil})
	}
	day := firstColumn(c.kind, func(col *domain.Column) bool { return col.Kind == domain.KindDate })
	if from, to, ok := period(c.text, s.Today); ok && day != nil {
		o.Where = append(o.Where, filter{day.Name, ">=", from.Format(dayFormat)}, filter{day.Name, "<=", to.Format(dayFormat)})
	}

	return o
}

// valueFilters joins several values of one column to one "in".
func (s *scene) valueFilters(values []value) []filter {
	var out []filter
	for _, v := range values {
		i := slices.IndexFunc(out, func(x filter) bool { return x.Field == v.column.Name })
		switch {
		case s.lex.wholeValue(v):
		case v.column.Kind == domain.KindArray:
			out = append(out, filter{v.column.Name, "contains", []string{v.value}})
		case i < 0:
			out = append(out, filter{v.column.Name, "=", typed(v.column, v.value, s.Today)})
		default:
			list, ok := out[i].Value.([]any)
			if !ok {
				list = []any{out[i].Value}
			}
			out[i].Op, out[i].Value = "in", append(list, typed(v.column, v.value, s.Today))
		}
	}

	return out
}

// show reads things in full, one read a type, or finds one by its name.
func (p *planner) show() {
	r := p.targets(p.c)
	for _, group := range p.byKind(r.entities) {
		p.step("read", p.lex.byType(group[0].Type), &op{act: opRead, Refs: refsOf(group), Detail: "full"})
	}
	if len(r.entities) == 0 && r.name != "" {
		if e := p.typeFor(r); e != nil {
			p.step("read", e, &op{act: opRead, Name: r.name, Detail: "full"})
		}
	}
}

// byKind groups entities of one type, in order of first appearance.
func (s *scene) byKind(list []*nodes.Entity) [][]*nodes.Entity {
	var out [][]*nodes.Entity
	for _, e := range list {
		i := slices.IndexFunc(out, func(g []*nodes.Entity) bool { return g[0].Type == e.Type })
		if i < 0 {
			out = append(out, []*nodes.Entity{e})
		} else {
			out[i] = append(out[i], e)
		}
	}

	return out
}

// typeFor is the type that a command is about, or of a thing that it only names:
// what is drafted, else what amounts are kept of, else the first with names.
func (p *planner) typeFor(r found) *domain.Entity {
	switch {
	case len(r.entities) > 0:
		return p.lex.byType(r.entities[0].Type)
	case p.c.kind != nil:
		return p.c.kind
	case r.name == "":
		return nil
	case p.lex.draftable() != nil:
		return p.lex.draftable()
	}
	for _, e := range p.lex.ranked() {
		if labelColumn(e) != nil {
			return e
		}
	}

	return nil
}

func (p *planner) add() {
	c := p.c
	switch {
	case c.kind == nil:
		p.clarify("Where shall I add " + trimName(c.object) + ": " + orList(p.addable()) + "?")
	case p.lex.isDraftable(c.kind):
		p.step("generate", c.kind, &op{act: opDraft, About: c.object})
	default:
		p.step("write", c.kind, &op{act: opCreate, Rows: p.newRows(c, c.kind)})
	}
}

func (p *planner) change() {
	r := p.targets(p.c)
	e := p.typeFor(r)
	if e == nil {
		p.clarify("What shall I change, and to what?")

		return
	}
	set := p.changes(p.c, e)
	switch {
	case len(set) == 0:
		p.clarify("What shall I change about " + orElse(r.text, "it") + "?")
	case len(r.entities) > 0 && r.entities[0].Pending:
		p.step("generate", e, &op{act: opRevise, Refs: refsOf(r.entities[:1]), Rows: []map[string]any{set}})
	default:
		p.write(e, r, &op{act: opUpdate, Rows: []map[string]any{set}})
	}
}

// write plans a change of stored rows: by ref where one is known, else by name with
// a read before it, so that no ref is ever invented.
func (p *planner) write(e *domain.Entity, r found, o *op) {
	switch {
	case p.isSet(p.c):
		o.Where = p.setFilters(e)
	case len(r.entities) > 0:
		o.Refs = refsOf(r.entities)
	default:
		o.Name = r.name
		p.step("read", e, &op{act: opRead, Name: r.name})
	}
	p.step("write", e, o)
}

// setFilters narrow a set: its values, what is done, what is past.
func (p *planner) setFilters(e *domain.Entity) []filter {
	out := p.valueFilters(p.c.values)
	if col := doneColumn(e); col != nil && doneWord.MatchString(strings.TrimSuffix(p.c.object, " "+plural(e))) {
		out = append(out, filter{col.Name, "=", true})
	}
	day := firstColumn(e, func(col *domain.Column) bool { return col.Kind == domain.KindDate })
	switch {
	case day == nil:
	case strings.Contains(strings.ToLower(p.c.object), "expired"):
		out = append(out, filter{day.Name, "<", p.Today.Format(dayFormat)})
	default:
		if from, to, ok := period(p.c.object, p.Today); ok {
			out = append(out, filter{day.Name, ">=", from.Format(dayFormat)}, filter{day.Name, "<=", to.Format(dayFormat)})
		}
	}
	if out == nil {
		out = []filter{}
	}

	return out
}

func (p *planner) remove() {
	r := p.targets(p.c)
	e := p.typeFor(r)
	if e == nil {
		p.clarify("What shall I delete?")

		return
	}
	stored := slices.DeleteFunc(slices.Clone(r.entities), func(x *nodes.Entity) bool { return x.Pending })
	for _, group := range p.byKind(stored) {
		p.step("write", p.lex.byType(group[0].Type), &op{act: opDelete, Refs: refsOf(group)})
	}
	if len(r.entities) == 0 {
		p.write(e, r, &op{act: opDelete})
	}
}

// save plans one write a type; what points at others comes after them.
func (p *planner) save() {
	schedule, _, _ := p.lex.schedule()
	groups := p.byKind(p.ofPending(p.targets(p.c).entities))
	slices.SortStableFunc(groups, func(a, b []*nodes.Entity) int {
		return last01(schedule != nil && a[0].Type == schedule.Type) - last01(schedule != nil && b[0].Type == schedule.Type)
	})
	for _, group := range groups {
		p.step("write", p.lex.byType(group[0].Type), &op{act: opSave, Refs: refsOf(group)})
	}
}

func last01(late bool) int {
	if late {
		return 1
	}

	return 0
}
