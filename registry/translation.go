package registry

import (
	"alfred/internal/clean"
	"alfred/internal/domain"
)

// translation is what is known when results are rewritten for a model.
type translation struct {
	domain *domain.Domain
	known  map[key]*Entry
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
	}

	return out
}

func (t *translation) column(out map[string]any, e *domain.Entity, column *domain.Column, value any) {
	switch to := column.Target(); {
	case isKey(e, column):
		// A row deleted before it had a ref gets none.
		if entry := t.known[key{e.Type, keyText(value)}]; entry != nil {
			out[column.Name] = entry.Ref
		}
	case column.Hidden || column.Kind == domain.KindVector || column.FK != nil && to == nil:
	case column.FK != nil:
		t.reference(out, column.Name, to, value)
	default:
		out[column.Name] = t.free(value)
	}
}

// reference shows what a column references, a row or several, by ref and label. A key without a ref is not shown either.
func (t *translation) reference(out map[string]any, name string, to *domain.Entity, value any) {
	var labels []any
	out[name] = eachIn(value, func(one any) any {
		switch entry := t.known[key{to.Type, keyText(one)}]; {
		case one == nil:
			return nil
		case entry == nil:
			return clean.Redacted
		default:
			if !entry.LabelIsPlaceholder {
				labels = append(labels, entry.Label)
			}

			return entry.Ref
		}
	})
	if len(labels) == 0 {
		return
	}
	out["_"+name+"_label"] = labels
	if _, several := value.([]any); !several {
		out["_"+name+"_label"] = labels[0]
	}
}

// free rewrites a value whose column does not say what it is: a text that is a known key becomes its ref, and
// UUID-shaped text anywhere becomes [id].
func (t *translation) free(value any) any {
	return eachText(value, func(text string) string {
		if id, ok := uuidText(text); ok && t.loose[id] != "" {
			return t.loose[id]
		}

		return Scrub(text)
	})
}

// result rewrites one result and lists the refs of its rows, each once.
func (t *translation) result(result Result) Translated {
	translated := Translated{Rows: make([]map[string]any, len(result.Rows))}
	listed := map[string]bool{}
	for i, row := range result.Rows {
		translated.Rows[i] = t.row(result.Entity, row)
		if entry := t.known[keyOf(result.Entity, row)]; entry != nil && !listed[entry.Ref] {
			listed[entry.Ref] = true
			translated.Refs = append(translated.Refs, entry.Ref)
			translated.Entries = append(translated.Entries, entry)
		}
	}

	return translated
}
