package offline

import (
	"regexp"
	"strings"
)

// curateRules recognize what changes the view and no row.
func curateRules() []rule {
	return []rule{
		{say(`(.+)`), buildPhrase},
		{say(`(?:forget|drop|discard|scrap|ditch|never ?mind)(?: about)? (.+)`), buildForget},
		{say(`(?:keep|bear|have) (.+) in (?:mind|view|sight)|(?:remember|don't forget) (.+)`), buildRetain},
		{say(`(?:no|not|no more|skip|avoid|exclude|leave out|without|nothing with|anything but|(?:i )?(?:don't|do not) (?:want|feel like|like)(?: any)?|don't do|not do(?:ing)?) (.+?)(?: either)?`), buildReject},
		{say(`(?:do not|don't|not) (?:do|have|use|make|include) (.+?)(?: either)?`), buildReject},
	}
}

func buildForget(f *facts, c *command, rest string) bool {
	c.verb, c.object = verbForget, rest
	f.about(c, rest)
	return true
}

func buildRetain(_ *facts, c *command, rest string) bool {
	c.verb, c.object = verbRetain, rest
	return rest != "" || strings.Contains(strings.ToLower(c.text), "remember")
}

var (
	rejectTail  = regexp.MustCompile(`(?i)\s*\b(?:this (?:week|time|month|weekend)|next week|today|tonight|tomorrow|for now|any ?more|at all|please|either|again)\b\s*`)
	inTheDraft  = regexp.MustCompile(`(?i)\b(?:in|from|for) (?:it|that|this|there|the draft)\b`)
	rejectStart = regexp.MustCompile(`(?i)^(?:without|leave out|skip|no more|no|(?:i )?(?:don't|do not))\b`)
)

// buildReject: "no cod this week" holds for what comes; "without nuts" right
// after a draft changes the draft.
func buildReject(f *facts, c *command, rest string) bool {
	if rest == "" {
		return false
	}
	c.verb = verbReject
	timed := rejectTail.MatchString(c.text)
	if !timed && rejectStart.MatchString(c.text) && len(f.talksOfDraft()) > 0 || inTheDraft.MatchString(rest) && len(f.pending()) > 0 {
		c.verb = verbRevise
		c.object = "it"
		c.value = c.text
		return true
	}
	c.object = trimName(rejectTail.ReplaceAllString(rest, " "))
	return c.object != ""
}

// talksOfDraft are the drafts that the last exchange was about.
func (f *facts) talksOfDraft() []*entity {
	if len(f.talk) == 0 {
		return nil
	}
	last := f.talk[len(f.talk)-1]
	var out []*entity
	for _, e := range f.pending() {
		if len(f.namedIn(last.assistant, nil)) > 0 && containsWords(stems(last.assistant), stems(e.label)) {
			out = append(out, e)
		}
	}
	return out
}

// rejected are the things a rejection names: "the wings or french toast".
func (c *command) rejected() []string {
	var out []string
	for _, part := range regexp.MustCompile(`(?i)\s+or\s+|\s+nor\s+|,\s*|\s+and\s+`).Split(c.object, -1) {
		if part = trimName(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
