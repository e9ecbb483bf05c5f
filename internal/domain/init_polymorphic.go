package domain

import (
	"fmt"
	"strings"
)

// pairTypes declares of which types the rows are that a loose pair names, as far as rows tell.
func (w *initWriter) pairTypes() {
	if w.source == nil {
		return
	}
	for _, e := range w.Entities {
		kind, id := e.Table.loosePair()
		types := map[string]string{}
		for _, to := range w.Entities {
			word := w.kinds[e.Table][to.Table.word()]
			if word != "" && to.Table.plainKey() && to.Table.column(to.Table.primary[0]).Kind == id.Kind && e.Table.column(polymorphicName(id.Name, to.Kind)) == nil {
				types[word] = to.Kind
			}
		}
		if len(types) > 0 {
			w.source.entities[e.Table.Name].Polymorphic = map[string]PolymorphicDecl{id.Name: {kind.Name, types}}
		}
	}
}

// polymorphic are the view's columns for a loose pair, with what they lead to.
func (e *initEntity) polymorphic() map[string]*initEntity {
	found := map[string]*initEntity{}
	if e.source != nil {
		for _, fk := range e.source.polymorphicKeys(e.Table) {
			found[fk.Name] = e.target(fk.catalogFK)
		}
	}

	return found
}

// Polymorphic declares a loose pair, "" if there is none.
func (e *initEntity) Polymorphic() string {
	if e.source == nil {
		return ""
	}
	for column, p := range e.source.entities[e.Table.Name].Polymorphic {
		types := each(sortedKeys(p.Types), func(word string) string { return yamlName(word) + ": " + p.Types[word] })

		return fmt.Sprintf("{%s: {by: %s, types: {%s}}}", yamlName(column), yamlName(p.By), strings.Join(types, ", "))
	}

	return ""
}

// namesTypes reports whether a column says to which of its references a row points.
func (e *initEntity) namesTypes(c *Column) bool {
	if e.source == nil {
		return false
	}
	for _, p := range e.source.entities[e.Table.Name].Polymorphic {
		return p.By == c.Name
	}

	return false
}

// about says, for people, what a row is about that a loose pair names.
func (e *initEntity) about() (said string) {
	targets := e.polymorphic()
	for _, name := range sortedKeys(targets) {
		said += fmt.Sprintf("{?%s:, %s: {%s}}", quotedName(name), braced(targets[name].Spoken()), quotedName("_"+name+"_label"))
	}

	return said
}
