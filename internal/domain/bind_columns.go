package domain

import "fmt"

// bindFold marks columns of free-form words.
func (b *binder) bindFold(i int, e *Entity) {
	for n, name := range b.decl.Entities[i].Fold {
		field := fmt.Sprintf("fold[%d]", n)
		if !b.columnsExist(i, field, e, name) {
			continue
		}
		c := e.Column(name)
		if words := c.Kind == KindText || c.Elem == KindText; !words || len(c.Enum) > 0 || c.FK != nil || c == e.Key || c.Generated {
			b.entityProblemf(i, field, "fold: %s does not hold free words", name)

			continue
		}
		c.Fold = true
	}
}

// checkLabel keeps keys out of labels, which are rendered before keys are replaced by refs.
func (b *binder) checkLabel(i int, e *Entity) {
	for _, name := range e.Label.Columns() {
		c := e.Column(name)
		if c == nil || !e.Label.shows(name) {
			continue
		}
		if c == e.Key {
			b.entityProblemf(i, "label", "label: %s is the key, which no model sees", name)
		} else if c.FK != nil {
			b.entityProblemf(i, "label", "label: %s is a key; {_%s_label} is the name of what it refers to", name, name)
		}
	}
}
