package domain

import (
	"fmt"
	"slices"
	"strings"
)

// pairTables declares of which tables the rows are that a loose pair names, as far as rows tell. Where nothing else says whose rows
// are, they are of those whom the others belong to.
func (w *initWriter) pairTables() {
	w.pair(slices.DeleteFunc(slices.Clone(w.cat.tables), func(t *catalogTable) bool { return w.whyLeftOut(t) != "" }))
	for _, t := range w.cat.tables {
		if decl := w.source.entities[t.Name]; decl != nil && len(w.source.owningPairs(t)) > 0 {
			decl.Reference = false
		}
	}
}

// pair declares which of these tables' rows loose pairs name, by their types.
func (w *initWriter) pair(named []*catalogTable) {
	for _, t := range w.cat.tables {
		kind, id := t.loosePair()
		types := map[string]string{}
		for _, to := range named {
			word, e := w.kinds[t][to], w.source.entities[to.Name]
			if word != "" && e != nil && id.mayPair(to) && t.column(polymorphicName(id.Name, e.Type)) == nil {
				types[word] = e.Type
			}
		}
		if decl := w.source.entities[t.Name]; decl != nil && id != nil {
			decl.Polymorphic = map[string]PolymorphicDecl{id.Name: {kind.Name, types}}
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
	if len(e.polymorphic()) == 0 {
		return ""
	}
	kind, id := e.Table.loosePair()
	types := each(e.source.polymorphicKeys(e.Table), func(fk foldedFK) string { return yamlName(fk.Word) + ": " + e.target(fk.catalogFK).Kind })

	return fmt.Sprintf("{%s: {by: %s, types: {%s}}}", yamlName(id.Name), yamlName(kind.Name), strings.Join(types, ", "))
}

// namesTypes reports whether a column says to which of its references a row points.
func (e *initEntity) namesTypes(c *Column) bool {
	kind, _ := e.Table.loosePair()

	return c == kind && len(e.polymorphic()) > 0
}

// about says, for people, what a row is about that a loose pair names.
func (e *initEntity) about() (said string) {
	targets := e.polymorphic()
	for _, name := range sortedKeys(targets) {
		said += fmt.Sprintf("{?%s:, %s: {%s}}", quotedName(name), braced(targets[name].Spoken()), quotedName("_"+name+"_label"))
	}

	return said
}
