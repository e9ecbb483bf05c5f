package domain

import (
	"context"
	"fmt"
	"regexp"
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

// trustedFunctions finds the functions that a declaration trusts to run with their owner's privileges.
func trustedFunctions(ctx context.Context, tx pgx.Tx, decl *Declaration) ([]wrappedFunction, error) {
	var found []wrappedFunction
	for i := range decl.Operations {
		o := &decl.Operations[i]
		for _, one := range []struct{ named, into string }{{o.Function, wrapperName(o.Name)}, {o.Preview, previewWrapperName(o.Name)}} {
			if !o.Trusted || one.named == "" {
				continue
			}
			schemas, name := decl.splitFunction(one.named)
			candidates, err := functions(ctx, tx, schemas, name)
			if err != nil {
				return nil, err
			}
			if len(candidates) != 1 {
				return nil, fmt.Errorf("operation %s: there are %d functions %s, and one is needed", o.Name, len(candidates), schemas.before(name))
			}
			found = append(found, wrappedFunction{candidates[0], o, quote(candidates[0].Schema, name), one.into})
		}
	}

	return found, nil
}

// operationSQL is the wrapper by which alfred_tenant calls one of the owner's functions.
type operationSQL struct {
	Decl                       *OperationDecl
	Schema                     string // of the function
	Wrapper, Arguments, Result string
	Call                       string
	Keys                       []rowKey // arguments that are keys
	// Split: the key of the row comes as one value and is passed on in parts; On is the table of the row.
	Split    bool
	On       *catalogTable
	HandOver handOver
}

// rowKey is a parameter that holds the key of a row, or of several.
type rowKey struct {
	Number  int
	Table   *catalogTable
	Several bool
}

func (s *source) operation(f wrappedFunction) operationSQL {
	s.remarkOperation(f)
	parts := s.keyParts(f)
	made := operationSQL{
		Decl: f.decl, Schema: f.Schema, Wrapper: f.into, Arguments: s.addZones(f.Arguments), Result: f.Result, Split: len(parts) > 0, On: s.tableOf(f.decl.On),
		HandOver: handOver{s.function(f.into), f.Owner, s.account != nil},
	}
	if made.Split {
		rest := strings.SplitN(made.Arguments, ", ", len(parts)+1)[len(parts):]
		made.Arguments = strings.Join(append([]string{wholeKey + " text"}, rest...), ", ")
	}
	args := make([]string, len(f.Names))
	for i, parameter := range f.Names {
		if i < len(parts) {
			args[i] = fmt.Sprintf("%s => named.%s", quote(parameter), quote(parts[i]))

			continue
		}
		number := i + 1 - max(0, len(parts)-1) // the parts have come as one
		args[i] = fmt.Sprintf("%s => $%d%s", quote(parameter), number, s.dropZone(f.Types[i]))
		if t := s.tableOf(f.decl.keyType(i, parameter)); t != nil {
			made.Keys = append(made.Keys, rowKey{number, t, strings.HasSuffix(f.Types[i], "[]")})
		}
	}
	verb := "RETURN "
	switch {
	case strings.HasPrefix(f.Result, "SETOF ") || strings.HasPrefix(f.Result, "TABLE("):
		verb = "RETURN QUERY SELECT * FROM "
	case f.Result == "void":
		verb = "PERFORM "
	}
	made.Call = fmt.Sprintf("%s%s(%s)", verb, f.name, strings.Join(args, ", "))

	return made
}

var (
	localParameter = regexp.MustCompile(`(^|[^:])` + withoutZone) // not a cast in a default
	localDefault   = regexp.MustCompile(withoutZone + `(?:\[\])? DEFAULT (NULL|now\(\)|CURRENT_TIMESTAMP)?`)
)

// addZones makes a function's parameters its wrapper's: a time that the function takes for UTC comes with its zone.
func (s *source) addZones(arguments string) string {
	if !s.decl.Source.UTC {
		return arguments
	}

	return localParameter.ReplaceAllString(arguments, "${1}timestamp with time zone")
}

// remarkOperation is what the owner has to know about a function of times that are UTC.
func (s *source) remarkOperation(f wrappedFunction) {
	if !s.decl.Source.UTC {
		return
	}
	for _, found := range localDefault.FindAllStringSubmatch(f.Arguments, -1) {
		if found[1] == "" {
			s.notef("%s has a parameter without a time zone, whose default is taken for the user's own time when it is left out: make it now(), or null and choose within", f.name)
		}
	}
	if strings.Contains(f.Result, withoutZone) {
		s.notef("%s returns times without a time zone, which are shown as they stand: return timestamptz", f.name)
	}
}

// dropZone is the cast that turns such an argument back.
func (s *source) dropZone(parameter string) string {
	if !s.decl.Source.UTC || !strings.HasPrefix(parameter, withoutZone) {
		return ""
	}

	return "::" + parameter
}

// wholeKey is the parameter that takes a composite key as one value.
const wholeKey = "this"

// keyParts are the key columns of the function's target row, if its first parameters are those columns one by one; none
// if it takes the key as one value.
func (s *source) keyParts(f wrappedFunction) []string {
	t := s.tableOf(f.decl.On)
	if t == nil || len(s.viewKey(t)) < 2 || len(f.Types) < len(s.viewKey(t)) || slices.Contains(f.Names, wholeKey) {
		return nil
	}
	for i, name := range s.viewKey(t) {
		if t.column(name).Type != f.Types[i] {
			return nil
		}
	}

	return s.viewKey(t)
}

// tableOf is the table of a type, nil for none.
func (s *source) tableOf(entityType string) *catalogTable {
	return find(s.cat.tables, func(t *catalogTable) bool { return s.entities[t.Name] != nil && s.entities[t.Name].Type == entityType })
}
