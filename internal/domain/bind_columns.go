package domain

import "fmt"

// bindFold marks columns of free-form words.
func (b *typeBinder) bindFold() {
	for n, name := range b.own.Fold {
		field := fmt.Sprintf("fold[%d]", n)
		if !b.columnsExist(field, name) {
			continue
		}
		c := b.Column(name)
		if words := c.Kind == KindText || c.Elem == KindText; !words || len(c.Enum) > 0 || c.FK != nil || c == b.Key || c.Generated {
			b.problemf(field, "fold: %s does not hold free words", name)

			continue
		}
		c.Fold = true
	}
}

// checkLabel keeps keys out of labels, which are rendered before keys are replaced by refs.
func (b *typeBinder) checkLabel() {
	for _, name := range b.Label.Columns() {
		c := b.Column(name)
		if c == nil || !b.Label.shows(name) {
			continue
		}
		if c == b.Key {
			b.problemf("label", "label: %s is the key, which no model sees", name)
		} else if c.FK != nil {
			b.problemf("label", "label: %s is a key; {_%s_label} is the name of what it refers to", name, name)
		}
	}
}
