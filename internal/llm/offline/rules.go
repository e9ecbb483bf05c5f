package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/nodes"
)

const (
	freshStart = `(?:(?:let's |let us )?(?:start (?:fresh|over|again|anew|from scratch)|fresh start|clear (?:everything|all|it all|the (?:context|conversation|session|slate))|` +
		`forget (?:everything|all(?: of (?:it|this|that)| that)?)|new conversation|reset(?: everything)?|clean slate))`
	notSaved = `(?:unsaved|(?:not|n't|haven't|didn't|isn't|aren't)\b.*\bsaved?)`
	drafting = `(?:draft|invent|suggest|propose|design|compose|dream up|think up|come up with|write|give me|make|create|add|new|i'd like|i want|how about|what about)`
)

// rules are tried in order: about the conversation itself, declared phrases, changes of the view, drafts, writes, and
// finally lookups, which match anything that names a type or a known thing.
func rules() []rule {
	return []rule{
		{say(`(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day))(?:[ ,]+(?:there|alfred|again))?`), only(verbGreet)},
		{say(`(?:thanks|thank you|cheers|bye|goodbye|cool|nice|great|lovely|wonderful)\b.{0,30}`), only(verbThanks)},
		{say(`(?:who|what) are you\b.*|what can you do\b.*|are you (?:a|an|chatgpt|gpt|claude|gemini|real|human)\b.*|help|how do you work`), only(verbIdentity)},
		{say(freshStart + `(?:[,;.]?\s+(?:and |so |then )*` + freshStart + `)*`), only(verbClear)},
		{say(`no(?:pe)?\b[,.!]*(?: (?:thanks|thank you|don't|do not|not now|leave it|please don't|cancel)\b.{0,30})?|nah|never ?mind|cancel(?: that| it| this)?|stop|not now|not yet|leave it\b.{0,20}|(?:please )?(?:don't|do not)(?: do (?:it|that))?`), only(verbDeny)},
		{say(`(?:yes|yep|yeah|yup|sure|ok|okay|fine|do it|do that|go ahead|go for it|sounds good|looks good|perfect|confirm|confirmed|absolutely|correct|right|agreed|exactly)\b(?:[,!. ]+(?:.{0,40}))?`), confirm},
		{say(`(?:what|which|anything|is anything|do i have anything)\b.*\b` + notSaved + `\b.*|(?:show|list) (?:me )?(?:my |the |all )?(?:unsaved|pending)?\s*drafts|(?:what|which) drafts\b.*`), only(verbPending)},
		{say(`cancel (.+)`), cancel},
		{say(`(.+)`), declared},
		{say(`(?:(?:keep|bear|have) (.+) in (?:mind|view|sight)|pin (.+))`), retain},
		{say(`(?:forget|discard|drop|scrap|ditch)(?: about)? (.+)`), forget},
		{say(`((?:no|not|no more|skip|avoid|exclude|leave out|without|nothing with|anything but|(?:i |we )?(?:don't|do not) (?:want|feel like|like|do|have|use|make|include)(?: any)?) .+)`), reject},
		{say(`(?:save|keep|store)(?: (.+))?`), save},
		{say(`(?:use|swap|replace|substitute|exchange|make|turn|change|add|put|include|remove|take|leave|rename|call|for|less|more|with)\b.*`), revise},
		{say(`(?:plan|suggest|propose|draft|make)(?: me| us)?\s+(?:a |an |the |my |our |some )?(.*)`), plan},
		{say(drafting + `(?: me| us)? (?:(?:an? |some )?(?:new )?(?:drafts?|ideas?) (?:of |for )?)?(.+)`), draft},
		{say(`(?:put|add|plan|schedule|have|set|cook|make|eat|use|pencil in) (.+?) (?:(?:to|on|for|in|into|at)\s+)?((?:the |my |our )?\S+(?:\s+\S+){0,5})`), schedule},
		{say(`(?:mark|tick|check|cross|set|flag)(?: off)? (.+?)(?: as)? (done|completed?|finished|bought|purchased|not done|open|undone)|(?:tick off|check off|cross off|complete|finish|i(?:'ve| have)? (?:finished|completed|done)) (.+)`), done},
		{say(`rename (.+?) (?:to|as|into) (.+)`), change},
		{say(`(?:set|mark|flag|change|update|edit|adjust|correct|make|move|raise|lower|increase|reduce|put) (.+?) (?:to|as|=|into|in|on) (.+)`), change},
		{say(`(?:delete|remove|erase|get rid of|throw (?:out|away)|toss|clear(?: out)?|take off|bin) (.+)`), remove},
		{say(`(?:add|put|create|insert|record|note(?: down)?|register|log|stock|enter|write down|new|(?:i|we)(?:'ve| have)? (?:just )?(?:bought|got|picked up|purchased)) (.+)`), add},
		{say(`(?:how many|how much|count|number of|total(?: number)? of|what(?:'s| is) the (?:total|number) (?:of )?)\b(.*)`), count},
		{say(`(?:(?:show|find|list|give)(?: me)? |what |which )?(.*?)\s*(?:(?:can|could|should) (?:i|we) (?:make|cook|do|build) (?:with|from|using)|(?:that )?(?:uses?|using|contain|contains|containing|made with|needs?|with)) (.+)`), uses},
		{say(`(?:show|open|display|view|read|tell me(?: more)? about|describe|details (?:of|for|on)|give me|list|see|let me see|pull up|find|search(?: for)?|look (?:for|up|at)|how (?:do|can|would) (?:i|you|we) (?:make|cook|prepare|do))(?: me)? (.+)`), look},
		{say(`(?:is there|are there|do (?:i|we)(?: still| already)? have|have (?:i|we)(?: still| already)? got|any)(?: any)? (.+)`), search},
		{say(`(?:what(?:'s| is| are| do i have| do we have| have i got)?|which|when|where|who|whats|how (?:long|hot|spicy|much time|many people)|is|are|does|was)\b(.*)`), look},
		{say(`(.+)`), known},
	}
}

func only(v verb) func(*scene, *command, []string) bool {
	return func(_ *scene, c *command, _ []string) bool { c.verb = v; return true }
}

// confirm accepts an agreement only if a question is open or nothing else was said.
func confirm(s *scene, c *command, _ []string) bool {
	c.verb = verbConfirm
	return s.Question != nil || len(words(c.text)) <= 4
}

// cancel never deletes: it sets a closed list's value for "cancelled", or does nothing.
func cancel(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.kind = verbCancel, m[1], s.kindOf(m[1])
	if c.kind == nil {
		return true
	}
	for _, col := range c.kind.Columns {
		for _, v := range col.Enum {
			if strings.HasPrefix(strings.ToLower(v), "cancel") && !col.Hidden && !col.Generated {
				c.verb, c.column, c.value = verbChange, col, v
			}
		}
	}

	return true
}

// kindOf is the type that a phrase names, or the type of the thing it names.
func (s *scene) kindOf(phrase string) *domain.Entity {
	if e := s.lex.typeIn(phrase); e != nil {
		return e
	}
	if r := s.find(phrase); len(r.entities) > 0 {
		return s.lex.domain.ByType(r.entities[0].Type)
	}

	return nil
}

// declared tries the declaration's own phrases ("I'm allergic to ...").
func declared(s *scene, c *command, _ []string) bool {
	for _, p := range s.lex.phrases {
		m := p.pattern.FindStringSubmatch(c.text)
		if m == nil || p.value == "" && m[1] == "" || timed.MatchString(c.text) && p.column != nil {
			continue
		}
		c.verb, c.kind, c.object, c.column = verbAdd, p.kind, m[1], p.column
		if p.column != nil {
			c.verb, c.value = verbNote, m[1]
		}
		if p.value != "" {
			c.value = p.value
		}

		return true
	}

	return false
}

func retain(s *scene, c *command, m []string) bool {
	c.verb, c.about = verbRetain, s.find(m[1]+m[2])
	return true
}

func forget(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.kind = verbForget, m[1], s.lex.typeIn(m[1])
	if c.kind != nil && s.term(m[1], c.kind) == "" && !pointing.MatchString(m[1]) {
		return true // every row of the type rather than a single one
	}
	c.about = s.find(m[1])

	return len(c.about.entities) > 0
}

var (
	timed      = regexp.MustCompile(`(?i)\s*\b(?:this (?:week|time|month|weekend)|next week|today|tonight|tomorrow|for now|any ?more|at all|please|either|again)\b\s*`)
	inTheDraft = regexp.MustCompile(`(?i)\b(?:in|from|for) (?:it|that|this|there|the draft)\b`)
	noLead     = regexp.MustCompile(`(?i)^(?:and |or |nor )?(?:without|leave out|skip|avoid|exclude|nothing with|anything but|no more|not|no|(?:i |we )?(?:don't|do not)(?: (?:want|feel like|like|do|have|use|make|include)(?: any)?)?)\b\s*`)
)

// reject: "no cod this week" constrains the future; "without nuts" right after a draft changes the draft.
func reject(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbReject, m[1]
	terms, draft := c.rejected(), s.draftInTalk()
	inDraft := inTheDraft.MatchString(c.text) || len(s.find(strings.Join(terms, " ")).entities) == 0 && !strings.HasPrefix(strings.ToLower(c.text), "not")
	if draft != nil && inDraft && !timed.MatchString(c.text) {
		c.verb, c.about, c.value, c.kind = verbRevise, s.find("it"), c.text, s.lex.domain.ByType(draft.Type)
	}

	return len(terms) > 0
}

// rejected are the things that a rejection names: "no wings, no french toast".
func (c *command) rejected() []string {
	var out []string
	for _, part := range orComma.Split(timed.ReplaceAllString(c.object, " "), -1) {
		if part = trimName(noLead.ReplaceAllString(strings.TrimSpace(part), "")); part != "" {
			out = append(out, part)
		}
	}

	return out
}

var underName = regexp.MustCompile(`(?i)^(?:(.*?)\s+)?(?:as|under(?: the name(?: of)?)?|called|named)\s+(.+)$`)

// save keeps drafts, one of them perhaps under another name.
func save(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbSave, cmp.Or(m[1], "it")
	called := func(e *nodes.Entity) bool { return within(e.Label, trimName(c.object)) } // it says "as" itself
	if as := underName.FindStringSubmatch(c.object); as != nil && !slices.ContainsFunc(s.drafts(), called) {
		c.object, c.value = cmp.Or(as[1], "it"), strings.Trim(as[2], ` "'“”`)
	}

	c.about = s.toSave(c.object)

	return len(s.drafts()) > 0 || one.MatchString(c.object) || many.MatchString(c.object) || draftWord.MatchString(c.object)
}

var (
	aboutDraft = regexp.MustCompile(`(?i)\b(?:it|that|this|the draft|draft)\b`)
	otherPlace = regexp.MustCompile(`(?i)\b(?:to|in|into|on|from|off|for) (?:my|our|the) ([\pL ]+)`)
	newDraft   = regexp.MustCompile(`(?i)^(?:make|create|add|write|give|suggest|draft)(?: me| us)? (?:an?|some|another|two|three|new|something)\b`)
)

// revise changes the draft that was just mentioned, unless the message names a list, a day or another thing.
func revise(s *scene, c *command, _ []string) bool {
	draft, kind := s.draftInTalk(), s.lex.draftable
	if drafts := s.drafts(kind); draft == nil && len(drafts) == 1 && draftWord.MatchString(c.text) {
		draft = drafts[0]
	}
	if draft == nil || kind == nil || draft.Type != kind.Type || newDraft.MatchString(c.text) {
		return false
	}
	if e := s.lex.schedule; e != nil && (len(dates(c.text, s.Today)) > 0 || slices.Contains(s.lex.typesIn(c.text), e)) {
		return false
	}
	if m := otherPlace.FindStringSubmatch(c.text); m != nil && !aboutDraft.MatchString(c.text) {
		if place, _ := s.lex.place(m[1]); place != nil {
			return false
		}
	}
	c.verb, c.about, c.value, c.kind = verbRevise, s.find(draft.Ref), c.text, kind
	others := s.find(c.text).entities

	return len(others) == 0 || slices.Contains(others, draft)
}

var planWords = regexp.MustCompile(`(?i)\b(?:days?|week|weekend|meals?|menu|plan)\b`)

// plan: "plan dinners for the week" drafts a row of the schedule for each day.
func plan(s *scene, c *command, m []string) bool {
	e := s.lex.schedule
	if e == nil || one.MatchString(trimName(m[1])) {
		return false
	}
	c.verb, c.kind, c.object, c.values = verbPlan, e, m[1], s.lex.valuesIn(c.text, e)
	leads := within(c.text, "plan") || planWords.MatchString(m[1])
	about := len(c.values) > 0 || planWords.MatchString(m[1]) || len(dates(m[1], s.Today)) > 0
	named := s.find(unwanted.ReplaceAllString(m[1], ""), s.lex.planned)

	return leads && about && len(named.entities) == 0
}

// draft: "draft a Thai basil chicken", "make me a curry", "add a new recipe for pancakes".
func draft(s *scene, c *command, m []string) bool {
	kind := s.lex.draftable
	if kind == nil || pointing.MatchString(m[1]) || strings.HasPrefix(strings.ToLower(m[1]), "the ") {
		return false
	}
	ours := s.lex.leadingType(m[1]) == kind
	_, known := s.lex.template(m[1])
	other := s.lex.typeIn(m[1])
	if other != nil && other != kind && !ours && !known {
		return false
	}
	c.verb, c.kind, c.object = verbDraft, kind, m[1]
	lead := strings.ToLower(strings.Fields(c.text)[0])

	return ours || lead == "draft" || known && lead != "add" && lead != "new"
}

// onDay splits a request where its day begins.
var onDay = regexp.MustCompile(`(?i)^\S+ (.+) (?:to|on|for|in|into|at) (.+)$`)

// schedule: "put it on Friday's dinner", "add this to my meal plan".
func schedule(s *scene, c *command, m []string) bool {
	e := s.lex.schedule
	if e == nil {
		return false
	}
	if at := onDay.FindStringSubmatch(c.text); at != nil && len(dates(at[2], s.Today)) > 0 {
		m = at // the whole name, however many words it has
	}
	when := c.text[strings.Index(c.text, m[1])+len(m[1]):]
	c.verb, c.object, c.kind, c.values = verbSchedule, cutDates(m[1]), e, s.lex.valuesIn(when, e)
	first, place := s.lex.leadingType(c.object), s.lex.typeIn(when)
	switch {
	case len(dates(when, s.Today)) == 0 && place != e && len(c.values) == 0, place != nil && place != e:
		return false
	case first != nil && first != e && first != s.lex.planned:
		return false
	}
	c.about = s.find(c.object, s.lex.planned)
	lead := strings.ToLower(strings.Fields(c.text)[0])

	return len(c.about.entities) > 0 || c.about.name != "" && slices.Contains([]string{"put", "plan", "schedule"}, lead)
}

// done: "mark the milk as bought", "tick off the first task".
func done(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.value = verbChange, m[1]+m[3], "true"
	if c.kind = s.kindOf(c.object); c.kind != nil && len(s.lex.valuesIn(m[2], c.kind)) > 0 {
		return false // "done" is one of its column's values
	}
	if c.kind == nil || doneColumn(c.kind) == nil || c.kind.Part {
		bought := strings.Contains(strings.ToLower(c.text), "bought") || strings.Contains(strings.ToLower(c.text), "purchased")
		lists := filtered(s.lex.ranked, func(e *domain.Entity) bool { return doneColumn(e) != nil && boughtColumn(doneColumn(e)) == bought })
		if c.kind = first(lists); c.kind == nil {
			return false
		}
	}
	if c.column = doneColumn(c.kind); strings.HasPrefix(m[2], "not") || m[2] == "open" || m[2] == "undone" {
		c.value = "false"
	}

	return true
}

var partOf = regexp.MustCompile(`(?i)^(?:the )?(.+?) (?:of|for|on) (.+)$`)

// change: "set the milk to 2 litres", "move the butter to the freezer", "rename X to Y".
func change(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.value = verbChange, m[1], m[2]
	if of := partOf.FindStringSubmatch(m[1]); of != nil {
		c.object = of[2]
	}
	holder, vs := s.lex.holderOf(c.value)
	lead := strings.ToLower(strings.Fields(c.text)[0])
	c.kind = s.kindOf(c.object)
	known := len(s.find(c.object, c.kind).entities) > 0
	place, _ := s.lex.place(c.value)
	switch {
	case (lead == "put" || lead == "make") && !known, lead == "put" && place != nil && place != c.kind:
		return false
	case lead == "move" && len(vs) == 0: // to another day
		return known && c.kind == s.lex.schedule && len(dates(c.value, s.Today)) > 0
	case lead == "rename" && c.kind != nil:
		c.column = labelColumn(c.kind)
	case c.kind == nil:
		c.kind = holder
	}
	if stock := s.lex.stock; c.kind == nil && stock != nil && s.takeAmount(c.value, stock, map[string]any{}) == "" {
		c.kind = stock // an amount of something not yet looked up
	}

	return true
}

var removeFrom = regexp.MustCompile(`(?i)^(.+?) (?:from|off) ((?:the |my |our )?.+)$`)

func remove(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbRemove, m[1]
	if from := removeFrom.FindStringSubmatch(m[1]); from != nil && !strings.HasPrefix(strings.ToLower(from[1]), "everything") {
		if kind, _ := s.lex.place(from[2]); kind != nil {
			c.object, c.kind = from[1], kind
			return true
		}
	}
	c.kind, _ = s.lex.place(m[1])

	return true
}

var (
	addTarget = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|onto|under|for)\s+((?:(?:the|my|our|a)\s+)?[^,]*)$`)
	namedLead = regexp.MustCompile(`(?i)^(?:to|called|named|for|about|that says)\s+`)
)

// add splits "12 eggs to the fridge" into what and where; without a type, the user is asked where it goes, and what "it" is
// if nothing was mentioned.
func add(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbAdd, m[1]
	if to := addTarget.FindStringSubmatch(m[1]); to != nil {
		if kind, values := s.lex.place(to[2]); kind != nil {
			c.object, c.kind, c.values = to[1], kind, values
			if r := s.addedThings(c); r.text != "" && len(r.entities) == 0 && r.name == "" {
				c.object = ""
			}

			return true
		}
	}
	if c.kind = s.lex.leadingType(m[1]); c.kind != nil {
		c.object = strings.TrimSpace(namedLead.ReplaceAllString(strings.TrimLeft(s.lex.cutTypes(trimName(m[1]), c.kind), " :,-"), ""))
	}

	return true
}
