package domain

import (
	"cmp"
	"context"
	"fmt"
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
	return initDomain(ctx, db, schema, "", "")
}

// InitViews is Init for views over the tables, in their own schema, which Views writes from the declaration. Rows belong
// to those of accounts, the name of a table; "" leaves it to a guess.
func InitViews(ctx context.Context, db DB, schema, accounts string) (string, error) {
	return initDomain(ctx, db, schema, schema+"_alfred", accounts)
}

func initDomain(ctx context.Context, db DB, schema, views, accounts string) (string, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("init domain: %w", err)
	}
	defer rollback(ctx, tx)
	cat, err := readCatalog(ctx, tx, schema)
	if err != nil {
		return "", err
	}
	if len(cat.tables) == 0 {
		return "", fmt.Errorf("init domain: schema %q does not exist or has no tables", schema)
	}
	w := &initWriter{cat: cat, schema: schema, accounts: accounts}
	w.owner = w.guessOwner()
	if views != "" {
		if err := w.overViews(views); err != nil {
			return "", err
		}
	}
	w.choose()
	w.write()

	return w.text.String(), nil
}

// overViews prepares a declaration whose types are views: it finds the accounts table, from which everything with an
// owner is reachable.
func (w *initWriter) overViews(views string) error {
	decl := &Declaration{Schema: views, Owner: w.owner, Source: SourceDecl{Schema: w.schema, Accounts: cmp.Or(w.accounts, w.guessAccounts()), UTC: w.storesUTC()}}
	var err error
	if w.source, err = newSource(decl, w.cat); err != nil {
		return fmt.Errorf("init domain: %w", err)
	}
	for _, t := range w.cat.tables {
		if len(w.source.key(t)) > 0 { // the set of types determines which keys are composite
			w.source.entities[t.Name] = &EntityDecl{Type: t.Name, Table: t.Name, Reference: !w.source.owned(t)}
		}
	}

	return nil
}

// storesUTC reports whether the tables were made by a program that stores UTC in times without a time zone: Prisma or Rails.
func (w *initWriter) storesUTC() bool {
	return w.cat.table("_prisma_migrations") != nil || w.cat.table("ar_internal_metadata") != nil
}

// guessAccounts is the table that owner columns reference, "" for none.
func (w *initWriter) guessAccounts() string {
	for _, t := range w.cat.tables {
		if len(t.primary) == 1 && keyKind(t.column(t.primary[0])) && w.ownsRows(t) {
			return t.Name
		}
	}

	return ""
}

// initWriter writes one declaration.
type initWriter struct {
	cat      *catalog
	schema   string
	accounts string  // the table of those whom rows belong to, if that is known
	source   *source // of the views; nil if the tables themselves are used
	owner    string
	entities []*initEntity
	left     []string // tables that get no type, with the reason
	text     strings.Builder
}

// initEntity is a table that becomes an entity type.
type initEntity struct {
	table     *catalogTable
	kind      string // ref type
	label     string
	names     []string // columns of the label
	reference bool
	children  []*initEntity
	parent    *initEntity
}

var (
	ownerNames    = regexp.MustCompile(`^(user|owner|account|tenant|customer|member|client|org|organi[sz]ation|company|team|household)(_?id)?$`)
	bookkeeping   = regexp.MustCompile(`^(goose_|river_|schema_migrations$|flyway_|_)|_migrations$`)
	labelNames    = []string{"name", "title", "label", "subject", "display_name", "full_name"}
	codeNames     = []string{"code", "email"}
	goneNames     = regexp.MustCompile(`^((is_)?(deleted|discarded)|(deleted|discarded)_(at|on))$`) // by which programs mark rows as gone
	secretNames   = regexp.MustCompile(`(^|_)(password|passwd|pwd|passphrase|secret|token|salt|api_key|private_key)(_(hash|digest|salt))?$`)
	longTextNames = []string{"body", "content", "instructions", "full_text", "transcript"}
)

var camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// snake is a name in lower case, its words joined by _: OrderItem and "Order Item" are order_item.
func snake(name string) string {
	return strings.ReplaceAll(strings.ToLower(camelHump.ReplaceAllString(name, "${1}_${2}")), " ", "_")
}

// namesRows reports whether rows are called by a column, however its name is written: "Full name" is full_name.
func namesRows(column string) bool {
	return slices.Contains(slices.Concat(labelNames, codeNames), snake(column))
}

// choose decides which tables become types, and how they relate.
func (w *initWriter) choose() {
	taken := map[string]bool{}
	for _, t := range w.cat.tables {
		if reason := w.leaveOut(t); reason != "" {
			w.left = append(w.left, fmt.Sprintf("%s: %s", t.Name, reason))

			continue
		}
		e := &initEntity{table: t, kind: uniqueType(t.Name, taken), reference: t.column(w.owner) == nil}
		if w.source != nil {
			e.reference = !w.source.owned(t)
			w.source.entities[t.Name].Type = e.kind
		}
		w.entities = append(w.entities, e)
	}
	for _, e := range w.entities {
		w.adopt(e)
		w.guessLabel(e)
	}
}

func (w *initWriter) leaveOut(t *catalogTable) string {
	switch {
	case bookkeeping.MatchString(t.Name) && len(t.foreignKeys) < 2: // with two, it says which rows belong together
		return "bookkeeping of another tool"
	case w.source != nil && len(w.source.key(t)) == 0:
		return "it has no key: nothing tells its rows apart"
	case w.source != nil && !w.source.owned(t) && !w.pointedAt(t):
		return "no foreign key connects it to its rows' owners; if all users may see all of it, declare it reference: true"
	case w.source != nil:
		return ""
	case w.ownsRows(t):
		return "it holds the tenants themselves"
	case len(t.primary) != 1:
		return "it has no single-column primary key"
	case !keyKind(t.column(t.primary[0])):
		return "its key is neither uuid nor an integer nor text"
	case !t.TenantSelect && w.someReadable():
		return "alfred_tenant may not read it, though it may read others"
	default:
		return ""
	}
}

// someReadable reports whether the schema's grants exist already, so that a table without one is kept from the
// assistant on purpose.
func (w *initWriter) someReadable() bool {
	return slices.ContainsFunc(w.cat.tables, func(t *catalogTable) bool { return t.TenantSelect })
}

// ownsRows reports whether other tables' owner column references this one.
func (w *initWriter) ownsRows(t *catalogTable) bool {
	return w.referenced(t, func(_ *catalogTable, fk catalogFK) bool { return slices.Equal(fk.Columns, []string{w.owner}) })
}

// referenced reports whether a foreign key that fits leads to the table.
func (w *initWriter) referenced(t *catalogTable, fits func(from *catalogTable, fk catalogFK) bool) bool {
	return slices.ContainsFunc(w.cat.tables, func(from *catalogTable) bool {
		return slices.ContainsFunc(from.foreignKeys, func(fk catalogFK) bool {
			return fk.Table == t.Name && fk.Schema == w.schema && fits(from, fk)
		})
	})
}

var notWord = regexp.MustCompile(`[^a-z]+`)

// uniqueType derives a ref prefix from a table's name: books -> book.
func uniqueType(table string, taken map[string]bool) string {
	words := strings.Trim(notWord.ReplaceAllString(snake(table), "_"), "_")
	name := Fold(words)
	if !refType(name) {
		name = "row_" + strings.TrimPrefix(name, "gen_")
	}
	for taken[name] {
		name += "_other"
	}
	taken[name] = true

	return name
}

func (w *initWriter) entity(table string) *initEntity {
	return find(w.entities, func(e *initEntity) bool { return e.table.Name == table })
}

// parentOf is the one entity with whose rows this one's are deleted, if there is exactly one.
func (w *initWriter) parentOf(e *initEntity) *initEntity {
	var parent *initEntity
	for _, fk := range e.table.foreignKeys {
		target := w.entity(fk.Table)
		if target == nil || fk.Schema != w.schema || target == e || target.reference || fk.OnDelete != "cascade" || e.table.mayBeNull(fk.Columns) {
			continue
		}
		if parent != nil && parent != target {
			return nil
		}
		parent = target
	}

	return parent
}

func (w *initWriter) adopt(e *initEntity) {
	parent := w.parentOf(e)
	if parent == nil {
		return
	}
	for above := parent; above != nil; above = above.parent {
		if above == e { // tables that reference each other in a cycle
			return
		}
	}
	e.parent = parent
	parent.children = append(parent.children, e)
}

// refColumns returns the columns that reference other entities, by name.
func (w *initWriter) refColumns(e *initEntity) map[string]*initEntity {
	refs := map[string]*initEntity{}
	for _, fk := range e.table.foreignKeys {
		if w.source != nil && len(fk.Columns) > 1 {
			if target := w.entity(fk.Table); target != nil && fk.Schema == w.schema && w.source.folded(target.table) {
				refs[w.source.foldedName(e.table, fk)] = target
			}

			continue
		}
		for _, name := range fk.Columns {
			if target := w.entity(fk.Table); target != nil && fk.Schema == w.schema && name != w.ownerOf(e) {
				refs[name] = target
			}
		}
	}

	return refs
}

// plain returns the columns that a person reads: neither keys nor bookkeeping.
func (w *initWriter) plain(e *initEntity) []*Column {
	refs := w.refColumns(e)

	return slices.DeleteFunc(slices.Clone(e.table.columns), func(c *Column) bool {
		return c.Name == w.ownerOf(e) || isSecret(c) || refs[c.Name] != nil || e.table.identifies(c) || slices.Contains(e.table.primary, c.Name) ||
			c.Kind == KindVector || isBookkeeping(c.Name) || goneNames.MatchString(snake(c.Name))
	})
}

// pointedAt reports whether rows of other tables reference this table, like a catalogue.
func (w *initWriter) pointedAt(t *catalogTable) bool {
	return w.referenced(t, func(from *catalogTable, _ catalogFK) bool { return from != t })
}

// quoted is the table with its schema, as SQL.
func (w *initWriter) quoted(e *initEntity) string {
	return quote(w.into(), e.table.Name)
}

// into is the schema of the types.
func (w *initWriter) into() string {
	if w.source != nil {
		return w.source.decl.Schema
	}

	return w.schema
}
