package offline

import (
	"cmp"
	"slices"
	"strings"

	"alfred/nodes"
)

// identity honestly answers who is speaking, abilities what it can do.
const (
	identity  = "I am Alfred's built-in offline model: a small set of English rules without a network, not a large language model."
	abilities = "I can list, show, search, add, change and delete what you keep here, draft and save new things, and plan."
)

// sayings answer what needs no look at anything.
var sayings = map[verb]string{
	verbClear:    "We start afresh. Nothing that is saved was touched.",
	verbConfirm:  "There is nothing waiting for a yes. What shall I do?",
	verbDeny:     "All right, I leave it as it is.",
	verbGreet:    "Hello! What can I do for you? " + abilities,
	verbIdentity: identity + " " + abilities,
	verbRetain:   "I will keep that in mind.",
	verbThanks:   "You're welcome. What would you like to do next?",
}

// talk answers messages that needed no step.
func (s *scene) talk(c *command) string {
	switch c.verb {
	case verbForget:
		if c.kind != nil {
			return "I have put the " + c.kind.Plural + " out of mind. Nothing was deleted; ask and I look again."
		}

		return "Forgotten. Nothing that is saved was deleted."
	case verbReject:
		return s.rejected(c)
	case verbPending:
		if len(s.drafts()) == 0 {
			return "Nothing is waiting: everything is saved."
		}

		return "Not saved yet: " + list(labelsOf(s.drafts()), "and") + ". " + offerWords + map[bool]string{true: "it?", false: "them?"}[len(s.drafts()) == 1]
	case verbCancel:
		return `I do not delete anything on the word "cancel", and nothing here can be set to cancelled. If it shall go for good, say "delete ` + trimName(c.object) + `".`
	case verbCompare:
		return "I cannot compare " + c.kind.Plural + " by that: nothing that I can see of them says it."
	default:
		return cmp.Or(sayings[c.verb], s.lost(c))
	}
}

// lost says what a command lacks for which there was no step.
func (s *scene) lost(c *command) string {
	about := c.about.entities
	switch {
	case c.verb == verbSave && c.value != "" && len(s.drafts()) > 0:
		return "I can save one draft under a new name. Which one do you mean: " + orList(labelsOf(s.drafts())) + "?"
	case c.verb == verbSave:
		return "There is nothing unsaved to save."
	case c.verb == verbChange && len(about) > 0:
		return "I do not understand what to change about " + strings.TrimRight(list(labelsOf(about), "and"), ".") + ". Nothing was changed."
	case slices.Contains([]verb{verbChange, verbRevise, verbRemove, verbShow, verbSchedule}, c.verb):
		return "I do not know which one you mean. Could you name it?"
	case wantsUndone(c.text) != nil:
		return "I can take back what was saved, changed or deleted, but not what became of a draft. Say how it shall be, or discard it; \"undo turn 3\" takes back an earlier turn."
	default:
		return "That is beyond me. " + identity + " " + abilities
	}
}

// rejected acknowledges a rejection and names what it rules out.
func (s *scene) rejected(c *command) string {
	text := "Noted: no " + list(c.rejected(), "and")
	for _, p := range []string{"this week", "next week", "today", "tonight", "tomorrow"} {
		if within(c.text, p) {
			text += " " + p
		}
	}
	refs := mapped(s.Understood.Curation.Exclude, func(x nodes.Exclude) string { return x.Ref })
	if out := s.these(refs); len(out) > 0 {
		text += ". That rules out " + list(labelsOf(out), "and")
	}

	return text + "."
}
