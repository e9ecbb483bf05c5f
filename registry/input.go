package registry

import (
	"cmp"
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

// TranslateFilters returns the filters with refs replaced by keys in key and foreign-key fields, or RefErrors. The
// field "id" stands for the key, whatever the column's name. Rows deleted in this turn still resolve, so
// that references to them can be cleaned up; drafts are refused (ResolveAll finds them beforehand).
func (r *Registry) TranslateFilters(ctx context.Context, e *domain.Entity, filters []Filter) ([]Filter, error) {
	filters, err := r.ExpandRanges(ctx, e, filters)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(filters)
	err = r.substitute(ctx, func(keys keysOf) {
		for i, f := range filters {
			if target := filterTarget(e, f); target != nil {
				out[i].Value = keys(f.Value, Want{Type: target.Type, Stored: true, Deleted: true})
			}
		}
	})

	return out, err
}

// refRange matches many refs on one line, as prompts show them: inv_1..inv_12.
var refRange = regexp.MustCompile(`^(` + vocab.RefStem + `)_(\d{1,6})\s*\.{2,3}\s*(?:(` + vocab.RefStem + `)_)?(\d{1,6})$`)

// maxRange bounds how many refs a range may stand for. A wider one stands for none: what is not in one of its parts would
// count as not named.
const maxRange = 1000

// ExpandRanges replaces ranges by the refs that exist in them, drafts included.
func (r *Registry) ExpandRanges(ctx context.Context, e *domain.Entity, filters []Filter) ([]Filter, error) {
	out := slices.Clone(filters)
	for i, f := range filters {
		if filterTarget(e, f) == nil {
			continue
		}
		values, isList := f.Value.([]any)
		if !isList {
			values = []any{f.Value}
		}
		expanded, changed, err := r.expand(ctx, values)
		if err != nil {
			return nil, err
		}
		if changed {
			out[i].Value = expanded
			out[i].Op = cmp.Or(map[string]string{"=": "in", "!=": "not_in"}[f.Op], f.Op)
		}
	}

	return out, nil
}

func (r *Registry) expand(ctx context.Context, values []any) (out []any, changed bool, err error) {
	for _, value := range values {
		text, _ := value.(string)
		names := namesInRange(text)
		known, err := r.Lookup(ctx, names)
		if err != nil {
			return nil, false, err
		}
		found := slices.DeleteFunc(names, func(name string) bool { return known[name] == nil })
		if len(found) == 0 {
			out = append(out, value) // so that an error names a range in which nothing is

			continue
		}
		changed = true
		for _, name := range found {
			out = append(out, name)
		}
	}

	return out, changed, nil
}

// namesInRange are the refs that a range may stand for; none for any other text and for too wide a range.
func namesInRange(text string) (names []string) {
	parts := refRange.FindStringSubmatch(text)
	if parts == nil || parts[3] != "" && parts[3] != parts[1] {
		return nil
	}
	from, _ := strconv.Atoi(parts[2])
	to, _ := strconv.Atoi(parts[4])
	for n := from; n <= to && to-from < maxRange; n++ {
		names = append(names, parts[1]+"_"+strconv.Itoa(n))
	}

	return names
}

// TranslatePayload returns copies of rows with refs replaced by keys in key and foreign-key columns, including arrays and rows
// nested under a table's name, or RefErrors. "" in such a column is null, and a [Key] stays.
func (r *Registry) TranslatePayload(ctx context.Context, e *domain.Entity, rows ...map[string]any) ([]map[string]any, error) {
	out := make([]map[string]any, len(rows))
	err := r.substitute(ctx, func(keys keysOf) {
		for i, row := range rows {
			out[i] = r.payload(e, row, keys)
		}
	})

	return out, err
}

// keysOf replaces a ref, or each in a list, by its key.
type keysOf func(value any, want Want) any

// substitute has an input walked twice: to gather its refs, and to replace them once one lookup has resolved them all.
func (r *Registry) substitute(ctx context.Context, walk func(keysOf)) error {
	var asks []ask
	walk(eachRef(func(ref string, want Want) any {
		asks = append(asks, ask{ref, want})

		return nil
	}))
	if len(asks) == 0 {
		return nil
	}
	entries, err := r.resolve(ctx, asks)
	if err != nil {
		return err
	}
	walk(eachRef(func(string, Want) any {
		id := entries[0].ID
		entries = entries[1:]

		return id
	}))

	return nil
}

// Key is a key that stands already where refs belong.
type Key string

// eachRef calls with for what stands where refs belong. "" is null there.
func eachRef(with func(ref string, want Want) any) keysOf {
	return func(value any, want Want) any {
		return eachIn(value, func(one any) any {
			if key, isKey := one.(Key); isKey {
				return string(key)
			}
			if one == nil || one == "" {
				return nil
			}

			return with(refText(one), want)
		})
	}
}

// payload returns a copy of a row with its refs replaced. It walks in a fixed order, so that the errors of one input are
// always worded the same.
func (r *Registry) payload(e *domain.Entity, data map[string]any, keys keysOf) map[string]any {
	out := make(map[string]any, len(data))
	for _, name := range slices.Sorted(maps.Keys(data)) {
		column, to := e.Column(name), target(e, name)
		child, rows := nestedRows(r.domain, name, data[name])
		switch {
		case to != nil && column == nil:
			out[e.Key.Name] = keys(data[name], Want{Type: to.Type, Stored: true})
		case to != nil:
			out[name] = keys(data[name], Want{Type: to.Type, Stored: true})
		case column != nil && column.Kind == domain.KindUUID:
			out[name] = keys(data[name], Want{Stored: true}) // a key, though of an unknown type
		case column != nil || child == nil:
			out[name] = data[name]
		default:
			inner := make([]any, len(rows))
			for i, row := range rows {
				inner[i] = r.payload(child, row, keys)
			}
			out[name] = inner
		}
	}

	return out
}

// target is the type whose refs a field holds, nil for an ordinary field.
func target(e *domain.Entity, field string) *domain.Entity {
	switch column := e.ColumnOrPath(field); {
	case column == nil && field == domain.KeyField, column != nil && isKey(e, column):
		return e
	case column != nil:
		return column.Target()
	default:
		return nil
	}
}

// filterTarget is target for a filter that compares values.
func filterTarget(e *domain.Entity, f Filter) *domain.Entity {
	if f.Op == "is_null" || f.Op == "is_not_null" {
		return nil
	}
	if f.Field == domain.KeyField { // also where a column that is not the key has this name
		return e
	}

	return target(e, f.Field)
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

// Touch records that refs were named in this turn (by a mention, a tool call, a node's output) and reverts demotions.
// Refs that do not resolve are left out.
func (r *Registry) Touch(ctx context.Context, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	known, err := r.load(ctx, refs)
	if err != nil {
		return err
	}
	var live []*Entry
	for _, ref := range refs {
		e := known[ref]
		if e != nil && e.resolves(r.scope.Turn) && e.State != StateDeleted {
			live = append(live, e)
			known[ref] = nil // once, however often it is named
		}
	}

	return r.apply(ctx, live, "touched", func(e *Entry) { e.touch(r.scope.Turn) })
}

// RefsIn lists the tokens of a text that are shaped like a ref of one of the domain's types, each once, whether or not
// the ref exists.
func RefsIn(d *domain.Domain, text string) []string {
	var refs []string
	for ref := range vocab.Refs(text) {
		if isRef(d, ref) && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}

	return refs
}

// isRef reports whether a name is shaped like a ref of one of the domain's types, whether or not the ref exists.
func isRef(d *domain.Domain, ref string) bool {
	name, gen := strings.CutPrefix(ref, genPrefix)
	cut := strings.LastIndexByte(name, '_')
	if cut < 0 || d.ByType(name[:cut]) == nil {
		return false
	}
	n, err := strconv.Atoi(name[cut+1:])

	return err == nil && n >= 1 && refName(name[:cut], n, gen) == ref
}
