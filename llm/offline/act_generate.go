package offline

import (
	"time"

	"alfred/domain"
	"alfred/nodes"
)

func (a *actor) draft() {
	c := a.f.composer()
	if c == nil {
		a.blocked("insufficient_info", "This domain declares nothing to draft from.")
		return
	}
	var creates []map[string]any
	var titles []string
	for _, content := range c.drafts(a.op.text) {
		creates = append(creates, map[string]any{"type": c.row.Type, "content": content})
		titles = append(titles, asText(content[c.d.Title]))
	}
	if len(creates) == 0 {
		a.blocked("insufficient_info", "The drafting tables have nothing for "+a.op.text+".")
		return
	}
	a.call(nodes.ToolGenerate, map[string]any{"creates": creates})
	a.complete("Drafted "+joinList(titles)+".", "")
}

func (a *actor) revise() {
	if a.f.step.kind == "write" {
		a.edit()
		return
	}
	c := a.f.composer()
	var target *entity
	if len(a.op.refs) > 0 {
		target = a.f.find(a.op.refs[0])
	}
	if target != nil && len(a.op.rows) > 0 && len(target.data) > 0 {
		a.call(nodes.ToolGenerate, map[string]any{"updates": []map[string]any{{"ref": target.ref, "content": merge(clone(target.data), a.op.rows[0])}}})
		a.complete("Changed the draft "+plainLine(target.label)+": "+a.changeText(a.table, a.op.rows[0])+".", "")
		return
	}
	if c == nil || target == nil || len(target.data) == 0 || target.kind != c.row.Type {
		a.blocked("insufficient_info", "The draft's content is not in view.")
		return
	}
	content, changed := c.revise(target.data, a.op.text)
	if !changed {
		a.complete("I do not know how to do that to the draft; it is unchanged.", "")
		return
	}
	a.call(nodes.ToolGenerate, map[string]any{"updates": []map[string]any{{"ref": target.ref, "content": content}}})
	a.complete("Changed the draft "+asText(content[c.d.Title])+".", "")
}

// planDays drafts a row for each day, giving each the next thing there is.
func (a *actor) planDays() {
	e, day, link := a.f.lex.schedule()
	if e == nil || len(a.op.rows) == 0 {
		a.blocked("plan_invalid", "There is nothing to plan.")
		return
	}
	choices := a.preferred(link.FK.Entity)
	if len(choices) == 0 {
		a.complete("There is nothing yet to plan with.", "")
		return
	}
	var creates []map[string]any
	var lines []string
	for i, row := range a.op.rows {
		pick := choices[i%len(choices)]
		row[link.Name] = pick.ref
		creates = append(creates, map[string]any{"type": e.Type, "content": row})
		lines = append(lines, dayName(row[day.Name])+": "+pick.label)
	}
	a.call(nodes.ToolGenerate, map[string]any{"creates": creates})
	a.complete("Drafted a plan. "+joinList(lines)+".", "")
}

// preferred are the choices the message names, in its order, else all.
func (a *actor) preferred(target *domain.Entity) []*entity {
	choices := a.f.choices(target)
	r := a.f.resolve(a.op.text, target)
	var named []*entity
	for _, e := range append(a.f.namedIn(a.op.text, []*domain.Entity{target}), r.entities...) {
		if containsEntity(choices, e) && !containsEntity(named, e) {
			named = append(named, e)
		}
	}
	if len(named) > 0 {
		return named
	}
	return choices
}

func dayName(v any) string {
	at, err := time.Parse(dayFormat, asText(v))
	if err != nil {
		return asText(v)
	}
	return at.Format("Monday, January 2")
}
