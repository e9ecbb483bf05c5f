package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// partRef is the key under which a part of a saved thing keeps its ref while it
// is changed.
const partRef = "_ref"

// whole is the saved thing that a step is about, with all that was read of it. It
// answers the step itself when there is none.
func (a *actor) whole() *entity {
	if len(a.op.refs) > 0 {
		if e := a.f.find(a.op.refs[0]); e != nil && len(e.data) > 0 {
			return e
		}
		a.blocked("insufficient_info", "Its rows are not in view.")
		return nil
	}
	return a.pick(a.table, a.op.name)
}

// contentOf is a saved thing as content: what can be written, its lists, and its
// parts under their table's name.
func (a *actor) contentOf(c *composer, e *entity) map[string]any {
	content := map[string]any{}
	card := a.f.entityCard(e)
	for k, v := range e.data {
		if col := c.row.Column(k); col != nil && writable(col) {
			content[k] = v
		}
	}
	for _, t := range card.texts {
		if t.column != nil && writable(t.column) {
			content[t.name] = t.value()
		}
	}
	var parts []any
	for _, x := range e.parts {
		child := a.f.lex.byType(x.kind)
		if child == nil || child.Table != c.d.Child {
			continue
		}
		part := map[string]any{partRef: x.ref}
		for k, v := range a.f.readPart(child, firstLine(x.text)) {
			if col := child.Column(k); col != nil && writable(col) && !copied(child, k) {
				part[k] = v
			}
		}
		parts = append(parts, part)
	}
	content[c.d.Child] = parts
	return clone(content)
}

func writable(c *domain.Column) bool { return !c.Hidden && !c.Generated && c.FK == nil }

// copied reports whether a write fills the column from the canonical row.
func copied(e *domain.Entity, column string) bool {
	return e.Match != nil && e.Match.Copy[column] != ""
}

func (t text) value() any {
	if t.column.Kind != domain.KindArray {
		return strings.Join(t.items, "\n")
	}
	list := make([]any, 0, len(t.items))
	for _, item := range t.items {
		list = append(list, item)
	}
	return list
}

// edit changes a saved thing and its parts, row by row, in one decision.
func (a *actor) edit() {
	c := a.f.composer()
	if c == nil || a.table != c.row {
		a.blocked("plan_invalid", "This domain declares no changes for "+a.op.table+".")
		return
	}
	e := a.whole()
	if e == nil {
		return
	}
	before := a.contentOf(c, e)
	after, changed := c.revise(before, a.op.text)
	if !changed {
		a.complete("I do not know how to do that to "+e.label+"; it is unchanged.", "")
		return
	}
	said := a.editParts(c, e, before, after)
	said = append(said, a.editRow(c, e, before, after)...)
	a.complete("Changed "+e.label+": "+strings.Join(said, "; ")+".", "")
}

// editRow updates the row's own columns and says what is different.
func (a *actor) editRow(c *composer, e *entity, before, after map[string]any) []string {
	data := map[string]any{}
	var said []string
	for _, k := range sortedKeys(after) {
		if k == c.d.Child || compact(after[k]) == compact(before[k]) {
			continue
		}
		data[k] = after[k]
		switch {
		case k == c.d.Title:
			said = append(said, "now called "+asText(after[k]))
		case k == c.d.Steps:
			said = append(said, "the method is adjusted")
		case !isList(after[k]) && !isLongText(asText(after[k])):
			said = append(said, fact{column: c.row.Column(k), name: k, value: asText(after[k])}.words())
		}
	}
	if len(data) > 0 {
		a.call(nodes.ToolUpdate, map[string]any{"table": c.row.Table, "filters": refFilter([]string{e.ref}), "data": data})
	}
	return said
}

// editParts creates, updates and deletes the rows of parts that differ.
func (a *actor) editParts(c *composer, e *entity, before, after map[string]any) []string {
	child := a.f.lex.byTable(c.d.Child)
	old := map[string]map[string]any{}
	for _, v := range c.children(before) {
		part, _ := v.(map[string]any)
		old[asText(part[partRef])] = part
	}
	var said []string
	for _, v := range c.children(after) {
		part, _ := v.(map[string]any)
		ref := asText(part[partRef])
		delete(part, partRef)
		was, known := old[ref]
		delete(old, ref)
		switch {
		case !known:
			said = append(said, "added "+a.f.partText(child, part))
			a.createPart(child, e, part)
		default:
			said = append(said, a.updatePart(c, child, ref, was, part)...)
		}
	}
	for _, ref := range sortedRefs(old) {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.HasSuffix(s, " instead of "+asText(old[ref][c.d.Item])) }) {
			said = append(said, "without "+asText(old[ref][c.d.Item]))
		}
		a.call(nodes.ToolDelete, map[string]any{"table": child.Table, "filters": refFilter([]string{ref})})
	}
	return said
}

func sortedRefs(parts map[string]map[string]any) []string {
	refs := make([]string, 0, len(parts))
	for ref := range parts {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	return refs
}

func (a *actor) createPart(child *domain.Entity, parent *entity, part map[string]any) {
	for _, link := range a.table.Children {
		if link.Entity == child {
			part[link.FK.Name] = parent.ref
		}
	}
	a.call(nodes.ToolCreate, map[string]any{"table": child.Table, "data": part})
}

func (a *actor) updatePart(c *composer, child *domain.Entity, ref string, was, part map[string]any) []string {
	data := map[string]any{}
	for _, k := range sortedKeys(part) {
		if compact(part[k]) != compact(was[k]) {
			data[k] = part[k]
		}
	}
	if len(data) == 0 {
		return nil
	}
	a.call(nodes.ToolUpdate, map[string]any{"table": child.Table, "filters": refFilter([]string{ref}), "data": data})
	if _, renamed := data[c.d.Item]; renamed {
		return []string{asText(part[c.d.Item]) + " instead of " + asText(was[c.d.Item])}
	}
	return []string{a.f.partText(child, part)}
}

// vary drafts a variation of a saved thing. Amounts are multiplied by the
// calculator, not by this model.
func (a *actor) vary() {
	c := a.f.composer()
	if c == nil || a.table != c.row {
		a.blocked("plan_invalid", "This domain declares no variations of "+a.op.table+".")
		return
	}
	e := a.whole()
	if e == nil {
		return
	}
	before := a.contentOf(c, e)
	for _, v := range c.children(before) {
		part, _ := v.(map[string]any)
		delete(part, partRef)
	}
	products := a.products()
	var sums []string
	c.multiply = func(n, by, over float64) float64 {
		sum := product(n, by, over)
		sums = append(sums, sum)
		if result, ok := products[sum]; ok {
			return result
		}
		return round(n * by / over)
	}
	after, changed := c.revise(before, a.op.text)
	if !changed {
		a.complete("I do not know how to do that to "+e.label+"; it is unchanged.", "")
		return
	}
	if len(sums) > 0 && len(products) == 0 && len(a.mine()) == 0 {
		a.call(nodes.ToolCalculate, map[string]any{"expressions": sums[:min(len(sums), maxSums)]})
		return
	}
	a.finishVariation(c, e, before, after)
}

// maxSums is how many expressions one call may have.
const maxSums = 20

func product(n, by, over float64) string {
	sum := asText(n) + " * " + asText(by)
	if over != 1 {
		sum += " / " + asText(over)
	}
	return sum
}

// finishVariation names the draft so that it is not mistaken for what it was
// made from.
func (a *actor) finishVariation(c *composer, e *entity, before, after map[string]any) {
	if title := asText(after[c.d.Title]); title == asText(before[c.d.Title]) {
		after[c.d.Title] = title + " (variation)"
		if columns := c.scaleColumns(); len(columns) > 0 && asText(after[columns[0]]) != asText(before[columns[0]]) {
			after[c.d.Title] = title + " for " + asText(after[columns[0]])
		}
	}
	for _, col := range c.row.Columns {
		if col.FK != nil && col.FK.Entity == c.row {
			after[col.Name] = e.ref
		}
	}
	a.call(nodes.ToolGenerate, map[string]any{"creates": []map[string]any{{"type": c.row.Type, "content": after}}})
	a.complete("Drafted "+asText(after[c.d.Title])+" from "+e.label+", which stays as it is.", "")
}

// products are the results of this step's calculation, by expression.
func (a *actor) products() map[string]float64 {
	out := map[string]float64{}
	for _, r := range a.mine() {
		_, list, ok := strings.Cut(r.text, ": [")
		var rows []map[string]any
		if r.tool != nodes.ToolCalculate || !ok || json.NewDecoder(strings.NewReader("["+list)).Decode(&rows) != nil {
			continue
		}
		for _, row := range rows {
			if n, isNumber := number(asText(row["result"])); isNumber {
				out[asText(row["expression"])] = n
			}
		}
	}
	return out
}
