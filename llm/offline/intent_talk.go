package offline

import (
	"regexp"
	"strings"
)

// talkRules recognize messages about the conversation itself.
func talkRules() []rule {
	return []rule{
		{say(`(?:yes|yep|yeah|yup|sure|ok|okay|fine|do it|do that|go ahead|sounds good|looks good|perfect|confirm|confirmed|absolutely|correct|right|agreed|exactly)\b(?:[,!. ]+(?:.{0,40}))?`), buildConfirm},
		{say(`(?:no|nope|nah|never ?mind|cancel(?: that| it)?|stop|not now|not yet|leave it|don't|do not|don't do (?:it|that)|no,? (?:thanks|thank you|don't|do not|not now|leave it)\b.{0,20})`), verbOnly(verbDeny)},
		{say(`(?:start (?:fresh|over|again|anew)|fresh start|clear (?:everything|all|the (?:context|conversation|session|slate))|forget (?:everything|all(?: of (?:it|this|that))?)|new conversation|reset(?: everything)?|clean slate)`), verbOnly(verbClear)},
		{say(`(?:what|which|who|when|where|how many)\b.* (?:did|have|had) (?:i|we|you) (?:say|said|tell|told|mention|mentioned|talk|talked|decide|decided|agree|agreed|discuss|discussed)\b(.*)`), buildRecall},
		{say(`(?:do you remember|remind me what (?:i|we|you) (?:said|decided|agreed|talked)|what was it (?:i|we) said|recall)\b(.*)`), buildRecall},
		{say(`(?:what|which|anything|is anything|do i have anything)\b.*\b(?:unsaved|(?:not|n't|haven't|didn't|isn't|aren't)\b.*\bsaved?)\b.*`), verbOnly(verbPending)},
		{say(`(?:what|which).*\b(?:not saved|unsaved|still (?:drafts?|pending))\b.*|(?:show|list) (?:me )?(?:my |the |all )?(?:unsaved|pending)?\s*drafts`), verbOnly(verbPending)},
		{say(`(?:what|which (?:one|ones|things?|items?)) (?:did|have) (?:i|we|you) (?:just )?(?:add|added|change|changed|save|saved|delete|deleted|do|done)\b.*|what was (?:just )?(?:added|changed|saved|deleted).*`), verbOnly(verbLast)},
		{say(`(?:who|what) are you\b.*|what can you do\b.*|are you (?:a|an|chatgpt|gpt|claude|gemini|real|human)\b.*|help|how do you work`), verbOnly(verbIdentity)},
		{say(`(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|thanks|thank you|cheers|bye|goodbye|cool|nice|great)(?: (?:there|alfred|so much|a lot))?`), verbOnly(verbGreet)},
	}
}

// buildConfirm takes an agreement only where something is open or nothing else
// was said.
func buildConfirm(f *facts, c *command, _ string) bool {
	c.verb = verbConfirm
	return f.question != nil || len(words(c.text)) <= maxAgreement
}

const maxAgreement = 4

var recallLead = regexp.MustCompile(`(?i)^.*?\b(?:about|regarding|on|concerning)\b\s*`)

func buildRecall(_ *facts, c *command, rest string) bool {
	c.verb = verbRecall
	c.value = trimName(recallLead.ReplaceAllString(rest, ""))
	if c.value == "" {
		c.value = trimName(strings.TrimSpace(rest))
	}
	if ws := stems(c.value); len(ws) == 0 || len(ws) == 1 && fillers[ws[0]] {
		c.value = c.text
	}
	return true
}
