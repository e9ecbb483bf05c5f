package offline

import (
	"cmp"
	"strings"

	"alfred/nodes"
)

// identity honestly answers who is speaking, abilities what it can do.
const (
	identity  = "I am Alfred's built-in offline model: a small set of English rules without a network, not a large language model."
	abilities = "I can list, show, search, add, change and delete what you keep here, draft and save new things, and plan."
	whichThen = "I do not know which one you mean. Could you name it?"
)

// sayings answer what needs no look at anything, and requests that lack something.
var sayings = map[verb]string{
	verbChange: whichThen, verbRevise: whichThen, verbRemove: whichThen, verbShow: whichThen, verbSchedule: whichThen,
	verbClear:    "We start afresh. Nothing that is saved was touched.",
	verbConfirm:  "There is nothing waiting for a yes. What shall I do?",
	verbDeny:     "All right, I leave it as it is.",
	verbForget:   "I have put that out of mind. Nothing was deleted; ask and I look again.",
	verbGreet:    "Hello! What can I do for you? " + abilities,
	verbIdentity: identity + " " + abilities,
	verbPending:  "Nothing is waiting: everything is saved.",
	verbRetain:   "I will keep that in mind.",
	verbSave:     "There is nothing unsaved to save.",
	verbThanks:   "You're welcome. What would you like to do next?",
}

// talk answers messages that needed no step.
func (s *scene) talk(c *command) string {
	drafts, about := labelsOf(s.drafts()), labelsOf(c.about.entities)
	switch {
	case c.verb == verbForget && c.kind != nil:
		return "I have put the " + c.kind.Plural + " out of mind. Nothing was deleted; ask and I look again."
	case c.verb == verbReject:
		return s.noted(c)
	case c.verb == verbPending && len(drafts) == 1:
		return "Not saved yet: " + drafts[0] + ". " + offerWords + "it?"
	case c.verb == verbPending && len(drafts) > 1:
		return "Not saved yet: " + list(drafts, "and") + ". " + offerWords + "them?"
	case c.verb == verbCancel:
		return `I do not delete anything on the word "cancel", and nothing here can be set to cancelled. If it shall go for good, say "delete ` + trimName(c.object) + `".`
	case c.verb == verbCompare:
		return "I cannot compare " + c.kind.Plural + " by that: nothing that I can see of them says it."
	case c.verb == verbSave && c.value != "" && len(drafts) > 0:
		return "I can save one draft under a new name. " + whichOne(s.drafts())
	case c.verb == verbChange && len(about) > 0:
		return "I do not understand what to change about " + strings.TrimRight(list(about, "and"), ".") + ". Nothing was changed."
	case wantsUndone(s.Message) != nil:
		return "I can take back what was saved, changed or deleted, but not what became of a draft. Say how it shall be, or discard it; \"undo turn 3\" takes back an earlier turn."
	default:
		return cmp.Or(sayings[c.verb], "That is beyond me. "+identity+" "+abilities)
	}
}

// noted acknowledges a rejection and names what it rules out.
func (s *scene) noted(c *command) string {
	text := "Noted: " + strings.Trim(c.text, ".! ")
	refs := mapped(s.Understood.Curation.Exclude, func(x nodes.Exclude) string { return x.Ref })
	if out := s.things(refs); len(out) > 0 {
		text += ". That rules out " + list(labelsOf(out), "and")
	}

	return text + "."
}
