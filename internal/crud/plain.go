package crud

import (
	"context"
	"regexp"
	"strings"

	"alfred/internal/domain"
	"alfred/registry"
)

// behind matches a ref in brackets after a name, as prompts show rows.
var behind = regexp.MustCompile(`\s*\((?:gen_)?[a-z][a-z_]*_\d+\)`)

// plainTexts replaces refs that a model wrote into texts by labels: a ref means nothing outside this conversation. A
// text that is only a ref, in a column that references nothing, is refused. The rows are changed in place.
func (d *decision) plainTexts(ctx context.Context, e *domain.Entity, rows ...map[string]any) error {
	p := &plainTexts{domain: d.tools.domain}
	for _, row := range rows {
		p.row(e, row, func(_ string, text string) string {
			p.refs = append(p.refs, registry.RefsIn(p.domain, text)...)

			return text
		})
	}
	if len(p.refs) == 0 {
		return nil
	}
	known, err := d.registry.Lookup(ctx, p.refs)
	if err != nil {
		return err
	}
	var wrong faults
	for _, row := range rows {
		p.row(e, row, func(column, text string) string {
			entry, isRef := known[strings.TrimSpace(text)]
			if isRef {
				wrong.add(failColumn(CodeBadValue, column, "%s holds a text, not a ref: write what %s is called (%s).", column, entry.Ref, entry.Label))
			}

			return withLabels(p.domain, text, known)
		})
	}
	if fault := wrong.one(); fault != nil {
		return fault
	}

	return nil
}

// plainTexts walks the texts of rows.
type plainTexts struct {
	domain *domain.Domain
	refs   []string
}

func (p *plainTexts) row(e *domain.Entity, row map[string]any, with func(column, text string) string) {
	for name, value := range row {
		if child := e.Child(name); child != nil {
			p.children(child, value, with)

			continue
		}
		c := e.Column(name)
		if c == nil || c == e.Key || c.FK != nil || len(c.Enum) > 0 || c.Kind != domain.KindText && c.Elem != domain.KindText {
			continue
		}
		row[name] = texts(value, func(text string) string { return with(name, text) })
	}
}

// children are a list of rows or, in a patch, rows by position.
func (p *plainTexts) children(child *domain.Child, value any, with func(column, text string) string) {
	switch rows := value.(type) {
	case []any:
		for _, row := range rows {
			if row, ok := row.(map[string]any); ok {
				p.row(child.Entity, row, with)
			}
		}
	case map[string]any:
		for _, row := range rows {
			if row, ok := row.(map[string]any); ok {
				p.row(child.Entity, row, with)
			}
		}
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

func withLabels(d *domain.Domain, text string, known map[string]registry.Entry) string {
	for _, ref := range registry.RefsIn(d, text) {
		entry, ok := known[ref]
		if !ok || entry.LabelIsPlaceholder {
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
