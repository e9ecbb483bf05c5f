package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/nodes"
)

var (
	perColumn = regexp.MustCompile(`(?i)\b(?:per|by|for each|in each|of each|each)\b\s+(.+)$`)
	fromStock = regexp.MustCompile(`(?i)\b(?:what (?:i|we) have|what's in|what is in|using what|from my|use up|on hand)\b`)
)

func count(s *scene, c *command, m []string) bool {
	if c.kind, c.values = s.lex.place(m[1]); c.kind == nil {
		return search(s, c, m)
	}
	c.verb, c.object = verbCount, m[1]

	return s.term(m[1], c) == "" && !perColumn.MatchString(m[1]) // another total would be no answer
}

// uses: "recipes that use my eggs" looks at what a thing is made of and, for the user's own things, at how much there
// is.
func uses(s *scene, c *command, m []string) bool {
	c.kind, c.verb, c.object = s.lex.typeIn(m[1]), verbUses, m[2]
	by := s.compare(c.kind, m[2])

	return c.kind != nil && !by.any() && len(c.kind.Children) > 0 && trimName(m[2]) != "" && !fromStock.MatchString(c.text)
}

func search(s *scene, c *command, m []string) bool {
	if c.kind, c.values = s.lex.place(m[1]); c.kind == nil {
		if c.kind = s.kindOf(m[1]); c.kind == nil {
			c.kind = s.lex.stock()
		}
	}
	if c.kind == nil {
		return false
	}
	c.verb, c.object = verbSearch, s.term(m[1], c)
	if c.object == "" {
		c.verb = verbList
	}

	return true
}

var (
	fillers = stems(`a about all already an and any anything are at be can current currently detail do does entire every everything for full get got have i i'm in inside
		is item left list me my now of on our please right saved see some still stored that the there thing up us we what which with you your coming whole complete to so far
		called contain find like look made named need should use using would planned scheduled next`)
	relativeWeek = regexp.MustCompile(`(?i)\b(?:this|next|last) (?:week|month|year)\b`)
)

// term is the rest of a lookup without types, values, days and fillers.
func (s *scene) term(text string, c *command) string {
	text = relativeWeek.ReplaceAllString(cutDates(s.compare(c.kind, text).rest), " ")
	for _, e := range filtered(append([]*domain.Entity{c.kind}, c.also...), func(e *domain.Entity) bool { return e != nil }) {
		text = s.lex.cutTypes(text, e)
		for _, v := range s.lex.valuesIn(text, e) {
			text = cutWords(text, v.words)
		}
	}
	kept := filtered(strings.Fields(text), func(w string) bool { return indexWords(fillers, stems(w)) < 0 })

	return trimName(strings.Join(kept, " "))
}

var (
	plannedWord = regexp.MustCompile(`(?i)\b(?:planned|scheduled|coming up|on the plan|the plan)\b`)
	showLead    = regexp.MustCompile(`(?i)^(?:show|open|display|view|pull up|tell me|describe|details|how (?:do|can|would|long|many|hot|much|spicy))\b`)
	knowledge   = regexp.MustCompile(`(?i)^(?:can|could|should|may|why|how|what if|explain|do you|what is the|what's the|who|when|where)\b`)
)

// madeOf asks what could be made of something.
var madeOf = regexp.MustCompile(`(?i)\b(?:can|could|should) (?:i|we) (?:make|cook|do|build)\b.*\b(?:with|from|using|of)\b`)

var oneOfThem = regexp.MustCompile(`(?i)^(?:ones?|of (?:them|these|those))\b`)

// look decides between a list, a thing in full and a search.
func look(s *scene, c *command, m []string) bool {
	rest := strings.TrimSpace(m[1])
	if madeOf.MatchString(c.text) {
		return false // a question of cooking, not of what is kept
	}
	if types := s.lex.typesIn(rest); len(types) > 0 {
		c.kind, c.also, c.values = types[0], types[1:], s.lex.valuesIn(rest, types[0])
	} else if e, _, _ := s.lex.schedule(); e != nil && (plannedWord.MatchString(c.text) || len(s.lex.valuesIn(rest, e)) > 0) {
		c.kind, c.values = e, s.lex.valuesIn(rest, e)
	} else {
		c.kind, c.values = s.lex.holderOf(rest)
	}
	c.verb, c.object = verbShow, rest
	if c.kind == nil && oneOfThem.MatchString(rest) { // of the list shown last: only what columns say
		if about := s.shown(nil); len(about) > 0 {
			c.kind = s.lex.domain.ByType(about[0].Type)
		}
		by := s.compare(c.kind, rest)
		c.verb = verbList

		return by.any() || by.order != nil
	}
	switch {
	case s.namesThing(rest, c):
		return true
	case c.kind == nil:
		aWorld := knowledge.MatchString(c.text) && !strings.HasPrefix(strings.ToLower(c.text), "how do")

		return showLead.MatchString(c.text) && !aWorld && trimName(rest) != ""
	}
	c.verb, c.object = verbSearch, s.term(rest, c)
	if c.object == "" || plannedWord.MatchString(c.text) {
		c.verb, c.object = verbList, ""
	}

	return true
}

// namesThing reports whether a lookup means known things rather than a type.
func (s *scene) namesThing(rest string, c *command) bool {
	r, phrase := s.find(rest), strings.ToLower(rest)
	switch {
	case len(r.entities) == 0 || strings.HasPrefix(phrase, "all "):
		return false
	case r.exact || one.MatchString(phrase) || many.MatchString(phrase) || pointing.MatchString(phrase) || draftWord.MatchString(phrase) || len(ordinals(phrase)) > 0:
		return true
	}
	all := c.kind != nil && indexWords(words(rest), words(c.kind.Plural)) >= 0

	return showLead.MatchString(c.text) && !all && s.term(rest, c) != ""
}

// known matches a short rest that names a known thing or a type.
func known(s *scene, c *command, m []string) bool {
	if len(words(m[1])) > 6 || knowledge.MatchString(m[1]) {
		return false
	}
	if r := s.find(m[1]); len(r.entities) > 0 && (r.exact || len(ordinals(m[1])) > 0) {
		c.verb, c.object = verbShow, m[1]
		return true
	}

	return s.lex.typeIn(m[1]) != nil && search(s, c, m)
}

// isSet reports whether an object means every row of a kind ("everything in the
// freezer", "all done tasks") rather than a thing by name.
func (s *scene) isSet(c *command) bool {
	o := strings.ToLower(c.object)
	switch {
	case c.kind == nil || len(ordinals(o)) > 0:
		return false
	case labelColumn(c.kind) == nil && (len(c.values) > 0 || len(dates(o, s.Today)) > 0):
		return true // rows without a name are identified by day and kind
	}
	lead, _, _ := strings.Cut(strings.TrimPrefix(o, "the "), " ")

	return lead == "everything" || lead == "all" || lead == "every" || lead == "whole"
}

// unsaid are the words for a set that no condition expresses: "except the lathe", "not", "broken".
func (s *scene) unsaid(c *command) string {
	left := filtered(strings.Fields(s.term(c.object, c)), func(w string) bool {
		expressed := doneWord(w) && doneColumn(c.kind) != nil || w == "expired" && firstColumn(c.kind, isDay) != nil
		return !expressed && w != "from" && w != "off"
	})

	return strings.Join(left, " ")
}

// targets are the entities a command is about.
func (s *scene) targets(c *command) found {
	if len(c.chosen) > 0 {
		return found{text: trimName(s.Message), entities: c.chosen, exact: true}
	}
	switch c.verb {
	case verbShow, verbRevise:
		if r := s.find(c.object); len(r.entities) > 0 || c.kind == nil {
			return r
		}

		return s.find(c.object, c.kind)
	case verbSave:
		return s.toSave(c)
	case verbSchedule:
		_, _, link := s.lex.schedule()
		return s.find(c.object, link.FK.Entity)
	case verbRemove, verbChange:
		if s.isSet(c) {
			return found{}
		}
		if r := s.find(c.object, c.kind); len(r.entities) > 0 || c.kind == nil || c.verb == verbRemove {
			return r
		}

		return s.find(c.object)
	case verbAdd:
		return s.addedThings(c)
	case verbForget, verbRetain:
		if c.kind != nil && s.term(c.object, c) == "" && !pointing.MatchString(c.object) {
			return found{} // every row of the type rather than a single one
		}

		return s.find(c.object)
	default:
		return found{}
	}
}

var (
	partsOf    = regexp.MustCompile(`(?i)^(?:all )?(?:(?:the|my) )?(.+?) (?:of|for|from|in) (.+)$`)
	possessive = regexp.MustCompile(`(?i)(?:'s|s'|\s)*$`)
	possessing = map[string]string{"": "it", "its": "it", "all its": "it", "their": "them", "all their": "them"}
)

// wholeOf is the thing whose parts a phrase names: it for "its ingredients" or "the ingredients", X for "the ingredients of X"
// or "X's ingredients"; "" if it names no parts.
func (s *scene) wholeOf(phrase string) string {
	isPart := func(e *domain.Entity) bool { return e.Reference || e.Part }
	if len(s.lex.wholes()) == 0 {
		return ""
	}
	if of := partsOf.FindStringSubmatch(phrase); of != nil && slices.ContainsFunc(s.lex.typesIn(of[1]), isPart) {
		return of[2]
	}
	said, spans := stems(phrase), wordPattern.FindAllStringIndex(strings.ToLower(phrase), -1)
	for _, n := range s.lex.names {
		if first := len(said) - len(n.words); isPart(n.entity) && first >= 0 && len(spans) == len(said) && slices.Equal(said[first:], n.words) {
			whose := trimName(phrase[:spans[first][0]])
			if whole, ok := possessing[strings.ToLower(whose)]; ok {
				return whole
			}

			return strings.TrimSpace(possessive.ReplaceAllString(whose, ""))
		}
	}

	return ""
}

// addedThings are the things that "it" means, or those of "the ingredients of it", when they are added to a list; nothing for
// what is added by its own name.
func (s *scene) addedThings(c *command) found {
	whole := s.wholeOf(c.object)
	switch {
	case c.kind == nil || c.kind == s.lex.draftable() || labelColumn(c.kind) == nil:
		return found{}
	case whole != "":
		return s.find(whole, s.lex.wholes()...)
	case one.MatchString(c.object) || many.MatchString(c.object):
		return s.find(c.object)
	default:
		return found{}
	}
}

// toSave are the drafts to save: those named, or those last mentioned; for a plan, all of it.
func (s *scene) toSave(c *command) found {
	if many.MatchString(c.object) || strings.HasPrefix(strings.ToLower(c.object), "all ") {
		return found{text: c.object, entities: s.drafts()}
	}
	r := s.find(c.object)
	r.entities = filtered(r.entities, isPending)
	if len(r.entities) == 0 && (one.MatchString(c.object) || draftWord.MatchString(c.object) || s.lex.typeIn(c.object) != nil) {
		r.entities = s.drafts(s.lex.typesIn(c.object)...)
		r.several = len(r.entities) > 1
	}
	e, _, _ := s.lex.schedule()
	if e != nil && len(r.entities) > 0 && r.entities[0].Type == e.Type && len(ordinals(c.object)) == 0 {
		r.entities, r.several = s.drafts(e), false
	}

	return r
}

// choices are what a plan may use: nothing excluded or ruled out, drafts last.
func (s *scene) choices(target *domain.Entity) []*nodes.Entity {
	avoided := s.avoided()
	all := s.which(func(e *nodes.Entity) bool {
		return s.thing(e, []*domain.Entity{target}) && e.Tier != "excluded" && !s.holdsAny(e, avoided)
	})

	return append(filtered(all, func(e *nodes.Entity) bool { return !e.Pending }), filtered(all, isPending)...)
}

func (s *scene) holdsAny(e *nodes.Entity, terms []string) bool {
	return slices.ContainsFunc(terms, func(term string) bool { return s.holds(e, term) })
}
