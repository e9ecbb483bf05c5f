package offline

import (
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// page is a row or a draft with parts, told like a page: title, a line about it,
// its parts, its long texts.
func (s *scene) page(kind *domain.Entity, e *nodes.Entity) string {
	data := content(e)
	if len(kind.Children) == 0 {
		return s.line(kind, data) + s.more(kind, data)
	}
	title := e.Label
	if e.Pending {
		title += " (draft)"
	}
	out := []string{strings.TrimSpace(title + "\n" + s.about(kind, data))}
	for _, child := range kind.Children {
		var lines []string
		for _, row := range s.parts(e, child.Entity.Table) {
			lines = append(lines, "- "+s.line(child.Entity, row))
		}
		if len(lines) > 0 {
			name := trimName(cutWords(plural(child.Entity), stems(kind.Name)))
			out = append(out, capitalize(orElse(name, plural(child.Entity)))+"\n"+strings.Join(lines, "\n"))
		}
	}
	for _, c := range kind.Columns {
		list := texts(data[c.Name])
		if c.Kind != domain.KindArray || len(list) == 0 || !isProse(list[0]) {
			continue
		}
		lines := make([]string, 0, len(list))
		for i, step := range list {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, step))
		}
		out = append(out, capitalize(human(c.Name))+"\n"+strings.Join(lines, "\n"))
	}

	return strings.Join(out, "\n\n")
}

func isProse(text string) bool { return strings.Contains(text, ". ") || strings.HasSuffix(text, ".") }

// about is what a row says of itself, then its numbers.
func (s *scene) about(kind *domain.Entity, data map[string]any) string {
	var prose, facts []string
	label := labelColumn(kind)
	for _, c := range kind.Columns {
		text := asText(data[c.Name])
		switch {
		case text == "" || c.Hidden || c.FK != nil || c == label || c == kind.Key || c.Expr != "":
		case c.Kind == domain.KindText && isProse(text):
			prose = append(prose, text)
		case c.Kind == domain.KindNumber || c.Kind == domain.KindDate:
			facts = append(facts, amountWords(c.Name, text))
		}
	}
	if len(facts) > 0 {
		prose = append(prose, capitalize(strings.Join(facts, ", "))+".")
	}

	return strings.Join(prose, " ")
}

// amountWords is a number with its column's name: "prep time 15 minutes".
func amountWords(column, text string) string {
	if what, ok := strings.CutSuffix(column, "_minutes"); ok {
		return human(what) + " " + text + " minutes"
	}

	return human(column) + " " + text
}

// more is what a row holds beside its display line.
func (s *scene) more(kind *domain.Entity, data map[string]any) string {
	var out []string
	used := append(kind.Display.Columns(), kind.Label.Columns()...)
	for _, c := range kind.Columns {
		text := asText(data[c.Name])
		if text != "" && text != "false" && !c.Hidden && c.FK == nil && c != kind.Key && !slices.Contains(used, c.Name) {
			out = append(out, human(c.Name)+": "+text)
		}
	}
	if len(out) == 0 {
		return ""
	}

	return ", " + strings.Join(out, ", ")
}

// line is a row's display line without refs.
func (s *scene) line(kind *domain.Entity, data map[string]any) string {
	shown := make(map[string]any, len(data))
	for k, v := range data {
		shown[k] = v
		if c := kind.Column(k); c != nil && c.FK != nil {
			if e := s.refs[asText(v)]; e != nil && data["_"+k+"_label"] == nil {
				shown["_"+k+"_label"] = e.Label
			}
		}
	}
	if schedule, day, link := s.lex.schedule(); kind == schedule && asText(shown["_"+link.Name+"_label"]) != "" {
		return slotText(kind, day, data) + ": " + asText(shown["_"+link.Name+"_label"])
	}
	text := strings.TrimSpace(kind.Display.Render(shown))
	if text == "" {
		text = kind.Label.Render(shown)
	}
	if text == "" {
		if label := labelColumn(kind); label != nil {
			text = asText(data[label.Name])
		}
	}

	return s.plain(text)
}

// plain says labels in the place of refs.
func (s *scene) plain(text string) string {
	for _, ref := range anyRef.FindAllString(text, -1) {
		if e := s.refs[ref]; e != nil {
			text = strings.ReplaceAll(text, " ("+ref+")", "")
			text = strings.ReplaceAll(text, ref, e.Label)
		}
	}

	return text
}
