package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// planned is a plan under construction.
type planned struct {
	f   *facts
	out *nodes.ThinkOutput
}

func (m *model) think(f *facts) *nodes.ThinkOutput {
	c, answers := f.interpret()
	p := &planned{f: f, out: &nodes.ThinkOutput{Goal: goal(c), Decision: "plan", Steps: []nodes.Step{}, Questions: []string{}}}
	if answers && c.verb == verbDeny {
		return p.out
	}
	p.build(c)
	if len(p.out.Steps) > f.maxSteps {
		p.out.Steps = p.out.Steps[:f.maxSteps]
	}
	return p.out
}

func goal(c *command) string {
	what := strings.Join(strings.Fields(c.text), " ")
	if what == "" {
		return string(c.verb)
	}
	return capitalize(what)
}

func (p *planned) build(c *command) {
	switch c.verb {
	case verbAdd:
		p.add(c)
	case verbChange:
		p.change(c)
	case verbCount:
		p.step("analyze", c.entity, p.f.countOp(c))
	case verbDraft:
		p.draft(c)
	case verbEdit:
		p.edit(c)
	case verbList:
		p.list(c)
	case verbMissing:
		p.missing(c)
	case verbMove:
		p.move(c)
	case verbNote:
		p.step("read", c.entity, &op{act: opRead, table: c.entity.Table})
		p.step("write", c.entity, &op{act: opNote, table: c.entity.Table, by: c.column.Name, text: c.value})
	case verbPlan:
		p.plan(c)
	case verbRecall:
		p.step("read", nil, &op{act: opRecall, text: c.value})
	case verbRemove:
		p.remove(c)
	case verbRevise:
		p.revise(c)
	case verbSave:
		p.save(c)
	case verbSchedule:
		p.schedule(c)
	case verbSearch:
		p.search(c)
	case verbShow:
		p.show(c)
	case verbVary:
		p.vary(c)
	default: // nothing to do with rows: the reply says it all
	}
}

// step adds an op as a step in its table's subdomain.
func (p *planned) step(kind string, e *domain.Entity, o *op) {
	s := nodes.Step{Type: kind, Description: o.String(), Refs: append([]string{}, o.refs...), Needs: "refs"}
	switch {
	case e != nil:
		s.Subdomain = p.f.lex.subdomainOf(e)
	case len(p.f.lex.domain.Subdomains) > 0:
		s.Subdomain = p.f.lex.domain.Subdomains[0].Name
	}
	if kind == "analyze" {
		s.Needs = "rows"
	}
	p.out.Steps = append(p.out.Steps, s)
}

func (p *planned) clarify(q string) {
	p.out.Decision, p.out.Questions = "clarify", []string{q}
}

// listOp reads what a list command asks for.
func (f *facts) listOp(c *command) *op {
	o := &op{act: opRead, table: c.entity.Table, filters: f.valueFilters(c.values)}
	if c.column != nil {
		o.order = c.column.Name
		o.filters = append(o.filters, filter{c.column.Name, "is_not_null", nil})
	}
	day := firstColumn(c.entity, func(col *domain.Column) bool { return col.Kind == domain.KindDate })
	if day == nil || f.today.IsZero() {
		return o
	}
	if from, to, ok := period(f.message, f.today); ok {
		o.filters = append(o.filters, filter{day.Name, ">=", from.Format(dayFormat)}, filter{day.Name, "<=", to.Format(dayFormat)})
	}
	return o
}

// valueFilters joins several values of one column to one "in".
func (f *facts) valueFilters(values []value) []filter {
	var out []filter
	for _, v := range values {
		if f.lex.wholeValue(v) {
			continue
		}
		is := typed(v.column, v.value, f.today)
		op := "="
		if v.column.Kind == domain.KindArray {
			op, is = "contains", []string{v.value}
		}
		i := slices.IndexFunc(out, func(x filter) bool { return x.Field == v.column.Name })
		if i < 0 || op == "contains" {
			out = append(out, filter{v.column.Name, op, is})
			continue
		}
		list, ok := out[i].Value.([]any)
		if !ok {
			list = []any{out[i].Value}
		}
		list = append(list, is)
		out[i].Op, out[i].Value = "in", list
	}
	return out
}

func (p *planned) list(c *command) {
	p.step("read", c.entity, p.f.listOp(c))
	for _, e := range c.also {
		p.step("read", e, &op{act: opRead, table: e.Table})
	}
}

func (p *planned) search(c *command) {
	o := p.f.listOp(c)
	if len(c.also) > 0 { // "recipes that use my eggs": look among what the message is about
		if child := p.f.childNamed(c.entity, c.also); child != nil {
			c.also = slices.DeleteFunc(slices.Clone(c.also), func(e *domain.Entity) bool { return e == child })
		}
	}
	o.text = c.object
	if vague.MatchString(c.text) && !c.entity.Semantic.IsZero() {
		o.filters, o.text = append(o.filters, filter{"_semantic", "similar", c.object}), ""
	}
	p.step("read", c.entity, o)
	for _, e := range c.also {
		if !e.Reference && !p.f.lex.isChild(e) {
			p.step("read", e, &op{act: opRead, table: e.Table})
		}
	}
}

func (f *facts) childNamed(parent *domain.Entity, list []*domain.Entity) *domain.Entity {
	for _, e := range list {
		if hasChild(parent, e) {
			return e
		}
	}
	return nil
}

func (p *planned) show(c *command) {
	r := p.f.targets(c)
	if len(r.entities) == 0 {
		e := c.entity
		if e == nil {
			e = p.f.guessType(r.name)
		}
		if e != nil && r.name != "" {
			p.step("read", e, &op{act: opRead, table: e.Table, name: r.name, full: true})
		}
		return
	}
	p.readRefs(r.entities, true)
}

// readRefs plans one read a type; rows that are loaded in full are answered from
// what is loaded.
func (p *planned) readRefs(list []*entity, full bool) {
	for _, group := range p.f.byKind(list) {
		e := p.f.lex.byType(group[0].kind)
		if e == nil {
			continue
		}
		if full && loadedInFull(group) {
			p.step("analyze", e, &op{act: opReview, table: e.Table, refs: refsOf(group), text: p.f.message})
			continue
		}
		p.step("read", e, &op{act: opRead, table: e.Table, refs: refsOf(group), full: full})
	}
}

func loadedInFull(list []*entity) bool {
	for _, e := range list {
		if e.pending() || !e.loaded || e.has("read:summary") || !e.has("read:full") {
			return false
		}
	}
	return true
}

// byKind groups entities of one type, in order of first appearance.
func (f *facts) byKind(list []*entity) [][]*entity {
	var out [][]*entity
	for _, e := range list {
		i := slices.IndexFunc(out, func(g []*entity) bool { return g[0].kind == e.kind })
		if i < 0 {
			out = append(out, []*entity{e})
		} else {
			out[i] = append(out[i], e)
		}
	}
	return out
}

// guessType is the type of a thing that the message only names: the one whose
// line of the snapshot has the name, what the drafting tables call it, else what
// amounts are kept of.
func (f *facts) guessType(name string) *domain.Entity {
	needle := stems(name)
	for line := range strings.SplitSeq(f.body("Snapshot"), "\n") {
		if containsWords(stems(line), needle) {
			if e := f.lex.typeIn(line); e != nil {
				return e
			}
		}
	}
	if all := f.lex.draftables(); len(all) > 0 && f.lex.knowsDraft(name) {
		return all[0]
	}
	if e := f.lex.vocab.defaultSearch(f.lex); e != nil {
		return e
	}
	for _, e := range f.lex.ranked() {
		if labelColumn(e) != nil {
			return e
		}
	}
	return nil
}

func (p *planned) add(c *command) {
	if c.entity == nil {
		p.clarify("Where shall I add " + trimName(c.object) + ": " + orList(p.f.addable()) + "?")
		return
	}
	if all := p.f.lex.draftables(); len(all) > 0 && all[0] == c.entity {
		c.verb = verbDraft
		p.draft(c)
		return
	}
	p.step("write", c.entity, &op{act: opCreate, table: c.entity.Table, rows: p.f.newRows(c, c.entity)})
}

func (p *planned) change(c *command) {
	r := p.f.targets(c)
	e := p.typeOf(c, r)
	switch {
	case e == nil:
		p.clarify("What shall I change, and to what?")
		return
	case len(r.entities) > 0 && r.entities[0].pending():
		p.step("generate", e, &op{act: opRevise, table: e.Table, refs: refsOf(r.entities[:1]), text: c.text})
		return
	}
	set := p.f.changes(c, e)
	if len(set) == 0 {
		p.clarify("What shall I change about " + r.text + "?")
		return
	}
	p.write(c, e, r, &op{act: opUpdate, table: e.Table, rows: []map[string]any{set}})
}

func (p *planned) typeOf(c *command, r *found) *domain.Entity {
	switch {
	case len(r.entities) > 0:
		return p.f.lex.byType(r.entities[0].kind)
	case c.entity != nil:
		return c.entity
	case r.name != "":
		return p.f.guessType(r.name)
	}
	return nil
}

// write plans a change of existing rows: by ref where one is known, else by name
// with a read before it, so that no ref is ever invented.
func (p *planned) write(c *command, e *domain.Entity, r *found, o *op) {
	switch {
	case p.f.isSet(c):
		o.filters = p.f.setFilters(c, e)
	case len(r.entities) > 0:
		o.refs = refsOf(r.entities)
	default:
		o.name = r.name
		p.step("read", e, &op{act: opRead, table: e.Table, name: r.name})
	}
	p.step("write", e, o)
}

var doneWords = regexp.MustCompile(`(?i)\b(?:done|completed|finished|bought|purchased|checked|ticked)\b`)

// setFilters narrow a set: its values, what is done, what is past.
func (f *facts) setFilters(c *command, e *domain.Entity) []filter {
	out := f.valueFilters(c.values)
	if col := doneColumn(e); col != nil && doneWords.MatchString(c.object) {
		out = append(out, filter{col.Name, "=", true})
	}
	day := firstColumn(e, func(col *domain.Column) bool { return col.Kind == domain.KindDate })
	switch {
	case day == nil:
	case strings.Contains(strings.ToLower(c.object), "expired"):
		out = append(out, filter{day.Name, "<", f.today.Format(dayFormat)})
	default:
		if from, to, ok := period(c.object, f.today); ok {
			out = append(out, filter{day.Name, ">=", from.Format(dayFormat)}, filter{day.Name, "<=", to.Format(dayFormat)})
		}
	}
	return out
}

func (p *planned) remove(c *command) {
	r := p.f.targets(c)
	e := p.typeOf(c, r)
	if e == nil {
		p.clarify("What shall I delete?")
		return
	}
	for _, group := range p.f.byKind(r.entities) {
		g := p.f.lex.byType(group[0].kind)
		if g != nil && !p.f.isSet(c) {
			p.step("write", g, &op{act: opDelete, table: g.Table, refs: refsOf(group)})
		}
	}
	if len(r.entities) == 0 {
		p.write(c, e, r, &op{act: opDelete, table: e.Table})
	}
}

var fromStock = regexp.MustCompile(`(?i)\b(?:what (?:i|we) have|what's in|what is in|using what|from my|with my|use up|on hand)\b`)

func (p *planned) draft(c *command) {
	if c.entity == nil {
		return
	}
	if fromStock.MatchString(c.text) {
		p.readStock()
	}
	p.step("generate", c.entity, &op{act: opDraft, table: c.entity.Table, text: c.object})
}

// readStock reads what there is to draft from, unless it stands in view.
func (p *planned) readStock() {
	if e := p.f.lex.vocab.defaultSearch(p.f.lex); e != nil && !p.f.loadedType(e) {
		p.step("read", e, &op{act: opRead, table: e.Table})
	}
}

func (f *facts) loadedType(e *domain.Entity) bool {
	return slices.ContainsFunc(f.entities, func(x *entity) bool { return x.kind == e.Type && x.loaded && !x.pending() })
}

func (p *planned) revise(c *command) {
	r := p.f.targets(c)
	if len(r.entities) == 0 {
		return
	}
	e := p.f.lex.byType(r.entities[0].kind)
	if e == nil {
		return
	}
	p.step("generate", e, &op{act: opRevise, table: e.Table, refs: refsOf(r.entities[:1]), text: c.value})
}

func (f *facts) countOp(c *command) *op {
	o := &op{act: opCount, table: c.entity.Table, filters: f.valueFilters(c.values)}
	if c.column != nil {
		o.by = c.column.Name
	}
	return o
}
