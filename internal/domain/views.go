package domain

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// Views returns the SQL that gives Alfred access to the tables of a declaration's source: a role, a schema with a view
// per type, and alfred_tenant's grants on them. It alters none of the owner's objects; it only grants that role access
// to them. Notes name what a view cannot preserve.
func Views(ctx context.Context, db DB, decl *Declaration) (sql string, notes []string, err error) {
	s, sql, err := views(ctx, db, decl)
	if err != nil {
		return "", nil, err
	}

	return sql, s.notes, nil
}

func views(ctx context.Context, db DB, decl *Declaration) (s *source, sql string, err error) {
	if decl.Source.Schema == nil {
		return nil, "", errors.New("the declaration names no source, the schema of the tables")
	}
	if slices.Contains(decl.Source.Schema, decl.Schema) {
		return nil, "", errors.New("the views need a schema of their own: schema and source are the same")
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("write views: %w", err)
	}
	defer rollback(ctx, tx)
	if _, err := tx.Exec(ctx, "SET LOCAL search_path = pg_catalog"); err != nil { // so that Postgres prints names with their schemas
		return nil, "", fmt.Errorf("write views: %w", err)
	}
	cat, err := readCatalog(ctx, tx, decl.Source.Schema, decl.Source.Accounts)
	if err == nil {
		s, err = newSource(decl, cat)
	}
	if err != nil {
		return nil, "", fmt.Errorf("write views: %w", err)
	}
	if err := s.checkConditions(ctx, tx); err != nil {
		return nil, "", fmt.Errorf("write views: %w", err)
	}
	functions, err := trustedFunctions(ctx, tx, decl)
	if err != nil {
		return nil, "", err
	}
	if sql, err = s.writeViews(functions); err != nil {
		return nil, "", fmt.Errorf("write views: %w", err)
	}

	return s, sql, nil
}

// ViewRole is the role that owns the views of a schema.
func ViewRole(schema string) string { return "alfred_views_" + schema }

// settle is the function that runs the deferred triggers of the tables.
const settle = "settle"

//go:embed views.sql.tmpl
var viewsSQL string

// writeViews fills in the template.
func (s *source) writeViews(functions []wrappedFunction) (string, error) {
	data := struct {
		Schema, Role, File string
		Source             Schemas
		Used               []string // the schemas of which some tables are read
		Made               string   // what the schema's comment says of how its views were made
		Account            string   // the type of an account's key, "" if everything is shared
		Login              *loginSQL
		Types              []*viewedType
		Operations         []operationSQL
		Settled            []handOver // the function that runs deferred triggers, if there are any
	}{Schema: s.decl.Schema, Source: s.decl.Source.Schema, Used: s.cat.shown(), Role: ViewRole(s.decl.Schema)}
	if s.account != nil {
		data.Account, data.Login = s.account.FullType, s.login()
	}
	if data.Login != nil {
		data.Used = appendNew(data.Used, s.accounts.Schema)
	}
	for i := range s.decl.Entities {
		if v := s.newViewedType(&s.decl.Entities[i]); v != nil {
			data.Types = append(data.Types, v)
		}
	}
	if err := s.refused.orNil(); err != nil {
		return "", err
	}
	if t := find(s.cat.tables, func(t *catalogTable) bool { return t.Defers && !t.Beyond }); t != nil {
		data.Settled = []handOver{{Function: s.function(settle) + "()", Owner: t.Owner}}
	}
	for _, f := range functions {
		data.Operations = append(data.Operations, s.operation(f))
	}
	page, err := template.New("views").Funcs(s.viewWords()).Parse(viewsSQL)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if err := page.Execute(&text, data); err != nil {
		return "", err
	}
	s.made = fmt.Sprintf("Views of %s, as written from %x.", data.Source, sha256.Sum256([]byte(text.String())))
	data.File, data.Made = s.decl.file, s.made
	text.Reset()
	err = page.Execute(&text, data)

	return text.String(), err
}

// viewWords are the functions that the template calls.
func (s *source) viewWords() template.FuncMap {
	return template.FuncMap{
		"role": func() string { return quote(ViewRole(s.decl.Schema)) }, "schema": func() string { return quote(s.decl.Schema) },
		"sources": func() string { return strings.Join(each(s.decl.Source.Schema, literalSQL), ", ") }, "settings": s.settings, "own": s.function,
		"quote": func(name string) string { return quote(name) }, "literal": literalSQL, "join": strings.Join, "names": quoteAll, "listed": listed,
		"relation": (*catalogTable).sql, "view": s.view, "key": s.viewKey, "keyColumn": s.keyColumn, "ownerColumn": func(t *catalogTable) string { return s.columns[t] },
		"may": (*EntityDecl).may, "privilege": func(v Verb) string { return map[Verb]string{Create: "INSERT", Update: "UPDATE"}[v] },
	}
}

// viewedType is a type with the table behind its view. Its exported methods are what the template asks of it.
type viewedType struct {
	*source

	Decl  *EntityDecl
	Table *catalogTable
	// Owned is the condition that a row is the user's; of shared rows, the view shows those that are There. Present ones have no mark
	// of their own.
	Owned, There, Present string
	// Written: rows are ever written, by the assistant or by an undo. ByFunction says why a function does that; "" if Postgres
	// writes through the view.
	Written    bool
	ByFunction string
	// Restored are the columns with which an undo brings a row back; none if it never has to.
	Restored []string
	HandOver handOver
}

// handOver is a function that another role has to own.
type handOver struct {
	Function, Owner string
	Accounts        bool // it asks for the user's account
}

// newViewedType checks a type and collects what its view needs; nil if no view can do that.
func (s *source) newViewedType(e *EntityDecl) *viewedType {
	v := &viewedType{source: s, Decl: e, Table: s.cat.table(e.Table)}
	before := len(s.refused.Problems)
	if v.check(); len(s.refused.Problems) > before {
		return nil
	}
	v.HandOver = handOver{s.function(v.Table.Name+"_write") + "()", v.Table.Owner, s.account != nil}
	v.Present, v.There = s.presentSQL(v.Table, "t"), strings.Join(s.thereSQL(v.Table, "t"), " AND ")
	v.Written, v.ByFunction, v.Restored = len(e.Writes) > 0 || s.mayBeRestored(e) || len(v.Released()) > 0, v.whyByFunction(), v.restoredColumns()
	if !e.Reference || v.Written && v.ByFunction != "" {
		v.Owned = s.ownedSQL(v.Table, "t", 1)
	}
	v.noteRemarks()

	return v
}

// check refuses what no view can do.
func (v *viewedType) check() {
	e, t := v.Decl, v.Table
	if t == nil {
		v.refusef(e.Table, "table", "%s", v.cat.missing(e.Table))

		return
	}
	switch why := v.whyNoView(t); {
	case why != "":
		v.refusef(t.Name, "table", "%s: %s", t.Name, why)
	case t.View && len(e.Writes) > 0:
		v.refusef(t.Name, "writes", "writes: %s is itself a view, of which rows are only read; declare an operation for what is to be changed", t.Name)
	case (e.may(Create) || e.may(Update)) && len(e.Columns) == 0:
		v.refusef(t.Name, "writes", "writes: no columns; name under columns those that may be written")
	case e.may(Create) && v.createsNobodys(t):
		v.refusef(t.Name, "writes", "writes: a row that is created would have no members, and so be nobody's; declare an operation that creates both")
	case e.Gone != "" && !marksGone(t.column(e.Gone)):
		v.refusef(t.Name, "gone", "gone: %s is neither a time that may be null nor true or false", e.Gone)
	default:
		for _, name := range e.Columns {
			if t.column(name) == nil && !slices.Contains(v.combinedColumns(), name) {
				v.refusef(t.Name, "columns", "columns: column %s does not exist in %s", name, t.Name)
			}
		}
		v.checkPolymorphic()
		v.checkEverybody()
	}
}

func (s *source) view(t *catalogTable) string { return quote(s.decl.Schema, t.Name) }

func (s *source) notef(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// combinedColumns are the columns that the view makes of several.
func (v *viewedType) combinedColumns() []string {
	names := each(v.foldedKeys(v.Table), func(fk foldedFK) string { return fk.Name })
	if v.foldsKey(v.Table) {
		names = slices.Insert(names, 0, v.keyColumn(v.Table))
	}

	return append(names, each(v.Amounts(), func(a amount) string { return a.Name })...)
}

// noteRemarks notes what the owner has to know about a table.
func (v *viewedType) noteRemarks() {
	v.notePolicies(v.Table)
	v.noteOwners()
	if v.Table.View {
		v.notef("%s is itself a view: its rows have no version, so that a change of somebody else's is noticed by comparing all columns", v.Table.Name)
	}
}

// notePolicies notes that a table's own policies also hold for the role that owns the views.
func (s *source) notePolicies(t *catalogTable) {
	if role := quote(ViewRole(s.decl.Schema)); t.RLS {
		s.notef("%s has row-level security of its own, which holds for %s too: as it is, the view shows what its policies show that role. To leave the choice of rows to the view: CREATE POLICY alfred_views ON %s TO %s USING (true)",
			t.Name, role, t.sql(), role)
	}
}

// Parents are the tables that the condition queries.
func (v *viewedType) Parents() []*catalogTable {
	if v.Decl.Reference {
		return nil
	}

	return v.consulted(v.Table)
}

// consulted are the tables that say whose the rows of one are.
func (s *source) consulted(t *catalogTable) []*catalogTable {
	way := s.wayUp(t)
	found, last := way[1:], way[len(way)-1]
	for _, m := range s.shared[last] {
		found = append(found, m.table)
	}
	for _, fk := range s.owningPairs(last) {
		target := s.cat.table(fk.Table)
		found = append(found, append(s.consulted(target), target)...)
	}

	return found
}

// Columns are what a view shows: the table's columns, composite keys combined into one, and the row's version.
func (v *viewedType) Columns() string {
	columns := make([]string, 0, len(v.Table.columns)+1)
	for _, c := range v.Table.columns {
		columns = append(columns, v.shownAs(c)...)
	}
	if v.foldsKey(v.Table) {
		key := v.viewKey(v.Table)
		columns = append(columns, foldSQL("t", v.Table, key, key)+" AS "+quote(v.keyColumn(v.Table)))
	}
	for _, fk := range v.foldedKeys(v.Table) {
		value := fk.held("t")
		if target := v.cat.table(fk.Table); v.foldsKey(target) {
			value = foldSQL("t", target, fk.Columns, fk.Targets)
		}
		if fk.By != "" {
			value = fmt.Sprintf("CASE WHEN t.%s = %s THEN %s END", quote(fk.By), literalSQL(fk.Word), value)
		}
		columns = append(columns, value+" AS "+quote(fk.Name))
	}
	columns = append(columns, each(v.Amounts(), amount.sql)...)
	version := "t.xmin::text"
	if v.Table.View {
		version = "md5(t.*::text)"
	}

	return strings.Join(append(columns, version+" AS "+versionColumn), ", ")
}

// foldedFK is a foreign key to the composite key of a type, or one that is the row's own key, and the view's column for it.
type foldedFK struct {
	catalogFK

	Name string
	// By is the column that says by this Word that the key is one of the type's; "" where it always is.
	By, Word string
	text     keyText // of a key that stands there as a text
}

// foldedKeys are a table's foreign keys to composite keys, the one that is the row's own key, as a student's, who is a person, since
// one column cannot be the refs of two rows, and those to one of several types. The first to another type is named after the type,
// further ones, and those to the row's own type, also after their columns.
func (s *source) foldedKeys(t *catalogTable) []foldedFK {
	var found []foldedFK
	for _, fk := range t.foreignKeys {
		to := s.declOf(fk)
		target := s.cat.table(fk.Table)
		if to == nil || target == nil || !s.foldsKey(target) && !s.isWhole(t, fk) || !slices.Equal(s.viewKey(target), fk.Targets) {
			continue
		}
		name := foldedName(to.Type)
		if fk.Table == t.Name || slices.ContainsFunc(found, func(other foldedFK) bool { return other.Table == fk.Table }) {
			name = foldedName(to.Type, fk.Columns...)
		}
		found = append(found, foldedFK{catalogFK: fk, Name: name})
	}

	return append(found, s.polymorphicKeys(t)...)
}

// isWhole reports whether a foreign key is the key of its own row. Who a row belongs to needs no second column.
func (s *source) isWhole(t *catalogTable, fk catalogFK) bool {
	return !t.View && len(fk.Columns) == 1 && slices.Equal(fk.Columns, s.viewKey(t)) && fk.Columns[0] != s.columns[t]
}

// foldedName is the view's column for a foreign key that needs one of its own, "" for any other.
func (s *source) foldedName(t *catalogTable, fk catalogFK) string {
	for _, folded := range s.foldedKeys(t) {
		if slices.Equal(folded.Columns, fk.Columns) && slices.Equal(folded.Targets, fk.Targets) && folded.Table == fk.Table {
			return folded.Name
		}
	}

	return ""
}

// refColumn is the view's column by which rows reference others by their key, "" if a foreign key has none. Beside the key
// it may have others, as a workspace's, which only bind it.
func (s *source) refColumn(t *catalogTable, fk catalogFK) string {
	at := slices.Index(fk.Targets, s.keyColumn(s.cat.table(fk.Table)))
	if name := s.foldedName(t, fk); name != "" || at < 0 {
		return name
	}

	return fk.Columns[at]
}

// foldedName is the name of a column combined from those of a foreign key to a type.
func foldedName(to string, columns ...string) string {
	return strings.Join(slices.Concat(columns, []string{to, "key"}), "_")
}
