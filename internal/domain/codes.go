package domain

import "slices"

// bindCodes finds the columns by which people call rows, besides the texts of the label, because no two rows of somebody's share a value: an
// order's number, a customer's e-mail address.
func (b *typeBinder) bindCodes() {
	for _, set := range b.table.keys() {
		own := slices.DeleteFunc(slices.Clone(set), func(name string) bool {
			c := b.Column(name)

			return c != nil && (c == b.Owner || c.FK != nil)
		})
		if len(own) != 1 {
			continue
		}
		if c := b.Column(own[0]); b.isCode(c) && !slices.Contains(b.Codes, c) {
			b.Codes = append(b.Codes, c)
		}
	}
}

// isCode reports whether people say what a column holds: any text that is no part of the label, but a number only where it is called
// one. A place in a list is none.
func (b *typeBinder) isCode(c *Column) bool {
	switch {
	case c == nil || c == b.Key || c.Hidden || c.FK != nil:
		return false
	case c.Kind == KindNumber:
		return numberNames.MatchString(snake(c.Name))
	default:
		return c.FreeText() && !slices.Contains(b.Label.Columns(), c.Name)
	}
}
