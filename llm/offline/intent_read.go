package offline

import (
	"regexp"
	"strings"

	"alfred/domain"
)

// readRules recognize look-ups. The last one takes any message that names a type
// or a known thing.
func readRules() []rule {
	return []rule{
		{say(`which\b(.*)\b(?:first|soonest|earliest|next|last|latest|longest|shortest|most|least)\b.*`), buildExtreme},
		{say(`what (?:can|could|should) (?:i|we) [a-z]+ (?:with|from|using) (.+)`), buildUses},
		{say(`(?:i'd like|i would like|i want|i feel like|i'm in the mood for|i'm looking for|looking for) ((?:something|anything) .+)`), buildSearch},
		{say(`(?:how (?:long|hot|spicy|big|much time|many people)|is|are|does|was|when is|when does) (.+)`), buildAbout},
		{say(`(?:how many|how much|count|number of|total(?: number)? of|what(?:'s| is) the (?:total|number|average|sum) (?:of )?)\b(.*)`), buildCount},
		{say(`(?:find|search(?: for)?|look (?:for|up)|is there|are there|do (?:i|we) have|have (?:i|we) got|any|anything|something) (.+)`), buildSearch},
		{say(`(?:show|open|display|view|read|tell me about|tell me more about|describe|details (?:of|for|on)|give me|list|see|let me see|pull up)(?: me)? (.+)`), buildLook},
		{say(`(?:what(?:'s| is| are| do i have| do we have| have i got| did i)?|which|when|where|who|whats)\b(.*)`), buildLook},
		{say(`(.+)`), buildKnown},
	}
}

var perColumn = regexp.MustCompile(`(?i)\b(?:per|by|for each|in each|of each|each)\b\s+(.+)$`)

func buildCount(f *facts, c *command, rest string) bool {
	c.entity = f.lex.typeIn(rest)
	if c.entity == nil {
		c.entity, c.values = f.lex.holderOf(rest)
	}
	if c.entity == nil {
		return buildSearch(f, c, rest)
	}
	c.verb, c.object = verbCount, rest
	c.values = f.filterValues(rest, c.entity)
	if m := perColumn.FindStringSubmatch(rest); m != nil {
		c.column = columnIn(m[1], c.entity)
	}
	return true
}

// filterValues are the values that narrow, not those that mean every row.
func (f *facts) filterValues(text string, e *domain.Entity) []value {
	var out []value
	for _, v := range f.lex.valuesIn(text, e) {
		if !f.lex.wholeValue(v) {
			out = append(out, v)
		}
	}
	return out
}

// vague: a description of a thing rather than its name.
var vague = regexp.MustCompile(`(?i)\b(?:something|anything)\b`)

func buildSearch(f *facts, c *command, rest string) bool {
	c.entity = f.lex.typeIn(rest)
	if c.entity == nil && vague.MatchString(c.text) {
		c.entity = f.lex.byMeaning()
	}
	types := f.lex.typesIn(rest)
	if len(types) > 1 {
		c.also = types[1:]
	}
	if c.entity == nil {
		c.entity, c.values = f.lex.holderOf(rest)
	}
	if c.entity == nil {
		c.entity = f.lex.vocab.defaultSearch(f.lex)
	}
	if c.entity == nil {
		return false
	}
	c.values = f.filterValues(rest, c.entity)
	c.object = f.searchTerm(rest, c)
	c.verb = verbSearch
	if c.object == "" {
		c.verb = verbList
	}
	return true
}

// fillers are words of a look-up that name nothing.
var fillers = map[string]bool{
	"a": true, "about": true, "all": true, "already": true, "an": true, "and": true, "any": true, "anything": true, "are": true, "at": true, "be": true, "can": true,
	"current": true, "currently": true, "detail": true, "do": true, "entire": true, "every": true, "everything": true, "for": true, "full": true, "get": true, "got": true, "have": true, "i": true,
	"i'm": true, "in": true, "inside": true, "is": true, "item": true, "left": true, "list": true, "me": true, "my": true, "now": true, "of": true, "on": true, "our": true,
	"please": true, "right": true, "saved": true, "see": true, "some": true, "still": true, "stored": true, "that": true, "the": true, "there": true, "thing": true, "up": true, "us": true,
	"we": true, "what": true, "which": true, "with": true, "you": true, "your": true, "coming": true, "whole": true, "complete": true, "to": true, "so": true, "far": true,
	"called": true, "contain": true, "contains": true, "find": true, "like": true, "look": true, "made": true, "named": true, "need": true, "should": true, "use": true, "using": true, "would": true,
}

// searchTerm is what is left of a look-up without types, values, days and
// fillers.
func (f *facts) searchTerm(text string, c *command) string {
	text = cutDates(text)
	text = regexp.MustCompile(`(?i)\b(?:this|next|last) (?:week|month|year)\b`).ReplaceAllString(text, " ")
	for _, e := range append([]*domain.Entity{c.entity}, c.also...) {
		text = f.lex.cutTypes(text, e)
	}
	for _, v := range f.lex.valuesIn(text, c.entity) {
		text = cutWords(text, v.words)
	}
	fields := strings.Fields(text)
	kept := fields[:0]
	for _, w := range fields {
		if ws := stems(w); len(ws) == 0 || !fillers[ws[0]] && ws[0] != "plann" && ws[0] != "planned" {
			kept = append(kept, w)
		}
	}
	return trimName(strings.Join(kept, " "))
}

var plannedWord = regexp.MustCompile(`(?i)\b(?:planned|scheduled|coming up|on the plan|the plan)\b`)

// buildLook decides between a list, a thing in full and a search.
func buildLook(f *facts, c *command, rest string) bool {
	types := f.lex.typesIn(rest)
	if len(types) > 0 {
		c.entity, c.also = types[0], types[1:]
	}
	if e, _, _ := f.lex.schedule(); c.entity == nil && e != nil && (plannedWord.MatchString(c.text) || len(f.lex.valuesIn(rest, e)) > 0) {
		c.entity = e
	}
	if c.entity == nil {
		c.entity, _ = f.lex.holderOf(rest)
	}
	if f.namesThing(rest, c) || f.asksForOne(rest, c) {
		c.verb, c.object = verbShow, rest
		return true
	}
	if c.entity == nil {
		return false
	}
	c.values = f.filterValues(rest, c.entity)
	c.object = f.searchTerm(rest, c)
	switch {
	case c.object == "" || plannedWord.MatchString(c.text):
		c.verb, c.object = verbList, ""
	case len(c.also) > 0:
		c.verb = verbSearch
	default:
		c.verb = verbSearch
	}
	return true
}

// namesThing reports whether a look-up names known entities rather than a type.
func (f *facts) namesThing(rest string, c *command) bool {
	if len(ordinals(rest)) > 0 {
		return len(f.resolve(rest, c.entity).entities) > 0
	}
	bareRest := trimName(rest)
	if pronouns.MatchString(strings.ToLower(bareRest)) || pronouns.MatchString(strings.ToLower(strings.TrimSpace(rest))) {
		return len(f.resolve(strings.TrimSpace(rest)).entities) > 0
	}
	if fromDraft.MatchString(rest) && len(f.pending()) > 0 {
		return true
	}
	named := f.namedIn(rest, nil)
	return len(named) > 0
}

var (
	showVerb = regexp.MustCompile(`(?i)^(?:show|open|display|view|pull up|tell me (?:more )?about|describe|details)\b`)
	definite = regexp.MustCompile(`(?i)^(?:the|that|this|my)\s`)
)

// asksForOne reports whether a look-up means one thing by a part of its name:
// "the lathe", "the chicken recipe".
func (f *facts) asksForOne(rest string, c *command) bool {
	if !definite.MatchString(rest) {
		return false
	}
	if c.entity == nil {
		return len(f.resolve(rest).entities) > 0 || showVerb.MatchString(c.text)
	}
	one := containsWords(words(rest), words(c.entity.Name))
	return one && len(c.also) == 0 && len(words(trimName(f.lex.cutTypes(trimName(rest), c.entity)))) > 0 && len(f.resolve(rest, c.entity).entities) > 0
}

// buildKnown takes what is left when it names a known thing or a type with a
// question.
func buildKnown(f *facts, c *command, rest string) bool {
	if f.question == nil && len(words(rest)) > maxBare || knowledge.MatchString(rest) {
		return false
	}
	if len(f.namedIn(rest, nil)) > 0 {
		c.verb, c.object = verbShow, rest
		return true
	}
	types := f.lex.typesIn(rest)
	if len(types) == 0 {
		return false
	}
	c.entity, c.also = types[0], types[1:]
	c.values = f.filterValues(rest, c.entity)
	c.object = f.searchTerm(rest, c)
	c.verb = verbList
	if c.object != "" {
		c.verb = verbSearch
	}
	return true
}

// knowledge opens a question about the world rather than about rows.
var knowledge = regexp.MustCompile(`(?i)^(?:can|could|should|may|why|how|what if|explain|do you)\b`)

// buildExtreme: "which of them expires first" is a list in the order of a column.
func buildExtreme(f *facts, c *command, rest string) bool {
	types := f.lex.typesIn(rest)
	if len(types) == 0 {
		types = f.lex.ranked()
	}
	for _, e := range types {
		if col := columnIn(rest, e); col != nil && col.Kind != domain.KindText && col.FK == nil {
			c.verb, c.entity, c.column = verbList, e, col
			return true
		}
	}
	return false
}

// buildUses: "what can I make with eggs" looks among what can be drafted.
func buildUses(f *facts, c *command, rest string) bool {
	all := f.lex.draftables()
	if len(all) == 0 || fromStock.MatchString(rest) {
		return false
	}
	c.verb, c.entity, c.object = verbSearch, all[0], trimName(rest)
	return true
}

// buildAbout: a question about one known thing is answered from its row.
func buildAbout(f *facts, c *command, rest string) bool {
	if named := f.namedIn(rest, nil); len(named) > 0 {
		c.verb, c.object = verbShow, named[0].label
		return true
	}
	first, _, _ := strings.Cut(rest, " ")
	if list := f.spokenOf(f.lex.draftables()); pronouns.MatchString(first) && len(f.talk) > 0 && len(list) > 0 {
		c.verb, c.object = verbShow, first
		return true
	}
	return false
}

// maxBare words are still a look-up without a verb ("my recipes, please").
const maxBare = 6
