package domain

import (
	"fmt"
	"slices"
	"strings"
)

func (d *EntityDecl) may(verb Verb) bool { return slices.Contains(d.Writes, verb) }

// checkReading requires what lets tenants read, and what separates them.
func (b *binder) checkReading(i int, e *Entity, table *catalogTable) {
	if !b.cat.tenantRole {
		return
	}
	if !table.TenantSelect {
		b.entityProblemf(i, "table", "alfred_tenant may not read %s: GRANT SELECT", e.Table)
	}
	switch {
	case e.Reference:
	case table.view && !table.barrier:
		b.entityProblemf(i, "table", "view %s has no security_barrier, so that a condition may look at rows of others", e.Table)
	case table.view:
	case !table.RLS:
		b.entityProblemf(i, "table", "row-level security is not enabled on %s", e.Table)
	case table.Policies == 0:
		b.entityProblemf(i, "table", "%s has no policy for alfred_tenant, so that it sees no row", e.Table)
	}
}

// bindWrites adopts what may be written, which is nothing unless declared, and requires exactly the grants for that.
func (b *binder) bindWrites(i int, e *Entity) {
	decl, table := &b.decl.Entities[i], b.tables[e.Type]
	for n, verb := range decl.Writes {
		if !slices.Contains(Verbs(), verb) {
			b.entityProblemf(i, fmt.Sprintf("writes[%d]", n), "writes: %q is none of create, update, delete", verb)
		}
	}
	for _, verb := range Verbs() {
		if decl.may(verb) {
			e.Writes = append(e.Writes, verb)
		}
	}
	if e.Reference && len(e.Writes) > 0 {
		b.entityProblemf(i, "writes", "writes: %s is shared by all users, and nothing of it may be written", e.Table)
	}
	sets := e.May(Create) || e.May(Update)
	if sets && len(decl.Columns) == 0 {
		b.entityProblemf(i, "writes", "writes: no columns; name under columns those that may be written")
	} else if !sets && len(decl.Columns) > 0 {
		b.entityProblemf(i, "columns", "columns: they are written by create and update, and writes allows neither")
	}
	b.bindWritable(i, e)
	b.bindApprove(i, e)
	if e.May(Create) {
		b.checkCreatable(i, e)
	}
	if b.cat.tenantRole {
		b.checkGrants(i, e, table)
	}
}

// bindApprove adopts what needs the user's approval. Creating rows harms no existing ones.
func (b *binder) bindApprove(i int, e *Entity) {
	for n, verb := range b.decl.Entities[i].Approve {
		switch field := fmt.Sprintf("approve[%d]", n); {
		case verb != Update && verb != Delete:
			b.entityProblemf(i, field, "approve: %q is none of update, delete", verb)
		case !e.May(verb):
			b.entityProblemf(i, field, "approve: writes does not allow %s, so that nobody can agree to it", verb)
		default:
			e.Approve = append(e.Approve, verb)
		}
	}
}

func (b *binder) bindWritable(i int, e *Entity) {
	for n, name := range b.decl.Entities[i].Columns {
		field := fmt.Sprintf("columns[%d]", n)
		if !b.columnsExist(i, field, e, name) {
			continue
		}
		switch c := e.Column(name); {
		case c == e.Key:
			b.entityProblemf(i, field, "columns: %s is the key, which nobody writes", name)
		case c == e.Owner:
			b.entityProblemf(i, field, "columns: %s is the owner, which nobody writes", name)
		case c.Generated:
			b.entityProblemf(i, field, "columns: %s is computed", name)
		case c.Hidden:
			b.entityProblemf(i, field, "columns: %s is hidden from models", name)
		default:
			c.Writable = true
		}
	}
	if m := e.Match; m != nil && (e.May(Create) || e.May(Update)) {
		for _, name := range append(sortedKeys(m.Copy), m.Link.Name) {
			if !e.Column(name).Writable {
				b.entityProblemf(i, "match", "match: it fills %s, which columns does not name", name)
			}
		}
	}
	if (e.Merge != nil || e.Singleton) && e.May(Create) && !e.May(Update) {
		b.entityProblemf(i, "writes", "writes: creating a row may add to one that is there, so update has to be allowed too")
	}
}

// checkCreatable finds columns that prevent rows from being created.
func (b *binder) checkCreatable(i int, e *Entity) {
	for _, c := range e.Columns {
		if !c.Nullable && !c.HasDefault && !c.Generated && c != e.Key && c != e.Owner && !c.Writable && !b.unfolded(e, c) {
			b.entityProblemf(i, "columns", "columns: no row can be created without %s, which has no default", c.Name)
		}
	}
}

// unfolded reports whether a view's trigger fills the column from a composite key.
func (b *binder) unfolded(e *Entity, c *Column) bool {
	table := b.tables[e.Type]

	return slices.ContainsFunc(e.Columns, func(key *Column) bool {
		return key.Writable && key.FK != nil && table.view && table.from[key.Name] == (origin{}) &&
			slices.ContainsFunc(table.foreignKeys, func(fk catalogFK) bool { return fk.table == key.FK.Table && slices.Contains(fk.columns, c.Name) })
	})
}

// checkGrants compares alfred_tenant's privileges with the declaration: a missing one fails when a user needs it, an
// extra one bypasses the declaration.
func (b *binder) checkGrants(i int, e *Entity, table *catalogTable) {
	var columns []string
	for _, c := range e.Columns {
		if c.Writable {
			columns = append(columns, c.Name)
		}
	}
	for _, right := range []struct {
		verb Verb
		name string
		have []string
	}{{Create, "INSERT", table.insertable}, {Update, "UPDATE", table.updatable}} {
		want := columns
		if !e.May(right.verb) {
			want = nil
		}
		if missing := without(want, right.have); len(missing) > 0 {
			b.entityProblemf(i, "writes", "alfred_tenant may not write %s of %s: GRANT %s (%s)",
				strings.Join(missing, ", "), e.Table, right.name, strings.Join(missing, ", "))
		}
		if extra := b.harmful(e, without(right.have, want)); len(extra) > 0 {
			b.entityProblemf(i, "writes", "alfred_tenant may %s %s of %s, which the declaration does not allow: REVOKE %s",
				right.verb, strings.Join(extra, ", "), e.Table, right.name)
		}
	}
	switch {
	case e.May(Delete) && !table.TenantDelete:
		b.entityProblemf(i, "writes", "alfred_tenant may not delete from %s: GRANT DELETE", e.Table)
	case !e.May(Delete) && table.TenantDelete:
		b.entityProblemf(i, "writes", "alfred_tenant may delete from %s, which the declaration does not allow: REVOKE DELETE", e.Table)
	}
}

// harmful leaves out columns that nobody can write whatever the privileges.
func (*binder) harmful(e *Entity, columns []string) []string {
	return slices.DeleteFunc(columns, func(name string) bool { return e.Column(name).Generated })
}

// without returns the elements of list that are not in other, in order.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
}
