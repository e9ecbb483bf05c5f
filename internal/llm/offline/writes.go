package offline

import (
	"maps"
	"slices"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// await plans a write of what is not known yet: it is looked up by its name, or the user says which one is meant.
func (p *planner) await(writes, of *domain.Entity, detail args) {
	r := p.c.about
	if r.several {
		p.step(vocab.StepWrite, writes).ask(whichOne(r.entities))
		return
	}
	if names := splitList(r.name); len(names) > 1 { // or one name that has them all
		some := args{"or_filters": slices.Concat(mapped(append(names, r.name), func(name string) []filter { return nameFilters(of, trimName(name)) })...)}
		maps.Copy(some, detail)
		p.read(of, some)
	} else {
		p.read(of, detail, nameFilters(of, r.name)...)
	}
	p.step(vocab.StepWrite, writes).giveUp(notThere, "I found no "+of.Name+" called "+r.name+".")
}

func (p *planner) create(e *domain.Entity, rows []map[string]any, refs ...string) {
	p.step(vocab.StepWrite, e, refs...).call(vocab.ToolCreate, args{"table": e.Table, "data": rows})
}

// add creates rows by their own names, or by those of things that are known, whose parts are read first.
func (p *planner) add() {
	c, r := p.c, p.c.about
	unread := filtered(r.entities, func(e *nodes.Entity) bool {
		kind := p.lex.domain.ByType(e.Type)
		return len(kind.Children) > 0 && len(parts(p.lex, e)) == 0 && !p.hasRead(kind)
	})
	switch {
	case c.kind == nil || c.object == "" || labelColumn(c.kind) == nil: // Understand has asked, or nothing can be said of such rows
	case c.kind == p.lex.draftable:
		p.draft()
	case r.text == "", len(r.entities) == 0 && r.name == "": // a row may be called "it"
		p.create(c.kind, p.newRows(c, c.kind))
	case len(r.entities) == 0 || r.several:
		p.await(c.kind, p.lex.wholes[0], inFull)
	case len(unread) > 0:
		p.readThese(unread)
		p.step(vocab.StepWrite, c.kind, refsOf(r.entities)...)
	default:
		p.create(c.kind, p.rowsLike(r.entities, c.kind), refsOf(r.entities)...)
	}
}

// part is one of the rows that a thing consists of.
type part struct {
	kind *domain.Entity
	row  map[string]any
}

func parts(lex *lexicon, e *nodes.Entity) []part {
	var out []part
	for _, child := range lex.domain.ByType(e.Type).Children {
		rows := e.Children[child.Entity.Table]
		if e.Pending {
			rows = objects(e.Draft[child.Entity.Table])
		}
		out = append(out, mapped(rows, func(row map[string]any) part { return part{child.Entity, row} })...)
	}

	return out
}

// rowsLike are new rows that are called and counted like the parts of things or, without parts, like the things.
func (p *planner) rowsLike(things []*nodes.Entity, kind *domain.Entity) []map[string]any {
	var rows []map[string]any
	for _, e := range things {
		of := parts(p.lex, e)
		if len(of) == 0 {
			rows = append(rows, p.defaults(kind, map[string]any{labelColumn(kind).Name: e.Label}))
		}
		for _, x := range of {
			rows = append(rows, p.defaults(kind, x.copyTo(kind)))
		}
	}

	return rows
}

// copyTo is the part's name and amount in the columns of another type.
func (x part) copyTo(kind *domain.Entity) map[string]any {
	row := map[string]any{}
	for _, same := range []func(*domain.Entity) *domain.Column{labelColumn, quantityColumn, unitColumn} {
		if from, to := same(x.kind), same(kind); from != nil && to != nil && x.row[from.Name] != nil {
			row[to.Name] = x.row[from.Name]
		}
	}

	return row
}

// change updates or deletes stored rows: by a known ref, as a set, or by name after a read, so that no ref is ever
// invented.
func (p *planner) change() {
	c, r := p.c, p.c.about
	e := p.typeFor(r)
	if e == nil {
		return
	}
	var set map[string]any // nil deletes
	if c.is(verbChange) {
		set = p.newValues(c, e)
		if len(set) == 0 {
			return
		}
	}
	drafts := filtered(r.entities, isPending)
	switch {
	case len(drafts) > 0 && set != nil:
		p.redraft(drafts[0], func(content map[string]any) { maps.Copy(content, set) })
	case p.isSet(c):
		if c.rows.name == "" { // a condition is never left out
			p.write(e, set, c.rows.where...)
		}
	case len(r.entities) == 0 && trimName(p.lex.cutTypes(r.name, e)) == "": // neither named nor all of them
	case len(r.entities) == 0 || r.several:
		p.await(e, e, nil)
	default:
		for _, group := range byKind(filtered(r.entities, isStored)) {
			p.write(p.typeOf(group), set, refFilter(refsOf(group)...)).refs = refsOf(group)
		}
	}
}

// write sets values of the rows that fit, or deletes them if there are none to set.
func (p *planner) write(e *domain.Entity, set map[string]any, where ...filter) *step {
	st, arguments := p.step(vocab.StepWrite, e), args{"table": e.Table, "filters": append([]filter{}, where...)}
	if set == nil {
		return st.call(vocab.ToolDelete, arguments)
	}
	arguments["data"] = set

	return st.call(vocab.ToolUpdate, arguments)
}

// note adds a fact about the user to a singleton row, which may not exist yet.
func (p *planner) note() {
	c, column := p.c, p.c.column
	if !p.hasRead(c.kind) {
		p.read(c.kind, nil)
		p.step(vocab.StepWrite, c.kind)

		return
	}
	row := first(p.rows(c.kind))
	set := map[string]any{column.Name: typed(column, c.value, p.Today)}
	if column.Kind == domain.KindArray {
		var known []string
		if row != nil {
			known = texts(row.Columns[column.Name])
		}
		set[column.Name] = union(known, mapped(splitList(c.value), trimName))
	}
	if row == nil {
		p.create(c.kind, []map[string]any{set})
	} else {
		p.write(c.kind, set, refFilter(row.Ref))
	}
}

// save plans one write per type; referencing types come after those they reference. One draft may get a new name first.
func (p *planner) save() {
	drafts := filtered(p.c.about.entities, isPending)
	if p.c.value != "" {
		if len(drafts) != 1 || labelColumn(p.typeOf(drafts)) == nil {
			return
		}
		p.redraft(drafts[0], func(content map[string]any) { content[labelColumn(p.typeOf(drafts)).Name] = p.c.value })
	}
	isLate := func(e *nodes.Entity) int { return btoi(p.lex.schedule != nil && e.Type == p.lex.schedule.Type) }
	slices.SortStableFunc(drafts, func(a, b *nodes.Entity) int { return isLate(a) - isLate(b) })
	for _, group := range byKind(drafts) {
		p.saveThese(group)
	}
}

// saveThese saves drafts of one type unchanged. One that references another unsaved draft is not saved without asking.
func (p *planner) saveThese(drafts []*nodes.Entity) {
	kind := p.typeOf(drafts)
	st := p.step(vocab.StepWrite, kind, refsOf(drafts)...)
	for _, e := range drafts {
		if linked := p.unsavedLink(e); linked != nil {
			st.calls = nil
			st.ask(linked.Label + " is not saved yet, and this refers to it. Shall I save it too?")

			return
		}
		st.call(vocab.ToolCreate, args{"table": kind.Table, "from_ref": e.Ref})
	}
}

// unsavedLink is a draft that another refers to and that is not saved along with it; nil for none.
func (p *planner) unsavedLink(draft *nodes.Entity) *nodes.Entity {
	for _, v := range draft.Draft {
		if linked := p.refs[clean.Value(v)]; linked != nil && linked.Pending && !slices.Contains(p.c.about.entities, linked) {
			return linked
		}
	}

	return nil
}
