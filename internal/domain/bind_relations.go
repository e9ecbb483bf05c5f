package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// bindForeignKeys turns foreign keys into references between entity types. A foreign key between tenants' rows must
// include the owner: Postgres checks foreign keys without row-level security, so a plain one accepts another tenant's
// key.
func (b *binder) bindForeignKeys(i int, e *Entity) {
	table := b.tables[e.Type]
	plain := map[*Column]*Entity{}
	for _, fk := range table.foreignKeys {
		column, target, composite := b.foreignKey(e, fk)
		if column == nil {
			b.hideKeys(e, fk)

			continue
		}
		if column.FK == nil || composite {
			column.FK = target
		}
		if target.Entity == nil {
			continue
		}
		switch {
		case composite, column == e.Owner: // the owner column itself cannot reference another user's row
			plain[column] = nil
		case table.view: // its view or trigger refuses rows that the user cannot see
		case target.Entity.Owner != nil:
			if _, seen := plain[column]; !seen {
				plain[column] = target.Entity
			}
		}
	}
	b.bindReferences(i, e)
	for _, c := range e.Columns {
		switch target := plain[c]; {
		case target == nil:
		case target.Owner == target.Key:
			b.entityProblemf(i, "table", "foreign key %s.%s can name another user's %s, and no policy hides that; hide the column, or leave the type %s out",
				e.Table, c.Name, target.Name, target.Type)
		default:
			b.entityProblemf(i, "table", "foreign key %s.%s to %s does not carry the owner; make it (%s, %s) REFERENCES %s (%s, %s)",
				e.Table, c.Name, target.Table, e.Owner.nameOr("its owner"), c.Name, target.Table, target.Owner.nameOr("its owner"), target.Key.nameOr("its key"))
		}
	}
}

// hideKeys hides the columns of a foreign key that no single ref can represent.
func (b *binder) hideKeys(e *Entity, fk catalogFK) {
	for _, name := range fk.columns {
		if c := e.Column(name); c != nil && c.FK == nil && c != e.Owner && b.byTable(fk.table) == nil {
			c.FK = &ForeignKey{Table: fk.table, Column: name, OnDelete: fk.onDelete}
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
func (b *binder) foreignKey(e *Entity, fk catalogFK) (*Column, *ForeignKey, bool) {
	target := &ForeignKey{Table: fk.table, OnDelete: fk.onDelete}
	if fk.schema == b.decl.Schema {
		target.Entity = b.byTable(fk.table)
	} else {
		target.Table = fk.schema + "." + fk.table
	}
	rest, restTarget, composite := fk.columns, fk.targets, false
	if e.Owner != nil && target.Entity != nil && target.Entity.Owner != nil {
		at := slices.Index(fk.columns, e.Owner.Name)
		if at >= 0 && fk.targets[at] == target.Entity.Owner.Name && len(fk.columns) == 2 {
			rest, restTarget, composite = fk.columns[1-at:2-at], fk.targets[1-at:2-at], true
		}
	}
	if len(rest) != 1 {
		return nil, nil, false
	}
	target.Column = restTarget[0]

	// A reference to anything but the key, such as a code, is a plain value.
	if target.Entity != nil && target.Entity.Key != nil && target.Entity.Key.Name != target.Column {
		return nil, nil, false
	}

	return e.Column(rest[0]), target, composite
}

// bindReferences adds references that no foreign key can declare, such as those in an array. Nothing checks their
// tenant, so they may only target shared rows.
func (b *binder) bindReferences(i int, e *Entity) {
	for _, name := range sortedKeys(b.decl.Entities[i].References) {
		field := "references." + name
		column, target := e.Column(name), b.byType(b.decl.Entities[i].References[name])
		switch {
		case column == nil:
			b.entityProblemf(i, field, "references: column %s does not exist in %s", name, e.Table)
		case target == nil:
			b.entityProblemf(i, field, "references: there is no entity type %s", b.decl.Entities[i].References[name])
		case target.Owner != nil && !b.tables[e.Type].view:
			b.entityProblemf(i, field, "references: %s belongs to tenants, and only a foreign key can hold a reference to it inside one tenant", target.Type)
		case target.Key != nil && target.Key.Type != strings.TrimSuffix(column.Type, "[]"):
			b.entityProblemf(i, field, "references: %s is %s, the key of %s is %s", name, column.Type, target.Type, target.Key.Type)
		default:
			column.FK = &ForeignKey{Entity: target, Table: target.Table, Column: target.Key.nameOr("")}
		}
	}
}

// bindTexts compiles templates and orders and fills the column sets.
func (b *binder) bindTexts(i int, e *Entity) {
	decl := &b.decl.Entities[i]
	label := decl.Label
	if label == "" {
		b.entityProblemf(i, "type", "no label")
	}
	e.Label = b.template(i, "label", e, label)
	e.Display = b.template(i, "display", e, decl.Display)
	e.Semantic = b.template(i, "semantic", e, decl.Semantic)
	e.Spoken = b.template(i, "spoken", e, decl.Spoken)
	if e.Display.IsZero() {
		e.Display = e.Label
	}
	if e.Spoken.IsZero() {
		e.Spoken = e.Display
	}
	b.checkLabel(i, e)
	b.bindFold(i, e)
	b.bindOrder(i, e)
	b.bindSets(i, e)
}

func (b *binder) template(i int, field string, e *Entity, source string) Template {
	t, err := ParseTemplate(source)
	if err != nil {
		b.entityProblemf(i, field, "%s", err)

		return Template{}
	}
	if b.columnsExist(i, field, e, t.Columns()...) {
		for _, name := range t.Columns() {
			if e.Column(name).Hidden {
				b.entityProblemf(i, field, "%s: column %s is hidden from models", field, name)
			}
		}
	}

	return t
}

func (b *binder) bindOrder(i int, e *Entity) {
	for n, term := range b.decl.Entities[i].Order {
		field := fmt.Sprintf("order[%d]", n)
		column, direction := cutQuoted(strings.TrimSpace(term))
		if column == "" {
			column, direction, _ = strings.Cut(direction, " ")
		}
		direction = strings.TrimSpace(direction)
		if column == "" || !slices.Contains([]string{"", "asc", "desc"}, direction) {
			b.entityProblemf(i, field, "order: %q is not a column, or a column and desc", term)

			continue
		}
		if b.columnsExist(i, field, e, column) {
			e.Order = append(e.Order, OrderBy{Column: column, Desc: direction == "desc"})
		}
	}
	if columns := e.Label.Columns(); len(e.Order) == 0 && len(columns) > 0 {
		e.Order = []OrderBy{{Column: columns[0]}}
	}
}

// bindSets fills the column sets: summary is what is declared, or everything visible outside the other sets; each
// further set is the summary plus its own columns.
func (b *binder) bindSets(i int, e *Entity) {
	decl := &b.decl.Entities[i]
	var always, more []string
	if e.Key != nil {
		always = append(always, e.Key.Name)
	}
	always = appendNew(always, e.Label.Columns()...)
	for _, name := range sortedKeys(decl.Sets) {
		field := "sets." + name
		if !slices.Contains([]string{"summary", "text"}, name) {
			b.entityProblemf(i, field, "sets: %s is neither summary nor text (rows are the children)", name)
		}
		b.columnsExist(i, field, e, decl.Sets[name]...)
		if name != "summary" {
			more = append(more, decl.Sets[name]...)
		}
	}
	summary := slices.Clone(always)
	if declared, ok := decl.Sets["summary"]; ok {
		summary = appendNew(summary, declared...)
	} else {
		summary = appendNew(summary, visible(e, more)...)
	}
	e.Sets["summary"] = summary
	if text, ok := decl.Sets["text"]; ok {
		e.Sets["text"] = appendNew(slices.Clone(summary), text...)
	}
	if len(decl.Children) > 0 {
		e.Sets["rows"] = slices.Clone(summary)
	}
}

func visible(e *Entity, without []string) []string {
	var names []string
	for _, c := range e.Columns {
		if !c.Hidden && !slices.Contains(without, c.Name) {
			names = append(names, c.Name)
		}
	}

	return names
}

// bindRelations binds what connects entities: children, match and merge.
func (b *binder) bindRelations(i int, e *Entity) {
	decl := &b.decl.Entities[i]
	for n, child := range decl.Children {
		b.bindChild(i, fmt.Sprintf("children[%d]", n), e, child)
	}
	if decl.Match != nil {
		b.bindMatch(i, e, decl.Match)
	}
	if m := decl.Merge; m != nil && b.columnsExist(i, "merge", e, slices.Concat(m.By, m.Join, []string{m.Sum}, given(m.Unless))...) {
		b.bindMerge(i, e, m)
	}
}

func (b *binder) bindMerge(i int, e *Entity, m *Merge) {
	if e.Column(m.Sum).Kind != KindNumber {
		b.entityProblemf(i, "merge.sum", "merge: %s is not a number", m.Sum)
	}
	if m.Unless != "" && e.Column(m.Unless).Kind != KindBool {
		b.entityProblemf(i, "merge.unless", "merge: %s is not a boolean", m.Unless)
	}
	for _, name := range m.Join {
		if e.Column(name).Kind != KindText {
			b.entityProblemf(i, "merge.join", "merge: %s is not a text", name)
		}
	}
	e.Merge = m
}

func (b *binder) bindChild(i int, field string, e *Entity, decl ChildDecl) {
	child := b.byType(decl.Type)
	if child == nil {
		b.entityProblemf(i, field, "children: there is no entity type %s", decl.Type)

		return
	}
	var found []*Column
	for _, c := range child.Columns {
		if c.Target() == e && (decl.Column == "" || decl.Column == c.Name) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		b.entityProblemf(i, field, "children: %s has no foreign key %sto %s", child.Table, strings.TrimLeft(decl.Column+" ", " "), e.Table)
	case 1:
		if child == e || child.holds(e) {
			b.entityProblemf(i, field, "children: %s would stand inside itself; leave it out, and read such rows by a filter on %s", e.Type, found[0].Name)

			return
		}
		e.Children = append(e.Children, &Child{Entity: child, FK: found[0]})
	default:
		b.entityProblemf(i, field, "children: %s has several foreign keys to %s; name the column", child.Table, e.Table)
	}
}

// holds reports whether rows of another type are nested in this one's, at any depth.
func (e *Entity) holds(other *Entity) bool {
	return slices.ContainsFunc(e.Children, func(c *Child) bool { return c.Entity == other || c.Entity.holds(other) })
}

func (b *binder) bindMatch(i int, e *Entity, decl *MatchDecl) {
	if !b.columnsExist(i, "match", e, decl.Column, decl.Link) {
		return
	}
	link := e.Column(decl.Link)
	target := link.Target()
	if target == nil {
		b.entityProblemf(i, "match.link", "match: %s refers to no entity type", decl.Link)

		return
	}
	ok := b.columnsExist(i, "match", target, append([]string{decl.Name}, given(decl.Aliases, decl.Family)...)...)
	for _, column := range sortedKeys(decl.Copy) {
		ok = b.columnsExist(i, "match.copy", e, column) && ok
		ok = b.columnsExist(i, "match.copy", target, decl.Copy[column]) && ok
	}
	if ok {
		e.Match = &Match{
			Column: decl.Column, Link: link, Target: target, TargetName: decl.Name,
			TargetAliases: decl.Aliases, TargetFamily: decl.Family, Copy: decl.Copy,
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// given leaves out the optional names that were not given.
func given(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
