package domain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Init writes a first declaration of a schema from its catalog: every table with
// a key becomes an entity type, with label, display line, children and subdomain
// guessed. Important guesses are marked "# unsure". Bind then lists what the
// result cannot fix, such as missing row-level security.
//
// It uses the tables themselves, with row-level security and grants for Alfred;
// InitViews is for tables that nobody may alter.
func Init(ctx context.Context, db DB, schema string) (string, error) {
	return initDomain(ctx, db, InitSource{Schemas: Schemas{schema}}, "")
}

// InitSource is what Init cannot know of the tables behind views.
type InitSource struct {
	Schemas Schemas // one, or several of which the first is the main one
	// Accounts is the table of those whom rows belong to, with its schema if that is none of these; "" leaves it to a guess.
	Accounts string
	// Everybody: all users have all rows. With Accounts, those who have an account.
	Everybody bool
}

// InitViews is Init for views over the tables of schemas, in their own schema, which Views writes from the declaration.
func InitViews(ctx context.Context, db DB, from InitSource) (string, error) {
	return initDomain(ctx, db, from, from.Schemas[0]+"_alfred")
}

func initDomain(ctx context.Context, db DB, from InitSource, views string) (string, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("init domain: %w", err)
	}
	defer rollback(ctx, tx)
	cat, err := readCatalog(ctx, tx, from.Schemas, from.Accounts)
	if err != nil {
		return "", err
	}
	if empty, found := cat.emptySchema(); found {
		return "", noTables(ctx, tx, empty)
	}
	w := &initWriter{cat: cat, accounts: from.Accounts, Everybody: from.Everybody, Title: from.Schemas[0]}
	if named := cat.named(from.Accounts); named != nil {
		w.accounts = named.Name
	}
	w.findNames()
	if w.Title == "public" {
		if err := tx.QueryRow(ctx, `SELECT regexp_replace(current_database(), '_(development|production|staging)$', '')`).Scan(&w.Title); err != nil {
			return "", fmt.Errorf("init domain: %w", err)
		}
	}
	if views != "" {
		if err := w.leadByName(ctx, tx); err != nil {
			return "", err
		}
	}
	if !w.Everybody || w.accounts != "" {
		w.Owner = w.guessOwner()
	}
	if views != "" {
		if err := w.overViews(views); err != nil {
			return "", err
		}
		if err := w.readSamples(ctx, tx); err != nil {
			return "", err
		}
		w.adoptCents()
		w.pairTables()
		if err := w.leadToPeople(ctx, tx); err != nil {
			return "", err
		}
	}
	w.choose()

	return w.write()
}

// overViews prepares a declaration whose types are views: it finds the accounts table, from which everything with an
// owner is reachable.
func (w *initWriter) overViews(views string) error {
	decl := &Declaration{Schema: views, Owner: w.Owner, Source: SourceDecl{Schema: w.cat.schemas, Accounts: w.accounts, UTC: w.storesUTC()}}
	if !w.Everybody {
		decl.Source.Accounts = cmp.Or(w.accounts, w.guessAccounts())
	}
	var err error
	if w.source, err = newSource(decl, w.cat); err != nil {
		return fmt.Errorf("init domain: %w", err)
	}
	if w.Everybody {
		w.giveToAll()
	} else {
		w.share()
	}
	for _, t := range w.cat.tables {
		if len(w.source.viewKey(t)) > 0 && w.source.entities[t.Name] == nil && !t.Beyond { // the set of types determines which keys are composite
			w.source.entities[t.Name] = &EntityDecl{Type: t.Name, Table: t.Name, Reference: !w.source.hasOwner(t)}
		}
	}
	w.ownLoosely()

	return nil
}

// storesUTC reports whether the tables were made by a program that stores UTC in times without a time zone: Prisma, Rails, Odoo or
// Ecto, whose migrations say when they were inserted.
func (w *initWriter) storesUTC() bool {
	return slices.ContainsFunc(w.cat.tables, func(t *catalogTable) bool {
		return t.Relation == "schema_migrations" && t.column("inserted_at") != nil || slices.Contains([]string{"_prisma_migrations", "ar_internal_metadata", "ir_module_module"}, t.Relation)
	})
}

// initWriter writes one declaration.
type initWriter struct {
	cat    *catalog
	shorts map[*catalogTable]string // the tables' names without what they share
	byWord map[string]*catalogTable // by what a name says that a row is
	Title  string                   // what the program is called
	// Everybody: all users have all rows.
	Everybody bool
	accounts  string  // the table of those whom rows belong to, if that is known
	source    *source // of the views; nil if the tables themselves are used
	Owner     string
	Entities  []*initEntity
	Left      []string                                   // tables that get no type, with the reason
	Unread    []string                                   // tables of which no rows could be read, with the reason
	samples   map[*Column]sample                         // of the tables that may be read
	models    map[string]string                          // Django's types by their keys
	kinds     map[*catalogTable]map[*catalogTable]string // the types of rows that a loose pair names, by their tables
	// sequences are those that only programs ask for numbers.
	sequences []sequence
}

// initEntity is a table that becomes an entity type.
type initEntity struct {
	*initWriter

	Table     *catalogTable
	single    string // what a row is called
	Kind      string // ref type
	Label     string
	names     []string // columns of the label
	moment    *Column  // the time that stands beside a label that is a number
	Reference bool
	Children  []*initEntity
	Parent    *initEntity
	refs      map[string]*initEntity // the columns that reference other entities
	plain     []*Column              // those that a person reads: neither keys nor bookkeeping
}

// choose decides which tables become types, and how they relate.
func (w *initWriter) choose() {
	taken := map[string]bool{}
	for _, t := range w.cat.tables {
		if reason := w.whyLeftOut(t); reason != "" {
			w.Left = append(w.Left, fmt.Sprintf("%s: %s", t.Name, reason))

			continue
		}
		single := w.singular(t)
		e := &initEntity{initWriter: w, Table: t, single: single, Kind: uniqueType(single, taken), Reference: t.column(w.Owner) == nil}
		if w.source != nil {
			e.Reference = !w.source.hasOwner(t)
			w.source.entities[t.Name].Type = e.Kind
		}
		w.Entities = append(w.Entities, e)
	}
	if w.source != nil { // some are left out, to which no column of a view leads, and all have their types by now
		chosen := each(w.Entities, func(e *initEntity) *catalogTable { return e.Table })
		maps.DeleteFunc(w.source.entities, func(name string, _ *EntityDecl) bool { return !slices.Contains(chosen, w.cat.table(name)) })
		w.pair(chosen)
	}
	for _, e := range w.Entities {
		e.findColumns()
		e.findParent()
	}
	w.partAgain()
	for _, e := range w.Entities {
		e.guessLabel()
	}
}

// partAgain takes out of others what people know by itself, as what further rows point at shows that are no parts of it: time entries
// at tasks, tasks at their project. What only pairs it with others shows nothing, and a name says more: order_items.
func (w *initWriter) partAgain() {
	for again := true; again; {
		again = false
		for _, e := range w.Entities {
			if e.Parent != nil && !strings.HasPrefix(e.Table.word(), e.Parent.Table.word()+"_") && e.isPointedAt() {
				e.Parent.Children = slices.DeleteFunc(e.Parent.Children, func(c *initEntity) bool { return c == e })
				e.Parent, again = nil, true
			}
		}
	}
}

// isPointedAt reports whether rows point at one of these that are no parts of it.
func (e *initEntity) isPointedAt() bool {
	return slices.ContainsFunc(e.Entities, func(from *initEntity) bool {
		points := slices.ContainsFunc(from.Table.foreignKeys, func(fk catalogFK) bool { return fk.leadsTo(e.Table) })

		return points && from != e && from.Parent != e && !from.isLink()
	})
}

// byOwner reports whether a foreign key is an owner column.
func (w *initWriter) byOwner(_ *catalogTable, fk catalogFK) bool {
	return fk.holds(w.Owner)
}

// references is how many foreign keys that fit lead to the table.
func (w *initWriter) references(t *catalogTable, fits func(from *catalogTable, fk catalogFK) bool) (n int) {
	for _, from := range w.cat.tables {
		for _, fk := range from.foreignKeys {
			if fk.leadsTo(t) && fits(from, fk) {
				n++
			}
		}
	}

	return n
}

var notWord = regexp.MustCompile(`[^a-z]+`)

// pairName is what Prisma calls a table that only pairs rows: _PostToTag.
var pairName = regexp.MustCompile(`^_([A-Z]\w*)To([A-Z]\w*)$`)

// findNames finds the names of tables without the words that all tables of a program share, as those of Django begin with their app.
// A word that is a table itself is no such word: the parts of a post are post parts.
func (w *initWriter) findNames() {
	apps, sizes, names := map[string][]string{}, map[string]int{}, map[string]int{}
	for _, t := range w.cat.tables {
		words := strings.Split(snake(t.Name), "_")
		if sizes[words[0]]++; sizes[words[0]] == 1 {
			apps[words[0]] = words
		}
		apps[words[0]] = sharedWords(apps[words[0]], words)
	}
	cut := func(t *catalogTable) (app, rest string) {
		first, _, _ := strings.Cut(snake(t.Name), "_")
		app = strings.Join(apps[first], "_")
		if rest, of := strings.CutPrefix(snake(t.Name), app+"_"); of && sizes[first] > 2 {
			return app, rest
		}

		return app, ""
	}
	for _, t := range w.cat.tables {
		_, rest := cut(t)
		names[t.word()]++
		names[Fold(rest)]++
	}
	w.shorts, w.byWord = map[*catalogTable]string{}, map[string]*catalogTable{}
	for _, t := range w.cat.tables {
		app, rest := cut(t)
		w.byWord[t.word()], w.shorts[t] = t, pairName.ReplaceAllString(t.Name, "${1}_$2")
		if isName(rest) && names[Fold(app)] == 0 && names[Fold(rest)] == 1 {
			w.byWord[Fold(rest)], w.shorts[t] = t, rest
		}
		if t.Name != t.Relation && t.Schema == w.cat.schemas[0] { // rows of the main one have the plain name
			w.shorts[t] = t.Relation
		}
		if linkName.MatchString(t.Name) && (len(t.primary) > 1 || len(t.foreignKeys) > 1) {
			w.shorts[t] = linkName.ReplaceAllString(w.shorts[t], "")
		}
	}
}

// sharedWords are those with which both names begin.
func sharedWords(a, b []string) []string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}

	return a[:n]
}

// otherType ends the type of what is called like another.
const otherType = "_other"

// uniqueType derives a ref prefix from what a row is called: book, vehículo -> vehiculo.
func uniqueType(singular string, taken map[string]bool) string {
	name := Fold(strings.Trim(notWord.ReplaceAllString(Plain(singular), "_"), "_"))
	if !refType(name) {
		name = strings.TrimSuffix("row_"+strings.TrimPrefix(name, "gen_"), "_")
	}
	for taken[name] {
		name += otherType
	}
	taken[name] = true

	return name
}

// findParent finds the one entity with whose rows this one's are deleted, if there is exactly one. What goes with a person's
// account or a company is no part of it: all that they have would be, not only who is a member.
func (e *initEntity) findParent() {
	var parents []*initEntity
	for _, fk := range e.Table.foreignKeys {
		if target := e.target(fk); target != nil && e.goesWith(target, fk) && !slices.Contains(parents, target) {
			parents = append(parents, target)
		}
	}
	if len(parents) != 1 {
		return
	}
	for above := parents[0]; above != nil; above = above.Parent {
		if above == e { // tables that reference each other in a cycle
			return
		}
	}
	e.Parent = parents[0]
	e.Parent.Children = append(e.Parent.Children, e)
}

// goesWith reports whether each row is deleted with the row that a foreign key leads to, or, if there is only the name of a column that
// does, whether its table is named after that row's: order_items. What pairs rows is no part of one.
func (e *initEntity) goesWith(target *initEntity, fk catalogFK) bool {
	account := e.source != nil && (target.Table == e.source.accounts || target.isCompany() && !e.source.shares(e.Table))
	whole := target != e && !target.Reference && !account

	part := fk.OnDelete == "cascade" || fk.OnDelete == "" && e.Table.plainKey() && strings.HasPrefix(e.Table.word(), target.Table.word()+"_")

	return whole && part && !e.Table.mayBeNull(fk.Columns) && len(e.refColumns(fk)) > 0
}

// refColumns are the columns that hold a foreign key: of a view one or none, which may combine several.
func (e *initEntity) refColumns(fk catalogFK) []string {
	if e.source == nil {
		return fk.Columns
	}

	return nonEmpty(e.source.refColumn(e.Table, fk))
}

// target is the entity that a foreign key leads to, nil if there is none.
func (w *initWriter) target(fk catalogFK) *initEntity {
	return find(w.Entities, func(e *initEntity) bool { return fk.leadsTo(e.Table) })
}

// findColumns tells references and what a person reads apart.
func (e *initEntity) findColumns() {
	owner := e.ownerColumn()
	e.refs = map[string]*initEntity{}
	for _, fk := range e.Table.foreignKeys {
		target := e.target(fk)
		if target == nil {
			continue
		}
		for _, name := range e.refColumns(fk) {
			if name != owner || e.Everybody { // among what all have, it says who did something
				e.refs[name] = target
			}
		}
	}
	maps.Copy(e.refs, e.polymorphic())
	e.plain = slices.DeleteFunc(slices.Clone(e.Table.columns), func(c *Column) bool {
		key := c.Name == owner || e.refs[c.Name] != nil || e.namesTypes(c) || slices.Contains(e.Table.primary, c.Name) && !e.identifiesRow(c)

		return key || e.willBeHidden(c) || e.setAtChange(c) || goneNames.MatchString(snake(c.Name))
	})
}

// identifiesRow reports whether a part of a combined key tells people which row it is, as the name of a tag or the day of a payment.
func (e *initEntity) identifiesRow(c *Column) bool {
	said := c.Kind == KindText || c.Kind == KindDate || c.Kind == KindTimestamp

	return e.source != nil && e.Folded() && len(e.Key()) > 1 && said
}

// Source are the tables behind the views, nil if the types are the tables themselves.
func (w *initWriter) Source() *SourceDecl {
	if w.source == nil {
		return nil
	}

	return &w.source.decl.Source
}

// Into is the schema of the types.
func (w *initWriter) Into() string {
	if w.source != nil {
		return w.source.decl.Schema
	}

	return w.cat.schemas[0]
}
