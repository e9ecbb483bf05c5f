package domain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// wrappedFunction is a function of the owner's and the one that calls it.
type wrappedFunction struct {
	*catalogFunction

	decl *OperationDecl
	name string // of the function as SQL
	into string // name of the one that calls it
}

// wrapped finds the functions that a declaration trusts to run with their owner's rights.
func wrapped(ctx context.Context, tx pgx.Tx, decl *Declaration) ([]wrappedFunction, error) {
	var found []wrappedFunction

	for i := range decl.Operations {
		o := &decl.Operations[i]
		if !o.Trusted {
			continue
		}

		for _, one := range []struct{ named, into string }{{o.Function, wrapper(o.Name)}, {o.Preview, previewWrapper(o.Name)}} {
			if one.named == "" {
				continue
			}

			schema, name := decl.place(one.named)

			candidates, err := functions(ctx, tx, schema, name)
			if err != nil {
				return nil, err
			}

			if len(candidates) != 1 {
				return nil, fmt.Errorf("operation %s: there are %d functions %s.%s, and one is needed", o.Name, len(candidates), schema, name)
			}

			found = append(found, wrappedFunction{candidates[0], o, pgx.Identifier{schema, name}.Sanitize(), one.into})
		}
	}

	return found, nil
}

// operation writes the function by which alfred_tenant calls one of the owner's: keys among
// its arguments have to be rows that the user sees.
func (w *viewWriter) operation(f wrappedFunction) {
	name := w.function(f.into)

	w.linef("\n-- %s", f.decl.Name)
	w.linef("CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql SECURITY DEFINER SET search_path = %s, pg_temp AS $$", name, f.arguments, f.result, quote(w.decl.Source.Schema))
	w.linef("BEGIN")

	args := make([]string, len(f.names))

	for i, parameter := range f.names {
		args[i] = fmt.Sprintf("%s => $%d", quote(parameter), i+1)
		w.visible(f, i, parameter)
	}

	call := fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))

	switch {
	case strings.HasPrefix(f.result, "SETOF ") || strings.HasPrefix(f.result, "TABLE("):
		w.linef("    RETURN QUERY SELECT * FROM %s;", call)
	case f.result == "void":
		w.linef("    PERFORM %s;", call)
	default:
		w.linef("    RETURN %s;", call)
	}

	w.linef("END $$;")
	w.linef("REVOKE ALL ON FUNCTION %s FROM PUBLIC;", name)
	w.linef("GRANT EXECUTE ON FUNCTION %s TO alfred_tenant;", name)
	w.linef("GRANT CREATE, USAGE ON SCHEMA %s TO %s;", quote(w.decl.Schema), f.owner)
	w.linef("GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s;", quote(w.decl.Schema), f.owner)

	if w.account != nil {
		w.linef("GRANT EXECUTE ON FUNCTION %s() TO %s;", w.function("account"), f.owner)
	}

	w.linef("ALTER FUNCTION %s OWNER TO %s;", name, f.owner)
	w.linef("REVOKE CREATE ON SCHEMA %s FROM %s;", quote(w.decl.Schema), f.owner)
}

// visible refuses a key of a row that the user does not see.
func (w *viewWriter) visible(f wrappedFunction, i int, parameter string) {
	target := f.decl.Arguments[parameter]
	if i == 0 {
		target = f.decl.On
	} else if target == "" {
		target = strings.TrimSuffix(parameter, "_id")
	}

	at := slices.IndexFunc(w.decl.Entities, func(e EntityDecl) bool { return e.Type == target })
	if at < 0 {
		return
	}

	e := &w.decl.Entities[at]
	t := w.cat.table(e.Table)

	if t == nil {
		return
	}

	key := quote(w.keyColumn(t))

	if strings.HasSuffix(f.types[i], "[]") {
		w.linef("    IF EXISTS (SELECT FROM unnest($%d) AS x (k) WHERE x.k NOT IN (SELECT v.%s FROM %s AS v)) THEN", i+1, key, w.view(t))
	} else {
		w.linef("    IF $%d IS NOT NULL AND NOT EXISTS (SELECT FROM %s AS v WHERE v.%s = $%d) THEN", i+1, w.view(t), key, i+1)
	}

	w.noSuchRow("        ", t)
	w.linef("    END IF;")
}
