package crud

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// refLike is a value in a column of references that can only be meant as a ref, or a range of them.
var refLike = regexp.MustCompile(`^(?:gen_)?` + vocab.Ref)

// byName takes out of a read's filters those that name the row a column points to, as product_id = "Ground Coffee", and
// returns them as conditions: without them, a model reads products to get a ref that it needs for nothing else. A name
// counts only if exactly one row of the user's has it; what is left is refused with the refs that it may mean.
func byName(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters []registry.Filter) (rest []registry.Filter, found []condition, err error) {
	for _, filter := range filters {
		target, names := namedTarget(e, filter)
		if target == nil {
			rest = append(rest, filter)

			continue
		}
		keys, err := keysOf(ctx, tx, target, names)
		switch {
		case err != nil:
			return nil, nil, err
		case len(keys) == 0:
			rest = append(rest, filter)
		default:
			op := opIn
			if filter.Op == opNotEqual || filter.Op == opNotIn {
				op = opNotIn
			}
			found = append(found, condition{column: e.Reached(filter.Field), op: op, kind: domain.KindUUID, texts: keys})
		}
	}

	return rest, found, nil
}

// takeNamed takes out of a row what names the row that a column points to, and returns it with the keys of those rows: a
// model that is to plan a dish had to read the dish first, in a step of its own. As in filters, a name counts only if
// exactly one row has it.
func takeNamed(ctx context.Context, tx pgx.Tx, e *domain.Entity, row map[string]any) (map[string]any, error) {
	found := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		target, names := namedTarget(e, registry.Filter{Field: name, Op: opEqual, Value: row[name]})
		if target == nil {
			continue
		}
		keys, err := keysOf(ctx, tx, target, names)
		if err != nil {
			return nil, err
		}
		if len(keys) == 1 {
			found[name] = keys[0]
			delete(row, name)
		}
	}

	return found, nil
}

// namedTarget is the type that a filter names rows of, and their names; nil if it does not.
func namedTarget(e *domain.Entity, filter registry.Filter) (*domain.Entity, []string) {
	c := e.Reached(filter.Field)
	if c == nil || c.FK == nil || c.FK.Entity == nil || c.Kind == domain.KindArray || !slices.Contains([]string{opEqual, opNotEqual, opIn, opNotIn}, filter.Op) {
		return nil, nil
	}
	var names []string
	for _, value := range asList(filter.Value) {
		name, isText := value.(string)
		if !isText || nothing(name) || refLike.MatchString(name) {
			return nil, nil
		}
		names = append(names, name)
	}
	if len(names) == 0 || len(nameColumns(c.FK.Entity)) != 1 {
		return nil, nil
	}

	return c.FK.Entity, names
}

// keysOf returns the keys of the rows with these names, none unless each is the name of exactly one.
func keysOf(ctx context.Context, tx pgx.Tx, e *domain.Entity, names []string) ([]string, error) {
	for i := range names {
		names[i] = folded(names[i])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	name := nameColumns(e)[0]
	q := &query{sel: selection{columns: []*domain.Column{e.Key, name}}, limit: len(names) + 1, where: func(s *statement) string {
		return s.in("lower("+name.SQL()+"::text)", names, "text")
	}}
	rows, err := load(ctx, tx, e, q)
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, row := range rows.Rows {
		said[folded(row[name.Name])] = true
	}
	if len(said) < len(names) || len(rows.Rows) > len(names) {
		return nil, nil
	}

	return rows.keys(), nil
}
