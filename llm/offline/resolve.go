package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

// found is what a phrase means among the entities of the prompt.
type found struct {
	text     string
	entities []*entity
	// exact: the phrase gives the name; otherwise it was inferred.
	exact bool
	// name is what the phrase names when no entity is known for it.
	name string
	// several: the phrase asks for one thing and fits more.
	several bool
}

func (r *found) refs() []string {
	out := make([]string, 0, len(r.entities))
	for _, e := range r.entities {
		out = append(out, e.ref)
	}
	return out
}

// one is the single entity meant, or nil.
func (r *found) one() *entity {
	if len(r.entities) == 1 {
		return r.entities[0]
	}
	return nil
}

var (
	pronouns   = regexp.MustCompile(`(?i)^(?:it|that|this|them|these|those|both|that one|this one|the one|one|all of (?:it|them|those|these)|the same|those two|everything|all|all drafts)$`)
	manyWords  = regexp.MustCompile(`(?i)^(?:them|these|those|both|all|everything|all of (?:them|those|these)|those two|all drafts)$`)
	oneOf      = regexp.MustCompile(`(?i)\b(?:one|ones)\b`)
	fromDraft  = regexp.MustCompile(`(?i)\b(?:earlier |previous |current |latest |last )?(?:draft|drafts|unsaved|idea|ideas|new one)\b`)
	quotedName = regexp.MustCompile(`["“](.+?)["”]`)
)

// resolve finds what a phrase means. want narrows to types; nil takes any.
func (f *facts) resolve(phrase string, want ...*domain.Entity) *found {
	r := &found{text: phrase}
	if refs := f.means[clean(phrase)]; len(refs) > 0 {
		for _, ref := range refs {
			r.entities = append(r.entities, f.entity(ref))
		}
		return r
	}
	if m := quotedName.FindStringSubmatch(phrase); m != nil {
		phrase = m[1]
	}
	if f.byRef(phrase, r) || f.byOrdinal(phrase, r, want) || f.byPronoun(phrase, r, want) || f.byLabel(phrase, r, want) || f.byTypeName(phrase, r) {
		return r
	}
	if r.entities = f.namedIn(phrase, want); len(r.entities) > 0 {
		r.several = len(r.entities) > 1
		return r
	}
	r.name = f.nameIn(phrase, want)
	return r
}

// nameIn is the name a phrase gives, without articles and the type's own words.
func (f *facts) nameIn(phrase string, want []*domain.Entity) string {
	n := trimName(phrase)
	for _, e := range want {
		if e == nil {
			continue
		}
		if cut := trimName(f.lex.cutTypes(n, e)); cut != "" {
			n = cut
		}
	}
	n = trimName(oneOf.ReplaceAllString(n, ""))
	return strings.TrimSuffix(n, "'s")
}

func (f *facts) byRef(phrase string, r *found) bool {
	for _, ref := range anyRef.FindAllString(phrase, -1) {
		if e := f.find(ref); e != nil {
			r.entities, r.exact = append(r.entities, e), true
		}
	}
	return len(r.entities) > 0
}

// byOrdinal reads "the second one": the place in what the user saw last.
func (f *facts) byOrdinal(phrase string, r *found, want []*domain.Entity) bool {
	places := ordinals(phrase)
	if len(places) == 0 {
		return false
	}
	pool := f.shown(f.wanted(phrase, want))
	for _, n := range places {
		if n == -1 {
			n = len(pool)
		}
		if n >= 1 && n <= len(pool) {
			r.entities = append(r.entities, pool[n-1])
		}
	}
	return len(r.entities) > 0
}

// wanted adds the types that the phrase itself names.
func (f *facts) wanted(phrase string, want []*domain.Entity) []*domain.Entity {
	if named := f.lex.typesIn(phrase); len(named) > 0 {
		return named
	}
	return want
}

// shown are the entities of the newest list the user saw, in its order: an open
// question's options, else the last reply with a list, else the newest refs.
func (f *facts) shown(want []*domain.Entity) []*entity {
	if f.question != nil && len(f.question.options) > 0 {
		return f.optionEntities()
	}
	if fromReply := f.listed(want); len(fromReply) > 1 {
		return fromReply
	}
	for _, v := range slices.Backward(f.talk) {
		if list := f.ofTypes(v.refs, want); len(list) > 1 {
			return list
		}
	}
	return f.newest(want)
}

func (f *facts) optionEntities() []*entity {
	var out []*entity
	for _, o := range f.question.options {
		if e := f.optionEntity(o); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func (f *facts) optionEntity(o option) *entity {
	if o.ref != "" {
		e := f.entity(o.ref)
		if e.label == "" {
			e.label = o.label
		}
		return e
	}
	for _, e := range f.entities {
		if strings.EqualFold(e.label, o.label) {
			return e
		}
	}
	return nil
}

// listed matches the lines of the last reply that is a list with entities.
func (f *facts) listed(want []*domain.Entity) []*entity {
	for _, v := range slices.Backward(f.talk) {
		labels := listLabels(v.assistant)
		if len(labels) < 2 {
			continue
		}
		if list := f.matchLabels(labels, want); len(list) > 1 {
			return list
		}
	}
	return nil
}

// listLabels are the names on the lines of a list in a reply.
func listLabels(reply string) []string {
	var out []string
	for line := range strings.SplitSeq(reply, "\n") {
		if m := optionLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !strings.HasPrefix(line, "  ") {
			out = append(out, displayLabel(m[1]))
		}
	}
	return out
}

// matchLabels gives each label its entity; a label nobody has takes the next
// entity that the prompt shows without a label, because long lists are folded
// into one line.
func (f *facts) matchLabels(labels []string, want []*domain.Entity) []*entity {
	var out []*entity
	folded := f.folded(want)
	for _, l := range labels {
		e := f.labelled(l, want, out)
		if e == nil && len(folded) == len(labels) {
			e = folded[len(out)]
			e.label = l
		}
		if e == nil {
			return nil
		}
		out = append(out, e)
	}
	return out
}

func (f *facts) labelled(label string, want []*domain.Entity, taken []*entity) *entity {
	for _, e := range f.entities {
		if strings.EqualFold(e.label, label) && isOf(e, want) && !slices.Contains(taken, e) && !e.has("deleted") {
			return e
		}
	}
	return nil
}

func (f *facts) folded(want []*domain.Entity) []*entity {
	var out []*entity
	for _, e := range f.entities {
		if e.label == "" && isOf(e, want) {
			out = append(out, e)
		}
	}
	return out
}

func (f *facts) ofTypes(refs []string, want []*domain.Entity) []*entity {
	var out []*entity
	for _, ref := range refs {
		if e := f.find(ref); e != nil && isOf(e, want) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// newest are all entities of the types, or of the newest entity's type.
func (f *facts) newest(want []*domain.Entity) []*entity {
	kind := ""
	var out []*entity
	for _, e := range f.entities {
		if !isOf(e, want) || e.has("deleted") {
			continue
		}
		if kind == "" {
			kind = e.kind
		}
		if e.kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func isOf(e *entity, want []*domain.Entity) bool {
	anyType := true
	for _, w := range want {
		if w == nil {
			continue
		}
		anyType = false
		if w.Type == e.kind {
			return true
		}
	}
	return anyType
}

// byPronoun reads "it": what was spoken of last.
func (f *facts) byPronoun(phrase string, r *found, want []*domain.Entity) bool {
	p := strings.ToLower(strings.Trim(phrase, " .!?"))
	named := f.lex.typesIn(phrase)
	if len(named) > 0 {
		p = strings.TrimSpace(f.lex.cutTypes(p, named[0]))
		want = named
		if p != "it" && p != "that" && p != "this" && p != "those" && p != "these" {
			return false
		}
	}
	if fromDraft.MatchString(p) && len(f.pending()) > 0 && trimName(fromDraft.ReplaceAllString(p, "")) == "" {
		r.entities = f.pending()
		return true
	}
	if !pronouns.MatchString(p) {
		return false
	}
	r.entities = f.spokenOf(want)
	if len(r.entities) > 1 && !manyWords.MatchString(p) {
		r.entities = r.entities[:1]
	}
	return len(r.entities) > 0
}

// pending are the drafts, oldest first.
func (f *facts) pending() []*entity {
	var out []*entity
	for _, e := range f.entities {
		if e.pending() {
			out = append(out, e)
		}
	}
	return out
}

// spokenOf are the entities of the newest exchange that names any.
func (f *facts) spokenOf(want []*domain.Entity) []*entity {
	for _, t := range slices.Backward(f.talk) {
		if list := f.namedIn(t.assistant, want); len(list) > 0 {
			return list
		}
		if list := f.namedIn(t.user, want); len(list) > 0 {
			return list
		}
		if list := f.live(f.ofTypes(t.refs, want)); len(list) > 0 {
			return list
		}
	}
	if drafts := f.ofTypes(refsOf(f.pending()), want); len(drafts) > 0 {
		return drafts
	}
	return f.live(f.newest(want))
}

func (f *facts) live(list []*entity) []*entity {
	return slices.DeleteFunc(slices.Clone(list), func(e *entity) bool { return e.has("deleted") })
}

func refsOf(list []*entity) []string { return (&found{entities: list}).refs() }

// namedIn are the entities whose label stands in a text, in the text's order.
func (f *facts) namedIn(text string, want []*domain.Entity) []*entity {
	ws := stems(text)
	type hit struct {
		at int
		e  *entity
	}
	var hits []hit
	for _, e := range f.entities {
		if e.label == "" || !isOf(e, want) || e.has("deleted") {
			continue
		}
		if at := indexWords(ws, stems(e.label)); at >= 0 {
			hits = append(hits, hit{at, e})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.at - b.at })
	out := make([]*entity, 0, len(hits))
	for _, h := range hits {
		out = append(out, h.e)
	}
	return f.things(out, want)
}
