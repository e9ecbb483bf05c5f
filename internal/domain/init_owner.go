package domain

import (
	"slices"
	"strings"
)

// guessOwner is the column by which most tables separate tenants. Where none is named like one, as user_uuid, or only
// that of one table, as the client_id of a login, a table of people says which columns name its rows. What a household has is its
// people's.
func (w *initWriter) guessOwner() string {
	owner, tables := w.commonOwner()
	if w.accounts == "" {
		if w.accounts = w.peopleOf(owner); w.accounts != "" {
			owner, _ = w.commonOwner()
		}
	}
	if tables > 1 || w.accounts != "" {
		return owner
	}
	if w.accounts = w.peopleTable(); w.accounts != "" {
		if other, more := w.commonOwner(); more > tables {
			return other
		}
	}
	w.accounts = ""

	return owner
}

// peopleOf is the table of the people whom memberships give what most tables belong to by a column, a household or a team; "" for
// none.
func (w *initWriter) peopleOf(owner string) string {
	if !groupNames.MatchString(snake(owner)) {
		return ""
	}
	for _, by := range w.cat.tables {
		for _, person := range by.foreignKeys {
			people := w.cat.table(person.Table)
			if people == nil || !slices.Contains(peopleNames, people.word()) || groupNames.MatchString(people.word()) {
				continue
			}
			if namesMembers(by) && !by.hasStanding() && by.unique(append(slices.Clone(person.Columns), owner)...) {
				return people.Name
			}
		}
	}

	return ""
}

// peopleTable is the table that others reference and that is named like people or, in whatever language, lets them in by a password,
// "" for none; of several, that of the persons.
func (w *initWriter) peopleTable() string {
	people := func(fits func(*catalogTable) bool) string {
		t := find(w.cat.tables, func(t *catalogTable) bool {
			return fits(t) && t.plainKey() && w.references(t, func(from *catalogTable, _ catalogFK) bool { return from != t }) > 0
		})
		if t == nil {
			return ""
		}

		return t.Name
	}
	for _, name := range peopleNames {
		if named := people(func(t *catalogTable) bool { return t.word() == name }); named != "" {
			return named
		}
	}

	return people(func(t *catalogTable) bool {
		return slices.ContainsFunc(t.columns, isSecret) && t.column("email") != nil
	})
}

// OtherAccounts are further tables of people or companies that several tables name.
func (w *initWriter) OtherAccounts() (found []string) {
	for _, t := range w.cat.tables {
		several := w.references(t, func(*catalogTable, catalogFK) bool { return true }) > 1
		if several && w.source != nil && t != w.source.accounts && slices.Contains(peopleNames, t.word()) && t.plainKey() {
			found = append(found, t.Name)
		}
	}

	return found
}

// commonOwner is the column that says whose the rows of most tables are, and how many have it.
func (w *initWriter) commonOwner() (owner string, tables int) {
	points, having := map[string]int{}, map[string]int{}
	for _, t := range w.cat.tables {
		for _, c := range t.columns {
			if len(t.primary)+len(t.uniques) == 0 { // it gets no type
				break
			}
			if w.seemsOwner(t, c) && keyKind(c) && !slices.Equal(t.primary, []string{c.Name}) {
				having[c.Name]++
				points[c.Name] += w.ownerPoints(c)
			}
		}
	}
	for _, name := range sortedKeys(points) {
		if owner == "" || points[name] > points[owner] {
			owner = name
		}
	}

	return owner, having[owner]
}

// ownerPoints is how much a column speaks for its name: an approved_by that may be null less than one user_id, however many tables
// have it, and three user_id that may be null as much as an author_id or a user_id that may not.
func (w *initWriter) ownerPoints(c *Column) int {
	points := 1
	if !c.Nullable && !partNames.MatchString(snake(c.Name)) {
		points += 2 * len(w.cat.tables)
	}
	if ownerNames.MatchString(snake(c.Name)) {
		points += len(w.cat.tables)
	}

	return points
}

// seemsOwner reports whether a column seems to say whose its rows are.
func (w *initWriter) seemsOwner(t *catalogTable, c *Column) bool {
	if w.accounts == "" {
		return ownerNames.MatchString(snake(c.Name))
	}

	people := w.cat.table(w.accounts)

	return people != nil && t != people && slices.ContainsFunc(t.foreignKeys, func(fk catalogFK) bool { return w.cat.leadsToPerson(fk, people) && fk.holds(c.Name) })
}

// ownerColumn is the column that holds to whom the rows belong, "" for none.
func (e *initEntity) ownerColumn() string {
	if e.source == nil || e.Reference || e.Table == e.source.accounts {
		return e.Owner
	}
	if len(e.source.entities[e.Table.Name].OwnedBy) > 0 {
		return ""
	}

	return e.source.columns[e.Table]
}

// OwnedBy is the foreign key by which a view finds whose the rows are, nil if none has to be named.
func (e *initEntity) OwnedBy() *catalogFK {
	if e.source == nil || e.Reference {
		return nil
	}

	return e.source.owningKey(e.Table)
}

// ownerGuess is the guessed owner column and the alternatives to it: whoever overlooks a wrong guess shows people the
// wrong rows.
type ownerGuess struct {
	Column string
	Others []string
}

// OwnerGuess is nil where it is no guess to whom rows belong: by the column of most tables they surely do, unless they are part of what
// several share.
func (e *initEntity) OwnerGuess() *ownerGuess {
	column := e.ownerColumn()
	if e.source == nil || e.Reference || e.Table == e.source.accounts || column == "" || e.OwnedBy() != nil {
		return nil
	}
	guess, several := &ownerGuess{Column: column}, column != e.Owner
	for _, name := range e.source.accountColumns(e.Table) {
		if name != column {
			guess.Others = append(guess.Others, "owner: "+yamlName(name))
		}
	}
	for _, above := range e.source.parents(e.Table) {
		if above.table != e.source.accounts && above.table != e.Table && e.source.hasOwner(above.table) {
			guess.Others = append(guess.Others, "owned_by: ["+yamlNames(above.Columns)+"]")
			several = several || e.source.isShared(above.table.Name)
		}
	}
	if !several || e.source.shares(e.Table) {
		return nil
	}

	return guess
}

// ownLoosely gives tables with no other way to an owner, and to which nobody points, to those of rows that they reference
// though they need not: wherever nobody says otherwise, Hibernate and TypeORM make foreign keys that may be null.
func (w *initWriter) ownLoosely() {
	for more := true; more; {
		more = false
		for _, t := range w.cat.tables {
			decl := w.source.entities[t.Name]
			if decl == nil || !decl.Reference || w.isUsed(t, map[*catalogTable]bool{}) {
				continue
			}
			if at := slices.IndexFunc(t.foreignKeys, w.ownedRows); at >= 0 {
				decl.Reference, decl.OwnedBy, more = false, t.foreignKeys[at].Columns, true
			}
		}
	}
}

// ownedRows reports whether a foreign key leads to rows that have owners.
func (w *initWriter) ownedRows(fk catalogFK) bool {
	above := w.source.entities[fk.Table]

	return above != nil && !above.Reference
}

// isUsed reports whether a type points at the table, like at a catalogue. Without owners, every table is one.
func (w *initWriter) isUsed(t *catalogTable, seen map[*catalogTable]bool) bool {
	seen[t] = true

	return w.Owner == "" || w.references(t, func(from *catalogTable, _ catalogFK) bool {
		return from != t && (w.source.hasOwner(from) || !seen[from] && w.partOf(from, map[*catalogTable]bool{}) == "" && w.isUsed(from, seen))
	}) > 0
}

// partOf is the table of whose rows each has one of this table for itself alone, "" for none: they are as private as those.
func (w *initWriter) partOf(t *catalogTable, seen map[*catalogTable]bool) string {
	if w.source.hasOwner(t) || seen[t] {
		return ""
	}
	seen[t] = true
	for _, from := range w.cat.tables {
		for _, fk := range from.foreignKeys {
			if fk.leadsTo(t) && from.unique(fk.Columns...) && (w.source.hasOwner(from) || w.partOf(from, seen) != "") {
				return from.Name
			}
		}
	}

	return ""
}

// pointsByName reports whether a column holds keys of rows though no foreign key says so: one beside the name of their type, or one
// that is named after their table, as many Rails programs have them. Nobody knows a row by them, and no model may see them.
func (e *initEntity) pointsByName(c *Column) bool {
	name, is := e.undeclaredTarget(c)
	is = is && e.refs[c.Name] == nil
	to, _ := e.calledLike(e.Table, name)
	typed := is && slices.ContainsFunc(e.Table.columns, func(other *Column) bool {
		kind := snake(other.Name)

		return kind == name+"_type" || name == "object" && kind == "content_type_id" || name == "res" && isModel(kind) // the last are Django's and Odoo's
	})

	return typed || is && (to != nil || name == "")
}

// undeclaredTarget is what a column's name says it points at, if no foreign key does.
func (e *initEntity) undeclaredTarget(c *Column) (name string, is bool) {
	name, is = keyOf(c.Name)

	return name, is && (!e.Table.references(c) || e.Table.leadsLoosely(c)) && c.Name != e.ownerColumn() && !slices.Contains(e.Table.primary, c.Name)
}

// Lost are numbers that are named like keys, of which nothing says what rows they are of.
func (e *initEntity) Lost() []string { return namesOf(e.plain, e.isLost) }

func (e *initEntity) isLost(c *Column) bool {
	_, is := e.undeclaredTarget(c)

	return is && c.Kind == KindNumber && e.refs[c.Name] == nil
}

// Loose are columns of other types that point at rows of this one by name alone: they stay as they are when the row goes.
func (e *initEntity) Loose() []string {
	var found []string
	for _, other := range e.Entities {
		for _, c := range other.Table.columns {
			if name, is := other.undeclaredTarget(c); is && (name == e.Table.word() || other.refs[c.Name] == e) && other != e {
				found = append(found, other.Table.Name+"."+c.Name)
			}
		}
	}
	for _, other := range e.cat.tables {
		if _, id := other.loosePair(); e.kinds[other][e.Table] != "" {
			found = appendNew(found, other.Name+"."+id.Name)
		}
	}

	return found
}

// Counted are columns of others by whose names programs count the rows of this type there.
func (e *initEntity) Counted() (found []string) {
	name := snake(e.Table.Name)
	for _, t := range e.cat.tables {
		points := e.kinds[e.Table][t] != "" ||
			slices.ContainsFunc(e.Table.foreignKeys, func(fk catalogFK) bool { return fk.leadsTo(t) })
		for _, c := range t.columns {
			if points && c.Kind == KindNumber && !c.Generated && slices.Contains([]string{name + "_count", Fold(name) + "_count"}, snake(c.Name)) {
				found = append(found, t.Name+"."+c.Name)
			}
		}
	}

	return found
}

// tallies reports whether a column counts rows of another table by its name.
func (e *initEntity) tallies(c *Column) bool {
	name, is := strings.CutSuffix(snake(c.Name), "_count")

	return is && c.Kind == KindNumber && slices.ContainsFunc(e.cat.tables, func(t *catalogTable) bool { return t.word() == Fold(name) })
}

// isContact reports whether a column tells all users how to reach somebody, when they were born, or what they earn.
func (e *initEntity) isContact(c *Column) bool {
	name := snake(c.Name)

	return e.Reference && !e.Table.holdsIdentifiers(c) && (c.Kind == KindText && contactNames.MatchString(name) || c.Kind != KindBool && personalNames.MatchString(name))
}

// Concealed are the columns that are nobody's business in a conversation.
func (e *initEntity) Concealed() []string {
	return namesOf(e.Table.columns, e.isConcealed)
}

func (e *initEntity) isConcealed(c *Column) bool {
	// As the marks of a program that synchronizes, and numbers by which it walks a tree.
	programs := (strings.HasPrefix(c.Name, "_") || nestNames.MatchString(c.Name) && c.Kind == KindNumber) && !slices.Contains(e.Table.primary, c.Name)

	return programs || isSecret(c) || e.isContact(c) || e.pointsByName(c)
}

// Contacts reports whether some are hidden because all users would share them.
func (e *initEntity) Contacts() bool { return slices.ContainsFunc(e.Table.columns, e.isContact) }

func isSecret(c *Column) bool {
	readable := c.Kind == KindText || c.Kind == KindJSON || c.Elem == KindText

	return readable && secretNames.MatchString(snake(c.Name))
}

// guessAccounts is the table that most owner columns reference, "" for none.
func (w *initWriter) guessAccounts() (name string) {
	most := 0
	for _, t := range w.cat.tables {
		if n := w.references(t, w.byOwner); n > most && t.plainKey() {
			name, most = t.Name, n
		}
	}

	return name
}
