package offline

import (
	"fmt"
	"strings"
)

// identity is the honest answer to who is speaking.
const identity = "I am Alfred's built-in offline model: a small set of rules without a network, not a large language model. I can list, show, search, add, change and delete what you keep here, " +
	"draft and save new things, plan, and look back at what we said."

// reply words the outcome of a turn. It adds nothing to what the prompt says.
func (m *model) reply(f *facts) string {
	c, answers := f.interpret()
	o := f.readOutcome()
	if o.question != "" {
		return o.question
	}
	text := f.talkReply(c, answers, o)
	if text == "" {
		text = f.outcomeReply(c, o)
	}
	return f.offerSave(c, o, text)
}

// talkReply answers what needs no step.
func (f *facts) talkReply(c *command, answers bool, o *outcome) string {
	if len(o.steps) > 0 || len(o.rows) > 0 {
		return ""
	}
	switch c.verb {
	case verbClear:
		return "We start afresh. Nothing that is saved was touched."
	case verbForget:
		return f.forgetReply(c)
	case verbGreet:
		return "You're welcome. What would you like to do next?"
	case verbIdentity:
		return identity
	case verbPending:
		if len(o.pending) == 0 {
			return "Nothing is waiting: everything is saved."
		}
		return "Not saved yet: " + joinList(o.pending) + "."
	case verbReject:
		return "Noted: no " + joinList(c.rejected()) + when(c.text) + "."
	case verbRetain:
		return "I will keep that in mind."
	case verbLast:
		return f.lastReply()
	case verbDeny:
		if answers || f.question == nil {
			return "All right, I leave it as it is."
		}
	case verbSave:
		return "There is nothing unsaved to save."
	case verbRevise, verbChange, verbRemove, verbShow:
		return "I do not know which one you mean. Could you name it?"
	default:
	}
	return ""
}

func when(text string) string {
	for _, p := range []string{"this week", "next week", "today", "tonight", "tomorrow"} {
		if strings.Contains(strings.ToLower(text), p) {
			return " " + p
		}
	}
	return ""
}

func (f *facts) forgetReply(c *command) string {
	if c.entity != nil {
		return "I have put the " + plural(c.entity) + " out of mind. Nothing was deleted; ask and I look again."
	}
	return "Forgotten. Nothing that is saved was deleted."
}

// lastReply repeats what the last turn did, as it was told.
func (f *facts) lastReply() string {
	if n := len(f.talk); n > 0 && f.talk[n-1].assistant != "" {
		return "Last I said: " + sentences(f.talk[n-1].assistant, summaryLength)
	}
	return "Nothing was done yet in this conversation."
}

// outcomeReply says what the steps did.
func (f *facts) outcomeReply(c *command, o *outcome) string {
	var parts []string
	for _, p := range o.problems {
		parts = append(parts, "That did not work: "+strings.TrimRight(p, ".")+".")
	}
	failed := f.failedSteps(o)
	parts = append(parts, failed...)
	switch {
	case len(failed)+len(o.problems) > 0 && len(o.rows) == 0:
	case reads(c.verb):
		parts = append(parts, f.rowsReply(c, o))
	default:
		parts = append(parts, f.doneReply(o)...)
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if text == "" {
		return "I am an offline, rule-based model and cannot answer that. " + strings.TrimPrefix(identity, "I am Alfred's built-in offline model: a small set of rules without a network, not a large language model. ")
	}
	return text
}

func reads(v verb) bool {
	switch v {
	case verbList, verbShow, verbSearch, verbPending, verbRecall:
		return true
	default:
		return false
	}
}

func (f *facts) failedSteps(o *outcome) []string {
	var out []string
	for _, s := range o.steps {
		switch s.result {
		case "failed":
			out = append(out, "That did not work: "+strings.TrimRight(orElse(s.summary, "a step failed"), ".")+".")
		case "partial":
			out = append(out, "This is only partly done: "+strings.TrimRight(orElse(s.summary, "a step stopped early"), ".")+".")
		default:
		}
	}
	return out
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// rowsReply lists what was found.
func (f *facts) rowsReply(c *command, o *outcome) string {
	if len(o.rows) == 0 {
		if text := f.conclusions(o); text != "" {
			return text
		}
		return f.nothing(c)
	}
	if len(o.rows) == 1 {
		return o.rows[0]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", capitalize(f.heading(c, len(o.rows))))
	for i, r := range o.rows {
		fmt.Fprintf(&b, "\n%d. %s", i+1, r)
	}
	return b.String()
}

func (f *facts) heading(c *command, n int) string {
	if c.verb == verbPending {
		return "not saved yet"
	}
	if c.entity != nil && len(c.also) == 0 {
		return fmt.Sprintf("%d %s", n, plural(c.entity))
	}
	return fmt.Sprintf("I found %d", n)
}

// nothing says that there are no rows, in the declaration's words for a list
// without conditions.
func (f *facts) nothing(c *command) string {
	switch {
	case c.verb == verbPending:
		return "Nothing is waiting: everything is saved."
	case c.verb == verbRecall:
		return "I found nothing about that in what we said."
	case c.entity != nil && c.object == "" && len(f.valueFilters(c.values, c.entity)) == 0 && c.entity.Empty != "":
		return c.entity.Empty
	case c.entity != nil && c.object != "":
		return fmt.Sprintf("I found no %s for %s.", plural(c.entity), trimName(c.object))
	case c.entity != nil:
		return "I found no " + plural(c.entity) + " there."
	}
	return "I found nothing."
}

func (f *facts) conclusions(o *outcome) string {
	var parts []string
	for _, s := range o.steps {
		if s.kind == "analyze" && s.summary != "" {
			parts = append(parts, s.summary)
		}
	}
	return strings.Join(parts, "\n")
}

// doneReply repeats what writing, drafting and analysing steps report.
func (f *facts) doneReply(o *outcome) []string {
	var out []string
	for _, s := range o.steps {
		if s.summary != "" && s.kind != "read" && s.result != "failed" && s.result != "partial" && s.result != "skipped" {
			out = append(out, s.summary)
		}
	}
	return out
}

// offerSave closes with one offer when a draft was just made or shown.
func (f *facts) offerSave(c *command, o *outcome, text string) string {
	switch c.verb {
	case verbDraft, verbRevise, verbPlan, verbPending:
	default:
		return text
	}
	if len(o.pending) == 0 && (c.verb == verbPending || len(o.steps) == 0) || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "\nIt is not saved yet. Shall I save it?"
}
