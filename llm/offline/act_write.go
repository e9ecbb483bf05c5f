package offline

import (
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// pick finds the one stored thing with a name among what is known. It answers the
// step itself when there is none or more than one.
func (a *actor) pick(e *domain.Entity, name string) *nodes.Entity {
	list := slices.DeleteFunc(a.find(name, e).entities, func(x *nodes.Entity) bool { return x.Pending })
	if len(list) == 0 && a.op.By != "" { // by what it points at
		for i := range a.Entities {
			x := &a.Entities[i]
			if x.Type == e.Type && !x.Deleted && containsWords(stems(asText(x.Columns["_"+a.op.By+"_label"])), stems(name)) {
				list = append(list, x)
			}
		}
	}
	switch len(list) {
	case 1:
		return list[0]
	case 0:
		a.complete(fmt.Sprintf("I found no %s called %s.", e.Name, name), "")
	default:
		a.askUser("Which one do you mean: " + orList(labelsOf(list)) + "?")
	}

	return nil
}

// create adds rows; a row that points at a thing by name takes its ref from what
// was read.
func (a *actor) create() {
	rows := a.op.Rows
	schedule, day, link := a.lex.schedule()
	if a.op.Name != "" && schedule == a.kind {
		target := a.pick(link.FK.Entity, a.op.Name)
		if target == nil {
			return
		}
		rows[0][link.Name] = target.Ref
	}
	var data any = rows
	if len(rows) == 1 {
		data = rows[0]
	}
	a.call(nodes.ToolCreate, map[string]any{"table": a.kind.Table, "data": data})
	if schedule == a.kind && len(rows) == 1 && a.refs[asText(rows[0][link.Name])] != nil {
		a.complete("Planned "+slotText(schedule, day, rows[0])+": "+a.refs[asText(rows[0][link.Name])].Label+".", "")

		return
	}
	names := make([]string, 0, len(rows))
	for _, row := range rows {
		names = append(names, a.line(a.kind, row))
	}
	a.complete("Added "+joinList(names)+" to the "+plural(a.kind)+".", "")
}

// change updates or deletes rows: by ref, by filter, or by the name that a read
// has found.
func (a *actor) change() {
	filters, what := slices.Clone(a.op.Where), "the "+plural(a.kind)
	if a.op.Name != "" {
		target := a.pick(a.kind, a.op.Name)
		if target == nil {
			return
		}
		a.op.Refs = []string{target.Ref}
	}
	if len(a.op.Refs) > 0 {
		filters, what = append(filters, refFilter(a.op.Refs)...), joinList(labelsOf(a.all(a.op.Refs, a.lex.domain.Entities)))
	}
	if filters == nil {
		filters = []filter{}
	}
	args := map[string]any{"table": a.kind.Table, "filters": filters}
	if a.op.act == opDelete {
		a.call(nodes.ToolDelete, args)
		a.complete("Deleted "+what+".", "")

		return
	}
	args["data"] = a.op.Rows[0]
	a.call(nodes.ToolUpdate, args)
	a.complete(a.updated(what), "")
}

// updated says what is different now.
func (a *actor) updated(what string) string {
	schedule, day, link := a.lex.schedule()
	if a.kind == schedule && a.op.Rows[0][day.Name] != nil && len(a.op.Refs) == 1 {
		e := a.refs[a.op.Refs[0]]
		row := merge(clone(e.Columns), a.op.Rows[0])

		return "Moved " + orElse(asText(e.Columns["_"+link.Name+"_label"]), what) + " to " + slotText(schedule, day, row) + "."
	}

	return "Updated " + what + ": " + a.changeText(a.op.Rows[0]) + "."
}

// changeText is new values in words.
func (a *actor) changeText(row map[string]any) string {
	q, u := quantityColumn(a.kind), unitColumn(a.kind)
	var out []string
	for _, k := range sortedKeys(row) {
		value := asText(row[k])
		switch {
		case u != nil && k == u.Name && q != nil && row[q.Name] != nil:
		case q != nil && k == q.Name:
			text := "now " + value
			if u != nil && asText(row[u.Name]) != "" {
				text += " " + asText(row[u.Name])
			}
			out = append(out, text)
		case value == "true":
			out = append(out, human(k))
		case value == "false":
			out = append(out, "not "+human(k))
		case a.refs[value] != nil:
			out = append(out, human(k)+": "+a.refs[value].Label)
		default:
			out = append(out, human(k)+": "+value)
		}
	}

	return strings.Join(out, ", ")
}

// note adds a fact about the user to a single row, which may not exist yet.
func (a *actor) note() {
	col := a.kind.Column(a.op.By)
	if col == nil {
		a.blocked("plan_invalid", "There is no column "+a.op.By+".")

		return
	}
	row := a.single()
	data := map[string]any{col.Name: typed(col, a.op.About, a.Today)}
	if col.Kind == domain.KindArray {
		var list []string
		if row != nil {
			list = texts(row.Columns[col.Name])
		}
		for _, w := range splitList(a.op.About) {
			if w = trimName(w); w != "" && !slices.ContainsFunc(list, func(h string) bool { return strings.EqualFold(h, w) }) {
				list = append(list, w)
			}
		}
		data[col.Name] = list
	}
	if row == nil {
		a.call(nodes.ToolCreate, map[string]any{"table": a.kind.Table, "data": data})
	} else {
		a.call(nodes.ToolUpdate, map[string]any{"table": a.kind.Table, "filters": refFilter([]string{row.Ref}), "data": data})
	}
	a.complete(fmt.Sprintf("Noted %s under %s.", a.op.About, human(col.Name)), "")
}

// single is the one row of a type that has one, or nil.
func (a *actor) single() *nodes.Entity {
	for i := range a.Entities {
		if e := &a.Entities[i]; e.Type == a.kind.Type && !e.Deleted && !e.Pending {
			return e
		}
	}

	return nil
}

// save saves drafts exactly as they are. A draft that points at another unsaved one
// is not saved behind the user's back.
func (a *actor) save() {
	var missing []string
	for _, e := range a.all(a.op.Refs, a.lex.domain.Entities) {
		for _, c := range a.kind.Columns {
			linked := a.refs[asText(e.Draft[c.Name])]
			if c.FK != nil && linked != nil && linked.Pending && !slices.Contains(missing, linked.Label) {
				missing = append(missing, linked.Label)
			}
		}
	}
	if len(missing) > 0 {
		a.askUser(joinList(missing) + " is not saved yet, and this refers to it. Shall I save it too?")

		return
	}
	for _, ref := range a.op.Refs {
		a.call(nodes.ToolCreate, map[string]any{"table": a.kind.Table, "from_ref": ref})
	}
	a.complete("Saved "+joinList(labelsOf(a.all(a.op.Refs, a.lex.domain.Entities)))+".", "")
}
