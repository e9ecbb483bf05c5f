package registry

import (
	"context"
	"slices"

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
	found := collect(r.domain, results)
	known, err := r.register(ctx, found.sightings(), labels)
	if err != nil {
		return nil, err
	}
	loose, err := r.looseRefs(ctx, found.loose)
	if err != nil {
		return nil, err
	}
	t := &translation{domain: r.domain, known: known, loose: loose}
	translated := make([]Translated, len(results))
	for i, result := range results {
		translated[i] = t.result(result)
	}

	return translated, nil
}

// looseRefs finds the refs of UUIDs in columns that do not say what they identify.
func (r *Registry) looseRefs(ctx context.Context, ids []string) (map[string]string, error) {
	refs := map[string]string{}
	if len(ids) == 0 {
		return refs, nil
	}
	slices.Sort(ids)
	var keys []key
	for _, id := range slices.Compact(ids) {
		for _, e := range r.domain.Entities {
			if e.Key.Kind == domain.KindUUID || e.Key.Kind == domain.KindText {
				keys = append(keys, key{e.Type, id})
			}
		}
	}
	known, err := r.loadKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	for k, e := range known {
		refs[k.id] = e.Ref
	}

	return refs, nil
}
