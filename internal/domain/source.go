package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// SourceDecl says where the rows behind a domain's views are: in somebody else's tables, which are not altered.
type SourceDecl struct {
	// Schema of the tables. Of several, the first is the main one.
	Schema Schemas `yaml:"schema"`
	// Accounts is the table of people, "" if rows only carry their key. In another schema, it has that before its name.
	Accounts string `yaml:"accounts"`
	// Login is a column of Accounts: who is called so in Alfred is that account, unless alfred_accounts maps them. "" if
	// only that does.
	Login string `yaml:"login"`
	// UTC says that times without a time zone hold UTC. The views show them with one, and what is written through them is
	// turned back.
	UTC bool `yaml:"utc"`
}

// source is the tables of other schemas, and who owns their rows.
type source struct {
	decl     *Declaration
	cat      *catalog
	accounts *catalogTable                  // nil where there is no such table
	account  *Column                        // the key of a person
	entities map[string]*EntityDecl         // by table
	columns  map[*catalogTable]string       // those that hold a person's key, of the tables that have one
	shared   map[*catalogTable][]membership // by which several accounts have the rows of a table; empty if all have them, nil if each has its own
	above    map[*catalogTable]*catalogFK   // of other tables, the foreign key to the rows that theirs belong to
	notes    []string
	refused  *CheckError // what no view can do
	made     string      // the comment of the views' schema, if they are what the declaration says
}

func newSource(decl *Declaration, cat *catalog) (*source, error) {
	if schema, found := cat.emptySchema(); found {
		return nil, fmt.Errorf("schema %q does not exist or has no tables", schema)
	}
	s := &source{decl: decl, cat: cat, entities: map[string]*EntityDecl{}, refused: &CheckError{File: decl.file}}
	for i := range decl.Entities {
		s.entities[decl.Entities[i].Table] = &decl.Entities[i]
	}
	s.convertAsDeclared()
	s.leadAsDeclared()
	cat.keyPairs()
	s.findAccounts()
	if err := s.refused.orNil(); err != nil {
		return nil, err
	}
	s.findOwners()

	return s, s.refused.orNil()
}

func (s *source) problemf(at, format string, args ...any) {
	s.refused.addf(s.decl.line(at), format, args...)
}

// refusef reports a problem with a table at a field of its type.
func (s *source) refusef(table, field, format string, args ...any) {
	i := slices.IndexFunc(s.decl.Entities, func(e EntityDecl) bool { return e.Table == table })
	message := fmt.Sprintf(format, args...)
	if e := s.entities[table]; e != nil {
		message = e.Type + ": " + message
	}
	s.problemf(fmt.Sprintf("$.entities[%d].%s", i, field), "%s", message)
}

func (s *source) findAccounts() {
	if name := s.decl.Source.Accounts; name != "" {
		switch s.accounts = s.cat.named(name); {
		case s.accounts == nil:
			s.problemf("$.source.accounts", "accounts: %s", s.cat.missing(name))
		case len(s.accounts.primary) != 1:
			s.problemf("$.source.accounts", "accounts: %s has no key of one column", name)
		default:
			s.account = s.accounts.column(s.accounts.primary[0])
			s.checkLogin()
		}

		return
	}
	if s.decl.Source.Login != "" {
		s.problemf("$.source.login", "login: name accounts, the table that has this column")
	}
	for _, t := range s.cat.tables {
		if c := t.column(s.decl.Owner); c != nil && s.decl.Owner != "" {
			s.account = c

			return
		}
	}
	if slices.ContainsFunc(s.decl.Entities, func(e EntityDecl) bool { return !e.Reference && !e.Everybody }) {
		s.problemf("$.source", "no owner and no accounts: every type is reference: true or everybody: true then")
	}
}

// ownedSQL is the SQL condition that a row of the table is the user's and not marked as deleted. alias names the row.
func (s *source) ownedSQL(t *catalogTable, alias string, depth int) string {
	return strings.Join(append([]string{s.isOwn(t, alias, depth)}, s.thereSQL(t, alias)...), " AND ")
}

// thereSQL are the SQL conditions that a row is not marked as deleted, nor one with which it would be deleted.
func (s *source) thereSQL(t *catalogTable, alias string) []string {
	return append(nonEmpty(s.presentSQL(t, alias)), s.unmarkedAncestorsSQL(t, alias)...)
}

// isOwn follows foreign keys up to a table with an owner column or with memberships.
func (s *source) isOwn(t *catalogTable, alias string, depth int) string {
	if s.shared[t] != nil {
		return s.sharedWith(t, alias, depth)
	}
	if fk := s.owningKey(t); fk != nil {
		parent := s.cat.table(fk.Table)
		above := fmt.Sprintf("p%d", depth)

		return s.among(tuple(alias, fk.Columns), parent, above, fk.Targets, s.ownedSQL(parent, above, depth+1))
	}
	if c := s.columns[t]; c != "" {
		return s.isAccount(alias, c)
	}
	if pairs := s.owningPairs(t); len(pairs) > 0 {
		return s.isAboutOwn(pairs, alias, depth)
	}
	s.refusef(t.Name, "table", "no foreign key leads from %s to %s, so nobody owns its rows; set owned_by, members, everybody: true, or reference: true", t.Name, s.ownerWord())

	return "FALSE"
}

func (s *source) ownerWord() string {
	if s.accounts != nil {
		return s.accounts.Name
	}

	return "a column " + s.decl.Owner
}

// tuple is a row's columns as one value.
func tuple(alias string, columns []string) string {
	list := listed(columns, alias+".%s", ", ")
	if len(columns) == 1 {
		return list
	}

	return "(" + list + ")"
}

// listed writes each name by a format, in which %[1]s is the quoted name.
func listed(names []string, format, separator string) string {
	return strings.Join(each(names, func(name string) string { return fmt.Sprintf(format, quote(name)) }), separator)
}

// quote is a name as SQL, with its schema before it if that is given.
func quote(name ...string) string { return pgx.Identifier(name).Sanitize() }

// findOwners finds to whom rows belong. Without a declared column, that is the account that they cannot do without: who
// may be missing (approved by, counted by) owns them only if nobody else does.
func (s *source) findOwners() {
	s.columns, s.shared = map[*catalogTable]string{}, map[*catalogTable][]membership{}
	optional := map[*catalogTable]string{}
	for _, t := range s.cat.tables {
		if firm, missing := s.ownerColumns(t); firm != "" {
			s.columns[t] = firm
		} else if missing != "" {
			optional[t] = missing
		}
		if ways := s.memberships(t); ways != nil {
			s.shared[t] = ways
		}
	}
	sure := s.keysLeadingToOwners()
	maps.DeleteFunc(optional, func(t *catalogTable, _ string) bool { return sure[t] != nil || s.shared[t] != nil })
	maps.Copy(s.columns, optional)
	s.above = s.keysLeadingToOwners()
}

// keysLeadingToOwners returns the foreign keys on the shortest ways to rows that name accounts, or are shared by some. Of
// several, rows belong to those with which they are deleted.
func (s *source) keysLeadingToOwners() map[*catalogTable]*catalogFK {
	found, parents := map[*catalogTable]*catalogFK{}, map[*catalogTable][]parent{}
	for _, t := range s.cat.tables {
		parents[t] = s.parents(t)
	}
	near := slices.DeleteFunc(slices.Clone(s.cat.tables), func(t *catalogTable) bool { return !s.begins(t) })
	for len(near) > 0 {
		var next []*catalogTable
		for _, t := range s.cat.tables {
			fks := slices.DeleteFunc(slices.Clone(parents[t]), func(p parent) bool { return !slices.Contains(near, p.table) })
			if s.begins(t) || found[t] != nil || len(fks) == 0 {
				continue
			}
			cascade := slices.IndexFunc(fks, func(p parent) bool { return p.OnDelete == "cascade" })
			next, found[t] = append(next, t), &fks[max(cascade, 0)].catalogFK
		}
		near = next
	}

	return found
}

// begins reports whether rows of the table are somebody's for themselves.
func (s *source) begins(t *catalogTable) bool { return s.columns[t] != "" || s.shared[t] != nil }

// parent is a foreign key that each row has, and where it leads.
type parent struct {
	catalogFK

	table *catalogTable
}

// parents are the rows that each row of a table references and that may be somebody's.
func (s *source) parents(t *catalogTable) (found []parent) {
	for _, fk := range t.foreignKeys {
		above, e := s.cat.table(fk.Table), s.entities[fk.Table]
		if above != nil && !t.mayBeNull(fk.Columns) && (e == nil || !e.Reference) {
			found = append(found, parent{fk, above})
		}
	}

	return found
}

// ownerColumns are the column by which a table's rows surely belong to an account, and the first that may be null.
func (s *source) ownerColumns(t *catalogTable) (firm, optional string) {
	if t == s.accounts {
		return s.account.Name, ""
	}
	name := s.decl.Owner
	if e := s.entities[t.Name]; e != nil && e.Owner != "" {
		name = e.Owner
	} else if !s.namesAccounts(t, name) {
		name = ""
	}
	if name != "" && t.column(name) != nil {
		return name, ""
	}
	for _, column := range s.accountColumns(t) {
		switch {
		case !t.mayBeNull([]string{column}):
			return column, ""
		case optional == "":
			optional = column
		}
	}

	return "", optional
}

// namesAccounts reports whether a column that is called like that of an owner may hold keys of accounts, and is no foreign key to
// another table: the user_id of an admin says nothing of the user with that number.
func (s *source) namesAccounts(t *catalogTable, column string) bool {
	leads := func(fk catalogFK) bool { return fk.holds(column) }
	elsewhere := s.accounts != nil && slices.ContainsFunc(t.foreignKeys, leads) && !slices.Contains(s.accountColumns(t), column)
	c := t.column(column)

	return c != nil && c.Kind == s.account.Kind && !elsewhere
}

// accountColumns are the columns of a table that name an account, in the order of its key: the follower comes before
// the followed.
func (s *source) accountColumns(t *catalogTable) []string {
	var columns []string
	for _, fk := range t.foreignKeys {
		if s.accounts != nil && len(fk.Columns) == 1 && s.cat.leadsToPerson(fk, s.accounts) {
			columns = append(columns, fk.Columns[0])
		}
	}
	slices.SortStableFunc(columns, func(a, b string) int { return t.placeInKey(a) - t.placeInKey(b) })

	return columns
}

// owningKey is the foreign key by which the table's rows belong to another's, as declared, or else the one on the
// shortest path to an owner; nil for none.
func (s *source) owningKey(t *catalogTable) *catalogFK {
	if e := s.entities[t.Name]; e != nil && len(e.OwnedBy) > 0 {
		for _, fk := range t.foreignKeys {
			if slices.Equal(fk.Columns, e.OwnedBy) && s.cat.table(fk.Table) != nil {
				return &fk
			}
		}
	}

	return s.above[t]
}

// wayUp are a table and those of the rows that its rows belong to, up to the one that says to whom.
func (s *source) wayUp(t *catalogTable) []*catalogTable {
	way := []*catalogTable{t}
	for fk := s.owningKey(t); fk != nil && s.shared[t] == nil; fk = s.owningKey(t) {
		t = s.cat.table(fk.Table)
		way = append(way, t)
	}

	return way
}

// hasOwner reports whether rows of the table belong to a person.
func (s *source) hasOwner(t *catalogTable) bool {
	if e := s.entities[t.Name]; e != nil {
		return !e.Reference
	}

	return s.belongs(t)
}

// belongs reports whether rows of the table are somebody's for themselves, or with the rows that a foreign key leads to.
func (s *source) belongs(t *catalogTable) bool { return s.begins(t) || s.owningKey(t) != nil }

func (s *source) function(name string) string { return quote(s.decl.Schema, name) }

// viewKey is the view's key: the table's own, or a composite one combined.
func (s *source) viewKey(t *catalogTable) []string {
	if e := s.entities[t.Name]; e != nil && e.Key != "" && t.column(e.Key) != nil {
		return []string{e.Key}
	}

	return t.primary
}

// whyNoView says why no view can show a table, "" if one can.
func (s *source) whyNoView(t *catalogTable) string {
	switch {
	case t.Beyond:
		return "its schema only says who people are"
	case len(s.viewKey(t)) == 0 && t.View:
		return "no column is known to tell its rows apart; name one that does under key"
	case len(s.viewKey(t)) == 0:
		return "it has no key: nothing tells its rows apart; a unique index over columns that are never null would, else leave the type out"
	case t.column(versionColumn) != nil:
		return "its column " + versionColumn + " has the name under which a view shows the version of a row; declare a view of your own without it"
	default:
		return ""
	}
}

// foldsKey reports whether the view combines the key into one text: it has several columns, or one of a type that keys
// may not have.
func (s *source) foldsKey(t *catalogTable) bool {
	key := s.viewKey(t)

	return len(key) > 1 || len(key) == 1 && !keyKind(t.column(key[0]))
}

// foldedKey is the name of a combined key column.
const foldedKey = "key"

// keyColumn is the name of the view's key.
func (s *source) keyColumn(t *catalogTable) string {
	if !s.foldsKey(t) {
		return s.viewKey(t)[0]
	}
	name := foldedKey
	for t.column(name) != nil {
		name = "view_" + name
	}

	return name
}

// foldSQL combines several columns into one text from which they can be recovered.
func foldSQL(alias string, t *catalogTable, columns []string, of []string) string {
	parts := make([]string, len(columns))
	for i, name := range columns {
		column := alias + "." + quote(name)
		parts[i] = column + "::text"
		switch c := t.column(of[i]); {
		case c == nil || c.Kind == KindText:
			parts[i] = fmt.Sprintf(`replace(replace(%s, '\', '\\'), ':', '\:')`, parts[i])
		case c.zoned: // in the user's time zone, the text would change with that, and with it the key
			parts[i] = fmt.Sprintf(`(%s AT TIME ZONE 'UTC')::text || '+00'`, column)
		}
	}

	return strings.Join(parts, " || ':' || ")
}
