package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// scene is what a node knows, with ways to find things in it.
type scene struct {
	nodes.Facts
	lex  *lexicon
	all  []*nodes.Entity // in registry order
	refs map[string]*nodes.Entity
}

func (m *model) scene(f nodes.Facts) *scene {
	s := &scene{Facts: f, lex: m.lex, refs: map[string]*nodes.Entity{}}
	for i := range f.Entities {
		s.all, s.refs[f.Entities[i].Ref] = append(s.all, &f.Entities[i]), &f.Entities[i]
	}

	return s
}

// found is what a phrase means.
type found struct {
	text     string
	entities []*nodes.Entity
	exact    bool   // the phrase gives the name, rather than the context
	several  bool   // it asks for one thing but matches several
	name     string // the name, if nothing known has it
}

func refsOf(list []*nodes.Entity) []string {
	return mapped(list, func(e *nodes.Entity) string { return e.Ref })
}

func labelsOf(list []*nodes.Entity) []string {
	return mapped(list, func(e *nodes.Entity) string { return e.Label })
}

// rows are the known stored rows of a type.
func (s *scene) rows(kind *domain.Entity) []*nodes.Entity {
	return filtered(s.all, func(e *nodes.Entity) bool { return e.Type == kind.Type && !e.Deleted && !e.Pending })
}

// isThing: not deleted, and of a wanted type or, without one, of a type people refer to: parts and shared reference rows
// only count if asked for.
func (s *scene) isThing(e *nodes.Entity, want []*domain.Entity) bool {
	kind := s.lex.domain.ByType(e.Type)
	if kind == nil || e.Deleted || e.Stale == "gone" {
		return false
	}

	return slices.Contains(want, kind) || len(want) == 0 && !kind.Reference && !kind.Part
}

// things are the things with these refs.
func (s *scene) things(refs []string, want ...*domain.Entity) []*nodes.Entity {
	var out []*nodes.Entity
	for _, ref := range refs {
		if e := s.refs[ref]; e != nil && s.isThing(e, want) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}

	return out
}

func isPending(e *nodes.Entity) bool { return e.Pending }

func isStored(e *nodes.Entity) bool { return !e.Pending }

// drafts are the unsaved drafts, oldest first.
func (s *scene) drafts(want ...*domain.Entity) []*nodes.Entity {
	return filtered(s.all, func(e *nodes.Entity) bool { return e.Pending && e.Tier == "generated" && s.isThing(e, want) })
}

var (
	one       = regexp.MustCompile(`(?i)^(?:it|that|this|that one|this one|the one|the same|one)(?: (?:again|please))?$`)
	many      = regexp.MustCompile(`(?i)^(?:them|these|those|both|all|everything|all of (?:it|them|those|these)|all (?:the )?drafts|those two|the lot)$`)
	pointing  = regexp.MustCompile(`(?i)^(?:it|that|this|those|these)\b`)
	draftWord = regexp.MustCompile(`(?i)\b(?:drafts?|unsaved|ideas?)\b`)
	oneOf     = regexp.MustCompile(`(?i)\bones?\b`)
)

// isPronoun reports whether a phrase stands for what was mentioned last: "it", "them".
func isPronoun(phrase string) bool { return one.MatchString(phrase) || many.MatchString(phrase) }

// typeOf is the type of the first of these things, nil for none.
func (s *scene) typeOf(things []*nodes.Entity) *domain.Entity {
	if len(things) == 0 {
		return nil
	}

	return s.lex.domain.ByType(things[0].Type)
}

// find resolves a phrase; want restricts the types, none allows all. What Understand has already resolved in this turn
// is used as is.
func (s *scene) find(phrase string, want ...*domain.Entity) found {
	want = filtered(want, func(e *domain.Entity) bool { return e != nil })
	r := found{text: strings.TrimSpace(phrase)}
	for _, m := range s.Understood.Mentions {
		if e := s.refs[m.Ref]; e != nil && strings.EqualFold(strings.TrimSpace(m.Text), r.text) {
			r.entities, r.exact = append(r.entities, e), m.Resolution == "exact"
		}
	}
	if len(r.entities) == 0 {
		r.entities = s.things(slices.Collect(vocab.Refs(phrase)), s.lex.domain.Entities...)
		r.exact = len(r.entities) > 0
	}
	if len(r.entities) > 0 {
		return r
	}
	if len(want) == 0 {
		want = s.lex.typesIn(phrase)
	}
	if !s.byPosition(&r, want) && !s.byPointing(&r, want) {
		s.byName(&r, want, filtered(s.all, func(e *nodes.Entity) bool { return s.isThing(e, want) }))
	}

	return r
}

// findEach resolves the things of a list, "the soup and the curry", none unless each is known: the others would be lost unsaid.
func (s *scene) findEach(r *found, want *domain.Entity) {
	items, whole := splitList(r.text), func(e *nodes.Entity) bool { return slices.Equal(stems(e.Label), stems(r.name)) }
	if len(items) < 2 || slices.ContainsFunc(r.entities, whole) {
		return
	}
	r.entities, r.several, r.exact, r.name = nil, false, true, trimName(r.text)
	for _, item := range items {
		one := s.find(item, want)
		if len(one.entities) != 1 {
			r.entities = nil
			return
		}
		r.entities = append(r.entities, one.entities...)
	}
}

// byPosition resolves "the second one": a position in the list shown last.
func (s *scene) byPosition(r *found, want []*domain.Entity) bool {
	shown := s.shown(want)
	for _, n := range ordinals(r.text) {
		if n == -1 {
			n = len(shown)
		}
		if n >= 1 && n <= len(shown) {
			r.entities = append(r.entities, shown[n-1])
		}
	}

	return len(r.entities) > 0
}

// byPointing resolves "it", "those", "that recipe", "the draft": whatever was mentioned last.
func (s *scene) byPointing(r *found, want []*domain.Entity) bool {
	phrase := strings.ToLower(strings.Trim(r.text, " .!?"))
	if !s.onlyPoints(phrase, want) {
		return false
	}
	r.entities = s.focus(want)
	aDraft, drafts := len(r.entities) == 1 && r.entities[0].Pending, strings.Contains(phrase, "drafts")
	if draftWord.MatchString(phrase) && (drafts || !aDraft) {
		r.entities = firstFilled(s.drafts(want...), s.drafts())
	}
	plural := drafts || many.MatchString(phrase) || strings.HasPrefix(phrase, "those") || strings.HasPrefix(phrase, "these")
	r.several = len(r.entities) > 1 && !plural

	return true
}

// onlyPoints reports whether a phrase names a type or a draft at most.
func (s *scene) onlyPoints(phrase string, want []*domain.Entity) bool {
	if isPronoun(phrase) {
		return true
	}
	aType := slices.ContainsFunc(want, func(e *domain.Entity) bool { return phrase == "the "+e.Name })
	if !aType && !pointing.MatchString(phrase) && !draftWord.MatchString(phrase) {
		return false
	}
	rest := pointing.ReplaceAllString(draftWord.ReplaceAllString(phrase, ""), "")
	for _, e := range want {
		rest = s.lex.cutTypes(rest, e)
	}

	return trimName(rest) == ""
}

// byName compares the phrase with the labels of things: equal labels, labels contained in the phrase, labels containing
// it.
func (s *scene) byName(r *found, want []*domain.Entity, things []*nodes.Entity) {
	r.name = trimName(oneOf.ReplaceAllString(r.text, " "))
	for _, e := range want {
		r.name = cmp.Or(trimName(s.lex.cutTypes(r.name, e)), r.name)
	}
	r.name = strings.TrimSuffix(r.name, "'s")
	whole, short := stems(r.text), stems(r.name)
	same := filtered(things, func(e *nodes.Entity) bool { return len(short) > 0 && slices.Equal(stems(e.Label), short) })
	inside := filtered(things, func(e *nodes.Entity) bool { return indexWords(whole, stems(e.Label)) >= 0 })
	switch {
	case len(same) > 0:
		r.entities, r.exact, r.several = same, true, len(same) > 1
	case len(inside) > 0: // "Thai Curry" does not mean "Curry"
		r.exact, r.entities = true, filtered(inside, func(e *nodes.Entity) bool {
			return !slices.ContainsFunc(inside, func(o *nodes.Entity) bool { return len(o.Label) > len(e.Label) && within(o.Label, e.Label) })
		})
	default:
		r.entities = filtered(things, func(e *nodes.Entity) bool { return indexWords(stems(e.Label), short) >= 0 })
		r.several = len(r.entities) > 1
	}
}

// shown is the list the user saw last: the newest result with more than one row or, unless it is newer, a question's options,
// else the unsaved drafts. Without any of these nothing is the second.
func (s *scene) shown(want []*domain.Entity) []*nodes.Entity {
	options := s.options()
	for _, r := range slices.Backward(s.earlier()) {
		if len(options) > 1 && r.Turn <= s.Question.Turn {
			return options
		}
		if rows := s.things(r.Refs, want...); len(rows) > 1 {
			return rows
		}
	}
	if len(options) > 1 {
		return options
	}
	drafts := s.drafts(want...)

	return filtered(drafts, func(e *nodes.Entity) bool { return e.Type == drafts[0].Type })
}

// earlier are the results that the user knew when writing the message.
func (s *scene) earlier() []nodes.Result {
	return filtered(s.Results, func(r nodes.Result) bool { return r.ErrorCode == "" && (!r.Current || r.Step == 0) })
}

// options are the things offered by the open question.
func (s *scene) options() []*nodes.Entity {
	if s.Question == nil {
		return nil
	}

	return s.things(s.Question.Options, s.lex.domain.Entities...)
}

// focus is what was mentioned last: what the user just created or pointed at in the page, else what the newest tool
// call of an earlier turn was about, else the newest draft, else what was touched last.
func (s *scene) focus(want []*domain.Entity) []*nodes.Entity {
	things := filtered(s.all, func(e *nodes.Entity) bool { return s.isThing(e, want) })
	before, newest := 0, 0
	for _, x := range s.Said {
		before = max(before, x.Turn)
	}
	byUser := filtered(things, func(e *nodes.Entity) bool { return strings.HasSuffix(e.Action, ":user") && e.Touched > before })
	if len(byUser) > 0 {
		return byUser
	}
	for _, r := range slices.Backward(s.earlier()) {
		if rows := s.things(r.Refs, want...); len(rows) > 0 {
			return rows
		}
	}
	if drafts := s.drafts(want...); len(drafts) > 0 {
		return drafts[len(drafts)-1:]
	}
	for _, e := range things {
		newest = max(newest, e.Touched)
	}

	return filtered(things, func(e *nodes.Entity) bool { return e.Touched == newest })
}

// draftInTalk is the draft of the last exchange, or nil.
func (s *scene) draftInTalk() *nodes.Entity {
	if list := s.focus(nil); len(list) == 1 && list[0].Pending {
		return list[0]
	}

	return nil
}

// byKind groups entities by type, in order of first appearance.
func byKind(things []*nodes.Entity) [][]*nodes.Entity {
	var out [][]*nodes.Entity
	for len(things) > 0 {
		same := func(e *nodes.Entity) bool { return e.Type == things[0].Type }
		group := filtered(things, same)
		out, things = append(out, group), filtered(things, func(e *nodes.Entity) bool { return !same(e) })
	}

	return out
}

// holdsAny reports whether a thing's label or content contains a word that one of the terms covers.
func (s *scene) holdsAny(e *nodes.Entity, terms []string) bool {
	known := stems(e.Label + " " + flat(e.Draft) + " " + flat(e.Columns) + " " + flat(e.Children))
	return slices.ContainsFunc(terms, func(term string) bool {
		return slices.ContainsFunc(s.lex.family(term), func(w string) bool { return indexWords(known, stems(w)) >= 0 })
	})
}
