package crud

import (
	"context"
	"regexp"
	"slices"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// companion is a column of a draft that points to another draft of the same answer, which has no ref before it is stored.
type companion struct {
	row    map[string]any
	column string
	draft  *draft
}

// comingRef is a ref of a draft.
var comingRef = regexp.MustCompile(`^gen_` + vocab.Ref + `$`)

// companions takes out of a draft, and of rows that are part of it, what names another draft of the same answer: by what that is called,
// or by the ref that it will get, if there is no other of its type.
func (d *decision) companions(ctx context.Context, e *domain.Entity, content map[string]any, others []*draft) (found []companion, err error) {
	for _, one := range rowsWithin(e, content) {
		for _, c := range one.entity.Columns {
			said, isText := one.row[c.Name].(string)
			if c.Target() == nil || !isText {
				continue
			}
			meant, err := d.draftsMeant(ctx, c.Target(), said, others)
			if err != nil {
				return nil, err
			}
			if len(meant) == 1 {
				delete(one.row, c.Name)
				found = append(found, companion{one.row, c.Name, meant[0]})
			}
		}
	}

	return found, nil
}

// draftsMeant are the drafts of a type that a name or a coming ref may mean.
func (d *decision) draftsMeant(ctx context.Context, e *domain.Entity, said string, others []*draft) ([]*draft, error) {
	same := only(others, func(one *draft) bool { return one.entity == e })
	if comingRef.MatchString(said) && len(same) == 1 {
		if known, err := d.registry.Lookup(ctx, []string{said}); err != nil || known[said] == nil {
			return same, err
		}
	}

	return only(same, func(one *draft) bool { return folded(e.Label.Render(one.content)) == folded(said) }), nil
}

// draftedBefore are the drafts that the decision's calls up to this one make, before the nth of this.
func (d *decision) draftedBefore(op *generateOp, n int) (others []*draft) {
	for _, s := range d.steps {
		made, is := s.op.(*generateOp)
		if !is {
			continue
		}
		for i := range made.creates {
			if made == op && i >= n {
				return others
			}
			others = append(others, &made.creates[i])
		}
		if made == op {
			break
		}
	}

	return others
}

// store stores the new drafts, one after the other if some point to others of them.
func (op *generateOp) store(ctx context.Context, drafts *registry.Registry) error {
	size := max(len(op.creates), 1)
	if slices.ContainsFunc(op.creates, func(one draft) bool { return len(one.points) > 0 }) {
		size = 1
	}
	for some := range slices.Chunk(op.creates, size) {
		for _, one := range some {
			for _, to := range one.points {
				to.row[to.column] = to.draft.ref
			}
		}
		made, err := drafts.Generate(ctx, each(some, func(one draft) registry.Draft { return registry.Draft{Type: one.entity.Type, Content: one.content} }))
		if err != nil {
			return err
		}
		for i, entry := range made {
			some[i].ref = entry.Ref
		}
	}

	return nil
}
