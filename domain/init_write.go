package domain

import (
	"fmt"
	"slices"
	"strings"
)

// displayFacts is how many facts stand beside the label in a guessed display line.
const displayFacts = 4

func (w *initWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

func (w *initWriter) write() {
	w.line("# A first declaration, guessed from the catalog. Read every line marked \"unsure\",")
	w.line("# then run: worker domain check")
	w.line("name: %s", yamlText(w.schema))
	w.line("schema: %s", yamlText(w.schema))

	if w.owner == "" {
		w.line("# unsure: no column that tells tenants apart was found, so every table counts as shared.")
	} else {
		w.line("owner: %s # unsure", yamlText(w.owner))
	}

	w.line("persona: %s", yamlText("You are an assistant for "+w.schema+". You are brief and precise, and you save nothing that you were not asked to save."))

	for _, reason := range w.left {
		w.line("# left out, %s", reason)
	}

	w.line("\nentities:")

	for _, e := range w.entities {
		w.writeEntity(e)
	}

	w.line("\nsubdomains:")

	for _, e := range w.entities {
		if e.parent == nil && !e.reference || w.owner == "" {
			w.writeSubdomain(e)
		}
	}

	w.writeSnapshot()
}

func yamlText(s string) string { return fmt.Sprintf("%q", s) }

func (w *initWriter) writeEntity(e *initEntity) {
	spoken := strings.ReplaceAll(e.kind, "_", " ")

	w.line("  - type: %s", e.kind)
	w.line("    table: %s", yamlText(e.table.Name))

	if e.table.Comment != "" {
		w.line("    # %s", oneLine(e.table.Comment))
	}

	w.writeColumns(e)
	w.line("    name: %s", yamlText(spoken))
	w.line("    plural: %s", yamlText(strings.ReplaceAll(e.table.Name, "_", " ")))

	if e.reference {
		w.line("    reference: true # unsure: it has no owner column, so all users share it, read only")
	}

	w.line("    label: %s%s", yamlText(e.label), unsureLabel(e))
	w.line("    display: %s", yamlText(w.display(e)))

	if semantic := w.semantic(e); semantic != "" {
		w.line("    semantic: %s", yamlText(semantic))
	}

	if len(e.names) > 0 {
		w.line("    order: [%s]", yamlText(e.names[0]))
	}

	if long := w.longTexts(e); len(long) > 0 {
		w.line("    sets: {text: [%s]} # unsure", strings.Join(long, ", "))
	}

	if len(e.children) > 0 {
		w.line("    children: # unsure: rows that are deleted with theirs")

		for _, child := range e.children {
			w.line("      - type: %s", child.kind)
		}
	}
}

func unsureLabel(e *initEntity) string {
	if len(e.names) == 1 && slices.Contains(labelNames, e.names[0]) {
		return ""
	}

	return " # unsure"
}

// writeColumns says in a comment what is taken from the catalog by itself.
func (w *initWriter) writeColumns(e *initEntity) {
	refs := w.refColumns(e)

	for _, c := range e.table.columns {
		fact := c.FullType

		switch {
		case c.Name == w.owner:
			fact += ", the owner"
		case refs[c.Name] != nil:
			fact += ", refers to " + refs[c.Name].kind
		}

		if len(c.Enum) > 0 {
			fact += ", one of " + strings.Join(c.Enum, " | ")
		}

		if c.Check != "" {
			fact += ", " + c.Check
		}

		if c.Comment != "" {
			fact += ": " + c.Comment
		}

		w.line("    #   %s %s", c.Name, oneLine(fact))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// display is the label and a few short facts.
func (w *initWriter) display(e *initEntity) string {
	line, facts := e.label, 0

	for _, c := range w.plain(e) {
		short := c.Kind == KindBool || c.Kind == KindNumber || c.Kind == KindDate || len(c.Enum) > 0
		if !short || slices.Contains(e.names, c.Name) || facts == displayFacts {
			continue
		}

		facts++

		if len(c.Enum) > 0 {
			line += fmt.Sprintf("{?%s: [{%s}]}", c.Name, c.Name)
		} else {
			line += fmt.Sprintf("{?%s: %s:{%s}}", c.Name, c.Name, c.Name)
		}
	}

	return line
}

// semantic is the label and the free texts, for types that have both.
func (w *initWriter) semantic(e *initEntity) string {
	if len(e.names) != 1 || e.table.column(e.names[0]).Kind != KindText {
		return ""
	}

	text := ""

	for _, c := range w.plain(e) {
		if c.Kind == KindText && c.Type == "text" && len(c.Enum) == 0 && c.Name != e.names[0] {
			text += fmt.Sprintf("{?%s: {%s}.}", c.Name, c.Name)
		}
	}

	if text == "" {
		return ""
	}

	return "{" + e.names[0] + "}." + text
}

func (w *initWriter) longTexts(e *initEntity) []string {
	var names []string

	for _, c := range w.plain(e) {
		if slices.Contains(longTextNames, c.Name) && !slices.Contains(e.names, c.Name) {
			names = append(names, yamlText(c.Name))
		}
	}

	return names
}

func (w *initWriter) writeSubdomain(e *initEntity) {
	tables, seen := []string{yamlText(e.table.Name)}, []*initEntity{e}
	seen = append(seen, e.children...)

	for _, child := range e.children {
		tables = append(tables, yamlText(child.table.Name))
	}

	var readable []string

	for _, member := range slices.Clone(seen) {
		refs := w.refColumns(member)
		for _, name := range sortedKeys(refs) {
			if !slices.Contains(seen, refs[name]) {
				seen = append(seen, refs[name])
				readable = append(readable, yamlText(refs[name].table.Name))
			}
		}
	}

	description := oneLine(e.table.Comment)
	if description == "" {
		description = "The " + strings.ReplaceAll(e.table.Name, "_", " ") + "."
	}

	w.line("  - name: %s", yamlText(e.table.Name))
	w.line("    description: %s", yamlText(description))
	w.line("    tables: [%s]", strings.Join(tables, ", "))

	if len(readable) > 0 {
		w.line("    readable: [%s]", strings.Join(readable, ", "))
	}
}

func (w *initWriter) writeSnapshot() {
	w.line("\nsnapshot:")

	for _, e := range w.entities {
		if e.parent == nil && (!e.reference || w.owner == "") {
			w.line("  - label: %s", yamlText(strings.ReplaceAll(e.table.Name, "_", " ")))
			w.line("    sql: %s", yamlText("SELECT count(*)::text FROM "+w.quoted(e)))
		}
	}
}
