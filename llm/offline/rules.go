package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

const (
	freshStart = `(?:(?:let's |let us )?(?:start (?:fresh|over|again|anew|from scratch)|fresh start|clear (?:everything|all|it all|the (?:context|conversation|session|slate))|` +
		`forget (?:everything|all(?: of (?:it|this|that)| that)?)|new conversation|reset(?: everything)?|clean slate))`
	noSaving = `(?:unsaved|(?:not|n't|haven't|didn't|isn't|aren't)\b.*\bsaved?)`
	drafting = `(?:draft|invent|suggest|propose|design|compose|dream up|think up|come up with|write|give me|make|create|i'd like|i want|how about|what about)`
)

// rules are tried in order: what is about the talk itself, what the declaration
// has phrases for, what changes the view, drafts, writes, and last the look-ups,
// which take anything that names a type or a known thing.
func rules() []rule {
	return []rule{
		{say(`(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day))(?:[ ,]+(?:there|alfred|again))?`), only(verbGreet)},
		{say(`(?:thanks|thank you|cheers|bye|goodbye|cool|nice|great|lovely|wonderful)\b.{0,30}`), only(verbThanks)},
		{say(`(?:who|what) are you\b.*|what can you do\b.*|are you (?:a|an|chatgpt|gpt|claude|gemini|real|human)\b.*|help|how do you work`), only(verbIdentity)},
		{say(freshStart + `(?:[,;.]?\s+(?:and |so |then )*` + freshStart + `)*`), only(verbClear)},
		{say(`no(?:pe)?\b[,.!]*(?: (?:thanks|thank you|don't|do not|not now|leave it|please don't|cancel)\b.{0,30})?|nah|never ?mind|cancel(?: that| it| this)?|stop|not now|not yet|leave it\b.{0,20}|(?:please )?(?:don't|do not)(?: do (?:it|that))?`), only(verbDeny)},
		{say(`(?:yes|yep|yeah|yup|sure|ok|okay|fine|do it|do that|go ahead|go for it|sounds good|looks good|perfect|confirm|confirmed|absolutely|correct|right|agreed|exactly)\b(?:[,!. ]+(?:.{0,40}))?`), confirm},
		{say(`(?:what|which|anything|is anything|do i have anything)\b.*\b` + noSaving + `\b.*|(?:show|list) (?:me )?(?:my |the |all )?(?:unsaved|pending)?\s*drafts`), only(verbPending)},
		{say(`(?:what|which|who|when|where|how many)\b.* (?:did|have|had) (?:i|we|you) (?:say|said|tell|told|mention|mentioned|talk|talked|decide|decided|agree|agreed|discuss|discussed)\b(.*)`), recall},
		{say(`(?:do you remember|remind me what (?:i|we|you) (?:said|decided|agreed|talked)|what was it (?:i|we) said|recall)\b(.*)`), recall},
		{say(`(?:what|which (?:one|ones|things?|items?)) (?:did|have) (?:i|we|you) (?:just )?(?:add|added|change|changed|save|saved|delete|deleted|do|done)\b.*|what was (?:just )?(?:added|changed|saved|deleted).*`), only(verbLast)},
		{say(`cancel (.+)`), cancel},
		{say(`(.+)`), declared},
		{say(`(?:keep|bear|have) (.+) in (?:mind|view|sight)|don't forget (.+)`), retain},
		{say(`(?:forget|discard|drop|scrap|ditch)(?: about)? (.+)`), forget},
		{say(`((?:no|not|no more|skip|avoid|exclude|leave out|without|nothing with|anything but|(?:i |we )?(?:don't|do not) (?:want|feel like|like|do|have|use|make|include)(?: any)?) .+)`), reject},
		{say(`(?:save|keep|store)(?: (.+))?`), save},
		{say(`(?:use|swap in|swap|replace|substitute|exchange) .+ (?:instead of|rather than|in place of|for|with|by) .+|(?:make|scale|turn|change|double|halve|triple|add|put|include|remove|take|leave|rename|call|for|less|more|with)\b.*`), revise},
		{say(`(?:plan|suggest|propose|help me (?:to )?plan|draft|make)(?: me| us)?\s+(?:a |an |the |my |our |some )?(.*)`), plan},
		{say(drafting + `(?: me| us)? (?:(?:a |an |some )?(?:drafts?|ideas?|recipes?) (?:of |for )?)?(.+)`), draft},
		{say(`(?:add|create|make|write|new)(?: me)? (?:(?:a |an )?(?:new )?(.+))`), draftNew},
		{say(`(?:put|add|plan|schedule|have|set|cook|make|eat|use|pencil in) (.+?) (?:(?:to|on|for|in|into|at)\s+)?(\S+(?:\s+\S+){0,5})`), schedule},
		{say(`(?:move|reschedule|shift|postpone|push) (.+?) (?:to|on|for|until) (.+)`), move},
		{say(`(?:mark|tick|check|cross|set|flag)(?: off)? (.+?)(?: as)? (\S+|not \S+)`), done},
		{say(`(?:tick off|check off|cross off|complete|finish|i(?:'ve| have)? (?:finished|completed|done)) (.+)`), done},
		{say(`(?:rename) (.+?) (?:to|as|into) (.+)`), rename},
		{say(`(?:set|mark|flag|change|update|edit|adjust|correct|make|move|raise|lower|increase|reduce|put) (.+?) (?:to|as|=|into|in|on) (.+)`), change},
		{say(`(?:delete|remove|erase|get rid of|throw (?:out|away)|toss|clear(?: out)?|take off|bin) (.+)`), remove},
		{say(`(?:add|put|create|insert|record|note(?: down)?|register|log|stock|enter|write down|new|(?:i|we)(?:'ve| have)? (?:just )?(?:bought|got|picked up|purchased)) (.+)`), add},
		{say(`(?:how many|how much|count|number of|total(?: number)? of|what(?:'s| is) the (?:total|number) (?:of )?)\b(.*)`), count},
		{say(`(?:(?:show|find|list|give)(?: me)? |what |which )?(.*?)\s*(?:(?:can|could|should) (?:i|we) (?:make|cook|do|build) (?:with|from|using)|(?:that )?(?:use|uses|using|contain|contains|containing|made with|need|needs|with)) (.+)`), uses},
		{say(`(?:what|which|anything|do i have everything|do we have everything|have i got everything|can i make|can we make)\b.*?\b(?:for|to (?:make|cook|build)|make|missing for) (.+)`), missing},
		{say(`(?:show|open|display|view|read|tell me(?: more)? about|describe|details (?:of|for|on)|give me|list|see|let me see|pull up|find|search(?: for)?|look (?:for|up|at)|how (?:do|can|would) (?:i|you|we) (?:make|cook|prepare|do)|what(?:'s| is) in)(?: me)? (.+)`), look},
		{say(`(?:is there|are there|do (?:i|we) have|have (?:i|we) got|any)(?: any)? (.+)`), search},
		{say(`(?:what(?:'s| is| are| do i have| do we have| have i got)?|which|when|where|who|whats|how (?:long|hot|spicy|much time|many people)|is|are|does|was)\b(.*)`), look},
		{say(`(.+)`), known},
	}
}

func only(v verb) func(*scene, *command, []string) bool {
	return func(_ *scene, c *command, _ []string) bool {
		c.verb = v

		return true
	}
}

// last is the last group that took part.
func last(m []string) string {
	for _, g := range slices.Backward(m[1:]) {
		if g != "" {
			return strings.TrimSpace(g)
		}
	}

	return ""
}

// confirm takes an agreement only where something is open or nothing else was said.
func confirm(s *scene, c *command, _ []string) bool {
	c.verb = verbConfirm

	return s.Question != nil || len(words(c.text)) <= 4
}

var recallLead = regexp.MustCompile(`(?i)^.*?\b(?:about|regarding|on|concerning)\b\s*`)

func recall(_ *scene, c *command, m []string) bool {
	c.verb, c.value = verbRecall, trimName(recallLead.ReplaceAllString(last(m), ""))
	if ws := stems(c.value); len(ws) == 0 || len(ws) == 1 && fillers[ws[0]] {
		c.value = c.text
	}

	return true
}

// cancel never deletes: it sets the value of a closed list that says cancelled, or
// nothing at all.
func cancel(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.kind = verbCancel, m[1], s.lex.typeIn(m[1])
	r := s.find(m[1], c.kind)
	if c.kind == nil && len(r.entities) > 0 {
		c.kind = s.lex.byType(r.entities[0].Type)
	}
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

// declared tries the declaration's own phrases ("I'm allergic to ...").
func declared(s *scene, c *command, _ []string) bool {
	if timed.MatchString(c.text) && noLead.MatchString(c.text) {
		return false
	}
	for i := range s.lex.phrases {
		p := &s.lex.phrases[i]
		rest, ok := p.match(c.text)
		if !ok {
			continue
		}
		c.verb, c.kind, c.object, c.column = verbAdd, p.kind, rest, p.column
		if single(p.kind) {
			c.verb, c.value = verbNote, rest
		}

		return true
	}

	return false
}

func retain(_ *scene, c *command, m []string) bool {
	c.verb, c.object = verbRetain, last(m)

	return true
}

func forget(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.kind = verbForget, m[1], s.lex.typeIn(m[1])

	return c.kind != nil && s.term(m[1], c) == "" || len(s.find(m[1]).entities) > 0
}

var (
	timed      = regexp.MustCompile(`(?i)\s*\b(?:this (?:week|time|month|weekend)|next week|today|tonight|tomorrow|for now|any ?more|at all|please|either|again)\b\s*`)
	inTheDraft = regexp.MustCompile(`(?i)\b(?:in|from|for) (?:it|that|this|there|the draft)\b`)
	noLead     = regexp.MustCompile(`(?i)^(?:and |or |nor )?(?:without|leave out|skip|avoid|exclude|nothing with|anything but|no more|not|no|(?:i |we )?(?:don't|do not)(?: (?:want|feel like|like|do|have|use|make|include)(?: any)?)?)\b\s*`)
	orComma    = regexp.MustCompile(`(?i)\s+or\s+|\s+nor\s+|,\s*|;\s*|\s+and\s+`)
)

// reject: "no cod this week" holds for what comes; "without nuts" right after a
// draft changes the draft.
func reject(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbReject, m[1]
	draft := s.draftInTalk()
	if draft == nil || timed.MatchString(c.text) || len(c.rejected()) == 0 {
		return len(c.rejected()) > 0
	}
	named := s.find(strings.Join(c.rejected(), " "))
	if inTheDraft.MatchString(c.text) || len(named.entities) == 0 && !strings.HasPrefix(strings.ToLower(c.text), "not") {
		c.verb, c.object, c.value, c.kind = verbRevise, "it", c.text, s.lex.byType(draft.Type)
	}

	return true
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

func save(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbSave, m[1]
	if c.object == "" {
		c.object = "it"
	}

	return len(s.drafts()) > 0 || one.MatchString(c.object) || many.MatchString(c.object) || draftWord.MatchString(c.object)
}

var (
	aboutDraft = regexp.MustCompile(`(?i)\b(?:it|that|this|the draft|draft)\b`)
	otherPlace = regexp.MustCompile(`(?i)\b(?:to|in|into|on|from|off|for) (?:my|our|the) ([\pL ]+)`)
)

// revise changes the draft that was just spoken of; what names a list, a day or
// another thing is meant for that.
func revise(s *scene, c *command, _ []string) bool {
	draft := s.draftInTalk()
	kind := s.lex.draftable()
	if draft == nil && len(s.drafts()) == 1 && draftWord.MatchString(c.text) {
		draft = s.drafts()[0]
	}
	if draft == nil || kind == nil || draft.Type != kind.Type || newDraft.MatchString(c.text) {
		return false
	}
	if e, _, _ := s.lex.schedule(); e != nil && (len(dates(c.text, s.Today)) > 0 || containsType(s.lex.typesIn(c.text), e)) {
		return false
	}
	if m := otherPlace.FindStringSubmatch(c.text); m != nil && s.namesPlace(m[1]) && !aboutDraft.MatchString(c.text) {
		return false
	}
	if list := s.find(c.text).entities; len(list) > 0 && !slices.Contains(list, draft) {
		return false
	}
	c.verb, c.object, c.value, c.kind = verbRevise, "it", c.text, kind

	return true
}

var newDraft = regexp.MustCompile(`(?i)^(?:make|create|add|write|give|suggest|draft)(?: me| us)? (?:an?|some|another|two|three|new|something)\b`)

func containsType(list []*domain.Entity, e *domain.Entity) bool { return slices.Contains(list, e) }

var planWords = regexp.MustCompile(`(?i)\b(?:days?|week|weekend|meals?|menu|plan)\b`)

// plan: "plan dinners for the week" drafts a row of the schedule for each day.
func plan(s *scene, c *command, m []string) bool {
	e, _, link := s.lex.schedule()
	if e == nil || link.FK.Entity != s.lex.draftable() && s.lex.draftable() != nil {
		return false
	}
	leads := strings.Contains(strings.ToLower(c.text), "plan")
	c.values = s.lex.valuesIn(c.text, e)
	if !leads && !planWords.MatchString(m[1]) || one.MatchString(trimName(m[1])) || len(s.find(m[1], link.FK.Entity).entities) > 0 {
		return false
	}
	if len(c.values) == 0 && !planWords.MatchString(m[1]) && len(dates(m[1], s.Today)) == 0 {
		return false
	}
	c.verb, c.kind, c.object = verbPlan, e, m[1]

	return true
}

// draft: "draft a Thai basil chicken", "make me a curry".
func draft(s *scene, c *command, m []string) bool {
	c.kind = s.lex.draftable()
	if c.kind == nil || pointing.MatchString(m[1]) || strings.HasPrefix(strings.ToLower(m[1]), "the ") {
		return false
	}
	if other := s.lex.typeIn(m[1]); other != nil && other != c.kind && !containsWords(stems(c.text), stems(c.kind.Name)) && !s.knowsDraft(m[1]) {
		return false
	}
	explicit := strings.HasPrefix(strings.ToLower(c.text), "draft") || containsWords(stems(c.text), stems(c.kind.Name)) || s.knowsDraft(m[1])
	c.verb, c.object = verbDraft, m[1]

	return explicit
}

// draftNew: "add a new recipe for pancakes" is a draft too.
func draftNew(s *scene, c *command, m []string) bool {
	kind := s.lex.draftable()
	if kind == nil || s.leadingType(m[1]) != kind {
		return false
	}
	c.verb, c.kind = verbDraft, kind
	c.object = trimName(strings.TrimSpace(regexp.MustCompile(`(?i)^(?:for|of|called|named)\s+`).ReplaceAllString(s.lex.cutTypes(m[1], kind), "")))

	return c.object != ""
}

// knowsDraft reports whether the templates have a word of the text.
func (s *scene) knowsDraft(text string) bool {
	ws := stems(text)
	for _, t := range s.lex.Draft.Templates {
		if slices.ContainsFunc(t.Words, func(w string) bool { return containsWords(ws, stems(w)) }) {
			return true
		}
	}

	return false
}
