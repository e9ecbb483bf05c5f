package domain

import (
	"fmt"
	"slices"
	"strings"
)

// writing makes a type writable as declared: by grants where Postgres can write through the view itself, else by a
// trigger function that repeats the view's condition.
func (w *viewWriter) writing(e *EntityDecl) error {
	t := w.cat.table(e.Table)
	view := w.view(t)

	// Whoever may update some column may lock rows; nobody can actually write the version.
	if !t.view && !e.Reference {
		w.linef("\nGRANT UPDATE (%s) ON %s TO alfred_tenant; -- to lock rows of %s, no more", versionColumn, view, e.Type)
		w.linef("GRANT UPDATE (%s) ON %s TO %s; -- likewise", quote(w.key(t)[0]), w.relation(t), w.role())
	}
	if !w.written(t, e) {
		return nil
	}
	for _, verb := range e.Writes {
		if right := map[Verb]string{Create: "INSERT", Update: "UPDATE", Delete: "DELETE"}[verb]; verb == Delete {
			w.linef("GRANT DELETE ON %s TO alfred_tenant;", view)
		} else {
			w.linef("GRANT %s (%s) ON %s TO alfred_tenant;", right, quoteAll(e.Columns), view)
		}
	}
	w.undoing(t, e)
	if why := w.triggered(t, e); why != "" {
		if t.view {
			w.notef("%s is a view, and what a view shows can only be written where it stands: declare no writes for %s, or an operation", t.Name, e.Type)

			return nil
		}

		return w.trigger(t, e, why)
	}
	w.plain(t, e)

	return nil
}

func quoteAll(names []string) string { return listed(names, "%s", ", ") }

// fromNew are the columns of the row that a trigger is given.
func fromNew(names []string) string { return listed(names, "NEW.%s", ", ") }

// plain lets Postgres write through the view.
func (w *viewWriter) plain(t *catalogTable, e *EntityDecl) {
	if e.may(Create) {
		w.linef("ALTER VIEW %s ALTER COLUMN %s SET DEFAULT %s();", w.view(t), quote(w.ownerColumn(t)), w.function("account"))
	}
	if w.returns(e) {
		w.linef("GRANT DELETE, INSERT (%s) ON %s TO %s;", quoteAll(w.whole(t)), w.relation(t), w.role())
	}
	if names := w.updatable(t, e); len(names) > 0 {
		w.linef("GRANT UPDATE (%s) ON %s TO %s;", quoteAll(names), w.relation(t), w.role())
	}
}

// trigger writes the function that inserts, updates and deletes for a view. It belongs to the table's owner, so that
// triggers, sequences and rules work as in the owner's own program. It repeats the view's condition, because nothing
// else restricts it.
func (w *viewWriter) trigger(t *catalogTable, e *EntityDecl, why string) error {
	condition, err := w.belongs(t, "t", 1)
	if err != nil {
		return err
	}
	name := w.function(t.Name + "_write")
	w.linef("-- Rows of %s are written by a function, because %s.", t.Name, why)
	w.linef("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = %s AS $$", name, w.path())
	w.linef("BEGIN")
	w.guards(t, e)
	if w.returns(e) {
		w.restore(t)
	}
	if e.may(Create) {
		w.insert(t, e)
	}
	if len(w.updatable(t, e)) > 0 {
		w.update(t, e, condition)
	}
	if w.returns(e) {
		w.linef("    IF TG_OP = 'DELETE' THEN")
		w.linef("        DELETE FROM %s AS t WHERE %s AND %s;", w.relation(t), w.same(t), condition)
		w.linef("        RETURN CASE WHEN FOUND THEN OLD END;")
		w.linef("    END IF;")
	}
	w.linef("    RAISE EXCEPTION %s;", literalSQL("This is not possible for "+t.Name+"."))
	w.linef("END $$;")
	w.linef("CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s();", w.view(t), name)
	w.linef("REVOKE ALL ON FUNCTION %s() FROM PUBLIC;", name)
	w.handOver(name+"()", t.owner)

	return nil
}

// handOver makes a role the owner of a function, with the rights that the function needs there.
func (w *viewWriter) handOver(function, owner string) {
	w.linef("GRANT CREATE, USAGE ON SCHEMA %s TO %s;", quote(w.decl.Schema), owner)
	w.linef("GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s;", quote(w.decl.Schema), owner)
	if w.account != nil {
		w.linef("GRANT EXECUTE ON FUNCTION %s() TO %s;", w.function("account"), owner)
	}
	w.linef("ALTER FUNCTION %s OWNER TO %s;", function, owner)
	w.linef("REVOKE CREATE ON SCHEMA %s FROM %s;", quote(w.decl.Schema), owner)
}

// guards reject keys of rows that the user does not see, which a foreign key would accept, and split composite keys.
func (w *viewWriter) guards(t *catalogTable, e *EntityDecl) {
	for _, fk := range w.foldedKeys(t) {
		if name := w.foldedName(t, fk); slices.Contains(w.settable(t, e), name) {
			w.unfold(name, fk)
		}
	}
	for _, fk := range w.guarded(t, e) {
		target := w.cat.table(fk.table)
		if !slices.ContainsFunc(fk.columns, func(name string) bool { return slices.Contains(e.Columns, name) }) { // split from a composite key
			continue
		}
		row, where := fromNew(fk.columns), w.view(target)
		if w.entities[fk.table] == nil {
			condition, err := w.belongs(target, "p", 1)
			if err != nil {
				continue
			}
			where = fmt.Sprintf("%s AS p WHERE %s", w.relation(target), condition)
		}
		w.linef("    IF TG_OP <> 'DELETE' AND num_nulls(%s) = 0 AND (%s) NOT IN (SELECT %s FROM %s) THEN",
			row, row, quoteAll(fk.targets), where)
		w.noSuchRow("        ", target)
		w.linef("    END IF;")
	}
}

// noSuchRow rejects a key the way a foreign key does.
func (w *viewWriter) noSuchRow(indent string, t *catalogTable) {
	w.linef("%sRAISE EXCEPTION %s USING ERRCODE = 'foreign_key_violation';", indent, literalSQL("There is no such row of "+t.Name+"."))
}

// unfold splits a composite key when it is set. An unchanged one may reference a row that the user does not see.
func (w *viewWriter) unfold(name string, fk catalogFK) {
	target := w.cat.table(fk.table)
	key := quote(name)
	w.linef("    IF TG_OP <> 'DELETE' AND NEW.%s IS DISTINCT FROM OLD.%s THEN", key, key)
	w.linef("        SELECT %s INTO %s FROM %s AS p WHERE p.%s = NEW.%s;", listed(fk.targets, "p.%s", ", "), fromNew(fk.columns), w.view(target), quote(w.keyColumn(target)), key)
	w.linef("        IF NOT FOUND AND NEW.%s IS NOT NULL THEN", key)
	w.noSuchRow("            ", target)
	w.linef("        END IF;")
	w.linef("    END IF;")
}

// set are the table's columns that a writer may set, including those behind combined keys.
func (w *viewWriter) set(t *catalogTable, e *EntityDecl) []string {
	var names []string
	for _, name := range w.settable(t, e) {
		if t.column(name) != nil {
			names = appendNew(names, name)
		}
	}
	for _, fk := range w.foldedKeys(t) {
		if slices.Contains(w.settable(t, e), w.foldedName(t, fk)) {
			names = appendNew(names, fk.columns...)
		}
	}

	return names
}

func (w *viewWriter) insert(t *catalogTable, e *EntityDecl) {
	var names, values []string
	for _, name := range w.set(t, e) {
		value := "NEW." + quote(name)
		if expression := t.column(name).Default; expression != "" {
			value = fmt.Sprintf("coalesce(%s, %s)", value, expression)
		}
		names, values = append(names, quote(name)), append(values, value)
	}
	if owner := w.ownerColumn(t); owner != "" && !slices.Contains(names, quote(owner)) {
		names, values = append(names, quote(owner)), append(values, w.function("account")+"()")
	}
	key := w.key(t)
	returning, into := listed(key, "t.%s", ", "), fromNew(key)
	if w.folded(t) {
		returning += ", " + fold("t", t, key, key)
		into += ", NEW." + quote(w.keyColumn(t))
	}
	w.linef("    IF TG_OP = 'INSERT' THEN")
	w.linef("        INSERT INTO %s AS t (%s) VALUES (%s)", w.relation(t), strings.Join(names, ", "), strings.Join(values, ", "))
	w.linef("        RETURNING %s INTO %s;", returning, into)
	w.linef("        IF NOT FOUND THEN RAISE EXCEPTION USING MESSAGE = %s; END IF;", literalSQL("A rule of "+t.Name+" leaves this row out."))
	w.seen(t)
	w.linef("        RETURN NEW;")
	w.linef("    END IF;")
}

func (w *viewWriter) update(t *catalogTable, e *EntityDecl, condition string) {
	w.linef("    IF TG_OP = 'UPDATE' THEN")
	w.keepKey(t, e)
	w.linef("        UPDATE %s AS t SET %s WHERE %s AND %s;", w.relation(t), listed(w.set(t, e), "%[1]s = NEW.%[1]s", ", "), w.same(t), condition)
	w.linef("        IF NOT FOUND THEN RETURN NULL; END IF;")
	w.seen(t)
	w.linef("        RETURN NEW;")
	w.linef("    END IF;")
}

// keepKey rejects another key for a row. Under it, the row would be another one to whoever knows it by its key.
func (w *viewWriter) keepKey(t *catalogTable, e *EntityDecl) {
	set := w.set(t, e)
	parts := slices.DeleteFunc(slices.Clone(w.key(t)), func(name string) bool { return !slices.Contains(set, name) })
	if len(parts) == 0 {
		return
	}
	words := fmt.Sprintf("%s are the key of %s and stay as they are: delete the row and create another.", strings.Join(w.key(t), ", "), t.Name)
	w.linef("        IF (%s) IS DISTINCT FROM (%s) THEN", fromNew(parts), listed(parts, "OLD.%s", ", "))
	w.linef("            RAISE EXCEPTION USING MESSAGE = %s;", literalSQL(words))
	w.linef("        END IF;")
}

// same is the condition that t is the row that a trigger is to write.
func (w *viewWriter) same(t *catalogTable) string {
	return listed(w.key(t), "t.%[1]s = OLD.%[1]s", " AND ")
}

// seen rejects a row its writer would not see, like a view's check option.
func (w *viewWriter) seen(t *catalogTable) {
	w.linef("        IF NOT EXISTS (SELECT FROM %s AS v WHERE %s) THEN", w.view(t), listed(w.key(t), "v.%[1]s = NEW.%[1]s", " AND "))
	w.linef("            RAISE EXCEPTION 'The row would belong to somebody else.' USING ERRCODE = 'with_check_option_violation';")
	w.linef("        END IF;")
}
