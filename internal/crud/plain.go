package crud

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// behind matches a ref in brackets after a name, as prompts show rows.
var behind = regexp.MustCompile(`\s*\(` + vocab.Ref + `\)`)

// plainTexts replaces refs that a model wrote into texts by labels: a ref means nothing outside this conversation. A
// text that is only a ref, in a column that references nothing, is refused, and so is null as a word. The rows are changed
// in place.
func (d *decision) plainTexts(ctx context.Context, e *domain.Entity, rows ...map[string]any) error {
	var refs []string
	var wrong faults
	for _, row := range rows {
		eachText(e, row, func(c *domain.Column, text string) string {
			if c.Kind == domain.KindText && strings.TrimSpace(text) == "null" { // Null is a name
				wrong.add(failColumn(CodeBadValue, c.Name, "%s would hold the word null. To empty it, name it in clear; in a new row, leave it out.", c.Name))
			}
			refs = append(refs, registry.RefsIn(d.tools.domain, text)...)

			return text
		})
	}
	if len(refs) == 0 {
		return wrong.err()
	}
	known, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return err
	}
	for _, row := range rows {
		eachText(e, row, func(c *domain.Column, text string) string {
			if entry, isRef := known[strings.TrimSpace(text)]; isRef {
				wrong.add(failColumn(CodeBadValue, c.Name, "%s holds a text, not a ref: write what %s is called (%s).", c.Name, entry.Ref, entry.Label))
			}

			return withLabels(d.tools.domain, text, known)
		})
	}

	return wrong.err()
}

// eachText replaces the free texts of a row and of the rows in it, which a patch may give by position.
func eachText(e *domain.Entity, row map[string]any, with func(c *domain.Column, text string) string) {
	for name, value := range row {
		if child := e.Child(name); child != nil {
			if placed, isPatch := value.(map[string]any); isPatch {
				value = slices.Collect(maps.Values(placed))
			}
			for _, one := range rowsIn(value) {
				eachText(child.Entity, one, with)
			}

			continue
		}
		c := e.Column(name)
		if c == nil || c == e.Key || c.FK != nil || len(c.Enum) > 0 || c.Kind != domain.KindText && c.Elem != domain.KindText {
			continue
		}
		row[name] = texts(value, func(text string) string { return with(c, text) })
	}
}

// texts replaces the texts in a value: one, a list, or some by position.
func texts(value any, with func(string) string) any {
	switch v := value.(type) {
	case string:
		return with(v)
	case []any:
		for i := range v {
			v[i] = texts(v[i], with)
		}
	case map[string]any:
		for name := range v {
			v[name] = texts(v[name], with)
		}
	}

	return value
}

func withLabels(d *domain.Domain, text string, known map[string]*registry.Entry) string {
	for _, ref := range registry.RefsIn(d, text) {
		entry := known[ref]
		if entry == nil || entry.LabelIsPlaceholder {
			continue
		}
		if strings.Contains(text, entry.Label) {
			text = behind.ReplaceAllStringFunc(text, func(found string) string {
				if strings.Trim(found, " ()") == ref {
					return ""
				}

				return found
			})
		}
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(ref)+`\b`).ReplaceAllLiteralString(text, entry.Label)
	}

	return text
}
