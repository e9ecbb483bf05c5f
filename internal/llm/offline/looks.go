package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
)

var (
	perColumn = regexp.MustCompile(`(?i)\b(?:per|by|for each|in each|of each|each)\b\s+(.+)$`)
	fromStock = regexp.MustCompile(`(?i)\b(?:what (?:i|we) have|what's in|what is in|using what|from my|use up|on hand)\b`)
)

// acceptCount refuses what is not understood: another total would be no answer.
func acceptCount(s *scene, c *command) bool {
	if object := strings.TrimSpace(c.object); oneOfThem.MatchString(object) {
		c.object, c.among = oneOfThem.ReplaceAllString(object, ""), s.shown(nil)
	}
	if len(c.among) > 0 {
		c.kind = s.typeOf(c.among)
	} else if c.kind, _ = s.lex.typeAndValues(c.object); c.kind == nil {
		c.verb = verbList
		return acceptSearch(s, c)
	}

	return s.selection(c).name == "" && !perColumn.MatchString(c.object)
}

// acceptUses: "recipes that use my eggs" looks at what a thing is made of and, for the user's own things, at how much there
// is.
func acceptUses(s *scene, c *command) bool {
	c.kind = s.lex.typeIn(c.value)
	if c.kind == nil && oneOfThem.MatchString(strings.TrimSpace(c.value)) {
		c.kind = s.typeOf(s.shown(nil))
	}
	by := s.compare(c.kind, c.object)

	return c.kind != nil && !by.compares() && len(c.kind.Children) > 0 && trimName(c.object) != "" && !fromStock.MatchString(c.text)
}

// acceptSearch looks for rows of the type that an object names, by a value or by something known, else for things on hand.
func acceptSearch(s *scene, c *command) bool {
	if c.kind, _ = s.lex.typeAndValues(c.object); c.kind == nil {
		c.kind = cmp.Or(s.kindOf(c.object), s.lex.stock)
	}

	return c.kind != nil
}

var (
	plannedWord = regexp.MustCompile(`(?i)\b(?:planned|scheduled|coming up|on the plan|the plan|(?:am i|are we) (?:eating|having|cooking))\b`)
	showLead    = regexp.MustCompile(`(?i)^(?:show|open|display|view|pull up|find|search|look|tell me|describe|details|how (?:do|can|would|long|many|hot|much|spicy))\b`)
	knowledge   = regexp.MustCompile(`(?i)^(?:can|could|should|may|why|how (?:can|would|long|many|hot|much|spicy)|what if|explain|do you|what is the|what's the|who|when|where)\b`)
	// madeOf asks what could be made of something: a question of cooking, not of what is kept.
	madeOf    = regexp.MustCompile(`(?i)\b(?:can|could|should) (?:i|we) (?:make|cook|do|build)\b.*\b(?:with|from|using|of)\b`)
	oneOfThem = regexp.MustCompile(`(?i)^(?:ones?|of (?:them|these|those))\b`)
)

// acceptLook decides between a list, a thing in full and a search.
func acceptLook(s *scene, c *command) bool {
	if madeOf.MatchString(c.text) {
		return false
	}
	if s.looksInside(c) {
		return true
	}
	c.kind, c.also = s.typesSought(c)
	if c.kind == nil && oneOfThem.MatchString(c.object) {
		return s.looksAmong(c)
	}
	c.about = s.find(c.object)
	if s.meansThing(c) {
		return true
	}
	if c.kind == nil {
		return showLead.MatchString(c.text) && !knowledge.MatchString(c.text) && trimName(c.object) != ""
	}
	c.verb, c.about = verbList, found{}

	return true
}

// typesSought are the types of the rows that a lookup is about, by their names, by a day or by a value.
func (s *scene) typesSought(c *command) (kind *domain.Entity, also []*domain.Entity) {
	if types := s.lex.typesIn(c.object); len(types) > 0 {
		return types[0], types[1:]
	}
	if e := s.lex.schedule; e != nil && (plannedWord.MatchString(c.text) || len(s.lex.valuesIn(c.object, e)) > 0) {
		return e, nil
	}
	holder, _ := s.lex.holderOf(c.object)

	return cmp.Or(s.datedBy(c.object), holder), nil
}

// acceptOffer: what could be made is looked up among what is planned with.
func acceptOffer(s *scene, c *command) bool {
	c.kind = s.lex.planned
	if c.kind == nil || s.restOf(c.object, c.kind, s.lex.schedule) != "" {
		return false
	}
	c.object = ""

	return true
}

// inIt matches what asks for the contents of a thing.
var inIt = regexp.MustCompile(`(?i)^(?:\S+ (?:is|are) )?in (?:it|that|this|there)$`)

// looksInside shows the whole thing whose parts are asked for: "its ingredients", "what's in it".
func (s *scene) looksInside(c *command) bool {
	m, whole := s.lex.partsOf.FindStringSubmatch(c.object), s.wholeOf(c.object)
	switch {
	case len(s.lex.wholes) == 0:
		return false
	case inIt.MatchString(c.object):
		whole = "it"
	case whole == "" || strings.Join(m[1:], "") == "": // the rows of the parts' own type
		return false
	}
	about := s.find(whole, s.lex.wholes...)
	if len(about.entities) == 0 {
		place, _ := s.lex.typeAndValues(whole)
		ofUnknown := m != nil && m[4] != "" && about.name != "" && place == nil // which is looked up by its name
		if !ofUnknown {
			return false
		}
	}
	c.verb, c.kind, c.about = verbShow, s.lex.wholes[0], about

	return true
}

// looksAmong asks of the list shown last what columns say.
func (s *scene) looksAmong(c *command) bool {
	c.object, c.among = oneOfThem.ReplaceAllString(c.object, ""), s.shown(nil)
	if len(c.among) == 0 {
		return false
	}
	c.verb, c.kind = verbList, s.typeOf(c.among)
	by := s.compare(c.kind, c.object)

	return by.compares() || by.order != nil
}

// meansThing reports whether a lookup means known things rather than a type.
func (s *scene) meansThing(c *command) bool {
	phrase := strings.ToLower(c.object)
	switch {
	case len(c.about.entities) == 0 || strings.HasPrefix(phrase, "all "):
		return false
	case c.about.exact || isPronoun(phrase) || pointing.MatchString(phrase) || draftWord.MatchString(phrase) || len(ordinals(phrase)) > 0:
		return true
	}
	all := c.kind != nil && indexWords(words(phrase), words(c.kind.Plural)) >= 0

	return showLead.MatchString(c.text) && !all && s.selection(c).name != ""
}

// otherwise begins another wish than a look, which no rule has understood.
var otherwise = regexp.MustCompile(`(?i)^(?:(?:actually|no|so|then|and),? )?(?:(?:i|we)(?:'ve| have)?(?: just)? (?:used|ate|eaten|drank|cooked|lost)|how|move|make|change|set|put|add|swap|replace|double|halve|increase|reduce)\b`)

// acceptKnown matches a few words that are no question.
func acceptKnown(s *scene, c *command) bool {
	return len(words(c.object)) <= 6 && !knowledge.MatchString(c.object) && !otherwise.MatchString(c.object) && acceptLook(s, c)
}

// emptying begins what removes all that a list holds.
var emptying = regexp.MustCompile(`(?i)^(?:clear|empty)\b`)

// isSet reports whether an object means every row of a kind ("everything in the freezer", "all done tasks") rather than a thing
// by name.
func (s *scene) isSet(c *command) bool {
	o := strings.ToLower(c.object)
	switch {
	case c.kind == nil || len(ordinals(relativeWeek.ReplaceAllString(o, " "))) > 0: // the last, but not last month
		return false
	case labelColumn(c.kind) == nil && (len(s.lex.valuesIn(o, c.kind)) > 0 || len(dates(o, s.Today)) > 0):
		return true // rows without a name are identified by day and kind
	}
	if emptying.MatchString(c.text) && s.restOf(o, c.kind) == "" {
		return true
	}
	lead, _, _ := strings.Cut(strings.TrimPrefix(o, "the "), " ")

	return slices.Contains([]string{"everything", "all", "every", "whole"}, lead)
}

// wholeOf is the thing whose parts a phrase names: it for "its ingredients" or "the ingredients", X for "the ingredients of X"
// or "X's ingredients"; "" if it names no parts.
func (s *scene) wholeOf(phrase string) string {
	m := s.lex.partsOf.FindStringSubmatch(phrase)
	switch {
	case len(s.lex.wholes) == 0 || m == nil:
		return ""
	case m[2] != "":
		return "them"
	default:
		return cmp.Or(m[4], trimName(m[3]), "it")
	}
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
	case isPronoun(c.object):
		return s.find(c.object)
	default:
		return found{}
	}
}
