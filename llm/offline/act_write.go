package offline

import (
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// create adds rows; a row that points at a thing by name takes its ref from what
// was read.
func (a *actor) create() {
	rows := a.op.rows
	if a.op.name != "" {
		link := a.link()
		if link == nil {
			a.blocked("plan_invalid", "Nothing here can point at "+a.op.name+".")
			return
		}
		target := a.pick(link.FK.Entity, a.op.name)
		if target == nil {
			return
		}
		rows[0][link.Name] = target.ref
	}
	var data any = rows
	if len(rows) == 1 {
		data = rows[0]
	}
	a.call(nodes.ToolCreate, map[string]any{"table": a.table.Table, "data": data})
	a.complete("Added "+joinList(a.rowNames(rows))+" to the "+plural(a.table)+".", "")
}

func (a *actor) link() *domain.Column {
	return firstColumn(a.table, func(c *domain.Column) bool {
		return c.FK != nil && c.FK.Entity != nil && !c.FK.Entity.Reference && c != a.table.Owner
	})
}

// rowNames say what new rows are, with their amounts.
func (a *actor) rowNames(rows []map[string]any) []string {
	var out []string
	for _, row := range rows {
		out = append(out, a.rowName(row))
	}
	return out
}

func (a *actor) rowName(row map[string]any) string {
	label := labelColumn(a.table)
	if label != nil && asText(row[label.Name]) != "" {
		name := asText(row[label.Name])
		if q := quantityColumn(a.table); q != nil && asText(row[q.Name]) != "" {
			amount := asText(row[q.Name])
			if u := unitColumn(a.table); u != nil && asText(row[u.Name]) != "" {
				amount += " " + asText(row[u.Name])
			}
			name = amount + " " + name
		}
		return name
	}
	for _, c := range a.table.Columns {
		if ref := asText(row[c.Name]); c.FK != nil && ref != "" {
			if e := a.f.find(ref); e != nil && e.label != "" {
				return e.label
			}
		}
	}
	return "a " + a.table.Name
}

// pick finds the one stored thing with a name among what the prompt shows. It
// answers the step itself when there is none or more than one.
func (a *actor) pick(e *domain.Entity, name string) *entity {
	list := a.candidates(e, name)
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

func (a *actor) candidates(e *domain.Entity, name string) []*entity {
	list := slices.Clone(a.f.resolve(name, e).entities)
	if len(list) == 0 && labelColumn(e) == nil { // rows without a name are told by what they point at and when
		list = a.holding(e, name)
	}
	return slices.DeleteFunc(list, func(x *entity) bool { return x.pending() || x.has("deleted") })
}

func (a *actor) holding(e *domain.Entity, name string) []*entity {
	var out []*entity
	for _, x := range a.f.entities {
		words := stems(name)
		if x.kind == e.Type && x.loaded && len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !x.holds([]string{w}) }) {
			out = append(out, x)
		}
	}
	return out
}

func labelsOf(list []*entity) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.label)
	}
	return out
}

// change updates or deletes rows: by ref, by filter, or by the name that a read
// has found.
func (a *actor) change() {
	if a.table == nil {
		a.blocked("plan_invalid", "There is no table "+a.op.table+".")
		return
	}
	filters := slices.Clone(a.op.filters)
	what := "the " + plural(a.table)
	if a.op.name != "" {
		list := a.candidates(a.table, a.op.name)
		if len(list) == 0 && !a.hasRead() {
			a.call(nodes.ToolRead, map[string]any{"table": a.table.Table, "filters": nameFilter(a.table, a.op.name)})
			return
		}
		target := a.pick(a.table, a.op.name)
		if target == nil {
			return
		}
		a.op.refs = []string{target.ref}
	}
	if len(a.op.refs) > 0 {
		filters, what = append(filters, refFilter(a.op.refs)...), joinList(a.labels(a.op.refs))
	}
	a.apply(filters, what)
}

func (a *actor) apply(filters []filter, what string) {
	if filters == nil {
		filters = []filter{}
	}
	args := map[string]any{"table": a.table.Table, "filters": filters}
	if a.op.act == opDelete {
		a.call(nodes.ToolDelete, args)
		a.complete("Deleted "+what+".", "")
		return
	}
	if len(a.op.rows) == 0 {
		a.blocked("insufficient_info", "The step does not say what to change.")
		return
	}
	args["data"] = a.op.rows[0]
	a.call(nodes.ToolUpdate, args)
	a.complete(a.updated(what, a.op.rows[0]), "")
}

// updated says what is different now.
func (a *actor) updated(what string, row map[string]any) string {
	if e, day, link := a.f.lex.schedule(); e == a.table && row[day.Name] != nil && len(a.op.refs) == 1 {
		if target := a.f.find(a.op.refs[0]); target != nil && asText(target.data["_"+link.Name+"_label"]) != "" {
			what = asText(target.data["_"+link.Name+"_label"])
			return "Moved " + what + " to " + a.f.slotText(merge(clone(target.data), row)) + "."
		}
		return "Moved " + plainLine(what) + " to " + a.f.slotText(row) + "."
	}
	return "Updated " + plainLine(what) + ": " + a.changeText(a.table, row) + "."
}

// changeText is new values in words.
func (a *actor) changeText(e *domain.Entity, row map[string]any) string {
	q, u := quantityColumn(e), unitColumn(e)
	var out []string
	for _, k := range sortedKeys(row) {
		col, value := e.Column(k), asText(row[k])
		switch {
		case col == nil:
		case u != nil && k == u.Name && q != nil && row[q.Name] != nil:
		case q != nil && k == q.Name && u != nil:
			out = append(out, "now "+amountText(value, asText(row[u.Name])))
		case col.Kind == domain.KindBool && value == "false":
			out = append(out, "not "+humanName(k))
		case isList(row[k]):
			out = append(out, humanName(k)+": "+strings.Join(textList(row[k]), ", "))
		case a.f.find(value) != nil:
			out = append(out, humanName(k)+": "+a.f.find(value).label)
		default:
			out = append(out, fact{column: col, name: k, value: value}.words())
		}
	}
	return strings.Join(out, ", ")
}

// hasRead reports whether this turn has already looked the rows up.
func (a *actor) hasRead() bool {
	return slices.ContainsFunc(a.f.results, func(r stepResult) bool { return r.tool == nodes.ToolRead })
}

// note adds a fact about the user to a single row, which may not exist yet.
func (a *actor) note() {
	col := a.table.Column(a.op.by)
	if col == nil {
		a.blocked("plan_invalid", "There is no column "+a.op.by+".")
		return
	}
	row := a.singleRow()
	data := map[string]any{col.Name: typed(col, a.op.text, a.f.today)}
	if col.Kind == domain.KindArray {
		data[col.Name] = union(row, col.Name, splitList(a.op.text))
	}
	if row == nil {
		a.call(nodes.ToolCreate, map[string]any{"table": a.table.Table, "data": data})
	} else {
		a.call(nodes.ToolUpdate, map[string]any{"table": a.table.Table, "filters": refFilter([]string{row.ref}), "data": data})
	}
	a.complete(fmt.Sprintf("Noted %s under %s.", a.op.text, strings.ReplaceAll(col.Name, "_", " ")), "")
}

func (a *actor) singleRow() *entity {
	for _, e := range a.f.entities {
		if e.kind == a.table.Type && !e.has("deleted") {
			return e
		}
	}
	return nil
}

// union is the row's list with new entries.
func union(row *entity, column string, add []string) []string {
	var out []string
	if row != nil {
		out = textList(row.data[column])
	}
	for _, w := range add {
		w = trimName(w)
		if w != "" && !slices.ContainsFunc(out, func(h string) bool { return strings.EqualFold(h, w) }) {
			out = append(out, w)
		}
	}
	return out
}

// textList reads a list as JSON or as "a, b".
func textList(v any) []string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, asText(x))
		}
		return out
	case string:
		return splitList(strings.Trim(v, "[]"))
	}
	return nil
}

// save saves drafts exactly as they are. A draft that points at another unsaved
// one is not saved behind the user's back.
func (a *actor) save() {
	if a.table == nil {
		a.blocked("plan_invalid", "There is no table "+a.op.table+".")
		return
	}
	if missing := a.unsavedLinks(); len(missing) > 0 {
		a.askUser(joinList(missing) + " is not saved yet, and this refers to it. Shall I save it too?")
		return
	}
	for _, ref := range a.op.refs {
		a.call(nodes.ToolCreate, map[string]any{"table": a.table.Table, "from_ref": ref})
	}
	a.complete("Saved "+joinList(a.labels(a.op.refs))+".", "")
}

func (a *actor) unsavedLinks() []string {
	var out []string
	for _, ref := range a.op.refs {
		e := a.f.find(ref)
		if e == nil {
			continue
		}
		for _, c := range a.table.Columns {
			linked := a.f.find(asText(e.data[c.Name]))
			if c.FK != nil && linked != nil && linked.pending() && !slices.Contains(a.op.refs, linked.ref) && !slices.Contains(out, linked.label) {
				out = append(out, linked.label)
			}
		}
	}
	return out
}
