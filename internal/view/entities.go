package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/nodes"
)

// Entity is a ref with what prompts say about it.
type Entity struct {
	*db.EntityRefListInViewRow
	Label string // one line, fit for a prompt
	// Loaded are the column sets of its row that the window's data holds completely: summary, text, rows. A set that
	// its type lacks counts as loaded with the summary.
	Loaded []string
	Shown  bool   // part of its row is in that data
	Stale  string // as in View; such a row's loaded data is outdated
}

// Has reports whether a column set of its row is loaded and current.
func (e *Entity) Has(set string) bool { return e.Stale == "" && slices.Contains(e.Loaded, set) }

// Pending reports whether it is an unsaved draft.
func (e *Entity) Pending() bool { return e.State == db.RefStatePending }

// Number and Stem are the parts of a ref: inv_7 has 7 and inv.
func (e *Entity) Number() int { return numberOf(e.Ref) }

func numberOf(ref string) int {
	n, _ := strconv.Atoi(ref[strings.LastIndexByte(ref, '_')+1:])

	return n
}

// Stem is a ref without its number.
func (e *Entity) Stem() string { return e.Ref[:max(0, strings.LastIndexByte(e.Ref, '_'))] }

// ConsecutiveRuns divides entities into runs of consecutive numbers that are alike, each of which can stand as one range.
func ConsecutiveRuns(entities []*Entity, alike func(a, b *Entity) bool) [][]*Entity {
	var runs [][]*Entity
	for i, e := range entities {
		if i > 0 && e.Stem() == entities[i-1].Stem() && e.Number() == entities[i-1].Number()+1 && alike(entities[i-1], e) {
			runs[len(runs)-1] = append(runs[len(runs)-1], e)
		} else {
			runs = append(runs, []*Entity{e})
		}
	}

	return runs
}

// MaxCounted bounds how many refs are counted; the prompt says when there are more.
const MaxCounted = 1000

// MaxLabel bounds a label in a prompt, in characters.
const MaxLabel = 120

// Refs are the refs a node may name: those its prompt may show, deleted ones only in the turn that deleted them. A
// model cannot have seen any other.
func (t *Scene) Refs() nodes.Refs {
	refs := make(nodes.Refs, len(t.Entities))
	for _, e := range t.Entities {
		if t.deletedBefore(e) {
			continue
		}
		ref := nodes.Ref{Type: e.EntityType, Label: e.Label, Pending: e.Pending(), Deleted: e.State == db.RefStateDeleted, Gone: e.Stale == StaleGone}
		if e.Stale == "" {
			ref.Loaded = e.Loaded
		}
		refs[e.Ref] = ref
	}

	return refs
}

// DeletedRefs are the refs of what was deleted in earlier turns. Prompts tell of it, but nothing can be done with it.
func (t *Scene) DeletedRefs() []string {
	var refs []string
	for _, e := range t.EntitiesWhere(t.deletedBefore) {
		refs = append(refs, e.Ref)
	}

	return refs
}

func (t *Scene) deletedBefore(e *Entity) bool {
	return e.State == db.RefStateDeleted && !Is(e.DeletedAtTurn, t.Turn.Number)
}

// Knows reports whether the data of the window contains these columns of each ref's row in their current state.
func (t *Scene) Knows(refs, columns []string) bool {
	for _, ref := range refs {
		e, r := t.ByRef[ref], t.Rows.ByRef[ref]
		if e == nil || r == nil || e.Stale != "" || e.State == db.RefStateDeleted {
			return false
		}
		if slices.ContainsFunc(columns, func(name string) bool { _, known := r.Columns[name]; return !known }) {
			return false
		}
	}

	return len(refs) > 0
}

// Composed reports whether one of these columns, in the row of one of these refs, holds something that can be added to:
// a list, an object, or a text of several words. A phone number is no such text. A row's name is one value, however many words
// it has, and so are a word of a closed list and whatever has a form, as a range.
func (t *Scene) Composed(refs, columns []string) bool {
	return slices.ContainsFunc(refs, func(ref string) bool {
		r := t.Rows.ByRef[ref]

		return r != nil && slices.ContainsFunc(columns, func(name string) bool {
			switch value := r.Columns[name].(type) {
			case string:
				c := r.Kind.Column(name)

				return strings.Contains(value, " ") && strings.ContainsFunc(value, unicode.IsLetter) && !slices.Contains(r.Kind.Label.Columns(), name) && (c == nil || c.Form == "" && len(c.Enum) == 0)
			case []any, map[string]any:
				return !clean.IsEmpty(value)
			default:
				return false
			}
		})
	})
}

// Unchanged reports whether the rows of these refs exist and are still as they were when they were last read, whether
// or not a prompt shows them.
func (t *Scene) Unchanged(refs []string) bool {
	for _, ref := range refs {
		e := t.ByRef[ref]
		if e == nil || e.EntityID == nil || e.RowVersion == nil || e.Stale != "" || e.State == db.RefStateDeleted ||
			t.Versions.Rows[e.EntityType][*e.EntityID] != *e.RowVersion {
			return false
		}
	}

	return len(refs) > 0
}

// Tier is the entities of a tier, in display order.
func (t *Scene) Tier(name string) []*Entity {
	return t.EntitiesWhere(func(e *Entity) bool { return e.Tier == name })
}

// EntitiesWhere returns the entities that meet a condition, in display order.
func (t *Scene) EntitiesWhere(are func(e *Entity) bool) []*Entity { return Filter(t.Entities, are) }

// Filter returns the items that meet a condition, in order.
func Filter[T any](of []T, are func(T) bool) []T {
	var found []T
	for _, one := range of {
		if are(one) {
			found = append(found, one)
		}
	}

	return found
}

// Labels are the labels of entities.
func Labels(of []*Entity) []string {
	labels := make([]string, len(of))
	for i, e := range of {
		labels[i] = e.Label
	}

	return labels
}

// DraftReason is why a draft is kept, "" for a stored row.
func (e *Entity) DraftReason() string {
	if e.Pending() {
		return clean.Text(e.ActiveReason)
	}

	return ""
}

// ByNumber is the registry by type and number, whatever tier a ref is in now.
func (t *Scene) ByNumber() []*Entity {
	sorted := slices.Clone(t.Entities)
	slices.SortFunc(sorted, func(a, b *Entity) int { return cmp.Or(strings.Compare(a.Stem(), b.Stem()), a.Number()-b.Number()) })

	return sorted
}

// Singular is the word for one row of a type, or the type itself where the domain has no such type.
func (v *View) Singular(entityType string) string {
	return cmp.Or(v.words(entityType).Name, entityType)
}

// Plural is the word for several rows of a type, or the type itself where the domain has no such type.
func (v *View) Plural(entityType string) string {
	return cmp.Or(v.words(entityType).Plural, entityType)
}

var wordless domain.Entity

// words returns a type for its words, and one without words where the domain has no such type.
func (v *View) words(entityType string) *domain.Entity {
	return cmp.Or(v.Domain.ByType(entityType), &wordless)
}
