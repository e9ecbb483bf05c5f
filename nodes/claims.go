package nodes

import (
	"regexp"
	"strings"
)

// A claim is a sentence stating that something was done. Models write such sentences whether it is true or not, so code
// checks the common forms against what the turn did. Denials, questions, offers and references to the past are not
// claims. Claims in other languages go undetected, but every reply to a turn that wrote is followed by the rows
// themselves.

var (
	sentences = regexp.MustCompile(`[^.!?\n]+[.!?\n]?`)
	noClaim   = regexp.MustCompile(`(?i)\b(not|no|nothing|none|never|n't|can't|couldn't|unable|without|if|once|when|would|could|can|shall|should|will|want|like me|let me|ready to|to be|already|earlier|before|previously|last time|yet|still|failed|instead of|until|by (?:you|some(?:body|one)|another|others?)|ago|yesterday|last|since|on (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)\w*|in \d{4}|on \d)\b|n't\b|n’t\b|\?`)
	isState   = regexp.MustCompile(`(?i)^(?:is|are)(?: all)? \w+$`)
	heading   = regexp.MustCompile(`(?i)^\W*\w+(?: \w+){1,3}:`) // "Saved recipes: ..."
	drafted   = regexp.MustCompile(`(?i)\b(?:i|we)(?:'ve|’ve| have)?(?: now| just)? drafted\b`)
	saved     = regexp.MustCompile(`(?i)(?:\b(?:i|we)(?:'ve|’ve| have)?(?: now| just| also)? |\b(?:is|are|was|were|has been|have been|been)(?: now| just| also| all)? |^\W*(?:(?:done|all set|great|ok(?:ay)?)\W+)?)(saved|deleted|removed|stored|scheduled|booked|marked|renamed|created|added|updated|changed)\b`)
)

// supports reports whether what a verb in lower case claims is true. For some verbs, a draft or a decision suffices.
func (d Done) supports(verb string) bool {
	switch verb {
	case "created", "added", "updated", "changed", "renamed", "removed", "marked", "scheduled":
		return d.Wrote || d.Drafted || d.Curated
	default:
		return d.Wrote
	}
}

// falseClaim returns the first sentence that claims something the turn did not do, "" for none. What the reply was told to
// ask is no claim of its own.
func (in *ReplyInput) falseClaim(text string) string {
	for _, sentence := range sentences.FindAllString(text, -1) {
		sentence = strings.TrimSpace(sentence)
		if strings.Contains(in.Ask, sentence) || heading.MatchString(sentence) || noClaim.MatchString(sentence) {
			continue
		}
		if in.Done.Undrafted && drafted.MatchString(sentence) {
			return sentence
		}
		for _, found := range saved.FindAllStringSubmatch(sentence, -1) {
			verb := strings.ToLower(found[1])
			isFact := isState.MatchString(found[0]) && in.Done.States[verb]
			if !isFact && !in.Done.supports(verb) {
				return sentence
			}
		}
	}

	return ""
}

func (d Done) words() string {
	switch {
	case d.Undrafted && !d.Wrote:
		return "nothing was drafted, saved, changed or deleted in this turn"
	case d.Undrafted:
		return "nothing was drafted in this turn"
	case d.Drafted:
		return "in this turn drafts were made and nothing was saved, changed or deleted"
	}

	return "nothing was saved, changed or deleted in this turn"
}
