package domain

import (
	"slices"
	"strings"
)

// guessLabel picks a name, else any text, else a date and what the row references; never a key. A text beside a date
// and references is no name.
func (w *initWriter) guessLabel(e *initEntity) {
	plain := w.plain(e)
	if c := firstNamed(plain, labelNames...); c != nil {
		e.labelBy(c.Name)

		return
	}
	if first, last := firstNamed(plain, "first_name"), firstNamed(plain, "last_name"); first != nil && last != nil {
		e.names, e.label = []string{last.Name, first.Name}, "{"+quotedName(first.Name)+"} {"+quotedName(last.Name)+"}"

		return
	}
	if c := firstNamed(plain, codeNames...); c != nil {
		e.labelBy(c.Name)

		return
	}
	if w.speakable(e) {
		e.labelBy(SpokenKey)

		return
	}
	day := find(plain, func(c *Column) bool { return c.Kind == KindDate || c.Kind == KindTimestamp })
	if c := find(plain, isProse); c != nil && (day == nil || len(w.refColumns(e)) == 0) {
		e.labelBy(c.Name)

		return
	}
	var parts []string
	if day != nil {
		layout := "Jan 2"
		if day.Kind == KindTimestamp {
			layout += " 15:04"
		}
		parts, e.names = append(parts, "{"+quotedName(day.Name)+":"+layout+"}"), append(e.names, day.Name)
	}
	for _, name := range w.calledBy(e, day != nil) {
		parts, e.names = append(parts, "{"+quotedName("_"+name+"_label")+"}"), append(e.names, name)
	}
	if e.label = strings.Join(parts, " "); e.label == "" {
		e.label = strings.ReplaceAll(e.kind, "_", " ")
	}
}

// calledBy are the references that name a row. A link between two rows is called by both: each tag of a lamp would be
// called lamp. A part, which stands beside its whole, is called by another row where it has one.
func (w *initWriter) calledBy(e *initEntity, dated bool) []string {
	refs := w.refColumns(e)
	names, most := sortedKeys(refs), 1
	switch {
	case dated:
	case e.parent == nil:
		most = 2
	default:
		slices.SortStableFunc(names, func(a, b string) int {
			switch part, other := refs[a] == e.parent, refs[b] == e.parent; {
			case part == other:
				return 0
			case part:
				return 1
			default:
				return -1
			}
		})
	}

	return names[:min(most, len(names))]
}

// firstNamed is the text column with the first of these names that there is.
func firstNamed(columns []*Column, names ...string) *Column {
	for _, name := range names {
		if c := find(columns, func(c *Column) bool { return snake(c.Name) == name && c.Kind == KindText }); c != nil {
			return c
		}
	}

	return nil
}

func (e *initEntity) labelBy(column string) {
	e.names, e.label = []string{column}, "{"+quotedName(column)+"}"
}

// speakable guesses that people call rows by their key: a text that the table does not generate.
func (w *initWriter) speakable(e *initEntity) bool {
	if w.source == nil || w.source.folded(e.table) || e.table.column(SpokenKey) != nil {
		return false
	}
	key := e.table.column(w.source.key(e.table)[0])

	return key.Kind == KindText && !key.HasDefault
}
