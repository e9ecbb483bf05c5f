package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"alfred/internal/domain"
)

// label completes the labels of sightings before they are registered, so that a ref is not first named after itself and
// then renamed. It calls the reader once per type for what neither the rows nor the registry name. Then it labels rows
// that are named after what they reference.
func (r *Registry) label(ctx context.Context, sightings []*sighting, known map[key]*Entry, read LabelReader) error {
	names := make(map[key]string, len(sightings))
	for k, e := range known {
		if !e.LabelIsPlaceholder {
			names[k] = e.Label
		}
	}
	for _, s := range sightings {
		if s.Label != "" {
			names[s.key] = s.Label
		}
	}
	if read != nil {
		if err := r.askLabels(ctx, sightings, names, read); err != nil {
			return err
		}
	}
	for _, s := range sightings {
		switch {
		case s.row == nil:
			s.Label = names[s.key]
		case s.Label == "":
			s.Label = linkedLabel(r.domain.ByType(s.entityType), s.row, names)
		}
		if s.Label != "" {
			names[s.key] = s.Label
		}
	}

	return nil
}

// askLabels reads the labels missing in names and adds them. Deleted rows cannot be read any more.
func (r *Registry) askLabels(ctx context.Context, sightings []*sighting, names map[key]string, read LabelReader) error {
	missing := map[string][]string{}
	for _, s := range sightings {
		if !s.gone() && names[s.key] == "" && r.domain.ByType(s.entityType).Label.RenderComplete(s.row) == "" {
			missing[s.entityType] = append(missing[s.entityType], s.id)
		}
	}
	for _, e := range r.domain.Entities {
		ids := missing[e.Type]
		if len(ids) == 0 {
			continue
		}
		slices.Sort(ids)
		labels, err := read(ctx, e, slices.Compact(ids))
		if err != nil {
			return fmt.Errorf("read labels of %s: %w", e.Table, err)
		}
		for id, label := range labels {
			if label != "" {
				names[key{e.Type, id}] = label
			}
		}
	}

	return nil
}

// linkedLabel is the label of a row named after what it references, "" if that is unknown too.
func linkedLabel(e *domain.Entity, row map[string]any, names map[key]string) string {
	whole := maps.Clone(row)
	for _, column := range e.Columns {
		to := column.Target()
		if to == nil || column.Kind == domain.KindArray {
			continue
		}
		if name := names[key{to.Type, keyText(row[column.Name])}]; name != "" {
			whole["_"+column.Name+"_label"] = name
		}
	}

	return e.Label.RenderComplete(whole)
}
