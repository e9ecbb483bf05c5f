package offline

import (
	"slices"

	"alfred/domain"
)

// byTypeName reads "the task": the one of its type that was spoken of.
func (f *facts) byTypeName(phrase string, r *found) bool {
	ws := words(trimName(phrase))
	for _, e := range f.lex.ranked() {
		if !slices.Equal(ws, words(e.Name)) && !slices.Equal(ws, words(e.Type)) {
			continue
		}
		r.entities = f.spokenOf([]*domain.Entity{e})
		r.several = len(r.entities) > 1
		return len(r.entities) > 0
	}
	return false
}

// typeOf is the type a phrase is about: of the thing with exactly that name, else
// the one whose word it has.
func (f *facts) typeOf(phrase string) *domain.Entity {
	needle := stems(trimName(phrase))
	for _, e := range f.entities {
		t := f.lex.byType(e.kind)
		if t != nil && !t.Reference && !f.lex.isChild(t) && slices.Equal(stems(e.label), needle) {
			return t
		}
	}
	return f.lex.typeIn(phrase)
}

// byLabel matches by name: the same words, then a label that holds the phrase's
// words, then a phrase that holds the label's.
func (f *facts) byLabel(phrase string, r *found, want []*domain.Entity) bool {
	n := f.nameIn(phrase, want)
	needle := stems(n)
	if len(needle) == 0 {
		return false
	}
	tests := []func(label []string) bool{
		func(label []string) bool { return slices.Equal(label, needle) },
		func(label []string) bool { return containsWords(label, needle) },
		func(label []string) bool { return subset(needle, label) },
		func(label []string) bool { return near(needle, label) },
	}
	for i, test := range tests {
		r.entities = f.matching(test, want)
		if len(r.entities) > 0 {
			r.exact, r.several, r.name = i == 0, len(r.entities) > 1, n
			return true
		}
	}
	return false
}

func (f *facts) matching(test func([]string) bool, want []*domain.Entity) []*entity {
	var out []*entity
	for _, e := range f.entities {
		if e.label != "" && isOf(e, want) && !e.has("deleted") && test(stems(e.label)) {
			out = append(out, e)
		}
	}
	return f.things(out, want)
}

// things leaves out shared reference rows and the parts of things, unless they
// are asked for by type: who says "delete the milk" means no line of a recipe.
func (f *facts) things(list []*entity, want []*domain.Entity) []*entity {
	if slices.ContainsFunc(want, func(w *domain.Entity) bool { return w != nil }) {
		return list
	}
	return slices.DeleteFunc(list, func(e *entity) bool {
		t := f.lex.byType(e.kind)
		return t == nil || t.Reference || f.lex.isChild(t)
	})
}

func subset(needle, hay []string) bool {
	for _, w := range needle {
		if !slices.Contains(hay, w) {
			return false
		}
	}
	return true
}

// near allows one wrong letter per long word.
func near(needle, hay []string) bool {
	for _, w := range needle {
		if !slices.ContainsFunc(hay, func(h string) bool { return w == h || len(w) > rootLength-1 && oneEdit(w, h) }) {
			return false
		}
	}
	return true
}

func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i == len(a) || a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
