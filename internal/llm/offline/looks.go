package offline

import (
	"cmp"
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
	c.verb, c.object = verbCount, m[1]
	if c.kind, _ = s.lex.place(m[1]); c.kind == nil {
		return search(s, c, m)
	}

	return s.selection(c).name == "" && !perColumn.MatchString(m[1]) // another total would be no answer
}

// uses: "recipes that use my eggs" looks at what a thing is made of and, for the user's own things, at how much there
// is.
func uses(s *scene, c *command, m []string) bool {
	c.kind, c.verb, c.object = s.lex.typeIn(m[1]), verbUses, m[2]
	by := s.compare(c.kind, m[2])

	return c.kind != nil && !by.compares() && len(c.kind.Children) > 0 && trimName(m[2]) != "" && !fromStock.MatchString(c.text)
}

// search looks for rows of the type that an object names, by a value or by something known, else for things on hand.
func search(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbList, m[1]
	if c.kind, _ = s.lex.place(m[1]); c.kind == nil {
		c.kind = cmp.Or(s.kindOf(m[1]), s.lex.stock)
	}

	return c.kind != nil
}

var (
	plannedWord = regexp.MustCompile(`(?i)\b(?:planned|scheduled|coming up|on the plan|the plan)\b`)
	showLead    = regexp.MustCompile(`(?i)^(?:show|open|display|view|pull up|tell me|describe|details|how (?:do|can|would|long|many|hot|much|spicy))\b`)
	knowledge   = regexp.MustCompile(`(?i)^(?:can|could|should|may|why|how|what if|explain|do you|what is the|what's the|who|when|where)\b`)
	// madeOf asks what could be made of something.
	madeOf    = regexp.MustCompile(`(?i)\b(?:can|could|should) (?:i|we) (?:make|cook|do|build)\b.*\b(?:with|from|using|of)\b`)
	oneOfThem = regexp.MustCompile(`(?i)^(?:ones?|of (?:them|these|those))\b`)
)

// look decides between a list, a thing in full and a search.
func look(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbShow, strings.TrimSpace(m[1])
	if madeOf.MatchString(c.text) {
		return false // a question of cooking, not of what is kept
	}
	planned := plannedWord.MatchString(c.text)
	if types := s.lex.typesIn(c.object); len(types) > 0 {
		c.kind, c.also = types[0], types[1:]
	} else if e := s.lex.schedule; e != nil && (planned || len(s.lex.valuesIn(c.object, e)) > 0) {
		c.kind = e
	} else {
		c.kind, _ = s.lex.holderOf(c.object)
	}
	if c.kind == nil && oneOfThem.MatchString(c.object) { // of the list shown last: only what columns say
		if about := s.shown(nil); len(about) > 0 {
			c.kind = s.lex.domain.ByType(about[0].Type)
		}
		by := s.compare(c.kind, c.object)
		c.verb = verbList

		return by.compares() || by.order != nil
	}
	c.about = s.find(c.object)
	switch {
	case s.meansThing(c):
		return true
	case c.kind == nil:
		aWorld := knowledge.MatchString(c.text) && !strings.HasPrefix(strings.ToLower(c.text), "how do")

		return showLead.MatchString(c.text) && !aWorld && trimName(c.object) != ""
	}
	c.verb, c.about = verbList, found{}

	return true
}

// meansThing reports whether a lookup means known things rather than a type.
func (s *scene) meansThing(c *command) bool {
	phrase := strings.ToLower(c.object)
	switch {
	case len(c.about.entities) == 0 || strings.HasPrefix(phrase, "all "):
		return false
	case c.about.exact || one.MatchString(phrase) || many.MatchString(phrase) || pointing.MatchString(phrase) || draftWord.MatchString(phrase) || len(ordinals(phrase)) > 0:
		return true
	}
	all := c.kind != nil && indexWords(words(phrase), words(c.kind.Plural)) >= 0

	return showLead.MatchString(c.text) && !all && s.selection(c).name != ""
}

// known matches a few words that are no question.
func known(s *scene, c *command, m []string) bool {
	return len(words(m[1])) <= 6 && !knowledge.MatchString(m[1]) && look(s, c, m)
}

// isSet reports whether an object means every row of a kind ("everything in the
// freezer", "all done tasks") rather than a thing by name.
func (s *scene) isSet(c *command) bool {
	o := strings.ToLower(c.object)
	switch {
	case c.kind == nil || len(ordinals(relativeWeek.ReplaceAllString(o, " "))) > 0: // the last, but not last month
		return false
	case labelColumn(c.kind) == nil && (len(s.lex.valuesIn(o, c.kind)) > 0 || len(dates(o, s.Today)) > 0):
		return true // rows without a name are identified by day and kind
	}
	lead, _, _ := strings.Cut(strings.TrimPrefix(o, "the "), " ")

	return lead == "everything" || lead == "all" || lead == "every" || lead == "whole"
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
	if len(s.lex.wholes) == 0 {
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
	case c.kind == nil || c.kind == s.lex.draftable || labelColumn(c.kind) == nil:
		return found{}
	case whole != "":
		return s.find(whole, s.lex.wholes...)
	case one.MatchString(c.object) || many.MatchString(c.object):
		return s.find(c.object)
	default:
		return found{}
	}
}

// toSave are the drafts to save: those named, or those last mentioned; for a plan, all of it.
func (s *scene) toSave(object string) found {
	if many.MatchString(object) || strings.HasPrefix(strings.ToLower(object), "all ") {
		return found{text: object, entities: s.drafts()}
	}
	r := s.find(object)
	r.entities = filtered(r.entities, isPending)
	if len(r.entities) == 0 && (one.MatchString(object) || draftWord.MatchString(object) || s.lex.typeIn(object) != nil) {
		r.entities = s.drafts(s.lex.typesIn(object)...)
		r.several = len(r.entities) > 1
	}
	if e := s.lex.schedule; e != nil && len(r.entities) > 0 && r.entities[0].Type == e.Type && len(ordinals(object)) == 0 {
		r.entities, r.several = s.drafts(e), false
	}

	return r
}

// choices are what a plan may use: nothing excluded or ruled out, drafts last.
func (s *scene) choices() []*nodes.Entity {
	avoided := s.avoided()
	all := s.which(func(e *nodes.Entity) bool {
		return s.thing(e, []*domain.Entity{s.lex.planned}) && e.Tier != "excluded" && !s.holdsAny(e, avoided)
	})

	return append(filtered(all, isStored), filtered(all, isPending)...)
}

func (s *scene) holdsAny(e *nodes.Entity, terms []string) bool {
	return slices.ContainsFunc(terms, func(term string) bool { return s.holds(e, term) })
}
