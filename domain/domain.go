package domain

import (
	"slices"

	"github.com/jackc/pgx/v5"
)

// Domain is a declaration bound to a live catalog. It is immutable and safe for
// concurrent use.
type Domain struct {
	Name    string
	Schema  string // Postgres schema of the tables
	Persona string // who the assistant is, for every prompt

	// Entities in the order of declaration.
	Entities []*Entity
	// Subdomains in the order of declaration.
	Subdomains []*Subdomain
	// Operations in the order of declaration.
	Operations []*Operation
	// Snapshot queries count what exists; Profile queries describe the user.
	// Both run as the tenant with TimeZone set to the user's, so that current_date
	// is the user's day; each returns one text column, one line a row.
	Snapshot []Query
	Profile  []Query
	// Guidance is an optional query of (subdomain, text): the user's own wishes.
	Guidance string

	// Offline is what the rule-based model knows of this domain; nil for nothing.
	Offline *Offline
	// Deferred: the database has constraints or triggers that it checks at the end of a
	// transaction only.
	Deferred bool

	byType         map[string]*Entity
	byTable        map[string]*Entity
	entityWords    map[string]*Entity
	subdomainWords map[string]*Subdomain
}

// Query is one named statement of a domain.
type Query struct {
	Label string
	SQL   string
}

// Entity is one entity type: a table whose rows get refs.
type Entity struct {
	Type  string // ref prefix and type name: recipe, inv, meal
	Table string // unqualified; models name it so
	// Name and Plural are for people: "recipe", "recipes"; Aliases are further
	// words users say for it.
	Name    string
	Plural  string
	Aliases []string
	Comment string // COMMENT ON TABLE

	Key *Column // single-column key: uuid, integer or text
	// Speakable: people call rows by their key (an order's number). It can be read, as
	// the column SpokenKey, and told; what rows are handled by are refs all the same.
	Speakable bool
	// Owner is the tenant column; nil for shared, read-only tables. Its value is not
	// always the user's id: its default knows it, fills it, and is what rows are compared with.
	Owner *Column

	Columns []*Column // all, in catalog order, hidden ones included
	// Sets are the column sets a read may ask for by name: "summary" always
	// exists, "text" and "rows" where the type has them. Key and label columns
	// are part of each. "rows" means the children.
	Sets map[string][]string
	// Order is the default order of reads, e.g. "name", "date"; the key is
	// always the last tie-breaker.
	Order []OrderBy

	Children []*Child
	// Label renders a row's label from its columns ("{name}", "{date:Jan 2} [{meal_type}]").
	Label Template
	// Display renders a row's line for prompts, without "- " and id; Spoken the same
	// for people.
	Display, Spoken Template
	// Semantic renders the text that is embedded; zero when the type is not searched.
	Semantic Template
	// Match is the look-up through a canonical table; nil where there is none.
	Match *Match
	// Merge names the columns that make two new rows the same row, whose Sum
	// column is added up ("adding to the shopping list merges"); nil for none.
	Merge *Merge
	// Checks are queries over a relation named rows, which has the table's columns and
	// holds what was written, or what drafts would write. Each returns sentences that
	// say what is wrong.
	Checks []string
	// Reference: rows are shared reference data (ingredients), read-only for users.
	Reference bool
	// Writes is what may be done with the rows, in the order create, update, delete;
	// nothing that the declaration does not say.
	Writes []Verb
	// Approve is what of update and delete the user has to agree to each time, however few rows are named.
	Approve []Verb
	// Lockable: the tenant may lock rows, for which it needs the right to update some column.
	Lockable bool
	// Singleton: a user has at most one row (a unique owner), as of preferences.
	Singleton bool
	// Empty is the sentence for a list without rows.
	Empty string
	// Viewed: a view keeps the users' rows apart, whose condition asks for whom the transaction acts. It shows nobody's
	// to nobody, and may show a row to several users.
	Viewed bool
	// Removable and Restorable: what takes a turn back may delete rows, and insert them whole, key and all.
	Removable, Restorable bool
	// Unseen are rows that go, or change, with a row of this one and that no column of a type shows.
	Unseen []Unseen

	versioned bool // a view with a column for the version
}

// Owned is the SQL condition that a row is the user's whom the transaction acts for; TRUE for what all users share. Every
// statement over rows names it beside the policy that says the same, so that a policy taken away opens nothing.
func (e *Entity) Owned() string {
	if e.Owner == nil || e.Owner.Default == "" {
		return "TRUE"
	}

	return pgx.Identifier{e.Table, e.Owner.Name}.Sanitize() + " = (SELECT (" + e.Owner.Default + ")::" + e.Owner.Type + ")"
}

// OrderBy is one column of an order.
type OrderBy struct {
	Column string
	Desc   bool
}

// Child is a table whose rows belong to a row of the parent and are saved and
// shown with it.
type Child struct {
	Entity *Entity
	// FK is the child's column that holds the parent's key.
	FK *Column
}

// Match is how a name finds rows: through a canonical look-up table.
type Match struct {
	// Column is the text column the user's word stands in, Link the foreign key
	// to the canonical row, Target its entity type.
	Column string
	Link   *Column
	Target *Entity
	// TargetName, TargetAliases, TargetFamily are columns of the target; the
	// last two may be "".
	TargetName    string
	TargetAliases string
	TargetFamily  string
	// Copy maps columns of this table to columns of the target that are filled
	// at a write when the model left them out (category).
	Copy map[string]string
}

// Merge says when two rows are one. Texts compare without case; in place of the
// match column, two rows that link to the same canonical row are equal too.
type Merge struct {
	By  []string
	Sum string
	// Join are text columns of which both rows' values are kept (why it is on the list).
	Join []string
	// Unless is a bool column, or "": rows where it is true take no part.
	Unless string
}

// Subdomain groups tables for planning: one step works in one subdomain.
type Subdomain struct {
	Name        string
	Description string
	Aliases     []string
	Tables      []string // primary tables; schema shown, writes allowed
	Readable    []string // further tables a step may read
	Guidance    string   // what a planner must know
	Examples    string
}

// Column is one column of an entity's table, from the catalog.
type Column struct {
	Name string
	// Type is format_type without typmod: "text", "numeric", "uuid", "text[]",
	// "kitchen.unit"; FullType has the typmod: "numeric(6,2)".
	Type     string
	FullType string
	Kind     Kind
	// Elem is the kind of an array's elements.
	Elem       Kind
	Nullable   bool
	HasDefault bool
	Default    string // its SQL, qualified where the search path is not enough; "" for none
	Generated  bool   // generated or identity: never written
	Derived    bool   // generated from other columns: not even a row that is brought back gives it
	// Writable: the declaration lets rows be created and updated with it.
	Writable bool
	// SetBack: what takes a turn back may give it its old value.
	SetBack bool
	Enum    []string
	Comment string
	// Check is what further CHECK constraints of this one column say, as SQL:
	// "rating >= 1 AND rating <= 5"; "" for none.
	Check string
	// Fold: free words (tags, a cuisine), stored in lower case and compared without
	// case, because no list closes them and people write them as they like.
	Fold bool
	// Hidden columns (owner, timestamps, embeddings) are never shown or written by a model.
	Hidden bool
	// FK is set when the column refers to another row, of an entity type or not.
	// In an array column each element is such a key.
	FK *ForeignKey
	// Expr is the SQL of a computed column, "" for a real one. It may name the
	// table by its unqualified name, which a statement therefore must not alias.
	// Computed columns are Generated: read and filtered, never written.
	Expr string

	given bool   // by what brings a row back
	cast  string // type that the column is read as where the tenant may not name its own
}

// SQL is the column as an expression of a SELECT, RETURNING or WHERE.
func (c *Column) SQL() string {
	if c.Expr != "" {
		return "(" + c.Expr + ")"
	}

	if c.cast != "" {
		return pgx.Identifier{c.Name}.Sanitize() + "::" + c.cast
	}

	return pgx.Identifier{c.Name}.Sanitize()
}

// ForeignKey is what a column points to. Entity is nil when the target table has
// no entity type; such a column is hidden from models.
type ForeignKey struct {
	Entity   *Entity
	Table    string
	Column   string
	OnDelete string // "cascade", "set null", ...
}

// Kind is what values of a column are, for operators and validation.
type Kind string

// The kinds of column.
const (
	KindArray     Kind = "array"
	KindBool      Kind = "bool"
	KindDate      Kind = "date"
	KindJSON      Kind = "json"
	KindNumber    Kind = "number"
	KindText      Kind = "text" // enums too
	KindTime      Kind = "time" // time of day, interval
	KindTimestamp Kind = "timestamp"
	KindUUID      Kind = "uuid"
	KindVector    Kind = "vector" // and anything else a model must not see
)

// ByType returns the entity of a type, or nil.
func (d *Domain) ByType(name string) *Entity { return d.byType[name] }

// ByTable returns the entity of a table (unqualified), or nil.
func (d *Domain) ByTable(table string) *Entity { return d.byTable[table] }

// SpokenKey is the column that shows a speakable key.
const SpokenKey = "code"

// versionColumn is the name under which a view shows the version of the row below it.
const versionColumn = "_version"

// VersionSQL is a row's version, as text, where the table stands in FROM.
func (e *Entity) VersionSQL() string {
	if e.versioned {
		return pgx.Identifier{e.Table, versionColumn}.Sanitize()
	}

	return pgx.Identifier{e.Table}.Sanitize() + ".xmin::text"
}

// WrittenSinceSQL is the condition that a transaction from a horizon on (a parameter's text form of an xid) may have
// written a row, where the table stands in FROM. Of rows whose version does not tell it is true.
func (e *Entity) WrittenSinceSQL(horizon string) string {
	if !e.Viewed {
		return "age(" + pgx.Identifier{e.Table}.Sanitize() + ".xmin) <= age(" + horizon + "::xid)"
	}
	version := e.VersionSQL()

	return "CASE WHEN " + version + " ~ '^[0-9]+$' THEN age(" + version + "::xid) <= age(" + horizon + "::xid) ELSE true END"
}

// Verb is a way of writing rows.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Verbs are all verbs, in the order in which they are told.
func Verbs() []Verb { return []Verb{Create, Update, Delete} }

// May says whether the declaration allows the verb for rows of this type.
func (e *Entity) May(verb Verb) bool { return slices.Contains(e.Writes, verb) }

// Column returns the column of that name, or nil.
func (e *Entity) Column(name string) *Column {
	for _, c := range e.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}
