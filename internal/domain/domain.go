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

	// Entities in declaration order.
	Entities []*Entity
	// Subdomains in declaration order.
	Subdomains []*Subdomain
	// Operations in declaration order.
	Operations []*Operation
	// Snapshot queries count what exists; Profile queries describe the user. Both run as the tenant with TimeZone set
	// to the user's, so that current_date is the user's day; each returns one text column, one line per row.
	Snapshot []Query
	Profile  []Query
	// Guidance is an optional query returning (subdomain, text): the user's own wishes.
	Guidance string

	// Offline is what the rule-based model knows about this domain; nil for nothing.
	Offline *Offline
	// Deferred: the database has constraints or triggers that it checks only at the end of a transaction.
	Deferred bool
	// Settle, if not empty, is the statement that runs the deferred triggers of the tables behind views.
	Settle string

	byType         map[string]*Entity
	byTable        map[string]*Entity
	entityWords    map[string]*Entity
	subdomainWords map[string]*Subdomain
	states         map[string]bool
}

// Query is one named statement of a domain.
type Query struct {
	Label string `yaml:"label"`
	SQL   string `yaml:"sql"`
}

// Entity is one entity type: a table whose rows get refs.
type Entity struct {
	Type  string // ref prefix and type name: recipe, inv, meal
	Table string // unqualified; also the name models use
	// Name and Plural are for people: "recipe", "recipes"; Aliases are other words users say for it.
	Name    string
	Plural  string
	Aliases []string
	Comment string // COMMENT ON TABLE

	Key *Column // single-column key: uuid, integer or text
	// Speakable: people call rows by their key (an order's number). It can be read as the column SpokenKey and
	// mentioned to users; rows are still addressed by refs.
	Speakable bool
	// Owner is the tenant column; nil for shared, read-only tables. Its value is not always the user's id: its default
	// computes it, and rows are compared with that default.
	Owner *Column

	Columns []*Column // all, in catalog order, including hidden ones
	// Sets are the column sets a read may request: "summary" always exists, "text" and "rows" if the type has them.
	// Each includes the key and label columns. "rows" means the children.
	Sets map[string][]string
	// Order is the default order of reads, e.g. "name", "date"; the key is
	// always the last tie-breaker.
	Order []OrderBy

	Children []*Child
	// Part: rows are parts of another type's rows.
	Part bool
	// Label renders a row's label from its columns ("{name}", "{date:Jan 2} [{meal_type}]").
	Label Template
	// Display renders a row's line for prompts, without "- " and id; Spoken the same for people.
	Display, Spoken Template
	// Units is how people name the units of a number; nil for types without.
	Units *Units
	// Semantic renders the text to embed; zero if the type is not searched.
	Semantic Template
	// Match is the lookup through a canonical table; nil if there is none.
	Match *Match
	// Merge names the columns by which two new rows are the same, so that their Sum column is added up ("adding to the
	// shopping list merges"); nil for none.
	Merge *Merge
	// Checks are queries over a relation named rows: what was written, or what drafts would write, with the table's
	// columns. Each returns sentences that say what is wrong.
	Checks []string
	// Reference: rows are shared reference data (ingredients), read-only for users.
	Reference bool
	// Writes lists what may be done to the rows, in the order create, update, delete; only what is declared.
	Writes []Verb
	// Marks: a deletion marks the row, and so takes nothing along.
	Marks bool
	// Approve lists which of update and delete need the user's approval each time, however few rows are named.
	Approve []Verb
	// Lockable: the tenant may lock rows, which requires the privilege to update some column, and of a view that its rows
	// are those of tables.
	Lockable bool
	// Codes are the columns by which people call rows, besides the label.
	Codes []*Column
	// Singleton: a user has at most one row (a unique owner), for example preferences.
	Singleton bool
	// Empty is the sentence for a list without rows.
	Empty string
	// Viewed: a view separates the users' rows by asking for whom the transaction acts. Without a user it shows none,
	// and it may show a row to several users.
	Viewed bool
	// Shared: all users who see any rows see the same, so that one vector of each serves all.
	Shared bool
	// Account is the SQL of the account whose rows a view shows to the transaction's user, null for nobody's; "" where no
	// account is needed to see rows.
	Account string
	// View: it is a view, whose rows are stored elsewhere.
	View bool
	// Removable and Restorable: an undo may delete rows, and insert complete ones, key included.
	Removable, Restorable bool
	// Reacts: the owner's triggers run after its rows are written. What they write elsewhere is not undone.
	Reacts bool
	// Unseen are rows deleted or changed with a row of this type that no column of a type shows.
	Unseen []Unseen

	// Stored is the relation of its rows with its schema: of a view of Alfred's, the table behind it.
	Stored pgx.Identifier

	schema    string
	tables    map[string]*Entity // the domain's types by their tables
	versioned bool               // a view with a column for the version
}

// SQL is the table in a FROM clause. It is never aliased, because computed columns may name it.
func (e *Entity) SQL() string { return quote(e.schema, e.Table) }

// Qualified is a real column for use beside a subquery whose table also has columns.
func (e *Entity) Qualified(c *Column) string { return quote(e.Table, c.Name) }

// Owned is the SQL condition that a row belongs to the transaction's user; TRUE for shared rows. Every statement over
// rows includes it in addition to the policy, so that dropping a policy exposes nothing.
func (e *Entity) Owned() string {
	if e.Owner == nil || e.Owner.Default == "" {
		return "TRUE"
	}

	return e.Qualified(e.Owner) + " = (SELECT (" + e.Owner.Default + ")::" + e.Owner.Type + ")"
}

// OrderBy is one column of an order.
type OrderBy struct {
	Column string
	Desc   bool
}

// Child is a table whose rows belong to a row of the parent and are saved and shown with it.
type Child struct {
	Entity *Entity
	// FK is the child's column that holds the parent's key.
	FK *Column
}

// Match is how a name finds rows: through a canonical lookup table.
type Match struct {
	MatchDecl

	Link   *Column // the foreign key to the canonical row
	Target *Entity // its entity type
}

// Merge says when two rows are the same. Texts compare case-insensitively; for the match column, two rows that link to
// the same canonical row are also equal.
type Merge struct {
	By  []string `yaml:"by"`
	Sum string   `yaml:"sum"`
	// Join are text columns in which both rows' values are kept (why it is on the list).
	Join []string `yaml:"join"`
	// Unless is a bool column, or "": rows where it is true do not merge.
	Unless string `yaml:"unless"`
}

// Subdomain groups tables for planning: one step works in one subdomain.
type Subdomain struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Aliases     []string `yaml:"aliases"`
	Tables      []string `yaml:"tables"`   // primary tables: schema shown, writes allowed
	Readable    []string `yaml:"readable"` // further tables a step may read
	Guidance    string   `yaml:"guidance"` // what a planner must know
	Examples    string   `yaml:"examples"`
}

// Column is one column of an entity's table, from the catalog.
type Column struct {
	Name string
	// Type is format_type with no typmod, fit for casts: "text", "numeric", "uuid", "bpchar", "text[]",
	// "kitchen.unit"; FullType has the typmod: "numeric(6,2)".
	Type     string
	FullType string
	Kind     Kind
	// Elem is the kind of an array's elements.
	Elem       Kind
	Nullable   bool
	HasDefault bool
	Default    string // its SQL, qualified where the search path does not suffice; "" for none
	Generated  bool   // generated or identity: never written
	Derived    bool   // generated from other columns: even a restored row does not set it
	// Writable: the declaration lets rows be created and updated with it.
	Writable bool
	// SetBack: an undo may restore its previous value.
	SetBack bool
	Enum    []string
	// Native: the database orders the values as Enum does.
	Native  bool
	Comment string
	// Plain: its type has no parts that JSON would show, so that text says all of a value.
	Plain bool
	// Form describes how values are written that are texts in a form that Postgres checks, such as network addresses; "" for
	// all others. Holds is the type of what a range holds.
	Form, Holds string
	// perSecond: of a table behind a view, it counts so many units a second since 1970; 0 for what counts no time.
	perSecond int
	// cents: of a table that init looks at, the column of hundredths that this one is shown for; "" for none.
	cents string
	// words: of a table behind a view, what its numbers stand for; nil where they are numbers.
	words numbered
	// Check is the SQL of further CHECK constraints on only this column: "rating >= 1 AND rating <= 5"; "" for none.
	Check string
	// Fold: free-form words (tags, a cuisine), stored in lower case and compared case-insensitively.
	Fold bool
	// Hidden columns (owner, timestamps, embeddings) are never shown or written by a model.
	Hidden bool
	// FK is set if the column references another row, of an entity type or not. In an array column, each element is
	// such a key.
	FK *ForeignKey
	// Instead are the other references of which a row sets one: setting this one clears them.
	Instead []*Column
	// Unfolded columns of a view are filled from the key that another column holds, a composite one or one of several types'.
	Unfolded bool
	// Repeats: of a view, it says no more than another column, which points to the row that it is part of the key of.
	Repeats bool
	// Pair is what the column is made of if it refers to rows of one of several types, else nil.
	Pair *Pair
	// Expr is the SQL of a computed column, "" for a real one. It may name the table unqualified, so a statement must
	// not alias the table. Computed columns are Generated: read and filtered, never written.
	Expr string
	// Join is what a statement joins to the table for Expr, in this order.
	Join []string

	given  bool   // set when a row is restored
	kept   bool   // set by the view at every change
	filled bool   // of a domain type that is NOT NULL
	zoned  bool   // a timestamp with time zone
	cast   string // type to read the column as, where that is not its own
	below  below  // the table's column that a view's column shows
	stored *Column
}

// SQL is the column as an expression of a SELECT, RETURNING or WHERE.
func (c *Column) SQL() string {
	if c.Expr != "" {
		return "(" + c.Expr + ")"
	}
	if c.cast != "" {
		return quote(c.Name) + "::" + c.cast
	}

	return quote(c.Name)
}

// ForeignKey is what a column references. Entity is nil if the target table has no entity type; such a column is hidden
// from models.
type ForeignKey struct {
	Entity   *Entity
	Table    string
	Column   string // the key of Entity, if there is one
	OnDelete string // "cascade", "set null", ...
}

// Target is the type whose keys the column holds, nil for none.
func (c *Column) Target() *Entity {
	if c.FK == nil {
		return nil
	}

	return c.FK.Entity
}

// FreeText reports whether the column holds words of people: no closed list and no form.
func (c *Column) FreeText() bool { return c.Kind == KindText && len(c.Enum) == 0 && c.Form == "" }

// Required reports whether a new row needs a value that the database does not give.
func (c *Column) Required() bool { return !c.Nullable && !c.HasDefault && !c.Generated }

// Kind classifies a column's values, for operators and validation.
type Kind string

// The kinds of columns.
const (
	KindArray     Kind = "array"
	KindBool      Kind = "bool"
	KindDate      Kind = "date"
	KindJSON      Kind = "json"
	KindNumber    Kind = "number"
	KindText      Kind = "text" // including enums, and whatever has a form
	KindTime      Kind = "time" // time of day, interval
	KindTimestamp Kind = "timestamp"
	KindUUID      Kind = "uuid"
	KindVector    Kind = "vector" // and anything else a model must not see
)

// ByType returns the entity of a type, or nil.
func (d *Domain) ByType(name string) *Entity { return d.byType[name] }

// ByTable returns the entity of a table (unqualified), or nil.
func (d *Domain) ByTable(table string) *Entity { return d.byTable[table] }

// SpokenKey is the column that shows a speakable key, if the key itself is not called so: then it is spokenCode.
const SpokenKey = "code"

func spokenCode(entityType string) string { return entityType + "_" + SpokenKey }

// versionColumn is the name under which a view exposes the version of the underlying row.
const versionColumn = "_version"

// VersionSQL is a row's version, as text, where the table is in FROM. Of an owner's own view it is what the row holds.
func (e *Entity) VersionSQL() string {
	switch {
	case e.versioned:
		return quote(e.Table, versionColumn)
	case e.View:
		return "md5(" + quote(e.Table) + ".*::text)" // the name alone could be a column's
	default:
		return quote(e.Table) + ".xmin::text"
	}
}

// WrittenSinceSQL is the condition that a transaction since a horizon (a parameter's text form of an xid) may have
// written a row, where the table is in FROM. It is true for rows whose version does not show that.
func (e *Entity) WrittenSinceSQL(horizon string) string {
	if !e.View {
		return "age(" + quote(e.Table) + ".xmin) <= age(" + horizon + "::xid)"
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

// Verbs returns all verbs, in display order.
func Verbs() []Verb { return []Verb{Create, Update, Delete} }

func verbNames(verbs []Verb) []string {
	return each(verbs, func(verb Verb) string { return string(verb) })
}

// May reports whether the declaration allows the verb for rows of this type.
func (e *Entity) May(verb Verb) bool { return slices.Contains(e.Writes, verb) }

// Child returns the child whose rows are of that table, or nil.
func (e *Entity) Child(table string) *Child {
	return find(e.Children, func(child *Child) bool { return child.Entity.Table == table })
}

// Column returns the column of that name, or nil.
func (e *Entity) Column(name string) *Column {
	return find(e.Columns, func(c *Column) bool { return c.Name == name })
}
