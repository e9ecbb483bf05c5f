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
func (c *collected) label(ctx context.Context, d *domain.Domain, b *book, read LabelReader) error {
	names := c.named(b)
	if read != nil {
		if err := c.ask(ctx, d, names, read); err != nil {
			return err
		}
	}
	for _, s := range slices.Concat(c.rows, c.nested) {
		if s.Label == "" {
			s.Label = linkedLabel(d.ByType(s.Type), s.row, names)
		}
		if s.Label != "" {
			names[key{s.Type, s.ID}] = s.Label
		}
	}
	for _, s := range c.linked {
		s.Label = names[key{s.Type, s.ID}]
	}
	for kind, rows := range c.deleted {
		for i, one := range rows {
			if one.label == "" {
				rows[i].label = linkedLabel(d.ByType(kind), one.row, names)
			}
		}
	}

	return nil
}

// named returns the known labels: the registry's, and those that rows yield.
func (c *collected) named(b *book) map[key]string {
	names := make(map[key]string, len(c.rows)+len(c.nested)+len(b.known))
	for k, e := range b.known {
		if !e.LabelIsPlaceholder {
			names[k] = e.Label
		}
	}
	for _, s := range slices.Concat(c.rows, c.nested) {
		if s.Label != "" {
			names[key{s.Type, s.ID}] = s.Label
		}
	}

	return names
}

// ask reads the labels missing in names and adds them.
func (c *collected) ask(ctx context.Context, d *domain.Domain, names map[key]string, read LabelReader) error {
	missing := map[string][]string{}
	for _, s := range c.sightings() {
		if k := (key{s.Type, s.ID}); names[k] == "" && d.ByType(s.Type).Label.RenderComplete(s.row) == "" {
			missing[s.Type] = append(missing[s.Type], s.ID)
		}
	}
	for _, e := range d.Entities {
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
