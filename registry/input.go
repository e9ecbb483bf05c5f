package registry

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// The way back from models: where a key belongs, refs become keys. Anywhere else, a text that looks like a ref remains
// text.

// Filter is one condition as a model writes it.
type Filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value"`
}

// keyField is what models may call the key, whatever the column's name.
const keyField = "id"

// TranslateFilters returns the filters with refs replaced by keys in key and foreign-key fields, or RefErrors. The
// field "id" stands for the key, whatever the column's name. Rows deleted in this turn still resolve, so
// that references to them can be cleaned up; drafts are refused (ResolveAll finds them beforehand).
func (r *Registry) TranslateFilters(ctx context.Context, e *domain.Entity, filters []Filter) ([]Filter, error) {
	s := &substitution{domain: r.domain}
	filters, err := r.ExpandRanges(ctx, e, filters)
	if err != nil {
		return nil, err
	}
	for _, f := range filters {
		if target := s.filterTarget(e, f); target != nil {
			s.gather(f.Value, Want{Type: target.Type, Stored: true, Deleted: true})
		}
	}
	if err := r.answer(ctx, s); err != nil {
		return nil, err
	}
	out := slices.Clone(filters)
	for i, f := range filters {
		if s.filterTarget(e, f) != nil {
			out[i].Value = s.keys(f.Value)
		}
	}

	return out, nil
}

// refRange matches many refs on one line, as prompts show them: inv_1..inv_12.
var refRange = regexp.MustCompile(`^(` + vocab.RefStem + `)_(\d{1,6})\s*\.{2,3}\s*(?:(` + vocab.RefStem + `)_)?(\d{1,6})$`)

// maxRange bounds how many refs a range may stand for. A wider one stands for none: what is not in one of its parts would
// count as not named.
const maxRange = 1000

// ExpandRanges replaces ranges by the refs that exist in them, drafts included.
func (r *Registry) ExpandRanges(ctx context.Context, e *domain.Entity, filters []Filter) ([]Filter, error) {
	s := &substitution{domain: r.domain}
	out := slices.Clone(filters)
	for i, f := range filters {
		if s.filterTarget(e, f) == nil {
			continue
		}
		values, isList := asList(f.Value)
		if !isList {
			values = []any{f.Value}
		}
		expanded, changed, err := r.expand(ctx, values)
		if err != nil {
			return nil, err
		}
		if changed {
			out[i].Value = expanded
			out[i].Op = map[string]string{"=": "in", "!=": "not_in"}[f.Op]
			if out[i].Op == "" {
				out[i].Op = f.Op
			}
		}
	}

	return out, nil
}

func (r *Registry) expand(ctx context.Context, values []any) ([]any, bool, error) {
	var out []any
	changed := false
	for _, value := range values {
		text, _ := value.(string)
		parts := refRange.FindStringSubmatch(text)
		if parts == nil || parts[3] != "" && parts[3] != parts[1] {
			out = append(out, value)

			continue
		}
		from, _ := strconv.Atoi(parts[2])
		to, _ := strconv.Atoi(parts[4])
		var names []string
		for n := from; n <= to && to-from < maxRange; n++ {
			names = append(names, parts[1]+"_"+strconv.Itoa(n))
		}
		known, err := r.Lookup(ctx, names)
		if err != nil {
			return nil, false, err
		}
		found := false
		for _, name := range names {
			if _, ok := known[name]; ok {
				out, found = append(out, name), true
			}
		}
		if !found {
			out = append(out, value) // so that the error names it
		}
		changed = changed || found
	}

	return out, changed, nil
}

// TranslatePayload returns a copy of the payload with refs replaced by keys in key and foreign-key columns, including
// arrays and rows nested under a table's name, or RefErrors. "" in such a column is null.
func (r *Registry) TranslatePayload(ctx context.Context, e *domain.Entity, data map[string]any) (map[string]any, error) {
	s := &substitution{domain: r.domain}
	s.gatherRow(e, data)
	if err := r.answer(ctx, s); err != nil {
		return nil, err
	}

	return s.row(e, data), nil
}

// substitution gathers the refs of one input and replaces them by keys once they are resolved.
type substitution struct {
	domain *domain.Domain
	asks   []ask
	found  map[string]Entry
}

func (r *Registry) answer(ctx context.Context, s *substitution) error {
	s.found = map[string]Entry{}
	if len(s.asks) == 0 {
		return nil
	}
	entries, failed, err := r.resolve(ctx, s.asks)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return failed
	}
	for i, a := range s.asks {
		s.found[a.ref] = entries[i]
	}

	return nil
}

// target is the type whose refs a field holds, nil for an ordinary field.
func target(e *domain.Entity, field string) *domain.Entity {
	switch column := e.Column(field); {
	case column == nil && field == keyField, column != nil && isKey(e, column):
		return e
	case column != nil:
		return column.Target()
	default:
		return nil
	}
}

func (s *substitution) filterTarget(e *domain.Entity, f Filter) *domain.Entity {
	if f.Op == "is_null" || f.Op == "is_not_null" {
		return nil
	}
	if f.Field == keyField { // also where a column that is not the key has this name
		return e
	}

	return target(e, f.Field)
}

// gatherRow walks in a fixed order, so that the errors of one input are always worded the same.
func (s *substitution) gatherRow(e *domain.Entity, data map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if to := target(e, name); to != nil {
			s.gather(data[name], Want{Type: to.Type, Stored: true})

			continue
		}
		if column := e.Column(name); column != nil {
			if column.Kind == domain.KindUUID {
				s.gather(data[name], Want{Stored: true}) // a key, though of an unknown type
			}

			continue
		}
		child, rows := nestedRows(s.domain, name, data[name])
		for _, row := range rows {
			s.gatherRow(child, row)
		}
	}
}

func (s *substitution) gather(value any, want Want) {
	if list, ok := asList(value); ok {
		for _, one := range list {
			s.gather(one, want)
		}

		return
	}
	if value != nil && value != "" {
		s.asks = append(s.asks, ask{refText(value), want})
	}
}

// refText is the text found where a ref belongs: a number or an object is not a ref, and the error names it as written.
func refText(value any) string {
	if text, ok := value.(string); ok {
		return spelled(text)
	}
	if text := keyText(value); text != "" {
		return text
	}

	return "an object"
}

// misspelt matches a ref in quotes or brackets, with a word before it that says what it is, or in capitals.
var misspelt = regexp.MustCompile("(?i)^[\\s\"'`(\\[@]*(?:ref\\s*[:=]\\s*)?(" + vocab.Ref + ")[\\s\"'`)\\]]*$")

// spelled is the ref that a text means and says no more than; any other text stays.
func spelled(text string) string {
	if parts := misspelt.FindStringSubmatch(text); parts != nil {
		return strings.ToLower(parts[1])
	}

	return text
}

func (s *substitution) row(e *domain.Entity, data map[string]any) map[string]any {
	out := make(map[string]any, len(data))
	for name, value := range data {
		column := e.Column(name)
		switch {
		case target(e, name) != nil && column == nil:
			out[e.Key.Name] = s.keys(value)
		case target(e, name) != nil, column != nil && column.Kind == domain.KindUUID:
			out[name] = s.keys(value)
		case column != nil:
			out[name] = value
		default:
			out[name] = s.nested(name, value)
		}
	}

	return out
}

func (s *substitution) nested(name string, value any) any {
	child, rows := nestedRows(s.domain, name, value)
	if child == nil {
		return value
	}
	if single, ok := value.(map[string]any); ok {
		return s.row(child, single)
	}
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = s.row(child, row)
	}

	return out
}

func (s *substitution) keys(value any) any {
	if list, ok := asList(value); ok {
		out := make([]any, len(list))
		for i, one := range list {
			out[i] = s.keys(one)
		}

		return out
	}
	if value == nil || value == "" {
		return nil
	}

	return s.found[refText(value)].ID
}
