package domain

import (
	"context"
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
	if decl.Source.Schema == "" {
		return "", nil, errors.New("the declaration names no source, the schema of the tables")
	}
	if decl.Source.Schema == decl.Schema {
		return "", nil, errors.New("the views need a schema of their own: schema and source are the same")
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("write views: %w", err)
	}
	defer rollback(ctx, tx)
	if _, err := tx.Exec(ctx, "SET LOCAL search_path = pg_catalog"); err != nil { // so that Postgres prints names with their schemas
		return "", nil, fmt.Errorf("write views: %w", err)
	}
	s, err := readSource(ctx, tx, decl)
	if err != nil {
		return "", nil, fmt.Errorf("write views: %w", err)
	}
	functions, err := wrapped(ctx, tx, decl)
	if err != nil {
		return "", nil, err
	}
	if sql, err = (&viewWriter{s}).write(functions); err != nil {
		return "", nil, fmt.Errorf("write views: %w", err)
	}

	return sql, s.notes, nil
}

// ViewRole is the role that owns the views of a schema.
func ViewRole(schema string) string { return "alfred_views_" + schema }

// settle is the function that runs the deferred triggers of the tables.
const settle = "settle"

// viewWriter knows what the SQL of one domain's views says.
type viewWriter struct{ *source }

//go:embed views.sql.tmpl
var viewsSQL string

// write fills in the template.
func (w *viewWriter) write(functions []wrappedFunction) (string, error) {
	schema, role := w.decl.Schema, ViewRole(w.decl.Schema)
	data := struct {
		Schema, Source, Role, File string
		Account                    string // the type of an account's key, "" if everything is shared
		Types                      []viewedType
		Operations                 []operationSQL
		Settled                    []handOver // the function that runs deferred triggers, if there are any
	}{Schema: schema, Source: w.decl.Source.Schema, Role: role, File: w.decl.file}
	if w.account != nil {
		data.Account = w.account.FullType
	}
	for i := range w.decl.Entities {
		v, err := w.viewed(&w.decl.Entities[i])
		if err != nil {
			return "", err
		}
		data.Types = append(data.Types, v)
	}
	for _, v := range data.Types {
		if v.OverView && v.Written {
			w.notef("%s is a view, and what a view shows can only be written where it stands: declare no writes for %s, or an operation", v.Table.Name, v.Decl.Type)
		}
	}
	if t := find(w.cat.tables, func(t *catalogTable) bool { return t.Defers }); t != nil {
		data.Settled = []handOver{{Function: w.function(settle) + "()", Owner: t.Owner}}
	}
	for _, f := range functions {
		data.Operations = append(data.Operations, w.operation(f))
	}
	said := template.FuncMap{
		"role": func() string { return quote(role) }, "settings": w.settings, "schema": func() string { return quote(schema) }, "source": func() string { return data.Source }, "own": w.function,
		"quote": func(name string) string { return quote(name) }, "literal": literalSQL, "join": strings.Join, "names": quoteAll, "listed": listed,
		"relation": w.relation, "view": w.view, "parents": w.parents, "columns": w.columns, "key": w.key, "keyColumn": w.keyColumn, "ownerColumn": w.ownerColumn,
		"may": (*EntityDecl).may, "privilege": func(v Verb) string { return map[Verb]string{Create: "INSERT", Update: "UPDATE"}[v] },
		"whole": wholeRow, "released": w.released, "updatable": w.updatable, "set": w.set, "settableKey": w.settableKey,
		"unfolded": w.unfolded, "guards": w.guards, "inserted": w.inserted,
	}
	var text strings.Builder
	page, err := template.New("views").Funcs(said).Parse(viewsSQL)
	if err == nil {
		err = page.Execute(&text, data)
	}

	return text.String(), err
}

// viewedType is a type with the table behind its view.
type viewedType struct {
	Decl  *EntityDecl
	Table *catalogTable
	// Owned is the condition that a row is the user's.
	Owned string
	// Written: rows are ever written, by the assistant or by an undo. ByFunction says why a function does that; "" if Postgres
	// writes through the view.
	Written    bool
	ByFunction string
	// OverView: the table is itself a view, and nothing is written.
	OverView bool
	Lockable bool
	// Restored are the columns with which an undo brings a row back; none if it never has to.
	Restored []string
	HandOver handOver
}

// handOver is a function that another role has to own.
type handOver struct {
	Function, Owner string
	Accounts        bool // it asks for the user's account
}

// viewed checks a type and collects what its view needs.
func (w *viewWriter) viewed(e *EntityDecl) (v viewedType, err error) {
	t := w.cat.table(e.Table)
	if t == nil {
		return v, fmt.Errorf("table %s.%s does not exist", w.decl.Source.Schema, e.Table)
	}
	if len(w.key(t)) == 0 {
		return v, fmt.Errorf("%s has no key: nothing tells its rows apart; add a unique column, or leave the type out", t.Name)
	}
	for _, name := range e.Columns {
		if !w.shows(t, name) {
			return v, fmt.Errorf("%s: columns: column %s does not exist in %s", e.Type, name, t.Name)
		}
	}
	v = viewedType{
		Decl: e, Table: t, Written: len(e.Writes) > 0 || w.returns(e) || len(w.released(t)) > 0, ByFunction: w.byFunction(t, e), OverView: t.View,
		Lockable: !t.View && !e.Reference, Restored: w.restored(t, e), HandOver: handOver{w.function(t.Name+"_write") + "()", t.Owner, w.account != nil},
	}
	if !e.Reference || v.Written && v.ByFunction != "" && !t.View {
		v.Owned, err = w.belongs(t, "t", 1)
	}
	w.remark(t)

	return v, err
}

func (w *viewWriter) view(t *catalogTable) string { return quote(w.decl.Schema, t.Name) }

// settings are those of functions that run what the owner wrote: triggers and functions may name things without their
// schema, and take the session for one in UTC, to which Postgres also turns times that lose their zone.
func (w *viewWriter) settings() string {
	schemas := appendNew([]string{w.decl.Source.Schema, "public"}, w.cat.extensions...)
	set := "SET search_path = " + quoteAll(append(schemas, "pg_temp"))
	if w.decl.Source.UTC {
		set += " SET timezone = 'UTC'"
	}

	return set
}

func (s *source) notef(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// shows reports whether the table's view has a column.
func (w *viewWriter) shows(t *catalogTable, name string) bool {
	return t.column(name) != nil || w.folded(t) && name == w.keyColumn(t) ||
		slices.ContainsFunc(w.foldedKeys(t), func(fk catalogFK) bool { return w.foldedName(t, fk) == name })
}

// remark is what the owner has to know about a table.
func (w *viewWriter) remark(t *catalogTable) {
	if t.RLS {
		w.notef("%s has row-level security of its own, which holds for %s too: as it is, the view shows what its policies show that role. To leave the choice of rows to the view: CREATE POLICY alfred_views ON %s TO %s USING (true)",
			t.Name, quote(ViewRole(w.decl.Schema)), w.relation(t), quote(ViewRole(w.decl.Schema)))
	}
	if t.View {
		w.notef("%s is itself a view: its rows have no version, so that a change of somebody else's is noticed by comparing all columns", t.Name)
	}
}

// parents are the tables that the condition queries.
func (w *viewWriter) parents(t *catalogTable, e *EntityDecl) []*catalogTable {
	var found []*catalogTable
	for !e.Reference {
		fk, ok := w.ownedBy(t)
		if !ok {
			break
		}
		t = w.cat.table(fk.Table)
		found = append(found, t)
	}

	return found
}

// columns are what a view shows: the table's columns, composite keys combined into one, and the row's version.
func (w *viewWriter) columns(t *catalogTable) string {
	columns := make([]string, 0, len(t.columns)+1)
	for _, c := range t.columns {
		columns = append(columns, w.shownAs(c))
	}
	if w.folded(t) {
		key := w.key(t)
		columns = append(columns, fold("t", t, key, key)+" AS "+quote(w.keyColumn(t)))
	}
	for _, fk := range w.foldedKeys(t) {
		columns = append(columns, fold("t", w.cat.table(fk.Table), fk.Columns, fk.Targets)+" AS "+quote(w.foldedName(t, fk)))
	}
	version := "t.xmin::text"
	if t.View {
		version = "md5(t.*::text)"
	}

	return strings.Join(append(columns, version+" AS "+versionColumn), ", ")
}

// shownAs is a column as the view shows it.
func (w *viewWriter) shownAs(c *Column) string {
	if w.inUTC(c) {
		return "t." + quote(c.Name) + " AT TIME ZONE 'UTC' AS " + quote(c.Name)
	}

	return "t." + quote(c.Name)
}

// inUTC reports whether a column holds UTC without saying so.
func (s *source) inUTC(c *Column) bool { return s.decl.Source.UTC && c.local() }

// foldedKeys are foreign keys to composite keys.
func (s *source) foldedKeys(t *catalogTable) []catalogFK {
	return slices.DeleteFunc(slices.Clone(t.foreignKeys), func(fk catalogFK) bool { return !s.folds(fk) })
}

// folds reports whether a foreign key leads to the composite key of a type.
func (s *source) folds(fk catalogFK) bool {
	target := s.cat.table(fk.Table)

	return fk.Schema == s.decl.Source.Schema && target != nil && s.entities[fk.Table] != nil && s.folded(target) && slices.Equal(s.key(target), fk.Targets)
}

// foldedName is the view's column for a composite foreign key. The first to a type is named after the type, further
// ones also after their columns.
func (s *source) foldedName(t *catalogTable, fk catalogFK) string {
	to, keys := s.entities[fk.Table].Type, s.foldedKeys(t)
	first := slices.IndexFunc(keys, func(other catalogFK) bool { return other.Table == fk.Table })
	if slices.Equal(keys[first].Columns, fk.Columns) {
		return foldedName(to)
	}

	return foldedName(to, fk.Columns...)
}

// foldedName is the name of a column combined from those of a foreign key to a type.
func foldedName(to string, columns ...string) string {
	return strings.Join(slices.Concat(columns, []string{to, "key"}), "_")
}

// byFunction says why rows have to be written by a function, "" if they do not.
func (w *viewWriter) byFunction(t *catalogTable, e *EntityDecl) string {
	switch {
	case t.View:
		return "it is a view"
	case t.Triggers:
		return "it has triggers, which run with the rights of who writes"
	case slices.ContainsFunc(t.columns, func(c *Column) bool { return strings.Contains(c.Default, "nextval(") }):
		return "a default takes a number from a sequence"
	case w.folded(t) || len(w.foldedKeys(t)) > 0:
		return "it has a key of several columns"
	case slices.ContainsFunc(t.columns, func(c *Column) bool { return c.Generated }):
		return "it numbers its rows"
	case e.may(Create) && w.ownerColumn(t) == "":
		return "whose a row is depends on another table"
	case len(w.guarded(t, e)) > 0:
		return "its rows point at rows of people"
	case slices.ContainsFunc(t.columns, w.inUTC):
		return "its times are stored in UTC"
	default:
		return ""
	}
}

// guarded are the foreign keys that could be set to reference another person's row.
func (w *viewWriter) guarded(t *catalogTable, e *EntityDecl) []catalogFK {
	var found []catalogFK
	for _, fk := range t.foreignKeys {
		target := w.cat.table(fk.Table)
		if fk.Schema != w.decl.Source.Schema || target == nil || target == w.accounts || !w.owned(target) {
			continue
		}
		set := func(name string) bool { return slices.Contains(e.Columns, name) }
		if slices.ContainsFunc(fk.Columns, set) || w.folds(fk) && set(w.foldedName(t, fk)) {
			found = append(found, fk)
		}
	}

	return found
}
