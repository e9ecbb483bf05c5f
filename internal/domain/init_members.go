package domain

import (
	"fmt"
	"regexp"
	"slices"
)

var (
	// memberNames are of tables that say who may see a row.
	memberNames = regexp.MustCompile(`(^|_)(member|membership|participant|collaborator|user)s?$`)
	// standingNames are of columns by which some of the people whom memberships name are no members yet, or any more.
	standingNames = regexp.MustCompile(`(^|_)(status|state|accepted|confirmed|approved|verified|activated?|enabled|disabled|revoked|removed|left|ended|expire[sd]?|until|invited|invitation|pending|deleted|discarded|archived|blocked|banned|suspended|requested)(_|$)`)
)

// share declares that the rows which memberships give to people are theirs, wherever nothing says that some are no members, and with
// them what belongs to these rows, whoever paid or reported it.
func (w *initWriter) share() {
	for _, t := range w.cat.tables {
		by := w.cat.table(w.memberTable(t))
		if by == nil || w.source.columns[by] == "" || by.hasStanding() {
			continue
		}
		w.source.entities[t.Name] = &EntityDecl{Type: t.Name, Table: t.Name, Members: []MembersDecl{{Table: by.Name}}}
	}
	w.source.findOwners()
	for _, t := range w.cat.tables {
		parents := w.source.parents(t)
		at := slices.IndexFunc(parents, func(p parent) bool { return w.source.shared[p.table] != nil })
		if at >= 0 && partNames.MatchString(snake(w.source.columns[t])) && w.source.entities[t.Name] == nil {
			w.source.entities[t.Name] = &EntityDecl{Type: t.Name, Table: t.Name, OwnedBy: parents[at].Columns}
		}
	}
}

// giveToAll gives the rows of each table to all users.
func (w *initWriter) giveToAll() {
	for _, t := range w.cat.tables {
		w.source.entities[t.Name] = &EntityDecl{Type: t.Name, Table: t.Name, Everybody: true}
	}
	w.source.findOwners()
}

// hasStanding reports whether some of those whom memberships name may be no members.
func (t *catalogTable) hasStanding() bool {
	return slices.ContainsFunc(t.columns, func(c *Column) bool { return standingNames.MatchString(snake(c.Name)) })
}

// Members is the table by whose rows several accounts have these, "" for none.
func (e *initEntity) Members() string {
	if e.source == nil || len(e.source.shared[e.Table]) == 0 {
		return ""
	}

	return e.source.shared[e.Table][0].table.Name
}

// Me is SQL for what the user's own row among the accounts is called, by which rows of several people may be found to be the user's; ""
// where accounts have no name.
func (w *initWriter) Me() string {
	if w.source == nil || w.source.accounts == nil {
		return ""
	}
	own := find(w.Entities, func(e *initEntity) bool {
		standsIn := w.source.accounts.Beyond && slices.Equal(e.Table.primary, []string{w.source.columns[e.Table]})

		return e.Table == w.source.accounts || standsIn
	})
	if own == nil || len(own.names) == 0 || slices.ContainsFunc(own.names, func(name string) bool { return own.Table.column(name) == nil }) {
		return ""
	}
	named := slices.Clone(own.names)
	slices.Reverse(named) // a first name stands before the last, by which rows are ordered

	return fmt.Sprintf("SELECT concat_ws(' ', %s) FROM %s AS a WHERE a.%s = %s()", listed(named, "a.%s", ", "), own.Relation(), quote(own.KeyColumn()), w.source.function("account"))
}

// isCompany reports whether rows are companies, teams or households, of which people see all that they have by being a member, and few
// are in two.
func (e *initEntity) isCompany() bool {
	return e.Members() != "" && groupNames.MatchString(e.Table.word())
}

// namesMembers reports whether a table seems to hold memberships. A link to what all share, such as a favourite, has no such name and
// no role.
func namesMembers(t *catalogTable) bool {
	return t.column("role") != nil || memberNames.MatchString(snake(t.Name))
}

// memberTable is the table that says which people see the rows of this one, as the memberships of a site do; "" for none. Nobody
// owns these rows, or who made them does by a column of another name than owners have.
func (w *initWriter) memberTable(t *catalogTable) string {
	if made := w.source.columns[t]; w.source.hasOwner(t) && (made == "" || t == w.source.accounts || ownerNames.MatchString(snake(made))) {
		return ""
	}
	for _, from := range w.cat.tables {
		for _, fk := range from.foreignKeys {
			if namesMembers(from) && fk.leadsTo(t) && from.unique(append(w.ownerColumnsOf(from), fk.Columns...)...) {
				return from.Name
			}
		}
	}

	return ""
}

// ownerColumnsOf are the columns that say whose a table's rows are.
func (w *initWriter) ownerColumnsOf(t *catalogTable) []string {
	if fk := w.source.owningKey(t); fk != nil {
		return slices.Clone(fk.Columns)
	}
	if c := w.source.columns[t]; c != "" {
		return []string{c}
	}

	return nil
}
