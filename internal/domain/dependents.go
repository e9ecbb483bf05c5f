package domain

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Dependent is a foreign key whose rows the deletion of the referenced row concerns: they are deleted or changed with it,
// or prevent it.
type Dependent struct {
	Entity  *Entity
	Column  *Column
	Cascade bool // rows are deleted
}

// Dependents returns the foreign keys by which deleting a row of e affects rows of the domain's types.
func (d *Domain) Dependents(e *Entity) []Dependent {
	return slices.DeleteFunc(d.referencesTo(e), func(r Dependent) bool { return !r.Cascade && !r.releases() })
}

// RestrictingKeys returns the foreign keys by which rows of the domain's types may keep a row of e from being deleted.
func (d *Domain) RestrictingKeys(e *Entity) []Dependent {
	return slices.DeleteFunc(d.referencesTo(e), func(r Dependent) bool {
		return r.Cascade || r.releases() || r.Column.Kind == KindArray
	})
}

// LooseReferences returns the columns that may hold keys of e though no foreign key says so: their rows stay when its row is deleted.
func (d *Domain) LooseReferences(e *Entity) []Dependent {
	return slices.DeleteFunc(d.referencesTo(e), func(r Dependent) bool { return r.Column.FK.OnDelete != "" || r.Column.Kind == KindArray })
}

// TakesOthers reports whether deleting a row of e may delete or change rows of other people's, which no view shows.
func (d *Domain) TakesOthers(e *Entity) bool {
	return !e.Marks && d.takesOthers(e, map[*Entity]bool{})
}

func (d *Domain) takesOthers(e *Entity, seen map[*Entity]bool) bool {
	if seen[e] {
		return false
	}
	seen[e] = true

	return slices.ContainsFunc(e.Unseen, func(u Unseen) bool { return u.Shown != nil }) ||
		slices.ContainsFunc(d.Dependents(e), func(r Dependent) bool { return r.Cascade && d.takesOthers(r.Entity, seen) })
}

// releases reports whether the column loses its value when the referenced row is deleted.
func (r Dependent) releases() bool {
	return slices.Contains([]string{"set null", "set default"}, strings.ToLower(r.Column.FK.OnDelete))
}

func (d *Domain) referencesTo(e *Entity) []Dependent {
	var found []Dependent
	for _, other := range d.Entities {
		for _, c := range other.Columns {
			if c.Target() == e {
				found = append(found, Dependent{other, c, strings.EqualFold(c.FK.OnDelete, "cascade")})
			}
		}
	}

	return found
}

// Unseen is such a foreign key that no column of a type shows.
type Unseen struct {
	Table   string    // qualified, for SQL
	Name    string    // for people
	Columns []string  // of the table, which hold
	Targets []*Column // these of the type; none if the type does not show them
	// Shown is the type of a view that shows such rows of the user's, by its column By: there may be others' besides.
	Shown *Entity
	By    *Column
}

// Automatic reports whether the database sets the column by itself, so that a different value is not anybody's change:
// computed columns, timestamps, search vectors.
func (c *Column) Automatic() bool {
	switch {
	case c.Derived || c.Expr != "" || c.kept:
		return true
	case c.Writable:
		return false
	case c.Kind == KindVector || stampName.MatchString(snake(c.Name)):
		return true
	case c.Kind == KindTimestamp || c.Kind == KindDate || c.Kind == KindTime:
		return c.HasDefault
	default:
		return timeDefault.MatchString(c.Default)
	}
}

var (
	stampName   = regexp.MustCompile(`^(created|inserted|updated|modified|changed)(_(at|on|date|time))?$|^(create|update|write)_(date|time)$|^(last|date)_(created|updated|modified|changed)(_(at|on|date|time))?$`)
	timeDefault = regexp.MustCompile(`(?i)\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\(|\b(current|local)_?(timestamp|date|time)\b`)
)

// reach is a foreign key by which deleting a row affects others.
type reach struct {
	Unseen

	Target, From uint32
	OnDelete     string
	Numbers      []int
	Referenced   []string
}

// bindUnseen finds what deleting a row would delete invisibly.
func (b *binder) bindUnseen() {
	of := map[uint32][]*typeBinder{} // by their tables, those below views too
	for _, t := range b.types {
		for _, oid := range append(slices.Collect(maps.Keys(t.table.bases)), t.table.OID) {
			of[oid] = append(of[oid], t)
		}
	}
	var r reach
	into := []any{&r.Target, &r.From, &r.OnDelete, &r.Table, &r.Name, &r.Numbers, &r.Columns, &r.Referenced}

	b.ask("read what depends on rows", func() error {
		return eachRow(b.ctx, b.tx, "foreign keys", reachingSQL, []any{slices.Collect(maps.Keys(of))}, into, func() error {
			for _, t := range of[r.Target] {
				t.noteUnseen(&r, of[r.From])
			}

			return nil
		})
	})
}

// noteUnseen notes a foreign key to the type, unless a type shows all rows that hold it.
func (b *typeBinder) noteUnseen(r *reach, holders []*typeBinder) {
	unseen := b.unseenBy(r)
	for _, holder := range holders {
		if by := holder.columnFor(b.Entity, r); by != nil {
			unseen.Shown, unseen.By = holder.Entity, by

			break
		}
	}
	switch {
	case unseen.Shown == nil:
		b.Unseen = append(b.Unseen, unseen)
	case unseen.Shown.View && unseen.By != unseen.Shown.Owner: // first: a deletion that takes them is asked about
		b.Unseen = slices.Insert(b.Unseen, 0, unseen)
	}
}

// unseenBy names the columns of the type that rows reference, if it shows them.
func (b *typeBinder) unseenBy(r *reach) Unseen {
	unseen, names := r.Unseen, r.Referenced
	if b.table.View {
		names, _ = b.cat.namesInView(b.table, r.Target, names)
	}
	if unseen.Columns = slices.Clone(r.Columns); len(names) == len(r.Columns) {
		unseen.Targets = each(names, b.Column)
	}

	return unseen
}

// columnFor returns the column of the type that represents the foreign key, nil for none. A key column computed by a view then
// records what happens to its row.
func (b *typeBinder) columnFor(target *Entity, r *reach) *Column {
	action := deleteAction(r.OnDelete)
	for _, c := range b.Columns {
		at := origin{b.table.OID, b.table.numbers[c.Name]}
		if b.table.View {
			at = b.table.from[c.Name]
		}
		if c.Target() == target && at.relation == r.From && slices.Contains(r.Numbers, at.column) && strings.EqualFold(c.FK.OnDelete, action) {
			return c
		}
	}
	if !b.table.View {
		return nil
	}
	for _, name := range []string{foldedName(target.Type, r.Columns...), foldedName(target.Type)} {
		if c := b.Column(name); c != nil && b.table.from[name] == (origin{}) && c.Target() == target {
			c.FK.OnDelete = action

			return c
		}
	}

	return nil
}
