package domain

import (
	"fmt"
	"slices"
	"strings"
)

func (d *EntityDecl) may(verb Verb) bool { return slices.Contains(d.Writes, verb) }

// checkReading requires what lets tenants read, and what separates them.
func (b *typeBinder) checkReading() {
	if !b.cat.tenantRole {
		return
	}
	if !b.table.TenantSelect {
		b.problemf("table", "alfred_tenant may not read %s: GRANT SELECT", b.Table)
	}
	switch {
	case b.Reference:
	case b.table.View && !b.table.Barrier:
		b.problemf("table", "view %s has no security_barrier, so that a condition may look at rows of others", b.Table)
	case b.table.View:
	case !b.table.RLS:
		b.problemf("table", "row-level security is not enabled on %s", b.Table)
	case b.table.Policies == 0:
		b.problemf("table", "%s has no policy for alfred_tenant, so that it sees no row", b.Table)
	}
}

// bindWrites adopts what may be written, nothing unless it is declared, and requires exactly the grants for it.
func (b *typeBinder) bindWrites() {
	for n, verb := range b.own.Writes {
		if !slices.Contains(Verbs(), verb) {
			b.problemf(fmt.Sprintf("writes[%d]", n), "writes: %q is none of create, update, delete", verb)
		}
	}
	b.Writes = slices.DeleteFunc(Verbs(), func(verb Verb) bool { return !b.own.may(verb) })
	if b.Reference && len(b.Writes) > 0 {
		b.problemf("writes", "writes: %s is shared by all users, and nothing of it may be written", b.Table)
	}
	sets := b.May(Create) || b.May(Update)
	switch named := len(b.own.Columns) > 0; {
	case sets && !named:
		b.problemf("writes", "writes: no columns; name under columns those that may be written")
	case named && !sets:
		b.problemf("columns", "columns: they are written by create and update, and writes allows neither")
	}
	b.bindWritable()
	b.bindApprove()
	if sets && b.Match != nil {
		b.checkMatch(b.Match)
	}
	if sets {
		b.checkDomainTypes()
	}
	if b.May(Create) {
		b.checkCreatable()
	}
	if b.cat.tenantRole {
		b.checkGrants()
	}
}

// bindApprove adopts what needs the user's approval. Creating rows harms no existing ones.
func (b *typeBinder) bindApprove() {
	for n, verb := range b.own.Approve {
		switch field := fmt.Sprintf("approve[%d]", n); {
		case verb != Update && verb != Delete:
			b.problemf(field, "approve: %q is none of update, delete", verb)
		case !b.May(verb):
			b.problemf(field, "approve: writes does not allow %s, so that nobody can agree to it", verb)
		default:
			b.Approve = append(b.Approve, verb)
		}
	}
}

func (b *typeBinder) bindWritable() {
	for n, name := range b.own.Columns {
		field := fmt.Sprintf("columns[%d]", n)
		if !b.columnsExist(field, name) {
			continue
		}
		c := b.Column(name)
		if why := b.whyNotWritable(c); why != "" {
			b.problemf(field, "columns: %s is %s", name, why)
		} else {
			c.Writable = true
		}
	}
	b.bindFolded()
	if (b.Merge != nil || b.Singleton) && b.May(Create) && !b.May(Update) {
		b.problemf("writes", "writes: creating a row may add to one that is there, so update has to be allowed too")
	}
}

// checkMatch finds columns that a match fills, and nobody may write.
func (b *typeBinder) checkMatch(m *Match) {
	for _, name := range append(sortedKeys(m.Copy), m.Link.Name) {
		if !b.Column(name).Writable {
			b.problemf("match", "match: it fills %s, which columns does not name", name)
		}
	}
}

// whyNotWritable says what a column is that no model writes, "" for one that may be written.
func (b *typeBinder) whyNotWritable(c *Column) string {
	switch {
	case c == b.Key:
		return "the key, which nobody writes"
	case c == b.Owner:
		return "the owner, which nobody writes"
	case c.Generated:
		return "computed"
	case c.Kind == KindVector:
		return c.Type + ", which no model can write"
	case c.Hidden:
		return "hidden from models"
	default:
		return ""
	}
}

// checkDomainTypes finds columns whose type rejects null by itself. Such a type does so wherever a row is put together,
// even of the columns of an update that does not name it.
func (b *typeBinder) checkDomainTypes() {
	for _, c := range b.Columns {
		if c.filled {
			b.problemf("writes", "writes: %s is of type %s, which is NOT NULL, and no row can be written without it; let the column be NOT NULL instead of its type", c.Name, c.Type)
		}
	}
}

// checkCreatable finds columns that prevent rows from being created.
func (b *typeBinder) checkCreatable() {
	for _, c := range b.Columns {
		filled := c.Name == b.keyName() || c == b.Owner || c.Writable || c.Unfolded
		if c.Required() && !filled {
			remedy := "give it one (programs that fill it themselves go on doing so)"
			if b.decl.Source.Schema != nil {
				remedy += ", or let fills say what it becomes"
			}
			if !c.Hidden {
				remedy += ", or name it in columns"
			}
			b.problemf("columns", "columns: no row can be created without %s, which has no default: %s", c.Name, remedy)
		}
	}
}

// bindFolded finds the columns of composite keys that a view shows as one column, and those of them that its trigger fills from
// that. If they need a value, the key does.
func (b *typeBinder) bindFolded() {
	for _, key := range b.Columns {
		if key.Target() == nil || !b.table.View || b.table.from[key.Name] != (origin{}) {
			continue
		}
		for _, name := range b.foldedColumns(key) {
			c := b.Column(name)
			if c == nil || c == b.Owner || c.Writable {
				continue
			}
			c.Repeats = c.Repeats || c.Target() == nil && !key.Hidden
			if c.Unfolded = c.Unfolded || key.Writable; key.Writable {
				key.Nullable = key.Nullable && c.Nullable
			}
		}
	}
	b.bindPolymorphic()
}

// foldedColumns lists the columns of the foreign key that a view's column combines: those in its name, else those of the
// first key to its table.
func (b *typeBinder) foldedColumns(key *Column) []string {
	var first []string
	for _, fk := range b.table.foreignKeys {
		switch {
		case fk.Table != key.FK.Table || len(fk.Columns) == 1:
		case key.Name == foldedName(key.Target().Type, fk.Columns...):
			return fk.Columns
		case first == nil:
			first = fk.Columns
		}
	}

	return first
}

// checkGrants compares alfred_tenant's privileges with the declaration: a missing one fails when a user needs it, an
// extra one bypasses the declaration.
func (b *typeBinder) checkGrants() {
	columns := namesOf(b.Columns, func(c *Column) bool { return c.Writable })
	for _, right := range []struct {
		verb Verb
		name string
		have []string
	}{{Create, "INSERT", b.table.insertable}, {Update, "UPDATE", b.table.updatable}} {
		want := columns
		if !b.May(right.verb) {
			want = nil
		}
		if missing := without(want, right.have); len(missing) > 0 {
			b.problemf("writes", "alfred_tenant may not write %s of %s: GRANT %s (%s)",
				strings.Join(missing, ", "), b.Table, right.name, strings.Join(missing, ", "))
		}
		extra := slices.DeleteFunc(without(right.have, want), func(name string) bool { return b.Column(name).Generated }) // nobody can write these
		if len(extra) > 0 {
			b.problemf("writes", "alfred_tenant may %s %s of %s, which the declaration does not allow: REVOKE %s",
				right.verb, strings.Join(extra, ", "), b.Table, right.name)
		}
	}
	switch {
	case b.May(Delete) && !b.table.TenantDelete:
		b.problemf("writes", "alfred_tenant may not delete from %s: GRANT DELETE", b.Table)
	case !b.May(Delete) && b.table.TenantDelete:
		b.problemf("writes", "alfred_tenant may delete from %s, which the declaration does not allow: REVOKE DELETE", b.Table)
	}
}

// without returns the elements of list that are not in other, in order.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
}

func (b *typeBinder) checkKeyIsFilled() {
	if !b.own.may(Create) || b.Key.HasDefault || b.Key.Generated || slices.Contains(b.own.Columns, b.besideKey(b.Key).Name) {
		return
	}
	remedy := "; if people choose it, keep it as a column and add a key"
	if b.table.View {
		remedy = ": let fills make it, or leave create out of writes"
	}
	b.problemf("key", "key %s has no default, and inserts never name it%s", b.Key.Name, remedy)
}
