package crud

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/domain"
)

// patchDraft applies a merge patch (RFC 7396) to a draft's content and says what it removes. A list of child
// rows or of long texts may also be given as an object whose names are positions from 1: {"2": {...}} changes the
// second, null removes it, a position past the end appends. A whole list replaces the existing one if it is not
// shorter. A list of texts may become shorter if several remain, and they keep one or are at least half as many. A
// single entry replaces a single one only under the same name. Anything else is refused, because an answer that names
// only what changes would lose the rest. null and [] empty a list.
func patchDraft(e *domain.Entity, content, patch map[string]any) (map[string]any, removals, *Error) {
	patched := copied(content)
	var (
		wrong   faults
		removed removals
	)
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		was, _ := content[name].([]any)
		l := &listPatch{name: name, child: e.Child(name), was: was}
		if l.child == nil && !isLongList(e, name) {
			patched[name] = mergeJSON(content[name], patch[name])
			if patch[name] == nil {
				delete(patched, name)
			}

			continue
		}
		list, fault := l.apply(patch[name])
		wrong.add(fault)
		patched[name] = list
		if gone := l.gone(list); len(gone) > 0 && fault == nil {
			removed = append(removed, removal{name, gone})
		}
	}

	return patched, removed, wrong.one()
}

// removals are what a change takes out of lists of drafts, by name.
type removals []removal

type removal struct {
	list  string
	names []string
}

func (r removals) String() string {
	var sentences []string
	for _, one := range r {
		sentences = append(sentences, fmt.Sprintf("Taken out of %s: %s.", one.list, strings.Join(one.names, ", ")))
	}

	return strings.Join(sentences, " ")
}

// isLongList reports whether a column is a list of texts that makes up most of a draft, such as the steps of a method.
func isLongList(e *domain.Entity, name string) bool {
	c := e.Column(name)

	return c != nil && c.Kind == domain.KindArray && slices.Contains(e.Sets[setText], name) && !slices.Contains(e.Sets[setSummary], name)
}

// copied returns a copy of an object, an empty one of anything else.
func copied(value any) map[string]any {
	object, _ := value.(map[string]any)
	own := make(map[string]any, len(object))
	maps.Copy(own, object)

	return own
}

// mergeJSON is RFC 7396.
func mergeJSON(target, patch any) any {
	changes, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	merged := copied(target)
	for name, value := range changes {
		if value == nil {
			delete(merged, name)

			continue
		}
		merged[name] = mergeJSON(merged[name], value)
	}

	return merged
}

// listPatch is the patch of one list of a draft.
type listPatch struct {
	name  string
	child *domain.Child // nil for a list of texts
	was   []any
}

func (l *listPatch) apply(patch any) ([]any, *Error) {
	switch change := patch.(type) {
	case nil:
		return []any{}, nil
	case map[string]any:
		return l.byPosition(change)
	case []any:
		return l.whole(change)
	default:
		return l.whole([]any{change})
	}
}

func (l *listPatch) whole(list []any) ([]any, *Error) {
	shared := slices.ContainsFunc(list, func(one any) bool {
		return slices.ContainsFunc(l.was, func(other any) bool { return l.called(one) == l.called(other) })
	})
	switch {
	case len(list) == 0 || len(l.was) == 0, len(list) >= len(l.was) && (shared || len(list) > 1):
		return list, nil
	case l.child == nil && len(list) > 1 && (shared || 2*len(list) >= len(l.was)): // a list condensed into fewer texts
		return list, nil
	default:
		how := "Give the whole list, with the entries that stay."
		if l.child != nil {
			how = fmt.Sprintf("Change single ones by their position, 1 to %d, where an empty set removes one and position %d adds one; or give the whole list.", len(l.was), len(l.was)+1)
		}

		return nil, failColumn(CodeBadArgument, l.name, "%s has %d entries and this would leave %d. %s", l.name, len(l.was), len(list), how)
	}
}

func (l *listPatch) byPosition(changes map[string]any) ([]any, *Error) {
	list := slices.Clone(l.was)
	appended := map[int][]any{}
	var removed []int
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		at, fault := l.position(name)
		if fault != nil {
			return nil, fault
		}
		switch change := changes[name]; {
		case at > len(list) && change != nil:
			appended[at] = append(appended[at], change)
		case at > len(list):
		case change == nil:
			removed = append(removed, at-1)
		case l.child != nil:
			list[at-1] = mergeJSON(list[at-1], change)
		default:
			list[at-1] = change
		}
	}
	slices.Sort(removed)
	for _, i := range slices.Backward(slices.Compact(removed)) {
		list = slices.Delete(list, i, i+1)
	}
	for _, at := range slices.Sorted(maps.Keys(appended)) {
		list = append(list, appended[at]...)
	}

	return list, nil
}

// shownName bounds what is repeated of a name.
const shownName = 40

// position parses "2", or "ri_2" as rows without a ref are called.
func (l *listPatch) position(name string) (int, *Error) {
	digits := name
	if l.child != nil {
		digits = strings.TrimPrefix(strings.TrimPrefix(name, "gen_"), l.child.Entity.Type+"_")
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		return 0, failColumn(CodeBadArgument, l.name, "%s is changed by position: %q is none of 1 to %d; %d adds one.", l.name, cut(name, shownName), len(l.was), len(l.was)+1)
	}

	return n, nil
}

// called is what identifies an entry to people: a row's label, or the text itself.
func (l *listPatch) called(entry any) string {
	row, isRow := entry.(map[string]any)
	if !isRow || l.child == nil {
		return folded(entry)
	}

	return folded(l.child.Entity.Label.Render(row))
}

// gone names the entries that are no longer in the list.
func (l *listPatch) gone(now []any) []string {
	var names []string
	left := slices.Clone(now)
	for _, one := range l.was {
		at := slices.IndexFunc(left, func(other any) bool { return l.called(one) == l.called(other) })
		if at < 0 {
			names = append(names, cut(l.called(one), shownName))
		} else {
			left = slices.Delete(left, at, at+1)
		}
	}
	if len(names) == 0 || len(now) >= len(l.was) && l.child == nil {
		return nil
	}

	return names
}
