package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	w := &viewWriter{source: s}
	if w.functions, err = wrapped(ctx, tx, decl); err != nil {
		return "", nil, err
	}
	if err := w.write(); err != nil {
		return "", nil, fmt.Errorf("write views: %w", err)
	}

	return w.text.String(), s.notes, nil
}

// ViewRole is the role that owns the views of a schema.
func ViewRole(schema string) string { return "alfred_views_" + schema }

// viewWriter writes the SQL of one domain's views.
type viewWriter struct {
	*source

	functions []wrappedFunction
	text      strings.Builder
}

func (w *viewWriter) linef(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

func (w *viewWriter) role() string { return quote(ViewRole(w.decl.Schema)) }

func (w *viewWriter) view(t *catalogTable) string { return quote(w.decl.Schema, t.Name) }

// path is the search path of functions that run what the owner wrote: triggers and functions may name things without
// their schema.
func (w *viewWriter) path() string {
	schemas := appendNew([]string{w.decl.Source.Schema, "public"}, w.cat.extensions...)

	return quoteAll(append(schemas, "pg_temp"))
}

func (s *source) notef(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (w *viewWriter) write() error {
	w.head()
	if w.account != nil {
		w.mapping()
	}
	for i := range w.decl.Entities {
		if err := w.entity(&w.decl.Entities[i]); err != nil {
			return err
		}
	}

	// Functions that refuse other users' rows query the views, so the views come first.
	for i := range w.decl.Entities {
		if err := w.writing(&w.decl.Entities[i]); err != nil {
			return err
		}
	}
	for _, f := range w.functions {
		w.operation(f)
	}
	w.linef("\nCOMMIT;")

	return nil
}

func (w *viewWriter) head() {
	schema := quote(w.decl.Schema)
	w.linef("-- Lets Alfred reach the tables of %s through views of its own. Nothing of %s is altered: the only", w.decl.Source.Schema, w.decl.Source.Schema)
	w.linef("-- statements on its objects are grants to the role %s, which owns the views.", w.role())
	w.linef("-- Written by worker domain views from %s; worker domain drop takes all of it away.", w.decl.file)
	w.linef("BEGIN;")
	w.linef("DO $$ BEGIN CREATE ROLE %s NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;", w.role())
	w.linef("DO $$ BEGIN IF NOT pg_has_role(current_user, %s, 'USAGE') THEN GRANT %s TO CURRENT_USER; END IF; END $$;", literalSQL(ViewRole(w.decl.Schema)), w.role())
	w.linef("CREATE SCHEMA IF NOT EXISTS %s;", schema)
	w.linef("GRANT USAGE, CREATE ON SCHEMA %s TO %s;", schema, w.role())
	w.linef("GRANT USAGE ON SCHEMA %s TO alfred_tenant;", schema)
	w.linef("GRANT USAGE ON SCHEMA %s TO %s;", quote(w.decl.Source.Schema), w.role())
}

// mapping maps Alfred's users to accounts: a table that the owner fills, and the function that all conditions call,
// once per statement.
func (w *viewWriter) mapping() {
	table := w.function("alfred_accounts")
	w.linef("\n-- Which account a user of Alfred's is. Fill it, or let account() find out otherwise.")
	w.linef("CREATE TABLE IF NOT EXISTS %s (alfred_user uuid PRIMARY KEY, account %s NOT NULL UNIQUE);", table, w.account.FullType)
	w.linef("COMMENT ON TABLE %s IS %s;", table, literalSQL("Accounts of "+w.decl.Source.Schema+" by user of Alfred's."))
	w.linef("GRANT SELECT ON %s TO %s;", table, w.role())
	w.linef("CREATE OR REPLACE FUNCTION %s() RETURNS %s LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS", w.function("account"), w.account.FullType)
	w.linef("$$ SELECT a.account FROM %s AS a WHERE a.alfred_user = nullif(current_setting('alfred.user_id', true), '')::uuid $$;", table)
	w.linef("COMMENT ON FUNCTION %s() IS 'The account of the user for whom Alfred works; null for nobody.';", w.function("account"))
	w.linef("ALTER FUNCTION %s() OWNER TO %s;", w.function("account"), w.role())
	w.linef("REVOKE ALL ON FUNCTION %s() FROM PUBLIC;", w.function("account"))
	w.linef("GRANT EXECUTE ON FUNCTION %s() TO alfred_tenant;", w.function("account"))
}

// entity writes the view of one type.
func (w *viewWriter) entity(e *EntityDecl) error {
	t := w.cat.table(e.Table)
	if t == nil {
		return fmt.Errorf("table %s.%s does not exist", w.decl.Source.Schema, e.Table)
	}
	if len(w.key(t)) == 0 {
		return fmt.Errorf("%s has no key: nothing tells its rows apart; add a unique column, or leave the type out", t.Name)
	}
	for _, name := range e.Columns {
		if !w.shows(t, name) {
			return fmt.Errorf("%s: columns: column %s does not exist in %s", e.Type, name, t.Name)
		}
	}
	condition := ""
	if !e.Reference {
		found, err := w.belongs(t, "t", 1)
		if err != nil {
			return err
		}
		condition = "\nWHERE " + found
	}
	w.linef("\n-- %s", e.Type)
	w.linef("GRANT SELECT ON %s TO %s;", w.relation(t), w.role())
	for _, parent := range w.parents(t, e) {
		w.linef("GRANT SELECT ON %s TO %s;", w.relation(parent), w.role())
	}
	w.linef("CREATE VIEW %s WITH (security_barrier = true) AS\nSELECT %s\nFROM %s AS t%s%s;",
		w.view(t), strings.Join(w.columns(t), ", "), w.relation(t), condition, w.checkOption(t, e))
	w.linef("ALTER VIEW %s OWNER TO %s;", w.view(t), w.role())
	w.linef("GRANT SELECT ON %s TO alfred_tenant;", w.view(t))
	w.remark(t)

	return nil
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
			t.Name, w.role(), w.relation(t), w.role())
	}
	if t.view {
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
		t = w.cat.table(fk.table)
		found = append(found, t)
	}

	return found
}

// columns are what a view shows: the table's columns, composite keys combined into one, and the row's version.
func (w *viewWriter) columns(t *catalogTable) []string {
	columns := make([]string, 0, len(t.columns)+1)
	for _, c := range t.columns {
		columns = append(columns, "t."+quote(c.Name))
	}
	if w.folded(t) {
		key := w.key(t)
		columns = append(columns, fold("t", t, key, key)+" AS "+quote(w.keyColumn(t)))
	}
	for _, fk := range w.foldedKeys(t) {
		columns = append(columns, fold("t", w.cat.table(fk.table), fk.columns, fk.targets)+" AS "+quote(w.foldedName(t, fk)))
	}
	version := "t.xmin::text"
	if t.view {
		version = "md5(t::text)"
	}

	return append(columns, version+" AS "+versionColumn)
}

// foldedKeys are foreign keys to composite keys.
func (s *source) foldedKeys(t *catalogTable) []catalogFK {
	return slices.DeleteFunc(slices.Clone(t.foreignKeys), func(fk catalogFK) bool { return !s.folds(fk) })
}

// folds reports whether a foreign key leads to the composite key of a type.
func (s *source) folds(fk catalogFK) bool {
	target := s.cat.table(fk.table)

	return fk.schema == s.decl.Source.Schema && target != nil && s.entities[fk.table] != nil && s.folded(target) && slices.Equal(s.key(target), fk.targets)
}

// foldedName is the view's column for a composite foreign key. The first to a type is named after the type, further
// ones also after their columns.
func (s *source) foldedName(t *catalogTable, fk catalogFK) string {
	to, keys := s.entities[fk.table].Type, s.foldedKeys(t)
	first := slices.IndexFunc(keys, func(other catalogFK) bool { return other.table == fk.table })
	if slices.Equal(keys[first].columns, fk.columns) {
		return foldedName(to)
	}

	return foldedName(to, fk.columns...)
}

// foldedName is the name of a column combined from those of a foreign key to a type.
func foldedName(to string, columns ...string) string {
	return strings.Join(slices.Concat(columns, []string{to, "key"}), "_")
}

// triggered reports whether rows have to be written by a function, and why.
func (w *viewWriter) triggered(t *catalogTable, e *EntityDecl) string {
	switch {
	case t.view:
		return "it is a view"
	case t.triggers:
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
	default:
		return ""
	}
}

// guarded are the foreign keys that could be set to reference another person's row.
func (w *viewWriter) guarded(t *catalogTable, e *EntityDecl) []catalogFK {
	var found []catalogFK
	for _, fk := range t.foreignKeys {
		target := w.cat.table(fk.table)
		if fk.schema != w.decl.Source.Schema || target == nil || target == w.accounts || !w.owned(target) {
			continue
		}
		set := func(name string) bool { return slices.Contains(e.Columns, name) }
		if slices.ContainsFunc(fk.columns, set) || w.folds(fk) && set(w.foldedName(t, fk)) {
			found = append(found, fk)
		}
	}

	return found
}

func (w *viewWriter) checkOption(t *catalogTable, e *EntityDecl) string {
	if e.Reference || !w.written(t, e) || w.triggered(t, e) != "" {
		return ""
	}

	return "\nWITH CASCADED CHECK OPTION"
}
