package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/registry"
)

// draft is an unsaved row, with refs in place of keys.
type draft struct {
	ref     string // "" for one that is to be made
	entity  *domain.Entity
	content map[string]any
}

func readDraft(ref string, e *domain.Entity, raw json.RawMessage) (draft, error) {
	one := draft{ref: ref, entity: e}
	if err := exact.Decode(raw, &one.content); err != nil {
		return one, fmt.Errorf("read draft: %w", err)
	}

	return one, nil
}

// withoutDrafts removes refs of drafts from conditions on the key. A condition that named only drafts is decided: no
// stored row matches it.
func withoutDrafts(e *domain.Entity, filters []registry.Filter, drafts []draft) ([]registry.Filter, []condition) {
	isDraft := func(value any) bool {
		return slices.ContainsFunc(drafts, func(one draft) bool { return one.ref == value })
	}
	var (
		rest    []registry.Filter
		decided []condition
	)
	for _, filter := range filters {
		values := asList(filter.Value)
		stored := slices.DeleteFunc(slices.Clone(values), isDraft)
		switch {
		case !isKey(e, filter.Field) || len(stored) == len(values):
		case len(stored) > 0:
			filter.Value = stored
		default:
			negated := filter.Op == opNotEqual || filter.Op == opNotIn
			decided = append(decided, condition{column: e.Key, none: !negated, all: negated})

			continue
		}
		rest = append(rest, filter)
	}

	return rest, decided
}

func isKey(e *domain.Entity, field string) bool { return field == keyField || field == e.Key.Name }

// loadDrafts loads the drafts that filters on the key name and keeps those that match the other filters.
func (op *readOp) loadDrafts(ctx context.Context, d *decision) error {
	filters, fault := conditions(op.entity, op.args.Filters)
	if fault != nil {
		return fault
	}
	or, fault := conditions(op.entity, op.args.OrFilters)
	if fault != nil {
		return fault
	}
	refs := namedKeys(op.entity, slices.Concat(op.args.Filters, op.args.OrFilters))
	if len(refs) == 0 {
		return nil
	}
	entries, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return err
	}
	var pending []string
	for _, ref := range refs {
		entry, known := entries[ref]
		if !known || !entry.Pending() {
			continue
		}
		if entry.Type != op.entity.Type {
			return fail(CodeTypeMismatch, "%s is a %s, not a row of %s.", ref, entry.Type, op.entity.Table)
		}
		pending = append(pending, ref)
	}

	return op.fitting(ctx, d, pending, filters, or)
}

// namedKeys returns the refs in conditions on the key, each once.
func namedKeys(e *domain.Entity, filters []registry.Filter) []string {
	var refs []string
	for _, filter := range filters {
		if !isKey(e, filter.Field) {
			continue
		}
		for _, value := range asList(filter.Value) {
			if ref, ok := value.(string); ok && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}

	return refs
}

func (op *readOp) fitting(ctx context.Context, d *decision, pending []string, filters, or []condition) error {
	if len(pending) == 0 {
		return nil
	}
	contents, err := d.registry.GetEntityData(ctx, pending)
	if err != nil {
		return err
	}
	for _, ref := range pending {
		one, err := readDraft(ref, op.entity, contents[ref])
		if err != nil {
			return err
		}
		row := map[string]any{op.entity.Key.Name: ref}
		maps.Copy(row, one.content)
		if !matches(op.entity, row, filters, or) {
			one.content = nil // named, so it means no stored row, but filtered out
		}
		op.drafts = append(op.drafts, one)
	}

	return nil
}

// draftRow returns a draft as a row: all of it, or the requested columns.
func (op *readOp) draftRow(one draft) map[string]any {
	row := map[string]any{op.entity.Key.Name: one.ref}
	for name, value := range one.content {
		if len(op.args.Columns) == 0 || slices.Contains(op.args.Columns, name) || slices.Contains(op.entity.Label.Columns(), name) {
			row[name] = value
		}
	}

	return row
}

// labelDrafts adds labels beside the refs in drafts, as in stored rows.
func (d *decision) labelDrafts(ctx context.Context, e *domain.Entity, rows []map[string]any) error {
	var refs []string
	for _, row := range rows {
		for _, c := range e.Columns {
			if ref, ok := row[c.Name].(string); ok && c.FK != nil && c.Kind != domain.KindArray {
				refs = append(refs, ref)
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	entries, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, c := range e.Columns {
			ref, ok := row[c.Name].(string)
			if entry, known := entries[ref]; ok && known && c.FK != nil && !entry.LabelIsPlaceholder {
				row["_"+c.Name+"_label"] = entry.Label
			}
		}
	}

	return nil
}
