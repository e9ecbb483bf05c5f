package registry

import (
	"slices"

	"github.com/google/uuid"

	"alfred/internal/domain"
)

// translation is what is known when results are rewritten for a model.
type translation struct {
	domain *domain.Domain
	known  map[key]Entry
	loose  map[string]string // UUID -> ref
}

// row returns a copy of a row in which every key is a ref and every other id is removed. Hidden columns are left out.
func (t *translation) row(e *domain.Entity, row map[string]any) map[string]any {
	out := make(map[string]any, len(row))
	for name, value := range row {
		if column := e.Column(name); column != nil {
			t.column(out, e, column, value)

			continue
		}
		child, inner := nestedRows(t.domain, name, value)
		if child == nil {
			out[Scrub(name)] = t.free(value)

			continue
		}
		rows := make([]any, len(inner))
		for i, one := range inner {
			rows[i] = t.row(child, one)
		}
		out[name] = rows
		if _, single := value.(map[string]any); single {
			out[name] = rows[0]
		}
	}

	return out
}

func (t *translation) column(out map[string]any, e *domain.Entity, column *domain.Column, value any) {
	switch {
	case isKey(e, column):
		// A row deleted before it had a ref gets none.
		if entry, ok := t.known[key{e.Type, keyText(value)}]; ok {
			out[column.Name] = entry.Ref
		}
	case column.Hidden || column.Kind == domain.KindVector || column.FK != nil && column.Target() == nil:
	case column.FK != nil:
		out[column.Name] = t.refs(column.Target(), value)
		if label := t.labels(column.Target(), value); label != nil {
			out["_"+column.Name+"_label"] = label
		}
	default:
		out[column.Name] = t.free(value)
	}
}

// ref returns the ref of what a row references. A key without one is not shown either.
func (t *translation) ref(e *domain.Entity, value any) any {
	if value == nil {
		return nil
	}
	if entry, ok := t.known[key{e.Type, keyText(value)}]; ok {
		return entry.Ref
	}

	return scrubbed
}

func (t *translation) refs(e *domain.Entity, value any) any {
	list, ok := asList(value)
	if !ok {
		return t.ref(e, value)
	}
	refs := make([]any, len(list))
	for i, one := range list {
		refs[i] = t.refs(e, one)
	}

	return refs
}

// labels returns the label of a referenced row, or the known labels of a list; nil for none.
func (t *translation) labels(e *domain.Entity, value any) any {
	if list, ok := asList(value); ok {
		var labels []any
		for _, one := range list {
			if label := t.labels(e, one); label != nil {
				labels = append(labels, label)
			}
		}
		if labels == nil {
			return nil
		}

		return labels
	}
	if entry, ok := t.known[key{e.Type, keyText(value)}]; ok && !entry.LabelIsPlaceholder {
		return entry.Label
	}

	return nil
}

// free rewrites a value whose column does not say what it is: a text that is a known key becomes its ref, and
// UUID-shaped text anywhere becomes [id].
func (t *translation) free(value any) any {
	switch v := value.(type) {
	case string:
		if !hasID(v) {
			return v
		}
		if id, ok := uuidText(v); ok && t.loose[id] != "" {
			return t.loose[id]
		}

		return Scrub(v)
	case uuid.UUID:
		return t.free(v.String())
	case [16]byte:
		return t.free(uuid.UUID(v).String())
	case []byte:
		return Scrub(string(v))
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[Scrub(name)] = t.free(one)
		}

		return out
	}
	list, ok := asList(value)
	if !ok {
		return value
	}
	out := make([]any, len(list))
	for i, one := range list {
		out[i] = t.free(one)
	}

	return out
}

// result rewrites one result and lists the refs of its rows, each once.
func (t *translation) result(result Result) Translated {
	translated := Translated{Rows: make([]map[string]any, len(result.Rows))}
	listed := map[string]bool{}
	for i, row := range result.Rows {
		translated.Rows[i] = t.row(result.Entity, row)
		entry, ok := t.known[key{result.Entity.Type, keyText(row[result.Entity.Key.Name])}]
		if ok && !listed[entry.Ref] {
			listed[entry.Ref] = true
			translated.Refs = append(translated.Refs, entry.Ref)
			translated.Entries = append(translated.Entries, entry)
		}
	}
	translated.Entries = slices.Clip(translated.Entries)

	return translated
}
