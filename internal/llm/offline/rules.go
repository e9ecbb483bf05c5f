package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/domain"
	"alfred/nodes"
)

// rule recognizes a command by the form of its sentence, whose groups are the command's object and value. Accept, if set,
// completes the command; if it refuses, the next rule is tried.
type rule struct {
	verb    verb
	pattern *regexp.Regexp
	accept  func(s *scene, c *command) bool
}

// match is the command that a text of the rule's form gives; nil for another text.
func (r *rule) match(text string) *command {
	at := r.pattern.FindStringSubmatchIndex(text)
	if at == nil {
		return nil
	}
	group := func(name string) string { return string(r.pattern.ExpandString(nil, "${"+name+"}", text, at)) } // "" for one that the rule has not

	return &command{verb: r.verb, text: text, object: strings.TrimSpace(group("object")), value: group("value")}
}

// say compiles a pattern that must match a whole message, in which {object} and {value} stand for any words.
func say(pattern string) *regexp.Regexp {
	pattern = strings.NewReplacer("{object}", "(?P<object>.+)", "{value}", "(?P<value>.+)").Replace(pattern)
	return regexp.MustCompile(`(?i)^(?:` + pattern + `)[\s.!?]*$`)
}

const (
	freshStart = `(?:(?:let's |let us )?(?:start (?:fresh|over|again|anew|from scratch)|fresh start|clear (?:everything|all|it all|the (?:context|conversation|session|slate))|` +
		`forget (?:everything|all(?: of (?:it|this|that)| that)?)|new conversation|reset(?: everything)?|clean slate))`
	notSaved = `(?:unsaved|(?:not|n't|haven't|didn't|isn't|aren't)\b.*\bsaved?)`
	drafting = `(?:draft|invent|suggest|propose|design|compose|dream up|think up|come up with|write|give me|make|create|add|new|i'd like|i want|how about|what about)`
	asking   = `(?:show|open|display|view|read|tell me(?: more)? about|describe|details (?:of|for|on)|give me|list|see|let me see|pull up|find|search(?: for)?|look (?:for|up|at)|` +
		`how (?:do|can|would) (?:i|you|we) (?:make|cook|prepare|do))(?: me)?`
	toValue = `(?P<object>.+?) (?:to|as|=|into|in|on) {value}`
)

// aboutTalk are rules about the conversation itself. They come first, before what the declaration says and rows.
func aboutTalk() []rule {
	return []rule{
		{verbGreet, say(`(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day))(?:[ ,]+(?:there|alfred|again))?`), nil},
		{verbThanks, say(`(?:thanks|thank you|cheers|bye|goodbye|cool|nice|great|lovely|wonderful)\b.{0,30}`), nil},
		{verbIdentity, say(`(?:who|what) are you\b.*|what can you do\b.*|are you (?:a|an|chatgpt|gpt|claude|gemini|real|human)\b.*|help|how do you work`), nil},
		{verbClear, say(freshStart + `(?:[,;.]?\s+(?:and |so |then )*` + freshStart + `)*`), nil},
		{verbDeny, say(`no(?:pe)?\b[,.!]*(?: (?:thanks|thank you|don't|do not|not now|leave it|please don't|cancel)\b.{0,30})?|nah|never ?mind|cancel(?: that| it| this)?|stop|not now|not yet|leave it\b.{0,20}|(?:please )?(?:don't|do not)(?: do (?:it|that))?`), nil},
		{verbConfirm, say(`(?:yes|yep|yeah|yup|sure|ok|okay|fine|do it|do that|go ahead|go for it|sounds good|looks good|perfect|confirm|confirmed|absolutely|correct|right|agreed|exactly)\b(?:[,!. ]+(?:.{0,40}))?`), acceptConfirm},
		{verbPending, say(`(?:what|which|anything|is anything|do i have anything)\b.*\b` + notSaved + `\b.*|(?:show|list) (?:me )?(?:my |the |all )?(?:unsaved|pending)?\s*drafts|(?:what|which) drafts\b.*`), nil},
		{verbCancel, say(`cancel {object}`), acceptCancel},
	}
}

// aboutRows are rules about what is in view, then drafts, writes, and finally lookups, which match anything that names a type
// or a known thing.
func aboutRows() []rule {
	return []rule{
		{verbRetain, say(`(?:keep|bear|have) {object} in (?:mind|view|sight)`), nil},
		{verbRetain, say(`pin {object}`), nil},
		{verbForget, say(`(?:forget|discard|drop|scrap|ditch)(?: about)? {object}`), acceptForget},
		{verbReject, say(`(?P<object>(?:no|not|no more|skip|avoid|exclude|leave out|without|nothing with|anything but|(?:i |we )?(?:don't|do not) (?:want|feel like|like|do|have|use|make|include)(?: any)?) .+)`), acceptReject},
		{verbForget, say(`(?:take|keep)(?: only| just)? (?P<object>the (?:first|second|third|last)(?: and (?:the )?(?:second|third|last))?(?: (?:one|two|three|four|five))?)(?: only)?`), acceptKeepSome},
		{verbSchedule, say(`(?:save|keep|store) (?:it|this|that) and (?P<object>(?:put|add|plan|schedule) .+)`), acceptSaveAndSchedule},
		{verbSave, say(`(?:save|keep|store)(?: {object})?`), acceptSave},
		{verbRevise, say(`(?P<value>(?:use|swap|replace|substitute|exchange|make|turn|change|add|put|include|remove|take|leave|rename|call|for|less|more|with)\b.*)`), acceptRevise},
		{verbPlan, say(`(?:plan|suggest|propose|draft|make)(?: me| us)?\s+(?:a |an |the |my |our |some )?(?P<object>.*)`), acceptPlan},
		{verbDraft, say(drafting + `(?: me| us)? (?:(?:an? |some )?(?:new )?(?:drafts?|ideas?) (?:of |for )?)?{object}`), acceptDraft},
		{verbSchedule, say(`(?:put|add|plan|schedule|have|set|cook|make|eat|use|pencil in) (?P<object>.+?) (?:(?:to|on|for|in|into|at)\s+)?(?P<value>(?:the |my |our )?\S+(?:\s+\S+){0,5})`), acceptSchedule},
		{verbChange, say(`(?:mark|tick|check|cross|set|flag)(?: off)? (?P<object>.+?)(?: as)? (?P<value>done|completed?|finished|bought|purchased|not done|open|undone)`), acceptDone},
		{verbChange, say(`(?:tick off|check off|cross off|complete|finish|i(?:'ve| have)? (?:finished|completed|done)) {object}`), acceptDone},
		{verbChange, say(`rename (?P<object>.+?) (?:to|as|into) {value}`), acceptChange},
		{verbChange, say(`move ` + toValue), acceptMove},
		{verbChange, say(`(?:make|put) ` + toValue), acceptPut},
		{verbChange, say(`(?:set|mark|flag|change|update|edit|adjust|correct|raise|lower|increase|reduce) ` + toValue), acceptChange},
		{verbRemove, say(`(?:delete|remove|erase|get rid of|throw (?:out|away)|toss|(?:clear|empty)(?: out)?|take off|bin) {object}`), acceptRemove},
		{verbAdd, say(`(?:add|put|create|insert|record|note(?: down)?|register|log|stock|enter|write down|new|(?:i|we)(?:'ve| have)? (?:just )?(?:bought|got|picked up|purchased)) {object}`), acceptAdd},
		{verbCount, say(`(?:how many|how much|count|number of|total(?: number)? of|what(?:'s| is) the (?:total|number) (?:of )?)\b(?P<object>.*)`), acceptCount},
		{verbList, say(`what (?:can|could|should|shall) (?:i|we) (?:cook|make|eat|have)\b(?P<object>.*)`), acceptOffer},
		{verbUses, say(`(?:(?:show|find|list|give)(?: me)? |what |which )?(?P<value>.*?)\s*(?:(?:can|could|should) (?:i|we) (?:make|cook|do|build) (?:with|from|using)|(?:that )?(?:uses?|using|contain|contains|containing|made with|needs?|with)) {object}`), acceptUses},
		{verbShow, say(asking + ` {object}`), acceptLook},
		{verbList, say(`(?:is there|are there|do (?:i|we)(?: still| already)? have|have (?:i|we)(?: still| already)? got|any)(?: any)? {object}`), acceptSearch},
		{verbShow, say(`(?:what(?:'s| is| are| do i have| do we have| have i got)?|which|when|where|who|whats|how (?:long|hot|spicy|much time|many people)|is|are|does|was)\b(?P<object>.*)`), acceptLook},
		{verbShow, say(`{object}`), acceptKnown},
	}
}

// acceptConfirm accepts an agreement only if a question is open or nothing else was said.
func acceptConfirm(s *scene, c *command) bool { return s.Question != nil || len(words(c.text)) <= 4 }

// acceptCancel never deletes: it sets a closed list's value for "cancelled", or does nothing.
func acceptCancel(s *scene, c *command) bool {
	c.kind = s.kindOf(c.object)
	for _, v := range s.lex.values {
		if v.entity == c.kind && strings.HasPrefix(strings.ToLower(v.value), "cancel") && !v.column.Generated {
			c.verb, c.column, c.value = verbChange, v.column, v.value
		}
	}

	return true
}

// kindOf is the type that a phrase names, or the type of the thing it names.
func (s *scene) kindOf(phrase string) *domain.Entity {
	if e := s.lex.typeIn(phrase); e != nil {
		return e
	}

	return s.typeOf(s.find(phrase).entities)
}

func acceptForget(s *scene, c *command) bool {
	c.kind = s.lex.typeIn(c.object)
	if c.kind != nil && s.restOf(c.object, c.kind) == "" && !pointing.MatchString(c.object) {
		return true // every row of the type rather than a single one
	}
	c.about = s.find(c.object)

	return len(c.about.entities) > 0
}

var (
	timed      = regexp.MustCompile(`(?i)\s*\b(?:this (?:week|time|month|weekend)|next week|today|tonight|tomorrow|for now|any ?more|at all|please|either|again)\b\s*`)
	inTheDraft = regexp.MustCompile(`(?i)\b(?:in|from|for) (?:it|that|this|there|the draft)\b`)
	noLead     = regexp.MustCompile(`(?i)^(?:and |or |nor )?(?:without|leave out|skip|avoid|exclude|nothing with|anything but|no more|not|no|(?:i |we )?(?:don't|do not)(?: (?:want|feel like|like|do|have|use|make|include)(?: any)?)?)\b\s*`)
)

// acceptReject: "no cod this week" constrains the future; "without nuts" right after a draft changes the draft.
func acceptReject(s *scene, c *command) bool {
	terms, draft := c.rejected(), s.draftInTalk()
	inDraft := inTheDraft.MatchString(c.text) || len(s.find(strings.Join(terms, " ")).entities) == 0 && !strings.HasPrefix(strings.ToLower(c.text), "not")
	if draft != nil && inDraft && !timed.MatchString(c.text) {
		c.verb, c.about, c.value, c.kind = verbRevise, s.find(draft.Ref), c.text, s.lex.domain.ByType(draft.Type)
	}

	return len(terms) > 0
}

// rejected are the things that a rejection names: "no wings, no french toast".
func (c *command) rejected() []string {
	parts := orComma.Split(timed.ReplaceAllString(c.object, " "), -1)
	names := mapped(parts, func(part string) string { return trimName(noLead.ReplaceAllString(strings.TrimSpace(part), "")) })

	return filtered(names, isText)
}

// acceptKeepSome drops the other drafts: "take the first two".
func acceptKeepSome(s *scene, c *command) bool {
	kept := s.find(c.object).entities
	if len(kept) == 0 || slices.ContainsFunc(kept, isStored) {
		return false
	}
	c.object = "the rest"
	c.about.entities = filtered(s.drafts(s.lex.domain.ByType(kept[0].Type)), func(e *nodes.Entity) bool { return !slices.Contains(kept, e) })

	return len(c.about.entities) > 0
}

// acceptSaveAndSchedule is the user's consent to save what is scheduled.
func acceptSaveAndSchedule(s *scene, c *command) bool {
	*c = *s.parseOne(c.object)
	c.agreed = true

	return c.verb == verbSchedule
}

var underName = regexp.MustCompile(`(?i)^(?:(.*?)\s+)?(?:as|under(?: the name(?: of)?)?|called|named)\s+(.+)$`)

// acceptSave keeps drafts, one of them perhaps under another name.
func acceptSave(s *scene, c *command) bool {
	called := func(e *nodes.Entity) bool { return within(e.Label, trimName(c.object)) } // it says "as" itself
	if as := underName.FindStringSubmatch(c.object); as != nil && !slices.ContainsFunc(s.drafts(), called) {
		c.object, c.value = as[1], strings.Trim(as[2], ` "'“”`)
	}
	c.object = cmp.Or(c.object, "it")
	c.about = s.toSave(c.object)

	return len(s.drafts()) > 0 || isPronoun(c.object) || draftWord.MatchString(c.object)
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

// acceptDone: "mark the milk as bought", "tick off the first task".
func acceptDone(s *scene, c *command) bool {
	if c.kind = s.kindOf(c.object); c.kind != nil && len(s.lex.valuesIn(c.value, c.kind)) > 0 {
		return false // "done" is one of its column's values
	}
	if c.kind == nil || doneColumn(c.kind) == nil || c.kind.Part {
		bought := buying.MatchString(c.text)
		c.kind = first(filtered(s.lex.ranked, func(e *domain.Entity) bool {
			return doneColumn(e) != nil && buying.MatchString(doneColumn(e).Name) == bought
		}))
	}
	if c.kind == nil {
		return false
	}
	undone := strings.HasPrefix(c.value, "not") || c.value == "open" || c.value == "undone"
	c.column, c.value = doneColumn(c.kind), strconv.FormatBool(!undone)

	return true
}

var partOf = regexp.MustCompile(`(?i)^(?:(?:the )?(.+?) (?:of|for|on) (.+)|(it)s (.+))$`)

// amounts are words for a quantity, whatever its column is called.
var amounts = regexp.MustCompile(`(?i)\b(?:amount|quantity|number|count)\b`)

// acceptChange: "set the milk to 2 litres", "change the servings of the soup to 4", "rename X to Y".
func acceptChange(s *scene, c *command) bool {
	c.cutPart()
	if kind := s.kindOf(c.object); kind != nil && c.lead() == "rename" {
		c.column = labelColumn(kind)
	}
	s.completeChange(c)

	return true
}

// acceptMove: "move the butter to the freezer", and what is planned to another day.
func acceptMove(s *scene, c *command) bool {
	c.cutPart()
	if holder, _ := s.lex.holderOf(c.value); holder != nil {
		s.completeChange(c)
		return true
	}
	c.kind = s.kindOf(c.object)
	c.column, c.value = columnWith(c.kind, c.value) // which may also be a word for all rows
	toDay := c.kind == s.lex.schedule && len(dates(c.value, s.Today)) > 0

	return (c.column != nil || toDay) && len(s.find(c.object, c.kind).entities) > 0
}

// acceptPut: "put the butter into the freezer" is about what is known; something else is added or drafted.
func acceptPut(s *scene, c *command) bool {
	c.cutPart()
	kind := s.kindOf(c.object)
	if len(s.find(c.object, kind).entities) == 0 {
		return false
	}
	if place, _ := s.lex.typeAndValues(c.value); c.lead() == "put" && place != nil && place != kind {
		return false
	}
	s.completeChange(c)

	return true
}

// cutPart takes from the object what of it is to be changed.
func (c *command) cutPart() {
	if of := partOf.FindStringSubmatch(c.object); of != nil {
		c.part, c.object = of[1]+of[4], of[2]+of[3]
	}
}

// completeChange finds whose row is changed: the object's type, else one that has the value, else what is on hand if the value
// is an amount, else one that has the part.
func (s *scene) completeChange(c *command) {
	holder, _ := s.lex.holderOf(c.value)
	c.kind = cmp.Or(s.kindOf(c.object), holder)
	if _, rest := s.cutAmount(c.value, s.lex.stock); rest == "" {
		c.kind = cmp.Or(c.kind, s.lex.stock)
	}
	if c.part == "" {
		return
	}
	c.kind = cmp.Or(c.kind, first(filtered(s.lex.ranked, func(e *domain.Entity) bool { return columnIn(c.part, e) != nil })))
	_, isUnit := s.lex.unit(c.part)
	if c.kind != nil && !isUnit && !amounts.MatchString(c.part) && columnIn(c.part, c.kind) == nil {
		c.column, c.value = nil, "" // nothing has such a part: no other is changed instead
	}
}

var removeFrom = regexp.MustCompile(`(?i)^(.+?) (?:from|off) ((?:the |my |our )?.+)$`)

// acceptRemove: "delete the shakshuka", "take the milk off the list", "empty the freezer".
func acceptRemove(s *scene, c *command) bool {
	from := removeFrom.FindStringSubmatch(c.object)
	if from != nil && !strings.HasPrefix(strings.ToLower(from[1]), "everything") {
		if c.kind, _ = s.lex.typeAndValues(from[2]); c.kind != nil {
			c.object = from[1]
			return true
		}
		if whole := s.find(from[2]).entities; slices.ContainsFunc(whole, func(e *nodes.Entity) bool { return !within(e.Label, from[1]) }) {
			c.verb, c.object, c.value, c.kind = verbChange, from[2], "", s.kindOf(from[2]) // a part goes, not the whole

			return true
		}
	}
	if c.kind, _ = s.lex.typeAndValues(c.object); c.kind == nil && len(s.find(c.object).entities) == 0 && throwing.MatchString(c.text) {
		c.kind = s.lex.stock
	}

	return true
}

// throwing begins what removes a thing that one has at hand.
var throwing = regexp.MustCompile(`(?i)^(?:throw|toss|bin)\b`)

var (
	addTarget = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|onto|under|for)\s+((?:(?:the|my|our|a)\s+)?[^,]*)$`)
	namedLead = regexp.MustCompile(`(?i)^(?:to|called|named|for|about|that says)\s+`)
)

// hasTarget reports whether what is added says where to.
func (s *scene) hasTarget(object string) bool {
	to := addTarget.FindStringSubmatch(object)
	if to == nil {
		return false
	}
	place, _ := s.lex.typeAndValues(to[2])

	return place != nil
}

// acceptAdd splits "12 eggs to the fridge" into what and where; without a type, the user is asked where it goes, and what "it" is
// if nothing was mentioned.
func acceptAdd(s *scene, c *command) bool {
	if head, tail, more := strings.Cut(c.object, ", "); more && s.hasTarget(head) && s.hasTarget(tail) {
		c.object, c.rest = head, "add "+tail
	}
	if to := addTarget.FindStringSubmatch(c.object); to != nil {
		if c.kind, c.values = s.lex.typeAndValues(to[2]); c.kind != nil {
			c.object = to[1]
			if r := s.addedThings(c); r.text != "" && len(r.entities) == 0 && r.name == "" {
				c.object = ""
			}

			return true
		}
	}
	if c.kind = s.lex.leadingType(c.object); c.kind != nil {
		c.object = strings.TrimSpace(namedLead.ReplaceAllString(strings.TrimLeft(s.lex.cutTypes(trimName(c.object), c.kind), " :,-"), ""))
	}
	if strings.HasPrefix(c.object, "with ") { // parts of it, which no rule understands
		c.verb = verbChat
	}

	return true
}
