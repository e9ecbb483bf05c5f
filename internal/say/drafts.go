package say

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/view"
)

// DraftsInFull shows drafts to people, with all that would be saved of them.
func (t *Teller) DraftsInFull(refs []string) string {
	var text strings.Builder
	wasLine := false
	for _, ref := range refs {
		e := t.ByRef[ref]
		var content map[string]any
		if e == nil || t.Domain.ByType(e.EntityType) == nil || exact.Decode(t.Drafts[ref], &content) != nil {
			continue
		}
		block, isLine := t.draftInFull(e, content)
		if text.Len() > 0 && (!wasLine || !isLine) {
			text.WriteString("\n")
		}
		text.WriteString(block + "\n")
		wasLine = isLine
	}

	return strings.TrimSpace(t.Plain(text.String()))
}

// InFull is a row or a draft for people, with all that is known of it.
func (t *Teller) InFull(ref string) string {
	e := t.ByRef[ref]
	if e == nil || t.Domain.ByType(e.EntityType) == nil {
		return ""
	}
	content := t.contentOf(ref)
	if e.Pending() && exact.Decode(t.Drafts[ref], &content) != nil {
		content = nil // one that is not an object has no columns
	}
	text, _ := t.draftInFull(e, content)

	return t.Plain(strings.TrimPrefix(text, "- "))
}

// contentOf is what is known of a row, in the form of a draft's content.
func (t *Teller) contentOf(ref string) map[string]any {
	r := t.Rows.ByRef[ref]
	if r == nil {
		return map[string]any{}
	}
	content := t.withoutPartNames(r)
	delete(content, r.Kind.Key.Name)
	for _, child := range r.Kind.Children {
		var rows []any
		for _, below := range r.Children[child.Entity.Table] {
			row := t.contentOf(below)
			delete(row, child.FK.Name)
			delete(row, "_"+child.FK.Name+"_label")
			rows = append(rows, row)
		}
		content[child.Entity.Table] = append(rows, r.Loose[child.Entity.Table]...)
	}

	return content
}

// withoutPartNames leaves out a text that only names the row's parts, which stand below it, unless the row itself is called so.
func (t *Teller) withoutPartNames(r *view.Row) map[string]any {
	columns := maps.Clone(r.Columns)
	for _, refs := range r.Children {
		names := make([]string, len(refs))
		for i, ref := range refs {
			part := t.Rows.ByRef[ref]
			names[i] = part.Kind.Label.Render(part.Columns)
		}
		listed := strings.Join(names, ", ")
		maps.DeleteFunc(columns, func(name string, value any) bool {
			return listed != "" && value == listed && !slices.Contains(r.Kind.Label.Columns(), name)
		})
	}

	return columns
}

// draftInFull is a line of a list, or several paragraphs.
func (t *Teller) draftInFull(e *view.Entity, content map[string]any) (text string, isLine bool) {
	line, parts := t.draft(t.Domain.ByType(e.EntityType), content)
	if len(parts) == 0 {
		return "- " + line, true
	}
	label := clean.Inline(e.Label, 0)
	if facts, ok := strings.CutPrefix(line, label); ok && label != "" {
		line = "**" + label + "**" + facts
	}

	return line + "\n\n" + strings.Join(parts, "\n\n"), false
}

// draft words a draft's short values on one line. Sentences, children and lists become parts; children and lists are
// named where there are several.
func (t *Teller) draft(kind *domain.Entity, content map[string]any) (line string, parts []string) {
	short := map[string]any{}
	var prose []string
	var lists, texts []part
	for _, child := range kind.Children {
		if rows, ok := content[child.Entity.Table].([]any); ok && len(rows) > 0 {
			lists = append(lists, part{child.Entity.Plural, t.childLines(child.Entity, rows)})
		}
	}
	for _, name := range ColumnOrder(kind, content) {
		switch value := content[name]; {
		case kind.Child(name) != nil:
		case isProse(value):
			prose = append(prose, clean.Block(clean.Value(value)))
		case !IsLong(value):
			short[name] = value
		default:
			texts = append(texts, part{domain.Spoken(name), LongValue(value)})
		}
	}

	return t.lineOf(kind, t.labelled(kind, short), forPerson), slices.Concat(prose, named(lists), named(texts))
}

type part struct{ name, text string }

func named(parts []part) []string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if len(parts) > 1 {
			first, size := utf8.DecodeRuneInString(p.name)
			p.text = string(unicode.ToUpper(first)) + p.name[size:] + ":\n\n" + p.text
		}
		texts = append(texts, p.text)
	}

	return texts
}

func (t *Teller) childLines(kind *domain.Entity, rows []any) string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		columns, ok := row.(map[string]any)
		if !ok {
			continue
		}
		lines = append(lines, "- "+t.lineOf(kind, t.labelled(kind, columns), forPerson))
		for _, child := range kind.Children {
			if below, ok := columns[child.Entity.Table].([]any); ok && len(below) > 0 {
				lines = append(lines, indent(t.childLines(child.Entity, below)))
			}
		}
	}

	return strings.Join(lines, "\n")
}

// labelled adds, next to refs, the labels of the rows that they point to.
func (t *Teller) labelled(kind *domain.Entity, columns map[string]any) map[string]any {
	all := map[string]any{}
	for name, value := range columns {
		all[name] = value
		var labels []any
		for _, one := range listOf(value) {
			if ref, _ := one.(string); isReference(kind, name) && t.ByRef[ref] != nil {
				labels = append(labels, t.ByRef[ref].Label)
			}
		}
		switch len(labels) {
		case 0:
		case 1:
			all["_"+name+"_label"] = labels[0]
		default:
			all["_"+name+"_label"] = labels
		}
	}

	return all
}

func listOf(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}

	return []any{value}
}

// isProse reports whether a value is sentences.
func isProse(value any) bool {
	text, ok := value.(string)

	return ok && (IsLong(text) || strings.HasSuffix(strings.TrimSpace(text), "."))
}
