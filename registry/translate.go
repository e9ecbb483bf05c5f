package registry

import (
	"context"

	"alfred/internal/clean"
	"alfred/internal/domain"
)

// LabelReader reads row labels by key, as the tenant; rows it cannot see are absent.
type LabelReader func(ctx context.Context, e *domain.Entity, ids []string) (map[string]string, error)

// Result is what one statement returned. Rows are JSON with exact numbers, by column name, with rows of other tables
// nested under the table's name.
type Result struct {
	Entity   *domain.Entity
	Rows     []map[string]any
	Action   string                       // of the rows; nested ones were created or deleted with them, or else read
	Sets     []string                     // column sets read
	Versions map[string]map[string]string // of all rows by type and key, nested ones included; may be nil
}

// Translated is a result as a model may see it.
type Translated struct {
	Rows    []map[string]any
	Refs    []string // of the rows that have a key, in order, each once
	Entries []*Entry // the entries of Refs
}

// TranslateRows registers every row of the results at once, nested ones and unknown foreign keys included (deleted ones
// as tombstones), and returns copies without any keys. Key and foreign-key columns hold refs, and each foreign key is
// accompanied by a _{column}_label. labels is called once per type that has refs without a label, and may be nil.
// Hidden columns are left out.
func (r *Registry) TranslateRows(ctx context.Context, results []Result, labels LabelReader) ([]Translated, error) {
	known, err := r.register(ctx, collect(r.domain, results).sightings(), labels)
	if err != nil {
		return nil, err
	}
	t := &translation{domain: r.domain, known: known}
	translated := make([]Translated, len(results))
	for i, result := range results {
		translated[i] = t.result(result)
	}

	return translated, nil
}

// translation is what is known when results are rewritten for a model.
type translation struct {
	domain *domain.Domain
	known  map[key]*Entry
}

// row returns a copy of a row in which every key is a ref and every other id is [id]. Hidden columns are left out.
func (t *translation) row(e *domain.Entity, row map[string]any) map[string]any {
	out := make(map[string]any, len(row))
	for name, value := range row {
		if column := e.Column(name); column != nil {
			t.column(out, e, column, value)

			continue
		}
		child, inner := nestedRows(t.domain, name, value)
		if child == nil {
			out[Scrub(name)] = eachText(value, Scrub)

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
		out[column.Name] = eachText(value, Scrub)
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
