package offline

import (
	"maps"
	"slices"
	"strings"
	"time"

	"alfred/domain"
)

// save plans one write a type, parents before what points at them.
func (p *planned) save(c *command) {
	list := p.f.targets(c).entities
	if c.confirm && p.f.question != nil {
		list = append(list, p.f.alsoAsked(list)...)
	}
	schedule, _, _ := p.f.lex.schedule()
	groups := p.f.byKind(list)
	slices.SortStableFunc(groups, func(a, b []*entity) int {
		return rankOf(a, schedule) - rankOf(b, schedule)
	})
	for _, group := range groups {
		if e := p.f.lex.byType(group[0].kind); e != nil {
			p.step("write", e, &op{act: opSave, table: e.Table, refs: refsOf(group)})
		}
	}
}

// alsoAsked are the further drafts that the confirmed question named.
func (f *facts) alsoAsked(list []*entity) []*entity {
	var out []*entity
	for _, e := range f.namedIn(f.question.text, nil) {
		if e.pending() && !containsEntity(list, e) {
			out = append(out, e)
		}
	}
	return out
}

func rankOf(group []*entity, schedule *domain.Entity) int {
	if schedule != nil && group[0].kind == schedule.Type {
		return 1
	}
	return 0
}

// schedule puts one thing on a day. A draft is saved first, and only with the
// user's word.
func (p *planned) schedule(c *command) {
	e, _, link := p.f.lex.schedule()
	r := p.f.targets(c)
	row := p.f.slotRow(c, e)
	if row == nil {
		p.clarify("For which day?")
		return
	}
	target := r.one()
	if len(r.entities) > 0 {
		target = r.entities[0]
	}
	create := &op{act: opCreate, table: e.Table, rows: []map[string]any{row}}
	switch {
	case target == nil && r.name != "":
		p.step("read", link.FK.Entity, &op{act: opRead, table: link.FK.Entity.Table, name: r.name})
		create.name = r.name
	case target == nil:
	case target.pending() && !c.confirm:
		p.out.Decision = "propose"
		p.out.Proposal = target.label + " is not saved yet. Shall I save it and put it on " + p.f.slotText(row) + "?"
		return
	case target.pending():
		p.step("write", link.FK.Entity, &op{act: opSave, table: link.FK.Entity.Table, refs: []string{target.ref}})
		row[link.Name] = target.ref
	default:
		row[link.Name] = target.ref
	}
	p.step("write", e, create)
}

// slotRow is the row of the schedule that a message describes, without its link.
func (f *facts) slotRow(c *command, e *domain.Entity) map[string]any {
	_, day, _ := f.lex.schedule()
	days := dates(c.text, f.today)
	if len(days) == 0 {
		return nil
	}
	row := f.dayRow(days[0], e, day)
	for _, v := range c.values {
		row[v.column.Name] = typed(v.column, v.value, f.today)
	}
	return row
}

// dayRow is a row for a day with the declaration's defaults.
func (f *facts) dayRow(at time.Time, e *domain.Entity, day *domain.Column) map[string]any {
	row := map[string]any{day.Name: at.Format(dayFormat)}
	if pl := f.lex.vocab.plan; pl != nil {
		maps.Copy(row, pl.Content)
		if pl.Slot != "" && pl.DefaultSlot != "" {
			row[pl.Slot] = pl.DefaultSlot
		}
	} else if slot := requiredEnum(e); slot != nil {
		row[slot.Name] = slot.Enum[0]
	}
	return row
}

func requiredEnum(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return len(c.Enum) > 0 && !c.Nullable && !c.HasDefault })
}

func (f *facts) slotText(row map[string]any) string {
	e, day, _ := f.lex.schedule()
	var text []string
	if at, err := time.Parse(dayFormat, asText(row[day.Name])); err == nil {
		text = append(text, at.Format("Monday, January 2"))
	}
	for _, c := range e.Columns {
		if v := asText(row[c.Name]); len(c.Enum) > 0 && v != "" {
			text = append(text, "("+v+")")
		}
	}
	return strings.Join(text, " ")
}
