package offline

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// planner builds a plan.
type planner struct {
	*scene
	c   *command
	out *nodes.ThinkOutput
}

func (s *scene) think(most int) *nodes.ThinkOutput {
	c := s.read()
	p := &planner{scene: s, c: c, out: &nodes.ThinkOutput{
		Decision: "plan", Steps: []nodes.Step{}, Questions: []string{},
	}}
	if u := s.undo(c.text); u != nil {
		p.out.Steps = append(p.out.Steps, u.Step())

		return p.out
	}
	givenUp := func(x nodes.PlannedStep) bool { return x.Outcome == "failed" || x.Outcome == "skipped" }
	if !slices.ContainsFunc(s.Plan, givenUp) { // the rules have no alternative plan
		p.steps()
	}
	p.out.Steps = p.out.Steps[:min(len(p.out.Steps), most)]
	if len(p.out.Steps) > 0 { // what asks for nothing titles no conversation
		p.out.Goal = capitalize(cmp.Or(c.text, string(c.verb)))
	}

	return p.out
}

// step adds an op as a step, in its table's subdomain.
func (p *planner) step(kind string, e *domain.Entity, o *op) {
	step := nodes.Step{Type: kind, Subdomain: p.lex.subdomainOf(e), Refs: append([]string{}, o.Refs...), Needs: "refs"}
	if kind == vocab.StepAnalyze {
		step.Needs = "rows"
	}
	o.table = e.Table
	step.Description = o.String()
	if o.act == opRead {
		arguments := o.read(e)
		arguments["tool"] = vocab.ToolRead
		step.Calls = []json.RawMessage{json.RawMessage(flat(arguments))}
	}
	p.out.Steps = append(p.out.Steps, step)
}

// each adds a step for the things of each type.
func (p *planner) each(kind string, things []*nodes.Entity, o op) {
	for _, group := range byKind(things) {
		o.Refs = refsOf(group)
		p.step(kind, p.lex.domain.ByType(group[0].Type), &o)
	}
}

// steps plans what the command needs; nothing for one that is unrelated to rows: the reply says it all.
func (p *planner) steps() {
	c := p.c
	switch c.verb {
	case verbAdd:
		p.add()
	case verbChange, verbRemove:
		p.change()
	case verbSchedule:
		p.schedule()
	case verbSave:
		p.save()
	case verbNote:
		p.step(vocab.StepRead, c.kind, &op{act: opRead})
		p.step(vocab.StepWrite, c.kind, &op{act: opNote, By: c.column.Name, About: c.value})
	case verbDraft:
		p.step(vocab.StepGenerate, c.kind, &op{act: opDraft, About: c.object})
	case verbRevise:
		if r := c.about; len(r.entities) == 1 && r.entities[0].Pending {
			p.step(vocab.StepGenerate, c.kind, &op{act: opRevise, Refs: refsOf(r.entities), About: c.value})
		}
	case verbPlan:
		p.days()
	case verbList:
		p.step(vocab.StepRead, c.kind, c.listing())
		for _, e := range c.also {
			p.step(vocab.StepRead, e, &op{act: opRead})
		}
	case verbShow:
		p.look(p.typeFor(c.about), c.about, "full")
	case verbUses:
		thing, lead := trimName(c.object), strings.ToLower(c.object)
		if stock := p.lex.stock; stock != nil && (strings.HasPrefix(lead, "my ") || strings.HasPrefix(lead, "our ")) {
			p.step(vocab.StepRead, stock, &op{act: opRead, Name: thing})
		}
		p.step(vocab.StepRead, c.kind, &op{act: opRead, Detail: "rows"})
		p.step(vocab.StepAnalyze, c.kind, &op{act: opMatch, About: thing})
	case verbCount:
		p.step(vocab.StepAnalyze, c.kind, &op{act: opCount, Where: c.rows.where})
	default:
	}
}

// look reads known rows, or one by its name.
func (p *planner) look(e *domain.Entity, r found, detail string) {
	p.each(vocab.StepRead, r.entities, op{act: opRead, Detail: detail})
	if e != nil && len(r.entities) == 0 && r.name != "" {
		p.step(vocab.StepRead, e, &op{act: opRead, Name: r.name, Detail: detail})
	}
}

// add creates rows by their own names, or by those of things that are known, whose parts are read first.
func (p *planner) add() {
	c, r := p.c, p.c.about
	switch {
	case c.kind == nil || c.object == "" || labelColumn(c.kind) == nil: // Understand has asked, or nothing can be said of such rows
	case c.kind == p.lex.draftable:
		p.step(vocab.StepGenerate, c.kind, &op{act: opDraft, About: c.object})
	case r.text == "", len(r.entities) == 0 && r.name == "": // a row may be called "it"
		p.step(vocab.StepWrite, c.kind, &op{act: opCreate, Rows: p.newRows(c, c.kind)})
	default:
		o := &op{act: opCreate, Refs: refsOf(r.entities)}
		if len(o.Refs) == 0 {
			o.Name = r.name
		}
		r.entities = filtered(r.entities, func(e *nodes.Entity) bool {
			return len(p.lex.domain.ByType(e.Type).Children) > 0 && len(parts(p.lex, e)) == 0 // not read yet
		})
		p.look(p.lex.wholes[0], r, "full")
		p.step(vocab.StepWrite, c.kind, o)
	}
}

// listing reads the rows that a list command asks for. What is planned is called what it is planned with.
func (c *command) listing() *op {
	o := &op{act: opRead, Where: c.rows.where}
	if !plannedWord.MatchString(c.text) {
		o.Name = c.rows.name
	}
	if c.rows.order != nil {
		o.Order, o.Limit = c.rows.order.Name, 1
	}
	if c.rows.desc {
		o.Dir = "desc"
	}

	return o
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

// change updates or deletes stored rows: by a known ref, as a set, or by name after a read, so that no ref is ever
// invented.
func (p *planner) change() {
	r := p.c.about
	e := p.typeFor(r)
	if e == nil {
		return
	}
	o := &op{act: opDelete}
	if p.c.verb == verbChange {
		if o = (&op{act: opUpdate, Rows: []map[string]any{p.changes(p.c, e)}}); len(o.Rows[0]) == 0 {
			return
		}
	}
	drafts := filtered(r.entities, isPending)
	switch {
	case len(drafts) > 0 && p.c.verb == verbChange:
		p.step(vocab.StepGenerate, e, &op{act: opRevise, Refs: refsOf(drafts[:1]), Rows: o.Rows})
	case p.isSet(p.c):
		if o.Where = p.c.rows.where; p.c.rows.name == "" { // a condition is never left out
			p.step(vocab.StepWrite, e, o)
		}
	case len(r.entities) == 0:
		p.look(e, r, "")
		o.Name = r.name
		p.step(vocab.StepWrite, e, o)
	default:
		p.each(vocab.StepWrite, filtered(r.entities, isStored), *o)
	}
}

// save plans one write per type; referencing types come after those they reference.
func (p *planner) save() {
	drafts := filtered(p.c.about.entities, isPending)
	if p.c.value != "" && !p.renames(drafts) {
		return
	}
	late := func(e *nodes.Entity) int { return btoi(p.lex.schedule != nil && e.Type == p.lex.schedule.Type) }
	slices.SortStableFunc(drafts, func(a, b *nodes.Entity) int { return late(a) - late(b) })
	p.each(vocab.StepWrite, drafts, op{act: opSave})
}

// renames plans the new name of a draft that is about to be saved, if there is one draft, and its kind has names.
func (p *planner) renames(drafts []*nodes.Entity) bool {
	if len(drafts) != 1 {
		return false
	}
	e := p.lex.domain.ByType(drafts[0].Type)
	label := labelColumn(e)
	if label != nil {
		p.step(vocab.StepGenerate, e, &op{act: opRevise, Refs: refsOf(drafts), Rows: []map[string]any{{label.Name: p.c.value}}})
	}

	return label != nil
}

// schedule assigns one thing to a day. A draft is saved first, and only with the user's consent.
func (p *planner) schedule() {
	days, r := dates(p.c.text, p.Today), p.c.about
	if len(days) == 0 || len(r.entities) == 0 && r.name == "" {
		return // Understand has asked
	}
	row := p.dayRow(days[0], p.c.values)
	create := &op{act: opCreate, Rows: []map[string]any{row}}
	if len(r.entities) > 0 {
		row[p.lex.link.Name] = r.entities[0].Ref
	}
	switch {
	case len(r.entities) == 0:
		p.look(p.lex.planned, r, "")
		create.Name = r.name
	case r.entities[0].Pending && !p.c.agreed:
		p.out.Decision = "propose"
		p.out.Proposal = r.entities[0].Label + " is not saved yet. " + offerWords + "it and put it on " + p.lex.slotText(row) + "?"

		return
	case r.entities[0].Pending:
		p.step(vocab.StepWrite, p.lex.planned, &op{act: opSave, Refs: refsOf(r.entities[:1])})
	}
	p.step(vocab.StepWrite, p.lex.schedule, create)
}

// dayRow is a schedule row for a day, with the declaration's defaults.
func (s *scene) dayRow(at time.Time, values []value) map[string]any {
	row := map[string]any{s.lex.day.Name: at.Format(dayFormat)}
	maps.Copy(row, s.lex.Plan.Content)
	row[s.lex.Plan.Slot] = s.lex.Plan.DefaultSlot
	for _, v := range values {
		row[v.column.Name] = typed(v.column, v.value, s.Today)
	}

	return row
}

// slotText words a day of the schedule: "Friday, Nov 27 (dinner)".
func (lex *lexicon) slotText(row map[string]any) string {
	on := dayText(asText(row[lex.day.Name]))
	if slot := asText(row[lex.Plan.Slot]); slot != "" {
		on += " (" + slot + ")"
	}

	return on
}

// days drafts schedule rows: days and slots are fixed here; their content is chosen when the draft is made.
func (p *planner) days() {
	const mostDays = 14 // fits into one answer
	if len(p.choices()) == 0 {
		p.step(vocab.StepRead, p.lex.planned, &op{act: opRead, Detail: "rows"})
	}
	days := dates(p.c.text, p.Today)
	if len(days) == 0 {
		n, start := p.lex.Plan.DefaultCount, p.Today.AddDate(0, 0, 1)
		if from, to, ok := period(p.c.text, p.Today); ok {
			start, n = from, int(to.Sub(from).Hours()/24)+1
		}
		for i := range min(cmp.Or(planCount(p.c.text), n, 1), mostDays) {
			days = append(days, start.AddDate(0, 0, i))
		}
	}
	var rows []map[string]any
	for _, at := range days {
		for i := range max(len(p.c.values), 1) { // a row for each part of the day that is named
			rows = append(rows, p.dayRow(at, p.c.values[i:min(i+1, len(p.c.values))]))
		}
	}
	p.step(vocab.StepGenerate, p.lex.schedule, &op{act: opPlan, About: p.c.text, Rows: rows})
}
