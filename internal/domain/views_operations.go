package domain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// wrappedFunction is a function of the owner and its wrapper.
type wrappedFunction struct {
	*catalogFunction

	decl *OperationDecl
	name string // the function's name as SQL
	into string // the wrapper's name
}

// wrapped finds the functions that a declaration trusts to run with their owner's privileges.
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
			found = append(found, wrappedFunction{candidates[0], o, quote(schema, name), one.into})
		}
	}

	return found, nil
}

// operation writes the wrapper by which alfred_tenant calls one of the owner's functions: keys among its arguments must
// belong to rows the user sees.
func (w *viewWriter) operation(f wrappedFunction) {
	name := w.function(f.into)
	arguments, parts := f.arguments, w.keyParts(f)
	if len(parts) > 0 {
		rest := strings.SplitN(f.arguments, ", ", len(parts)+1)[len(parts):]
		arguments = strings.Join(append([]string{wholeKey + " text"}, rest...), ", ")
	}
	w.linef("\n-- %s", f.decl.Name)
	w.linef("CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql SECURITY DEFINER SET search_path = %s AS $$", name, arguments, f.result, w.path())
	if len(parts) > 0 {
		w.linef("DECLARE named record;")
	}
	w.linef("BEGIN")
	args := w.passed(f, parts)
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
	w.handOver(name, f.owner)
}

// wholeKey is the parameter that takes a composite key as one value.
const wholeKey = "this"

// keyParts are the key columns of the function's target row, if its first parameters are those columns one by one; none
// if it takes the key as one value.
func (w *viewWriter) keyParts(f wrappedFunction) []string {
	t := w.tableOf(f.decl.On)
	if t == nil || len(w.key(t)) < 2 || len(f.types) < len(w.key(t)) || slices.Contains(f.names, wholeKey) {
		return nil
	}
	for i, name := range w.key(t) {
		if t.column(name).Type != f.types[i] {
			return nil
		}
	}

	return w.key(t)
}

// tableOf is the table of a type, nil for none.
func (w *viewWriter) tableOf(entityType string) *catalogTable {
	i := slices.IndexFunc(w.decl.Entities, func(e EntityDecl) bool { return e.Type == entityType })
	if i < 0 {
		return nil
	}

	return w.cat.table(w.decl.Entities[i].Table)
}

// passed returns the arguments for the owner's function. It first checks the rows they name.
func (w *viewWriter) passed(f wrappedFunction, parts []string) []string {
	args := make([]string, len(f.names))
	for i, parameter := range f.names {
		if i < len(parts) {
			args[i] = fmt.Sprintf("%s => named.%s", quote(parameter), quote(parts[i]))

			continue
		}
		number := i + 1 - max(0, len(parts)-1) // the parts have come as one
		args[i] = fmt.Sprintf("%s => $%d", quote(parameter), number)
		w.visible(f, i, number)
	}
	if len(parts) > 0 {
		t := w.tableOf(f.decl.On)
		w.linef("    SELECT v.* INTO named FROM %s AS v WHERE v.%s = $1;", w.view(t), quote(w.keyColumn(t)))
		w.linef("    IF NOT FOUND THEN")
		w.noSuchRow("        ", t)
		w.linef("    END IF;")
	}

	return args
}

// visible rejects a key of a row that the user does not see: the function's ith parameter, passed at position number.
func (w *viewWriter) visible(f wrappedFunction, i, number int) {
	t := w.tableOf(f.decl.keyType(i, f.names[i]))
	if t == nil {
		return
	}
	key := quote(w.keyColumn(t))
	if strings.HasSuffix(f.types[i], "[]") {
		w.linef("    IF EXISTS (SELECT FROM unnest($%d) AS x (k) WHERE x.k NOT IN (SELECT v.%s FROM %s AS v)) THEN", number, key, w.view(t))
	} else {
		w.linef("    IF $%d IS NOT NULL AND NOT EXISTS (SELECT FROM %s AS v WHERE v.%s = $%d) THEN", number, w.view(t), key, number)
	}
	w.noSuchRow("        ", t)
	w.linef("    END IF;")
}
