package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// A name that several rows have may be one's within what both it and the row that points to it belong to: of two households that
// have a kitchen each, a chore of one is in its own.

// within are the conditions on the rows that a column points to which follow from those on the rows that hold it: on the former
// themselves, by a path, and on a row that both point to.
func within(e *domain.Entity, c *domain.Column, known []condition) (list []condition) {
	at, via := "", c.Name
	if last := strings.LastIndexByte(c.Name, '.'); last >= 0 {
		at, via = c.Name[:last+1], c.Name[last+1:]
	}
	for _, one := range known {
		if one.column == nil || !strings.HasPrefix(one.column.Name, at) {
			continue
		}
		link, rest, deeper := strings.Cut(one.column.Name[len(at):], ".")
		switch parent := e.ColumnOrPath(at + link); {
		case link == via && deeper:
			one.column = c.Target().ColumnOrPath(rest)
		case link == via || parent == nil || parent.Target() == nil:
			continue
		default:
			one.column = sharedParent(c.Target(), parent, link, rest)
		}
		if one.column != nil {
			list = append(list, one)
		}
	}

	return list
}

// sharedParent is the column by which rows belong to what another column points to, or one of that row's: their label names it, or
// it is called the same.
func sharedParent(e *domain.Entity, parent *domain.Column, link, rest string) *domain.Column {
	for _, c := range e.Columns {
		if c.Target() == parent.Target() && c.Kind != domain.KindArray && (c.Name == link || slices.Contains(e.Label.Columns(), c.Name)) {
			return e.ColumnOrPath(strings.TrimSuffix(c.Name+"."+rest, "."))
		}
	}

	return nil
}

// keysWithin are the keys of the rows that have these names among those that conditions leave, nil unless each is one's. What the
// conditions are about need not be part of the name.
func keysWithin(ctx context.Context, tx pgx.Tx, e *domain.Entity, names []any, among []condition) ([]string, error) {
	said := namingBy(e, slices.DeleteFunc(e.Label.Columns(), func(name string) bool {
		asked := slices.ContainsFunc(among, func(c condition) bool { link, _, _ := strings.Cut(c.column.Name, "."); return link == name })

		return asked && e.Column(name).Target() != nil
	}))
	if len(among) == 0 || said.sql == "" {
		return nil, nil
	}
	var keys []string
	for _, name := range names {
		same := func(s *statement) string { return said.sql + " = " + s.value(said.words(name)) }
		found, err := load(ctx, tx, e, &query{sel: selection{columns: []*domain.Column{e.Key}}, filters: among, where: same, limit: 2})
		if err != nil {
			return nil, err
		}
		if len(found.Rows) != 1 {
			return nil, nil
		}
		keys = append(keys, found.keys()...)
	}

	return keys, nil
}

// keyInRow is the key of the row that a new value names, given the row's other values: names and refs, keys of those that have been
// found, and what it holds already.
func (d *decision) keyInRow(ctx context.Context, tx pgx.Tx, e *domain.Entity, c *domain.Column, held, row, found map[string]any) ([]string, error) {
	var known []condition
	for _, p := range e.Columns {
		if p == c || p.Target() == nil || p.Kind == domain.KindArray {
			continue
		}
		key, has := found[p.Name]
		given, changes := row[p.Name]
		switch {
		case !has && changes:
			of, err := d.conditions(ctx, tx, e, []registry.Filter{{Field: p.Name, Op: opEqual, Value: given}}, nil)
			if err != nil && !isExplained(err) {
				return nil, err
			}
			known = append(known, of...)
		case has, held[p.Name] != nil:
			known = append(known, condition{column: p, op: opIn, kind: domain.KindUUID, texts: []string{fmt.Sprint(cmp.Or(key, held[p.Name]))}})
		}
	}

	return keysWithin(ctx, tx, c.Target(), []any{row[c.Name]}, within(e, c, known))
}

// shared are the keys that all rows hold alike.
func (l *loaded) shared() map[string]any {
	held := map[string]any{}
	for _, c := range l.Entity.Columns {
		texts := textsIn(l.Rows, c)
		if c.Target() != nil && len(texts) == len(l.Rows) && len(slices.Compact(texts)) == 1 {
			held[c.Name] = texts[0]
		}
	}

	return held
}

// isExplained reports whether an error tells a model what is wrong with its call.
func isExplained(err error) bool {
	_, is := errors.AsType[*Error](err)

	return is || refFault(err) != nil
}
