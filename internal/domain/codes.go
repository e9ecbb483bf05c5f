package domain

import "slices"

// bindCodes finds the columns by which people call rows, besides the whole label, because no two rows of somebody's share a value: an
// order's number, a customer's e-mail address, a key that people say.
func (b *typeBinder) bindCodes() {
	for _, set := range b.table.keys() {
		within := false // another row, and unique only there
		own := slices.DeleteFunc(slices.Clone(set), func(name string) bool {
			c := b.Column(name)
			within = within || c != nil && c != b.Owner && c.FK != nil

			return c != nil && (c == b.Owner || c.FK != nil)
		})
		if len(own) == 1 {
			b.addCode(b.Column(own[0]), within)
		}
	}
	if b.Speakable {
		b.addCode(b.Column(b.spokenKey()), false)
	}
}

// addCode adds a column to them if people say what it holds: any text that is not the label, nor a part of it by which rows within
// others are called, but a number only where it is called one. A place in a list is none.
func (b *typeBinder) addCode(c *Column, within bool) {
	label := b.Label.Columns()
	switch {
	case c == nil || c == b.Key || c.Hidden || c.FK != nil || slices.Contains(b.Codes, c):
	case c.Kind == KindNumber && !numberNames.MatchString(snake(c.Name)):
	case c.Kind != KindNumber && (!c.FreeText() || slices.Contains(label, c.Name) && (within || len(label) == 1)):
	default:
		b.Codes = append(b.Codes, c)
	}
}

func (b *typeBinder) spokenKey() string {
	if b.Key != nil && b.Key.Name == SpokenKey {
		return spokenCode(b.Type)
	}

	return SpokenKey
}
