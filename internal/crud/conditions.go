package crud

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// conditions replaces refs by keys and checks the filters. take returns those of one type that it leaves, and what it has
// decided of the others.
func (d *decision) conditions(
	ctx context.Context, e *domain.Entity, filters []registry.Filter, take func(*domain.Entity, []registry.Filter) ([]registry.Filter, []condition, error),
) ([]condition, error) {
	list, fault := conditions(e, filters)
	if fault != nil {
		return nil, fault // check the shape first: it needs no lookup and yields a better error
	}
	var own []registry.Filter
	var exist []condition
	for i, c := range list {
		if c.pointing == nil {
			own = append(own, filters[i])

			continue
		}
		var err error
		if c.pointing.where, err = d.conditions(ctx, c.pointing.entity, c.pointing.filters, take); err != nil {
			return nil, err
		}
		exist = append(exist, c)
	}
	own, decided, err := take(e, own)
	if err == nil {
		own, err = d.registry.TranslateFilters(ctx, e, own)
	}
	if err != nil {
		return nil, err
	}
	list, fault = conditions(e, own)
	if fault != nil {
		return nil, fault
	}

	return slices.Concat(list, decided, exist), nil
}

// readConditions is conditions for a call that only reads, which may name the row that a column points to. Drafts that it
// handles itself are removed, because the table does not contain them.
func (d *decision) readConditions(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters []registry.Filter, drafts []draft) ([]condition, error) {
	return d.conditions(ctx, e, filters, func(e *domain.Entity, filters []registry.Filter) ([]registry.Filter, []condition, error) {
		rest, named, err := byName(ctx, tx, e, filters)
		rest, decided := withoutDrafts(e, rest, drafts)

		return rest, append(named, decided...), err
	})
}

// writeConditions is conditions for a call that writes: it changes no row for a name that it has not seen.
func (d *decision) writeConditions(ctx context.Context, e *domain.Entity, filters []registry.Filter) ([]condition, error) {
	list, err := d.conditions(ctx, e, filters, func(_ *domain.Entity, filters []registry.Filter) ([]registry.Filter, []condition, error) {
		return filters, nil, nil
	})
	if fault := exactlyMeant(list); err == nil && fault != nil {
		return nil, fault
	}

	return list, err
}

// restrict prepares the conditions of a call that ranks nothing; instead says what to do about one that would.
func restrict(ctx context.Context, tx pgx.Tx, e *domain.Entity, list []condition, instead string) error {
	if ranking(list) != nil {
		return failColumn(CodeBadFilter, semanticField, "%s ranks rows and excludes none; %s.", semanticField, instead)
	}

	return resolveNames(ctx, tx, e, list)
}
