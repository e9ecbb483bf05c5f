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
func bottomUp(plan []nodes.Step, d *domain.Domain) (ordered []nodes.Step) {
	deleted := func(s nodes.Step) []*domain.Entity { return deletedBy(s, d) }
	var run []nodes.Step
	for _, s := range plan {
		if deleted(s) == nil {
			ordered, run = slices.Concat(ordered, namingFirst(run, deleted), []nodes.Step{s}), nil

			continue
		}
		s.Calls = namingFirst(s.Calls, func(call json.RawMessage) []*domain.Entity {
			return deleted(nodes.Step{Type: s.Type, Calls: []json.RawMessage{call}})
		})
		run = append(run, s)
	}

	return append(ordered, namingFirst(run, deleted)...)
}

// namingFirst puts each deletion after those of rows that name its rows. Rows that name each other in a circle stay as they were written.
func namingFirst[T any](run []T, deleted func(T) []*domain.Entity) (ordered []T) {
	names := func(a, b T) bool {
		targets := deleted(b)

		return slices.ContainsFunc(deleted(a), func(e *domain.Entity) bool {
			return e != nil && !slices.Contains(targets, e) && slices.ContainsFunc(e.Columns, func(c *domain.Column) bool { return c.Target() != nil && slices.Contains(targets, c.Target()) })
		})
	}
	for rest := slices.Clone(run); len(rest) > 0; {
		at := max(0, slices.IndexFunc(rest, func(one T) bool {
			return !slices.ContainsFunc(rest, func(other T) bool { return names(other, one) })
		}))
		ordered = append(ordered, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}

	return ordered
}

// deletedBy are the types whose rows a step's planned calls delete, nil if they do anything else.
func deletedBy(s nodes.Step, d *domain.Domain) (types []*domain.Entity) {
	for _, call := range s.ReadyCalls() {
		if call.Tool != vocab.ToolDelete {
			return nil
		}
		types = append(types, d.Entity(tableOf(call)))
	}

	return types
}
