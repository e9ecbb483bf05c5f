package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

var perColumn = regexp.MustCompile(`(?i)\b(?:per|by|for each|in each|of each|each)\b\s+(.+)$`)

func count(s *scene, c *command, m []string) bool {
	c.kind = s.lex.typeIn(m[1])
	if c.kind == nil {
		c.kind, _ = s.lex.holderOf(m[1])
	}
	if c.kind == nil {
		return search(s, c, m)
	}
	if named := s.find(m[1]); len(named.entities) == 1 && named.exact {
		c.verb, c.object = verbShow, m[1]

		return true
	}
	c.verb, c.object, c.values = verbCount, m[1], s.filterValues(m[1], c.kind)
	if per := perColumn.FindStringSubmatch(m[1]); per != nil {
		c.column = columnIn(per[1], c.kind)
	}

	return true
}

// uses: "recipes that use my eggs" looks at what a thing is made of, and at what
// there is of that when it is mine.
func uses(s *scene, c *command, m []string) bool {
	kind := s.lex.typeIn(m[1])
	if kind == nil && strings.Contains(strings.ToLower(c.text), " with") {
		kind = s.lex.draftable()
	}
	if kind == nil || len(kind.Children) == 0 || labelColumn(kind.Children[0].Entity) == nil {
		return false
	}
	c.verb, c.kind, c.object = verbUses, kind, m[2]

	return trimName(m[2]) != "" && !fromStock.MatchString(c.text)
}

var fromStock = regexp.MustCompile(`(?i)\b(?:what (?:i|we) have|what's in|what is in|using what|from my|use up|on hand)\b`)

// missing: "what do I need to buy for the shakshuka".
func missing(s *scene, c *command, m []string) bool {
	c.kind = s.lex.draftable()
	if c.kind == nil || s.lex.stock() == nil || len(c.kind.Children) == 0 || !needWord.MatchString(c.text) {
		return false
	}
	c.verb, c.object = verbMissing, trimName(m[1])

	return len(s.find(m[1], c.kind).entities) == 1 || c.object != "" && !one.MatchString(c.object) && s.lex.typeIn(c.object) == nil && len(dates(c.object, s.Today)) == 0
}

var needWord = regexp.MustCompile(`(?i)\b(?:need|buy|missing|lack|everything|enough|can (?:i|we) make)\b`)

// filterValues are the values that narrow, not those that mean every row.
func (s *scene) filterValues(text string, e *domain.Entity) []value {
	return slices.DeleteFunc(s.lex.valuesIn(text, e), s.lex.wholeValue)
}

// vague: a description of a thing rather than its name.
var vague = regexp.MustCompile(`(?i)\b(?:something|anything)\b`)

func search(s *scene, c *command, m []string) bool {
	rest := last(m)
	c.kind = s.lex.typeIn(rest)
	if c.kind == nil {
		c.kind, _ = s.lex.holderOf(rest)
	}
	if r := s.find(rest); c.kind == nil && len(r.entities) == 1 {
		c.kind = s.lex.byType(r.entities[0].Type)
	}
	if c.kind == nil {
		c.kind = s.lex.stock()
	}
	if c.kind == nil {
		return false
	}
	c.values = s.filterValues(rest, c.kind)
	c.verb, c.object = verbSearch, s.term(rest, c)
	if c.object == "" {
		c.verb = verbList
	}

	return true
}

// fillers are words of a look-up that name nothing.
var fillers = wordSet(`a about all already an and any anything are at be can current currently detail details do does entire every everything for full get got have i i'm in inside
	is item items left list me my now of on our please right saved see some still stored that the there thing things up us we what which with you your coming whole complete to so far
	called contain contains find like look made named need should use using would planned scheduled plann next`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}

	return set
}

var relativeWeek = regexp.MustCompile(`(?i)\b(?:this|next|last) (?:week|month|year)\b`)

// term is what is left of a look-up without types, values, days and fillers.
func (s *scene) term(text string, c *command) string {
	text = relativeWeek.ReplaceAllString(cutDates(text), " ")
	for _, e := range append([]*domain.Entity{c.kind}, c.also...) {
		if e == nil {
			continue
		}
		text = s.lex.cutTypes(text, e)
		for _, v := range s.lex.valuesIn(text, e) {
			text = cutWords(text, v.words)
		}
	}
	fields := strings.Fields(text)
	kept := fields[:0]
	for _, w := range fields {
		if ws := words(w); len(ws) == 0 || !fillers[ws[0]] && !fillers[singular(ws[0])] {
			kept = append(kept, w)
		}
	}

	return trimName(strings.Join(kept, " "))
}

var (
	plannedWord = regexp.MustCompile(`(?i)\b(?:planned|scheduled|coming up|on the plan|the plan)\b`)
	showLead    = regexp.MustCompile(`(?i)^(?:show|open|display|view|pull up|tell me|describe|details|how (?:do|can|would|long|many|hot|much|spicy))\b`)
	knowledge   = regexp.MustCompile(`(?i)^(?:can|could|should|may|why|how|what if|explain|do you|what is the|what's the|who|when|where)\b`)
	extreme     = regexp.MustCompile(`(?i)\b(?:first|soonest|earliest|latest|longest|shortest|most|least)\b`)
)

// look decides between a list, a thing in full and a search.
func look(s *scene, c *command, m []string) bool {
	rest := strings.TrimSpace(m[1])
	if types := s.lex.typesIn(rest); len(types) > 0 {
		c.kind, c.also = types[0], types[1:]
	}
	if e, _, _ := s.lex.schedule(); c.kind == nil && e != nil && (plannedWord.MatchString(c.text) || len(s.lex.valuesIn(rest, e)) > 0) {
		c.kind = e
	}
	if c.kind == nil {
		c.kind, _ = s.lex.holderOf(rest)
	}
	if extreme.MatchString(rest) && c.kind != nil {
		if col := columnIn(rest, c.kind); col != nil && col.Kind != domain.KindText && col.FK == nil {
			c.verb, c.column = verbList, col

			return true
		}
	}
	if s.namesThing(rest, c) {
		c.verb, c.object = verbShow, rest

		return true
	}
	if c.kind == nil {
		if about, ok := s.aboutThing(rest); ok {
			c.verb, c.object = verbShow, about

			return true
		}
		if !showLead.MatchString(c.text) || knowledge.MatchString(c.text) && !strings.HasPrefix(strings.ToLower(c.text), "how do") {
			return false
		}
		c.verb, c.object = verbShow, rest

		return trimName(rest) != ""
	}
	c.values = s.filterValues(rest, c.kind)
	c.verb, c.object = verbSearch, s.term(rest, c)
	if c.object == "" || plannedWord.MatchString(c.text) {
		c.verb, c.object = verbList, ""
	}

	return true
}

// namesThing reports whether a look-up means known things rather than a type.
func (s *scene) namesThing(rest string, c *command) bool {
	if strings.HasPrefix(strings.ToLower(trimName(rest)), "all") || strings.HasPrefix(strings.ToLower(rest), "all ") {
		return false
	}
	r := s.find(rest)
	if len(r.entities) == 0 {
		return false
	}
	phrase := strings.ToLower(rest)
	if one.MatchString(phrase) || many.MatchString(phrase) || pointing.MatchString(phrase) || draftWord.MatchString(phrase) || len(ordinals(phrase)) > 0 || r.exact {
		return true
	}

	return showLead.MatchString(c.text) && (c.kind == nil || !containsWords(words(rest), words(plural(c.kind)))) && s.term(rest, c) != ""
}

// aboutThing finds the one known thing that a question is about: "how long does it
// take", "is the curry spicy".
func (s *scene) aboutThing(rest string) (string, bool) {
	for w := range strings.FieldsSeq(rest) {
		if w = strings.Trim(w, "?!.,"); one.MatchString(w) && len(s.focus(s.lex.things())) > 0 {
			return w, len(s.Said) > 0
		}
	}

	return "", false
}

// things are the types with parts, which people talk about at length.
func (lex *lexicon) things() []*domain.Entity {
	if e := lex.draftable(); e != nil {
		return []*domain.Entity{e}
	}

	return nil
}

// maxBare words are still a look-up without a verb ("my recipes, please").
const maxBare = 6

// known takes what is left when it names a known thing or a type.
func known(s *scene, c *command, m []string) bool {
	if len(words(m[1])) > maxBare || knowledge.MatchString(m[1]) {
		return false
	}
	if r := s.find(m[1]); len(r.entities) > 0 && r.exact {
		c.verb, c.object = verbShow, m[1]

		return true
	}
	types := s.lex.typesIn(m[1])
	if len(types) == 0 {
		return false
	}
	c.kind, c.also = types[0], types[1:]
	c.values = s.filterValues(m[1], c.kind)
	c.verb, c.object = verbList, s.term(m[1], c)
	if c.object != "" {
		c.verb = verbSearch
	}

	return true
}

// isSet reports whether an object means every row of a kind ("everything in the
// freezer", "all done tasks") rather than a thing by name.
func (s *scene) isSet(c *command) bool {
	o := strings.ToLower(c.object)
	if c.kind == nil || len(ordinals(o)) > 0 {
		return false
	}
	if labelColumn(c.kind) == nil && (len(c.values) > 0 || len(dates(o, s.Today)) > 0) {
		return true // rows without a name are told by day and kind
	}
	if emptying.MatchString(c.text) && s.term(c.object, c) == "" {
		return true
	}

	return strings.HasPrefix(o, "everything") || strings.HasPrefix(o, "all ") || strings.HasPrefix(o, "every ") || strings.HasPrefix(o, "the whole")
}

var emptying = regexp.MustCompile(`(?i)^(?:clear(?: out)?|empty) `)

// targets are the entities that a command is about.
func (s *scene) targets(c *command) found {
	if len(c.chosen) > 0 {
		return found{text: trimName(s.Message), entities: c.chosen, exact: true}
	}
	_, _, link := s.lex.schedule()
	switch c.verb {
	case verbShow:
		if r := s.find(c.object); len(r.entities) > 0 || c.kind == nil {
			return r
		}

		return s.find(c.object, c.kind)
	case verbMissing, verbRevise:
		return s.find(c.object, c.kind)
	case verbMove:
		return s.scheduled(c)
	case verbSave:
		return s.toSave(c)
	case verbSchedule:
		return s.find(c.object, link.FK.Entity)
	case verbRemove, verbChange:
		if s.isSet(c) {
			return found{}
		}
		if r := s.find(c.object, c.kind); len(r.entities) > 0 || c.kind == nil || c.verb == verbRemove {
			return r
		}

		return s.find(c.object)
	case verbForget, verbRetain:
		if c.kind != nil && s.term(c.object, c) == "" && !pointing.MatchString(c.object) {
			return found{} // every row of the type, no single one
		}

		return s.find(c.object)
	default:
		return found{}
	}
}

// toSave are the drafts to save: those named, or those spoken of; of a plan all.
func (s *scene) toSave(c *command) found {
	all := s.drafts()
	r := found{text: c.object}
	if many.MatchString(c.object) || strings.Contains(strings.ToLower(c.object), "all") {
		r.entities = all

		return r
	}
	r = s.find(c.object)
	r.entities = s.ofPending(r.entities)
	if len(r.entities) == 0 && (one.MatchString(c.object) || draftWord.MatchString(c.object) || s.lex.typeIn(c.object) != nil) {
		if want := s.lex.typesIn(c.object); len(want) > 0 {
			all = s.ofTypes(all, want)
		}
		r.entities, r.several = all, len(all) > 1
	}
	if e, _, _ := s.lex.schedule(); e != nil && len(r.entities) > 0 && r.entities[0].Type == e.Type && len(ordinals(c.object)) == 0 {
		r.entities, r.several = s.ofTypes(s.drafts(), []*domain.Entity{e}), false
	}

	return r
}

// scheduled are the rows of the schedule that a phrase means: by themselves, or by
// what they point at.
func (s *scene) scheduled(c *command) found {
	e, day, link := s.lex.schedule()
	r := s.find(c.object, e)
	if len(r.entities) > 0 && (r.exact || s.lex.typeIn(c.object) == e || one.MatchString(c.object)) {
		return r
	}
	target := s.find(c.object, link.FK.Entity)
	out := found{text: c.object, name: target.name}
	days := dates(c.object, s.Today)
	for i := range s.Entities {
		x := &s.Entities[i]
		if x.Type != e.Type || x.Deleted || x.Pending {
			continue
		}
		onDay := len(days) > 0 && asText(x.Columns[day.Name]) == days[0].Format(dayFormat)
		if onDay || slices.Contains(refsOf(target.entities), asText(x.Columns[link.Name])) {
			out.entities = append(out.entities, x)
		}
	}
	out.several = len(out.entities) > 1

	return out
}
