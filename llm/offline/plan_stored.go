package offline

import (
	"slices"
	"strings"

	"alfred/domain"
)

// edit plans a change of a saved thing and its parts: a look at all of it, then
// the change.
func (p *planned) edit(c *command) {
	p.withWhole(c, "write", &op{act: opRevise, table: c.entity.Table, text: c.value})
}

// vary plans a draft made from a saved thing, which stays as it is.
func (p *planned) vary(c *command) {
	p.withWhole(c, "generate", &op{act: opVary, table: c.entity.Table, text: c.value})
}

// missing plans a comparison of a thing's parts with what there is.
func (p *planned) missing(c *command) {
	stock := p.f.stock()
	p.step("read", stock, &op{act: opRead, table: stock.Table})
	p.withWhole(c, "analyze", &op{act: opCompare, table: c.entity.Table})
}

// withWhole plans a step about one thing with all of its parts in view.
func (p *planned) withWhole(c *command, kind string, o *op) {
	r, ok := p.f.stored(c.object)
	if !ok {
		return
	}
	if len(r.entities) == 0 {
		o.name = r.name
		p.step("read", c.entity, &op{act: opRead, table: c.entity.Table, name: r.name, full: true})
	} else {
		o.refs = refsOf(r.entities[:1])
		if !loadedInFull(r.entities[:1]) {
			p.step("read", c.entity, &op{act: opRead, table: c.entity.Table, refs: o.refs, full: true})
		}
	}
	p.step(kind, c.entity, o)
}

// move plans a new day for a row of the schedule: by ref where one is known, else
// among all that are still to come.
func (p *planned) move(c *command) {
	e, day, _ := p.f.lex.schedule()
	row := map[string]any{day.Name: dates(c.value, p.f.today)[0].Format(dayFormat)}
	for _, v := range c.values {
		row[v.column.Name] = typed(v.column, v.value, p.f.today)
	}
	list := p.f.scheduled(c.object, e)
	switch {
	case len(list) == 1 && list[0].pending():
		p.step("generate", e, &op{act: opRevise, table: e.Table, refs: refsOf(list), rows: []map[string]any{row}})
	case len(list) == 1:
		p.step("write", e, &op{act: opUpdate, table: e.Table, refs: refsOf(list), rows: []map[string]any{row}})
	default:
		p.step("read", e, &op{act: opRead, table: e.Table, filters: []filter{{day.Name, ">=", p.f.today.Format(dayFormat)}}})
		p.step("write", e, &op{act: opUpdate, table: e.Table, name: p.f.scheduleName(c.object, e), rows: []map[string]any{row}})
	}
}

// scheduled are the rows of the schedule that a phrase means.
func (f *facts) scheduled(phrase string, e *domain.Entity) []*entity {
	r := f.resolve(phrase, e)
	return slices.DeleteFunc(slices.Clone(r.entities), func(x *entity) bool { return x.kind != e.Type || x.has("deleted") })
}

// scheduleName is what a row of the schedule is found by among those read: the
// name of what it points at, or its day and kind.
func (f *facts) scheduleName(phrase string, e *domain.Entity) string {
	_, _, link := f.lex.schedule()
	if t := f.resolve(phrase, link.FK.Entity).one(); t != nil {
		return t.label
	}
	var name []string
	if days := dates(phrase, f.today); len(days) > 0 {
		name = append(name, days[0].Format(dayFormat))
	}
	for _, v := range f.lex.valuesIn(phrase, e) {
		name = append(name, v.value)
	}
	return orElse(strings.Join(name, " "), trimName(phrase))
}
