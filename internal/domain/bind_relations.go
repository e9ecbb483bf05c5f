package domain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// bindForeignKeys turns foreign keys into references between entity types. A foreign key between tenants' rows must
// include the owner: Postgres checks foreign keys without row-level security, so a plain one accepts another tenant's
// key.
func (b *typeBinder) bindForeignKeys() {
	plain, safe := map[*Column]*Entity{}, map[*Column]bool{b.Owner: true} // the owner column itself cannot reference another user's row
	for _, fk := range b.table.foreignKeys {
		column, target, composite := b.foreignKey(fk)
		if column == nil {
			b.hideKeys(fk)

			continue
		}
		if column.FK == nil || composite {
			column.FK = target
		}
		if owned := target.Entity != nil && target.Entity.Owner != nil; owned && plain[column] == nil {
			plain[column] = target.Entity
		}
		safe[column] = safe[column] || composite
	}
	b.bindReferences()
	for _, c := range b.Columns {
		if target := plain[c]; target != nil && !safe[c] && !b.table.View { // a view or its trigger refuses rows that the user cannot see
			b.refusePlainKey(c, target)
		}
	}
}

// refusePlainKey reports a foreign key that accepts another tenant's row.
func (b *typeBinder) refusePlainKey(c *Column, target *Entity) {
	if target.Owner == target.Key {
		b.problemf("table", "foreign key %s.%s can name another user's %s, and no policy hides that; hide the column, or leave the type %s out",
			b.Table, c.Name, target.Name, target.Type)

		return
	}
	b.problemf("table", "foreign key %s.%s to %s does not carry the owner; make it (%s, %s) REFERENCES %s (%s, %s)",
		b.Table, c.Name, target.Table, b.Owner.nameOr("its owner"), c.Name, target.Table, target.Owner.nameOr("its owner"), target.Key.nameOr("its key"))
}

// hideKeys hides the columns of a foreign key that no single ref can represent.
func (b *typeBinder) hideKeys(fk catalogFK) {
	for _, name := range fk.Columns {
		if c := b.Column(name); c != nil && c.FK == nil && c != b.Owner && b.domain.ByTable(fk.Table) == nil {
			c.FK = &ForeignKey{Table: fk.Table, Column: name, OnDelete: fk.OnDelete}
		}
	}
}

// nameOr is the column's name, or what it is called if there is none.
func (c *Column) nameOr(called string) string {
	if c == nil {
		return called
	}

	return c.Name
}

// foreignKey reads one constraint: the column that holds the other row's key, its target, and whether it includes the
// owner.
func (b *typeBinder) foreignKey(fk catalogFK) (*Column, *ForeignKey, bool) {
	target := &ForeignKey{Entity: b.domain.ByTable(fk.Table), Table: fk.Table, OnDelete: fk.OnDelete}
	at, composite := 0, false
	switch {
	case target.Entity != nil && target.Entity.Key != nil:
		at = slices.Index(fk.Targets, target.Entity.Key.Name) // beside it others may stand, as a workspace's, which only bind it
		for i, name := range fk.Columns {
			composite = composite || i != at && name == b.Owner.nameOr("") && fk.Targets[i] == target.Entity.Owner.nameOr("")
		}
	case len(fk.Columns) != 1:
		at = -1
	}
	if at < 0 { // a reference to anything but the key, such as a code, is a plain value
		return nil, nil, false
	}
	target.Column = fk.Targets[at]

	return b.besideKey(b.Column(fk.Columns[at])), target, composite
}

// besideKey is the column that holds the same as a view's key, if there is one, so that the one can be the row's ref and the other that of
// the row that it extends.
func (b *typeBinder) besideKey(c *Column) *Column {
	from := b.table.from[c.Name]
	for _, other := range b.Columns {
		if c == b.Key && other != c && from != (origin{}) && b.table.from[other.Name] == from {
			return other
		}
	}

	return c
}

// bindReferences adds references that no foreign key can declare, such as those in an array. Nothing checks their
// tenant, so they may only target shared rows.
func (b *typeBinder) bindReferences() {
	references := b.own.references()
	for _, name := range sortedKeys(references) {
		field := "references." + name
		column, target := b.Column(name), b.domain.ByType(references[name])
		switch {
		case column == nil:
			b.problemf(field, "references: column %s does not exist in %s", name, b.Table)
		case target == nil:
			b.problemf(field, "references: there is no entity type %s", references[name])
		case target.Owner != nil && !b.table.View:
			b.problemf(field, "references: %s belongs to tenants, and only a foreign key can hold a reference to it inside one tenant", target.Type)
		case target.Key != nil && target.Key.Kind != cmp.Or(column.Elem, column.Kind):
			b.problemf(field, "references: %s is %s, the key of %s is %s", name, column.Type, target.Type, target.Key.Type)
		default:
			column.FK = &ForeignKey{Entity: target, Table: target.Table, Column: target.Key.nameOr("")}
		}
	}
}

// bindTexts compiles templates and orders and fills the column sets.
func (b *typeBinder) bindTexts() {
	if b.own.Label == "" {
		b.problemf("type", "no label")
	}
	b.Label = b.template("label", b.own.Label)
	b.Display = b.template("display", b.own.Display)
	b.Semantic = b.template("semantic", b.own.Semantic)
	b.Spoken = b.template("spoken", b.own.Spoken)
	if b.Display.IsZero() {
		b.Display = b.Label
	}
	if b.Spoken.IsZero() {
		b.Spoken = b.Display
	}
	b.bindUnits()
	b.checkLabel()
	b.bindFold()
	b.bindOrder()
	b.bindSets()
}

func (b *typeBinder) template(field, source string) Template {
	t, err := ParseTemplate(source)
	if err != nil {
		b.problemf(field, "%s", err)

		return Template{}
	}
	if b.columnsExist(field, t.Columns()...) {
		for _, name := range t.Columns() {
			if b.Column(name).Hidden {
				b.problemf(field, "%s: column %s is hidden from models", field, name)
			}
		}
	}

	return t
}

func (b *typeBinder) bindUnits() {
	u := b.own.Units
	if u == nil || !b.columnsExist("units", u.Column, u.Of) {
		return
	}
	if b.Column(u.Of).Kind != KindNumber {
		b.problemf("units.of", "units: %s is not a number", u.Of)
	}
	b.Units, b.Spoken.units = u, u
}

func (b *typeBinder) bindOrder() {
	for n, term := range b.own.Order {
		field := fmt.Sprintf("order[%d]", n)
		column, direction := cutQuoted(strings.TrimSpace(term))
		if column == "" {
			column, direction, _ = strings.Cut(direction, " ")
		}
		direction = strings.TrimSpace(direction)
		if column == "" || !slices.Contains([]string{"", "asc", "desc"}, direction) {
			b.problemf(field, "order: %q is not a column, or a column and desc", term)

			continue
		}
		if b.columnsExist(field, column) {
			b.Order = append(b.Order, OrderBy{Column: column, Desc: direction == "desc"})
		}
	}
	if columns := b.Label.Columns(); len(b.Order) == 0 && len(columns) > 0 {
		b.Order = []OrderBy{{Column: columns[0]}}
	}
}

// stamps reports whether programs write by themselves when a row was made or changed: people sort and filter by it, but it is no
// part of what they see of a row, unless a template says so.
func (b *typeBinder) stamps(c *Column) bool {
	shown := slices.Concat(b.Display.Columns(), b.Spoken.Columns())

	return (c.Kind == KindTimestamp || c.Kind == KindDate) && !slices.Contains(b.own.Columns, c.Name) && stampName.MatchString(snake(c.Name)) && !slices.Contains(shown, c.Name)
}

// bindSets fills the column sets: summary is what is declared, or everything visible outside the other sets and what
// programs stamp; each further set is the summary plus its own columns.
func (b *typeBinder) bindSets() {
	var always, more []string
	if b.Key != nil {
		always = append(always, b.Key.Name)
	}
	always = appendNew(always, b.Label.Columns()...)
	for _, name := range sortedKeys(b.own.Sets) {
		field := "sets." + name
		if !slices.Contains([]string{"summary", "text"}, name) {
			b.problemf(field, "sets: %s is neither summary nor text (rows are the children)", name)
		}
		b.columnsExist(field, b.own.Sets[name]...)
		if name != "summary" {
			more = append(more, b.own.Sets[name]...)
		}
	}
	summary := slices.Clone(always)
	if declared, ok := b.own.Sets["summary"]; ok {
		summary = appendNew(summary, declared...)
	} else {
		summary = appendNew(summary, namesOf(b.Columns, func(c *Column) bool {
			return !c.Hidden && !slices.Contains(more, c.Name) && !b.stamps(c)
		})...)
	}
	b.Sets["summary"] = summary
	if text, ok := b.own.Sets["text"]; ok {
		b.Sets["text"] = appendNew(slices.Clone(summary), text...)
	}
	if len(b.own.Children) > 0 {
		b.Sets["rows"] = slices.Clone(summary)
	}
}

// bindRelations binds what connects entities: children, match and merge.
func (b *typeBinder) bindRelations() {
	for n, child := range b.own.Children {
		b.bindChild(fmt.Sprintf("children[%d]", n), child)
	}
	if b.own.Match != nil {
		b.bindMatch(b.own.Match)
	}
	if m := b.own.Merge; m != nil && b.columnsExist("merge", slices.Concat(m.By, m.Join, []string{m.Sum}, nonEmpty(m.Unless))...) {
		b.bindMerge(m)
	}
}

func (b *typeBinder) bindMerge(m *Merge) {
	if b.Column(m.Sum).Kind != KindNumber {
		b.problemf("merge.sum", "merge: %s is not a number", m.Sum)
	}
	if m.Unless != "" && b.Column(m.Unless).Kind != KindBool {
		b.problemf("merge.unless", "merge: %s is not a boolean", m.Unless)
	}
	for _, name := range m.Join {
		if c := b.Column(name); c.Kind != KindText || c.Form != "" {
			b.problemf("merge.join", "merge: %s is not a text", name)
		}
	}
	b.Merge = m
}

func (b *typeBinder) bindChild(field string, decl ChildDecl) {
	child := b.domain.ByType(decl.Type)
	if child == nil {
		b.problemf(field, "children: there is no entity type %s", decl.Type)

		return
	}
	var found []*Column
	for _, c := range child.Columns {
		if c.Target() == b.Entity && (decl.Column == "" || decl.Column == c.Name) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		b.problemf(field, "children: %s has no foreign key %sto %s", child.Table, strings.TrimLeft(decl.Column+" ", " "), b.Table)
	case 1:
		if child == b.Entity || child.nests(b.Entity) {
			b.problemf(field, "children: %s would stand inside itself; leave it out, and read such rows by a filter on %s", b.Type, found[0].Name)

			return
		}
		b.Children = append(b.Children, &Child{Entity: child, FK: found[0]})
		child.Part = true
	default:
		b.problemf(field, "children: %s has several foreign keys to %s; name the column", child.Table, b.Table)
	}
}

// nests reports whether rows of another type are nested in this one's, at any depth.
func (e *Entity) nests(other *Entity) bool {
	return slices.ContainsFunc(e.Children, func(c *Child) bool { return c.Entity == other || c.Entity.nests(other) })
}

func (b *typeBinder) bindMatch(decl *MatchDecl) {
	if !b.columnsExist("match", decl.Column, decl.Link) {
		return
	}
	link := b.Column(decl.Link)
	target := link.Target()
	if target == nil {
		b.problemf("match.link", "match: %s refers to no entity type", decl.Link)

		return
	}
	ok := b.columnsExistIn(target, "match", append([]string{decl.Name}, nonEmpty(decl.Aliases, decl.Family)...)...)
	for _, column := range sortedKeys(decl.Copy) {
		ok = b.columnsExist("match.copy", column) && ok
		ok = b.columnsExistIn(target, "match.copy", decl.Copy[column]) && ok
	}
	if ok {
		b.Match = &Match{*decl, link, target}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// nonEmpty leaves out the optional names that were not given.
func nonEmpty(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// bindFold marks columns of free-form words.
func (b *typeBinder) bindFold() {
	for n, name := range b.own.Fold {
		field := fmt.Sprintf("fold[%d]", n)
		if !b.columnsExist(field, name) {
			continue
		}
		c := b.Column(name)
		if words := c.Kind == KindText || c.Elem == KindText; !words || len(c.Enum) > 0 || c.Form != "" || c.FK != nil || c == b.Key || c.Generated {
			b.problemf(field, "fold: %s does not hold free words", name)

			continue
		}
		c.Fold = true
	}
}

// bindLists closes the lists of words that no constraint states.
func (b *typeBinder) bindLists() {
	for _, name := range sortedKeys(b.own.Lists) {
		if !b.columnsExist("lists."+name, name) {
			continue
		}
		switch c := b.Column(name); {
		case len(b.own.Lists[name]) == 0:
			b.problemf("lists."+name, "lists: %s has no words", name)
		case !c.FreeText():
			b.problemf("lists."+name, "lists: %s does not hold words, or a constraint lists them", name)
		default:
			c.Enum = b.own.Lists[name]
		}
	}
}

// checkLabel keeps keys out of labels, which are rendered before keys are replaced by refs.
func (b *typeBinder) checkLabel() {
	for _, name := range b.Label.Columns() {
		c, prints := b.Column(name), func(p part) bool { return p.kind == partValue && p.column == name }
		if c == nil || !slices.ContainsFunc(b.Label.named, prints) { // it is tested, or its label printed
			continue
		}
		if c == b.Key {
			b.problemf("label", "label: %s is the key, which no model sees", name)
		} else if c.FK != nil {
			b.problemf("label", "label: %s is a key; {_%s_label} is the name of what it refers to", name, name)
		}
	}
}
