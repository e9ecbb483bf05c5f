package domain

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Open loads a declaration and binds it to db's catalog: the usual way to get a Domain. Mismatches are a *CheckError
// that lists all of them.
func Open(ctx context.Context, db DB, fsys fs.FS, file string) (*Domain, error) {
	decl, err := Load(fsys, file)
	if err != nil {
		return nil, err
	}

	return Bind(ctx, db, decl)
}

// Bind checks a declaration against the live catalog and combines both. Mismatches are a *CheckError that lists all of
// them.
func Bind(ctx context.Context, db DB, decl *Declaration) (*Domain, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("bind domain: %w", err)
	}
	defer rollback(ctx, tx)
	cat, err := readCatalog(ctx, tx, Schemas{decl.Schema}, "")
	if err != nil {
		return nil, err
	}
	b := &binder{ctx: ctx, tx: tx, decl: decl, cat: cat, check: &CheckError{File: decl.file}}
	b.domain = New(Domain{
		Name: decl.Name, Schema: decl.Schema, Persona: decl.Persona, Snapshot: decl.Snapshot, Profile: decl.Profile, Guidance: decl.Guidance,
		Offline: decl.Offline, Deferred: cat.deferred,
	})
	if cat.settles && decl.Source.Schema != nil {
		b.domain.Settle = "SELECT " + quote(decl.Schema, settle) + "()"
	}
	b.bind()
	if err := cmp.Or(b.failed, b.check.orNil()); err != nil {
		return nil, err
	}

	return New(*b.domain), nil
}

// rollback ends a read-only transaction. If it fails, the connection is gone, and the transaction with it.
func rollback(ctx context.Context, tx pgx.Tx) {
	_ = tx.Rollback(context.WithoutCancel(ctx))
}

// binder combines one declaration and one catalog; all problems go to check.
type binder struct {
	ctx    context.Context
	tx     pgx.Tx
	failed error // the first failure to ask Postgres; nothing is asked after it
	decl   *Declaration
	cat    *catalog
	check  *CheckError
	domain *Domain
	types  []*typeBinder // those whose type and table are valid
}

// typeBinder binds one entity type.
type typeBinder struct {
	*binder
	*Entity

	own   *EntityDecl // what is declared of it
	at    string      // where
	table *catalogTable
}

func (b *binder) bind() {
	b.checkHead()
	if len(b.cat.tables) == 0 { // nothing else would be said but that everything is missing
		return
	}
	for i := range b.decl.Entities {
		b.bindEntity(i)
	}
	b.eachType(
		(*typeBinder).bindComputed, (*typeBinder).bindLists, (*typeBinder).checkLockable, (*typeBinder).bindForeignKeys, (*typeBinder).bindHidden, (*typeBinder).bindTexts,
		(*typeBinder).bindRelations, (*typeBinder).bindCodes, (*typeBinder).bindWrites,
	)
	b.bindUnseen()
	b.bindOperations()
	b.checkWords()
	b.bindSubdomains()
	b.checkOffline()
	b.checkQueries()
	b.eachType((*typeBinder).bindChecks)
}

// eachType takes all types through one step after the other, since a step reads what those before it bound of others.
func (b *binder) eachType(steps ...func(*typeBinder)) {
	for _, step := range steps {
		for _, t := range b.types {
			step(t)
		}
	}
}

// ask asks Postgres, unless that has failed before.
func (b *binder) ask(what string, question func() error) {
	if b.failed != nil {
		return
	}
	if err := question(); err != nil {
		b.failed = fmt.Errorf("%s: %w", what, err)
	}
}

func (b *binder) checkHead() {
	if b.decl.Name == "" {
		b.problemf("$.name", "the domain has no name")
	}
	if len(b.decl.Entities) == 0 {
		b.problemf("$.entities", "the domain has no entities")
	}
	if !b.cat.tenantRole {
		b.problemf("$.schema", "role alfred_tenant does not exist: run worker migrate up first; if the database was restored from a dump, create the roles and restore it again (docs/operations.md, Backup)")
	}
	if b.cat.closed != nil {
		b.problemf("$.schema", "alfred_tenant may not use schema %s, in which Alfred's extensions are: GRANT USAGE ON SCHEMA", *b.cat.closed)
	}
	switch {
	case len(b.cat.tables) == 0 && b.decl.Source.Schema != nil:
		b.problemf("$.schema", "schema %q has no views yet, or no more: run worker domain attach", b.decl.Schema)
	case len(b.cat.tables) == 0:
		b.problemf("$.schema", "schema %q has no tables", b.decl.Schema)
	case b.cat.tenantRole && !b.cat.tables[0].TenantUsage:
		b.problemf("$.schema", "alfred_tenant may not use schema %s: GRANT USAGE ON SCHEMA", b.decl.Schema)
	}
}

func (b *binder) problemf(at, format string, args ...any) {
	b.check.addf(b.decl.line(at), format, args...)
}

// problemf reports a problem of the type at one of its fields.
func (b *typeBinder) problemf(field, format string, args ...any) {
	b.binder.problemf(b.at+"."+field, "%s: %s", b.own.Type, fmt.Sprintf(format, args...))
}

// each is what is made of every element.
func each[T, R any](list []T, what func(T) R) []R {
	made := make([]R, len(list))
	for i, one := range list {
		made[i] = what(one)
	}

	return made
}

// namesOf are the names of the columns that fit.
func namesOf(columns []*Column, fits func(*Column) bool) []string {
	fitting := slices.DeleteFunc(slices.Clone(columns), func(c *Column) bool { return !fits(c) })

	return each(fitting, func(c *Column) string { return c.Name })
}

// find returns the first that fits, or nil.
func find[T any](list []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}

	return nil
}

func (b *binder) bindEntity(i int) {
	decl := &b.decl.Entities[i]
	t := &typeBinder{binder: b, own: decl, at: fmt.Sprintf("$.entities[%d]", i), table: b.cat.table(decl.Table)}
	switch other := b.domain.ByTable(decl.Table); {
	case !refType(decl.Type):
		t.problemf("type", "%q cannot be a ref prefix: lower-case words joined by _, each beginning with a letter, not gen", decl.Type)
	case b.domain.ByType(decl.Type) != nil:
		t.problemf("type", "declared twice")
	case other != nil:
		t.problemf("table", "table %s has the type %s already", decl.Table, other.Type)
	case t.table == nil:
		t.problemf("table", "table %s.%s does not exist", b.decl.Schema, decl.Table)
	default:
		t.Entity = &Entity{
			Type: decl.Type, Table: decl.Table, Name: decl.Name, Plural: decl.Plural, Aliases: decl.Aliases,
			Comment: t.table.Comment, Columns: t.table.columns, Reference: decl.Reference, Empty: decl.Empty, Checks: decl.Checks,
			Sets: map[string][]string{}, schema: b.decl.Schema, tables: b.domain.byTable, Stored: b.storedIn(t.table),
		}
		b.types, b.domain.Entities = append(b.types, t), append(b.domain.Entities, t.Entity)
		b.domain.byType[t.Type], b.domain.byTable[t.Table] = t.Entity, t.Entity
		bindRights(t.Entity, t.table)
		defaultNames(t.Entity)
		t.bindViewed()
		t.bindKey()
		t.bindOwner()
		t.checkReading()
	}
}

// bindRights records what may be done to rows beyond the declaration, and excludes a view's version column from reads
// and writes. The privilege to update that column only allows locking rows, since no view lets it be written.
func bindRights(e *Entity, table *catalogTable) {
	e.Lockable = len(table.updatable) > 0
	e.Removable, e.Reacts = table.UndoDelete, table.Reacts
	if e.View = table.View; e.View {
		e.versioned = e.Column(versionColumn) != nil
		e.Columns = slices.DeleteFunc(slices.Clone(e.Columns), func(c *Column) bool { return c.Name == versionColumn })
		table.insertable = without(table.insertable, []string{versionColumn})
		table.updatable = without(table.updatable, []string{versionColumn})
	}
	e.Restorable = !table.Heirs && !slices.ContainsFunc(e.Columns, func(c *Column) bool { return !c.given && !c.Derived })
}

// refType reports whether {type}_{n} and gen_{type}_{n} can be parsed unambiguously.
func refType(name string) bool {
	words := strings.Split(name, "_")
	if words[0] == "gen" {
		return false
	}

	return !slices.ContainsFunc(words, func(word string) bool { return !isName(word) })
}

func defaultNames(e *Entity) {
	spoken := Spoken(e.Table)
	e.Plural = cmp.Or(e.Plural, spoken)
	e.Name = cmp.Or(e.Name, strings.ReplaceAll(Fold(spoken), "_", " "))
	e.Empty = cmp.Or(e.Empty, "There are no "+e.Plural+".")
}

// bindKey finds the single column that identifies a row globally: with a key unique only per tenant, two tenants' rows
// could share an embedding.
func (b *typeBinder) bindKey() {
	name := b.keyName()
	if name == "" {
		b.problemf("table", "table %s has no single-column primary key; name a unique column as key", b.Table)

		return
	}
	key := b.Column(name)
	switch {
	case key == nil:
		b.problemf("key", "column %s does not exist in %s", name, b.Table)
	case b.table.View && b.table.from[name] == (origin{}): // computed by the view: only the probe can tell whether it is unique
		b.Key = key
	case !b.table.unique(name) || key.Nullable:
		b.problemf("key", "column %s is not unique and not null by itself", name)
	case !keyKind(key):
		b.problemf("key", "key %s is %s; a key is uuid, an integer or text", name, key.Type)
	default:
		b.Key = key
		b.checkKeyIsFilled()
	}
	b.bindSpeakable()
}

// keyName is the key's column, "" if none is declared and the primary key is no single one.
func (b *typeBinder) keyName() string {
	if b.own.Key == "" && len(b.table.primary) == 1 {
		return b.table.primary[0]
	}

	return b.own.Key
}

// bindSpeakable exposes the key as a separate column, since the key itself always appears as a ref.
func (b *typeBinder) bindSpeakable() {
	b.Speakable = b.own.Speakable
	name := b.spokenKey()
	switch {
	case !b.Speakable || b.Key == nil:
	case b.Key.Kind == KindUUID:
		b.problemf("speakable", "speakable: nobody speaks a uuid")
	case b.Column(name) != nil:
		b.problemf("speakable", "speakable: there is a column %s already, which says it", name)
	default:
		b.Columns = append(b.Columns, &Column{
			Name: name, Type: "text", FullType: "text", Kind: KindText, Generated: true,
			Comment: "What people call it.", Expr: b.Key.SQL() + "::text",
		})
	}
}

// bindHidden marks what models never see: the owner, unreadable columns, keys of rows that have no ref, and what the
// declaration names.
func (b *typeBinder) bindHidden() {
	b.columnsExist("hidden", b.own.Hidden...)
	for _, name := range b.own.Visible {
		if b.columnsExist("visible", name) && b.Column(name).Kind == KindVector {
			b.problemf("visible", "visible: %s is %s, which no model can read; a computed column can show it as text", name, b.Column(name).Type)
		}
	}
	for _, c := range b.Columns {
		// To models, id is a row's ref.
		byDefault := isBookkeeping(c.Name) || c.Name == b.own.Gone || b.own.Fills.Update[c.Name] != "" || c.Name == "id" && c != b.Key
		_, polymorphic := b.own.Polymorphic[c.Name]
		c.Hidden = c == b.Owner || c.Kind == KindVector || polymorphic || b.own.Cents[c.Name] != "" || slices.Contains(b.own.Hidden, c.Name) ||
			c != b.Key && holdsForeignID(c) || byDefault && !slices.Contains(b.own.Visible, c.Name)
	}
}

// kept are the columns that programs, triggers or defaults keep for themselves, those of Odoo too.
var kept = []string{"created_at", "updated_at", "create_date", "write_date", "create_uid", "write_uid"}

// isBookkeeping reports whether a column is one of them.
func isBookkeeping(name string) bool { return slices.Contains(kept, snake(name)) }

// holdsForeignID reports whether the column holds identifiers that have no ref.
func holdsForeignID(c *Column) bool {
	if c.FK != nil {
		return c.FK.Entity == nil
	}

	return c.Kind == KindUUID || c.Elem == KindUUID
}

// columnsExist reports names that are not columns of the type, and whether all of them are.
func (b *typeBinder) columnsExist(field string, names ...string) bool {
	return b.columnsExistIn(b.Entity, field, names...)
}

func (b *typeBinder) columnsExistIn(e *Entity, field string, names ...string) bool {
	ok := true
	for _, name := range names {
		if e.Column(name) == nil {
			b.problemf(field, "%s: column %s does not exist in %s", fieldName(field), name, e.Table)
			ok = false
		}
	}

	return ok
}

// fieldName is the first part of a path, for messages.
func fieldName(field string) string { return field[:strings.IndexAny(field+".", "[.")] }

func (b *typeBinder) bindOwner() {
	b.Shared = b.Reference || b.own.Everybody
	if b.Reference {
		return
	}
	if b.table.View {
		b.Viewed, b.Account = true, b.decl.account()
		b.bindViewOwner()

		return
	}
	if b.own.Everybody {
		b.problemf("everybody", "everybody: only views of Alfred's give rows to all users; let a policy do it, or declare a view of yours")
	}
	field, name := "owner", b.own.Owner
	if name == "" {
		field, name = "table", b.decl.Owner
	}
	owner := b.Column(name)
	switch {
	case name == "":
		b.problemf(field, "no owner column; a table that all users share is declared reference: true")
	case owner == nil:
		b.problemf(field, "owner column %s does not exist in %s; a table that all users share is declared reference: true", name, b.Table)
	case !keyKind(owner):
		b.problemf(field, "owner column %s is %s; an owner is uuid, an integer or text", name, owner.Type)
	case owner.Nullable:
		b.problemf(field, "owner column %s may be null", name)
	case b.own.may(Create) && !owner.HasDefault:
		b.problemf(field, "owner column %s has no default; give it one from current_setting('alfred.user_id', true), since inserts never name it", name)
	}
	b.Owner = owner
	b.Singleton = owner != nil && b.table.unique(name)
}

// bindViewOwner finds the view's owner column, if it has one. The view itself separates users and fills it. Where rows are said to
// be those of whom another row is, or of members, it only says who of several people did something.
func (b *typeBinder) bindViewOwner() {
	name := cmp.Or(b.own.Owner, b.decl.Owner)
	owner := b.Column(name)
	if owner == nil || owner == b.Key {
		return
	}
	says := b.own.Everybody || b.own.Owner == "" && len(b.own.OwnedBy)+len(b.own.Members) > 0
	if says && (b.own.References[name] != "" || slices.ContainsFunc(b.table.foreignKeys, func(fk catalogFK) bool { return fk.holds(name) })) {
		owner.HasDefault = true

		return
	}
	b.Owner = owner
	b.Singleton = b.table.unique(name)
}
