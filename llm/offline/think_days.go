package offline

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"alfred/domain"
)

// schedule puts one thing on a day. A draft is saved first, and only with the
// user's word.
func (p *planner) schedule() {
	e, day, link := p.lex.schedule()
	days := dates(p.c.text, p.Today)
	if len(days) == 0 {
		p.clarify("For which day?")

		return
	}
	row := p.dayRow(days[0], e, day)
	for _, v := range p.c.values {
		row[v.column.Name] = typed(v.column, v.value, p.Today)
	}
	r := p.targets(p.c)
	create := &op{act: opCreate, Rows: []map[string]any{row}}
	switch {
	case len(r.entities) == 0 && r.name == "":
		return
	case len(r.entities) == 0:
		p.step("read", link.FK.Entity, &op{act: opRead, Name: r.name})
		create.Name = r.name
	case r.entities[0].Pending && !p.c.agreed:
		p.out.Decision = "propose"
		p.out.Proposal = r.entities[0].Label + " is not saved yet. " + offerWords + "it and put it on " + slotText(e, day, row) + "?"

		return
	case r.entities[0].Pending:
		p.step("write", link.FK.Entity, &op{act: opSave, Refs: refsOf(r.entities[:1])})
		row[link.Name] = r.entities[0].Ref
	default:
		row[link.Name] = r.entities[0].Ref
	}
	p.step("write", e, create)
}

// dayRow is a row for a day with the declaration's defaults.
func (s *scene) dayRow(at time.Time, e *domain.Entity, day *domain.Column) map[string]any {
	row := map[string]any{day.Name: at.Format(dayFormat)}
	if pl := s.lex.Plan; pl != nil {
		maps.Copy(row, pl.Content)
		if pl.Slot != "" && pl.DefaultSlot != "" {
			row[pl.Slot] = pl.DefaultSlot
		}
	} else if slot := firstColumn(e, func(c *domain.Column) bool { return len(c.Enum) > 0 && !c.Nullable && !c.HasDefault }); slot != nil {
		row[slot.Name] = slot.Enum[0]
	}

	return row
}

// slotText is a day of the schedule in words: "Friday, Nov 27 (dinner)".
func slotText(e *domain.Entity, day *domain.Column, row map[string]any) string {
	text := asText(row[day.Name])
	if at, err := time.Parse(dayFormat, text); err == nil {
		text = at.Format("Monday, Jan 2")
	}
	for _, c := range e.Columns {
		if v := asText(row[c.Name]); len(c.Enum) > 0 && v != "" {
			text += " (" + v + ")"
		}
	}

	return text
}

func (p *planner) move() {
	e, day, link := p.lex.schedule()
	set := map[string]any{day.Name: dates(p.c.value, p.Today)[0].Format(dayFormat)}
	for _, v := range p.c.values {
		set[v.column.Name] = typed(v.column, v.value, p.Today)
	}
	r := p.targets(p.c)
	if len(r.entities) == 0 && r.name != "" {
		p.step("read", e, &op{act: opRead, Where: []filter{{day.Name, ">=", p.Today.Format(dayFormat)}}})
		p.step("write", e, &op{act: opUpdate, Name: r.name, By: link.Name, Rows: []map[string]any{set}})

		return
	}
	if len(r.entities) > 0 {
		p.step("write", e, &op{act: opUpdate, Refs: refsOf(r.entities[:1]), Rows: []map[string]any{set}})
	}
}

// plan drafts rows of the schedule: the days and slots are fixed here, what goes
// into them is chosen when the draft is made.
func (p *planner) plan() {
	e, day, link := p.lex.schedule()
	if len(p.choices(link.FK.Entity)) == 0 {
		p.readAll(link.FK.Entity, "rows")
	}
	var rows []map[string]any
	for _, at := range p.planDays() {
		for i := range max(len(p.c.values), 1) {
			row := p.dayRow(at, e, day)
			if len(p.c.values) > 0 {
				row[p.c.values[i].column.Name] = typed(p.c.values[i].column, p.c.values[i].value, p.Today)
			}
			rows = append(rows, row)
		}
	}
	p.step("generate", e, &op{act: opPlan, About: p.c.text, Rows: rows})
}

// maxDays keeps a plan within what one answer can hold.
const maxDays = 14

func (p *planner) planDays() []time.Time {
	if days := dates(p.c.text, p.Today); len(days) > 0 {
		return days
	}
	n, start := 3, p.Today.AddDate(0, 0, 1)
	if p.lex.Plan != nil && p.lex.Plan.DefaultCount > 0 {
		n = p.lex.Plan.DefaultCount
	}
	if from, to, ok := period(p.c.text, p.Today); ok {
		start, n = from, int(to.Sub(from).Hours()/24)+1
	}
	if k, ok := planCount(p.c.text); ok {
		n = k
	}
	days := make([]time.Time, 0, maxDays)
	for i := range min(n, maxDays) {
		days = append(days, start.AddDate(0, 0, i))
	}

	return days
}

// planCount is the number of days or meals that a text asks for.
func planCount(text string) (int, bool) {
	for w := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(w); err == nil && n > 1 {
			return n, true
		}
		if n, ok := numberWords[strings.ToLower(w)]; ok && n > 1 {
			return int(n), true
		}
	}

	return 0, false
}

// missing compares what a thing is made of with what there is.
func (p *planner) missing() {
	r := p.targets(p.c)
	p.readAll(p.lex.stock(), "")
	switch {
	case len(r.entities) > 0 && r.entities[0].Pending:
	case len(r.entities) > 0:
		p.step("read", p.c.kind, &op{act: opRead, Refs: refsOf(r.entities[:1]), Detail: "full"})
	default:
		p.step("read", p.c.kind, &op{act: opRead, Name: r.name, Detail: "full"})
	}
	o := &op{act: opCompare, Name: r.name}
	if len(r.entities) > 0 {
		o.Refs = refsOf(r.entities[:1])
	}
	p.step("analyze", p.c.kind, o)
}
