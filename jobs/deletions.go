package jobs

import (
	"encoding/json"
	"slices"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// bottomUp orders what a plan deletes one after the other: rows go after those that name them, which the database would otherwise
// keep them for, or take along.
func bottomUp(plan []nodes.Step, entity func(table string) *domain.Entity) []nodes.Step {
	var ordered, run []nodes.Step
	for _, s := range plan {
		single := make([]nodes.Step, len(s.Calls))
		for i, call := range s.Calls {
			single[i] = nodes.Step{Type: s.Type, Calls: []json.RawMessage{call}}
		}
		if len(single) > 1 && deletedBy(s, entity) != nil {
			s.Calls = nil
			for _, one := range namingFirst(single, entity) {
				s.Calls = append(s.Calls, one.Calls...)
			}
		}
		if deletedBy(s, entity) == nil {
			ordered, run = slices.Concat(ordered, namingFirst(run, entity), []nodes.Step{s}), nil
		} else {
			run = append(run, s)
		}
	}

	return append(ordered, namingFirst(run, entity)...)
}

// namingFirst puts each deletion after those of rows that name its rows. Rows that name each other in a circle stay as they were written.
func namingFirst(run []nodes.Step, entity func(table string) *domain.Entity) (ordered []nodes.Step) {
	names := func(a, b nodes.Step) bool {
		targets := deletedBy(b, entity)

		return slices.ContainsFunc(deletedBy(a, entity), func(e *domain.Entity) bool {
			return e != nil && !slices.Contains(targets, e) && slices.ContainsFunc(e.Columns, func(c *domain.Column) bool { return c.Target() != nil && slices.Contains(targets, c.Target()) })
		})
	}
	for rest := slices.Clone(run); len(rest) > 0; {
		at := max(0, slices.IndexFunc(rest, func(s nodes.Step) bool {
			return !slices.ContainsFunc(rest, func(other nodes.Step) bool { return names(other, s) })
		}))
		ordered = append(ordered, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}

	return ordered
}

// deletedBy are the types whose rows a step's planned calls delete, nil if they do anything else.
func deletedBy(s nodes.Step, entity func(table string) *domain.Entity) (types []*domain.Entity) {
	for _, call := range s.ReadyCalls() {
		if call.Tool != vocab.ToolDelete {
			return nil
		}
		types = append(types, entity(tableOf(call)))
	}

	return types
}
