package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// scene is what a node knows, with the ways to find things in it.
type scene struct {
	*nodes.Facts
	lex  *lexicon
	turn int
	refs map[string]*nodes.Entity
}

func (m *model) scene(f *nodes.Facts, turn int) *scene {
	s := &scene{Facts: f, lex: m.lex, turn: turn, refs: map[string]*nodes.Entity{}}
	for i := range f.Entities {
		s.refs[f.Entities[i].Ref] = &f.Entities[i]
	}

	return s
}

// found is what a phrase means.
type found struct {
	text     string
	entities []*nodes.Entity
	exact    bool   // the phrase gives the name; else the context told
	several  bool   // it asks for one thing and fits more
	name     string // what it names when nothing known has the name
}

func refsOf(list []*nodes.Entity) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Ref)
	}

	return out
}

func labelsOf(list []*nodes.Entity) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Label)
	}

	return out
}

var (
	anyRef    = regexp.MustCompile(`\b(?:gen_)?[a-z][a-z0-9_]*_\d+\b`)
	one       = regexp.MustCompile(`(?i)^(?:it|that|this|that one|this one|the one|the same|one)(?: (?:again|please))?$`)
	many      = regexp.MustCompile(`(?i)^(?:them|these|those|both|all|everything|all of (?:it|them|those|these)|those two|the lot)$`)
	pointing  = regexp.MustCompile(`(?i)^(?:it|that|this|those|these)\b`)
	draftWord = regexp.MustCompile(`(?i)\b(?:drafts?|unsaved|ideas?)\b`)
	oneOf     = regexp.MustCompile(`(?i)\bones?\b`)
)

// find says what a phrase means; want narrows to types, none takes any. What
// Understand has resolved in this turn is taken as it is.
func (s *scene) find(phrase string, want ...*domain.Entity) found {
	want = slices.DeleteFunc(want, func(e *domain.Entity) bool { return e == nil })
	r := found{text: strings.TrimSpace(phrase)}
	for _, m := range s.Understood.Mentions {
		if e := s.refs[m.Ref]; e != nil && strings.EqualFold(strings.TrimSpace(m.Text), r.text) {
			r.entities, r.exact = append(r.entities, e), m.Resolution == "exact"
		}
	}
	for _, ref := range anyRef.FindAllString(phrase, -1) {
		if e := s.refs[ref]; e != nil && len(r.entities) == 0 {
			r.entities, r.exact = append(r.entities, e), true
		}
	}
	if len(r.entities) > 0 {
		return r
	}
	if named := s.lex.typesIn(phrase); len(named) > 0 && len(want) == 0 {
		want = named
	}
	if s.byPlace(&r, want) || s.byDraft(&r, want) || s.byPointing(&r, want) {
		return r
	}
	s.byName(&r, want)

	return r
}

// byPlace reads "the second one": the place in the list that was shown last.
func (s *scene) byPlace(r *found, want []*domain.Entity) bool {
	places := ordinals(r.text)
	if len(places) == 0 {
		return false
	}
	list := s.shown(want)
	for _, n := range places {
		if n == -1 {
			n = len(list)
		}
		if n >= 1 && n <= len(list) {
			r.entities = append(r.entities, list[n-1])
		}
	}

	return len(r.entities) > 0
}

// byDraft reads "the draft".
func (s *scene) byDraft(r *found, want []*domain.Entity) bool {
	rest := strings.ToLower(trimName(draftWord.ReplaceAllString(r.text, " ")))
	for _, e := range want {
		rest = trimName(s.lex.cutTypes(rest, e))
	}
	if !draftWord.MatchString(r.text) || rest != "" {
		return false
	}
	if r.entities = s.ofTypes(s.drafts(), want); len(r.entities) == 0 {
		r.entities = s.drafts()
	}
	if spoken := s.focus(want); len(r.entities) > 1 && len(spoken) == 1 && spoken[0].Pending {
		r.entities = spoken
	}
	r.several = len(r.entities) > 1 && !strings.Contains(strings.ToLower(r.text), "drafts")

	return len(r.entities) > 0
}

// byPointing reads "it", "those", "that recipe": what was spoken of last.
func (s *scene) byPointing(r *found, want []*domain.Entity) bool {
	phrase := strings.ToLower(strings.Trim(r.text, " .!?"))
	bareType := pointing.MatchString(phrase) && len(want) > 0 && trimName(s.lex.cutTypes(pointing.ReplaceAllString(phrase, ""), want[0])) == ""
	if !one.MatchString(phrase) && !many.MatchString(phrase) && !bareType {
		return false
	}
	r.entities = s.focus(want)
	r.several = len(r.entities) > 1 && !many.MatchString(phrase) && !strings.HasPrefix(phrase, "those") && !strings.HasPrefix(phrase, "these")

	return true
}

// byName compares the phrase with labels: the very label, labels that stand in the
// phrase, labels that the phrase is a part of.
func (s *scene) byName(r *found, want []*domain.Entity) {
	name := trimName(oneOf.ReplaceAllString(r.text, " "))
	for _, e := range want {
		if cut := trimName(s.lex.cutTypes(name, e)); cut != "" {
			name = cut
		}
	}
	r.name = strings.TrimSuffix(name, "'s")
	whole, short := stems(r.text), stems(r.name)
	var same, within, around []*nodes.Entity
	for i := range s.Entities {
		e := &s.Entities[i]
		label := stems(e.Label)
		switch {
		case !s.thing(e, want) || len(label) == 0 || len(short) == 0:
		case slices.Equal(label, short):
			same = append(same, e)
		case containsWords(whole, label):
			within = append(within, e)
		case containsWords(label, short):
			around = append(around, e)
		}
	}
	switch {
	case len(same) > 0:
		r.entities, r.exact, r.several = same, true, len(same) > 1
	case len(within) > 0:
		r.entities, r.exact = longest(within), true
	default:
		r.entities, r.several = around, len(around) > 1
	}
}

// longest leaves out labels that are a part of another one: "Curry" in "Thai Curry".
func longest(list []*nodes.Entity) []*nodes.Entity {
	return slices.DeleteFunc(slices.Clone(list), func(e *nodes.Entity) bool {
		return slices.ContainsFunc(list, func(o *nodes.Entity) bool {
			return len(o.Label) > len(e.Label) && containsWords(stems(o.Label), stems(e.Label))
		})
	})
}

// thing: not deleted, and of a wanted type, or of one that people speak of: parts
// and shared reference rows are not meant unless they are asked for.
func (s *scene) thing(e *nodes.Entity, want []*domain.Entity) bool {
	kind := s.lex.byType(e.Type)
	if kind == nil || e.Deleted || e.Stale == "gone" {
		return false
	}
	if len(want) > 0 {
		return slices.Contains(want, kind)
	}

	return !kind.Reference && !s.lex.isChild(kind)
}

func (s *scene) ofTypes(list []*nodes.Entity, want []*domain.Entity) []*nodes.Entity {
	return slices.DeleteFunc(slices.Clone(list), func(e *nodes.Entity) bool { return !s.thing(e, want) })
}

func (s *scene) all(refs []string, want []*domain.Entity) []*nodes.Entity {
	var out []*nodes.Entity
	for _, ref := range refs {
		if e := s.refs[ref]; e != nil && s.thing(e, want) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}

	return out
}

// drafts are what is not saved, oldest first.
func (s *scene) drafts() []*nodes.Entity {
	var out []*nodes.Entity
	for i := range s.Entities {
		if e := &s.Entities[i]; e.Pending && e.Tier == "generated" {
			out = append(out, e)
		}
	}

	return out
}

// shown is the list that the user saw last: a question's options, else the newest
// result with more than one row, else all there is of the type.
func (s *scene) shown(want []*domain.Entity) []*nodes.Entity {
	if list := s.options(); len(list) > 1 {
		return list
	}
	for _, r := range slices.Backward(s.Results) {
		if list := s.all(r.Refs, want); len(list) > 1 && r.ErrorCode == "" {
			return list
		}
	}
	var out []*nodes.Entity
	for i := range s.Entities {
		e := &s.Entities[i]
		if s.thing(e, want) && (len(out) == 0 || out[0].Type == e.Type) {
			out = append(out, e)
		}
	}

	return out
}

// options are the things that the open question lets choose from.
func (s *scene) options() []*nodes.Entity {
	var out []*nodes.Entity
	if s.Question != nil {
		for _, o := range s.Question.Options {
			if e := s.refs[o.Ref]; e != nil {
				out = append(out, e)
			}
		}
	}

	return out
}

// focus is what was spoken of last: what the user just made or pointed at in the
// page, else what the newest tool call of an earlier turn was about, else the
// drafts, else what was touched last.
func (s *scene) focus(want []*domain.Entity) []*nodes.Entity {
	before := 0
	for _, x := range s.Said {
		before = max(before, x.Turn)
	}
	var byUser, newest []*nodes.Entity
	for i := range s.Entities {
		e := &s.Entities[i]
		if !s.thing(e, want) {
			continue
		}
		if strings.HasSuffix(e.Action, ":user") && e.Touched > before {
			byUser = append(byUser, e)
		}
		if len(newest) == 0 || e.Touched > newest[0].Touched {
			newest = []*nodes.Entity{e}
		} else if e.Touched == newest[0].Touched {
			newest = append(newest, e)
		}
	}
	if len(byUser) > 0 {
		return byUser
	}
	for _, r := range slices.Backward(s.Results) {
		if list := s.all(r.Refs, want); len(list) > 0 && r.ErrorCode == "" && (!r.Current || r.Step == 0) {
			return list
		}
	}
	if drafts := s.ofTypes(s.drafts(), want); len(drafts) > 0 {
		return drafts[len(drafts)-1:]
	}

	return newest
}

// draftInTalk is the draft that the last exchange was about, or nil.
func (s *scene) draftInTalk() *nodes.Entity {
	list := s.focus(nil)
	if len(list) == 1 && list[0].Pending {
		return list[0]
	}

	return nil
}

// amount of anything: the columns that hold what is known of an entity, whether
// it is a row or a draft.
func content(e *nodes.Entity) map[string]any {
	if e.Pending {
		return e.Draft
	}

	return e.Columns
}
