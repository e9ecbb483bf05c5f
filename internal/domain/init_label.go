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
	if day != nil {
		layout := "Jan 2"
		if day.Kind == KindTimestamp {
			layout += " 15:04"
		}
		w.addPart(e, day.Name, quotedName(day.Name), ":"+layout)
	}
	for _, name := range w.calledBy(e, day != nil) {
		w.addPart(e, name, quotedName("_"+name+"_label"), "")
	}
	if e.label == "" {
		e.label = strings.ReplaceAll(e.kind, "_", " ")
	}
}

// addPart adds a column's value to the label, as an optional part if it may be missing: without one of the others, a row
// has no name at all.
func (w *initWriter) addPart(e *initEntity, column, shown, layout string) {
	part := "{" + shown + layout + "}"
	switch {
	case w.mayLack(e, column):
		part = "{?" + shown + ": " + part + "}" // with the blank before it
	case e.label != "":
		part = " " + part
	}
	e.label += part
	e.names = append(e.names, column)
}

// mayLack reports whether a column, or the key of several columns that it stands for, may be null.
func (w *initWriter) mayLack(e *initEntity, name string) bool {
	if c := e.table.column(name); c != nil || w.source == nil {
		return c != nil && c.Nullable
	}

	return slices.ContainsFunc(w.source.foldedKeys(e.table), func(fk catalogFK) bool {
		return w.source.foldedName(e.table, fk) == name && e.table.mayBeNull(fk.Columns)
	})
}

// calledBy are the references that name a row. A link between two rows is called by both: each tag of a lamp would be
// called lamp. A part, which stands beside its whole, is called by another row where it has one.
func (w *initWriter) calledBy(e *initEntity, dated bool) []string {
	refs := w.refColumns(e)
	names, most := sortedKeys(refs), 1
	if !dated && e.parent == nil {
		most = 2
	}
	last := func(name string) int {
		switch {
		case w.mayLack(e, name):
			return 2
		case !dated && refs[name] == e.parent:
			return 1
		default:
			return 0
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return last(a) - last(b) })

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
