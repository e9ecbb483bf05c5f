package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/domain"
)

// draftRules recognize drafting, changing a draft, saving and planning.
func draftRules() []rule {
	return []rule{
		{say(`keep only (.+)|keep just (.+)`), buildSave},
		{say(`save\b\s*(.*)|(?:keep|store) (it|that|this|them|both|all|the .+)|(?:add|put) (?:it|that|this|them) to my (.+)`), buildSave},
		{say(`how (?:do|can|should|would) (?:i|we|you) [a-z]+ (.+)`), buildShow},
		{say(`(?:draft|invent|come up with|think up|compose|suggest|propose|improvise|design|write up|sketch)(?: me)? (.+)`), buildDraft},
		{say(`(?:make|create|write|generate|give|get)(?: (?:me|us))? (?:an? |some |another |two |three |a couple of |\d )(.+)`), buildDraftIfKnown},
		{say(`((?:an?|two|three|some|\d) .*\bideas?\b.*)`), buildDraft},
		{say(`(?:put|add|schedule|plan|move|book|have|make) (.+?) (?:on|for|to|into|in|at) (.+)`), buildSchedule},
		{say(`(?:plan|schedule|fill|organi[sz]e)(?: out)? (.+)`), buildPlan},
		{say(`(?:can|could) we plan (.+)`), buildPlan},
		{say(`(?:make|turn|scale) (it|that|this|them|the draft|the .+?) (.+)`), buildReviseOrChange},
		{say(`(?:double|halve|triple)\b\s*(.*)`), buildScale},
		{say(`(?:call|rename) (it|that|this|the draft) (?:to |as )?(.+)`), buildReviseOrChange},
		{say(`(?:take|use|choose|pick|go with|have|do) (.+)`), buildChoose},
		{say(`add (.+?)(?: (?:at|to|in|into|for|on) (?:the (?:end|beginning|start|top)|it|that|this|the draft))+`), buildReviseText},
		{say(`(?:use|swap in) (.+) (?:instead of|rather than|in place of) (.+)`), buildReviseText},
		{say(`(?:swap|replace|substitute|exchange) (.+?) (?:for|with|by) (.+)`), buildReviseText},
		{say(`(?:make it )?for (\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b(?: [a-z]+){0,2}`), buildReviseText},
		{say(`(?:less|more|a bit more|a little more|a bit less|extra) (.+)`), buildReviseText},
		{say(`(?:remove|leave out|take out|drop) (.+?) from (?:it|that|this|the draft)`), buildReviseText},
	}
}

var saveType = regexp.MustCompile(`(?i)^(?:.*\b(?:to|as|in|into) my\b)`)

func buildSave(f *facts, c *command, rest string) bool {
	lower := strings.ToLower(c.text)
	addTo := strings.HasPrefix(lower, "add") || strings.HasPrefix(lower, "put")
	if addTo {
		e := f.lex.typeIn(c.text)
		if len(f.pending()) == 0 || e == nil || !f.lex.draftable(e) {
			return false
		}
	}
	c.verb, c.object = verbSave, rest
	if rest == "" || addTo {
		c.object = "it"
	}
	if _, after, ok := strings.Cut(lower, " only "); ok {
		c.object = after
	}
	c.object = strings.TrimSpace(saveType.ReplaceAllString(c.object, "it"))
	return true
}

// buildShow: "how do I make the second one" asks for a thing in full.
func buildShow(f *facts, c *command, rest string) bool {
	if rest == "" {
		return false
	}
	c.verb, c.object = verbShow, rest
	c.entity = f.lex.typeIn(rest)
	if len(f.resolve(rest, f.lex.draftables()...).entities) == 0 && c.entity == nil && len(f.lex.draftables()) > 0 {
		c.entity = f.lex.draftables()[0]
	}
	return true
}

func buildDraft(f *facts, c *command, rest string) bool {
	c.verb, c.object = verbDraft, rest
	types := f.lex.typesIn(rest)
	for _, e := range types {
		if f.lex.draftable(e) {
			c.entity = e
			return true
		}
	}
	if e, _, _ := f.lex.schedule(); e != nil && len(types) > 0 && types[0] == e {
		c.verb = verbPlan
		c.entity = e
		return true
	}
	if all := f.lex.draftables(); len(all) > 0 {
		c.entity = all[0]
	}
	return c.entity != nil
}

// buildDraftIfKnown: "make me a thai curry" drafts; "create a task" adds.
func buildDraftIfKnown(f *facts, c *command, rest string) bool {
	if e := f.lex.typeIn(rest); e != nil && !f.lex.draftable(e) {
		return false
	}
	if named := f.lex.typeIn(rest); named == nil && !f.lex.knowsDraft(rest) {
		return false
	}
	return buildDraft(f, c, rest)
}

// buildSchedule: "put it on Friday's dinner" needs a day.
func buildSchedule(f *facts, c *command, rest string) bool {
	e, _, link := f.lex.schedule()
	if e == nil || len(dates(c.text, f.today)) == 0 {
		return false
	}
	thing := strings.TrimSpace(cutDates(rest))
	named := f.lex.typesIn(c.text)
	slots := f.lex.valuesIn(c.text, e)
	for _, t := range named {
		if t != e && t != link.FK.Entity && len(slots) == 0 {
			return false
		}
	}
	if f.isSlot(thing, e) {
		return f.planFor(c, e)
	}
	target := f.resolve(thing, link.FK.Entity)
	if len(target.entities) == 0 && len(slots) == 0 && !containsType(named, e) {
		return false
	}
	c.verb, c.object, c.entity, c.values = verbSchedule, thing, e, slots
	return true
}

// isSlot reports whether words name only slots of the schedule: "dinners".
func (f *facts) isSlot(thing string, e *domain.Entity) bool {
	if pronouns.MatchString(thing) {
		return false
	}
	left := f.lex.cutTypes(trimName(thing), e)
	for _, v := range f.lex.valuesIn(thing, e) {
		left = cutWords(left, v.words)
	}
	for _, w := range stems(left) {
		if !fillers[w] {
			return false
		}
	}
	return true
}

// buildChoose: "take the first two" plans with what was listed.
func buildChoose(f *facts, c *command, rest string) bool {
	e, _, link := f.lex.schedule()
	if e == nil || len(ordinals(rest)) == 0 && !pronouns.MatchString(rest) {
		return false
	}
	chosen := f.resolve(rest, link.FK.Entity).entities
	if len(chosen) == 0 {
		return false
	}
	c.object, c.value = rest, strconv.Itoa(len(chosen))
	return f.planFor(c, e)
}

func containsType(list []*domain.Entity, e *domain.Entity) bool {
	return slices.Contains(list, e)
}

func buildPlan(f *facts, c *command, rest string) bool {
	e, _, _ := f.lex.schedule()
	if e == nil {
		return false
	}
	named := f.lex.typeIn(rest)
	if named != nil && named != e && len(f.lex.valuesIn(rest, e)) == 0 {
		return false
	}
	c.object = rest
	return f.planFor(c, e)
}

func (f *facts) planFor(c *command, e *domain.Entity) bool {
	c.verb, c.entity = verbPlan, e
	c.values = f.lex.valuesIn(c.text, e)
	return true
}

// buildReviseOrChange: "make it vegetarian" changes a draft, if there is one it
// can mean; a stored thing is changed in its row.
func buildReviseOrChange(f *facts, c *command, rest string) bool {
	target := f.resolve(rest)
	drafts := f.draftOf(target)
	if drafts == nil {
		return false
	}
	c.verb, c.object, c.value = verbRevise, rest, c.text
	return true
}

// draftOf is the draft a change is meant for: the one named, else the only or
// the last one when a pronoun was used.
func (f *facts) draftOf(target *found) *entity {
	for _, e := range target.entities {
		if e.pending() {
			return e
		}
	}
	all := f.pending()
	if len(all) > 0 && len(target.entities) == 0 && pronouns.MatchString(target.text) {
		return all[len(all)-1]
	}
	return nil
}

func buildReviseText(f *facts, c *command, _ string) bool {
	if len(f.pending()) == 0 {
		return false
	}
	if e := f.lex.typeIn(c.text); e != nil && !f.lex.draftable(e) && !f.lex.isChild(e) {
		return false
	}
	c.verb, c.object, c.value = verbRevise, "it", c.text
	return true
}

func buildScale(f *facts, c *command, rest string) bool {
	if rest == "" {
		rest = "it"
	}
	if f.draftOf(f.resolve(rest)) == nil {
		return false
	}
	c.verb, c.object, c.value = verbRevise, rest, c.text
	return true
}
