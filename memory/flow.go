package memory

import (
	"slices"

	"alfred/db"
)

// lastReplied is the newest past turn with a reply, or nil.
func (t *turn) lastReplied() *db.TurnListPastRow {
	for _, p := range slices.Backward(t.past) {
		if p.Status == db.TurnStatusSucceeded {
			return p
		}
	}

	return nil
}

// conversationFlow is where the conversation stands, so that a reply goes on
// with it and does not begin it anew.
func (t *turn) conversationFlow() *section {
	s := newSection("## Conversation Flow")
	last := t.lastReplied()
	if last == nil {
		s.line("This is the first exchange of the conversation.")

		return s
	}
	s.line("This is turn ", itoa(t.number), " of a conversation. Phase: ", orWord(last.ConversationPhase, "exploring"), ". Tone: ", orWord(last.Tone, "collaborative"), ".")
	s.line("Last exchange:")
	s.line("- User: ", quote(t.withLabels(last.Message), shortMessage))
	if said := inline(t.withLabels(last.WhatUserExpressed), maxFact); said != "" && !last.SummaryIsLate {
		s.line("- The user wanted: ", said)
	}
	s.line("- You: ", t.responseSummary(last))
	if next := inline(last.NaturalNext, maxFact); next != "" && !last.SummaryIsLate {
		s.line("- Expected next: ", next)
	}
	s.line("This exchange:")
	s.line("- User: ", quote(t.withLabels(t.row.Message), shortMessage))
	s.because("summary", "", int(last.Number), s.body.String())

	return s
}

// replyGuidance says how to go on. It begins with the second turn.
func (t *turn) replyGuidance() *section {
	s := newSection("## Reply Guidance")
	if last := t.lastReplied(); last != nil {
		s.line("- You are in the middle of a conversation: no greeting, no introduction.")
		if summary := inline(t.understood.CurationSummary, maxFact); summary != "" {
			s.line("- Acknowledge briefly: ", summary)
		} else {
			s.line("- Take up briefly what the user just said.")
		}
	}
	if labels := t.excludedNow(); len(labels) > 0 {
		s.line("- Excluded as the user wished: ", enumerate(labels), ". Name it, so that the user sees it was heard.")
	}
	if len(t.tier("generated")) > 0 && t.asked() == nil {
		s.line("- Drafts are waiting: offer once to save them.")
	}
	if t.question != nil && t.question.TurnID != t.row.ID && t.question.Status == "open" {
		s.line("- A question of yours is still open; do not press for the answer.")
	}
	if s.body.Len() > 0 {
		s.because("current", "", t.number, s.body.String())
	}

	return s
}

// excludedNow are the labels of what this turn excluded.
func (t *turn) excludedNow() []string {
	out := map[string]bool{}
	for _, d := range t.decided() {
		for _, ref := range d.refs {
			out[ref] = out[ref] || d.thisTurn && d.action == "exclude"
		}
	}
	var labels []string
	for _, e := range t.byNumber() {
		if out[e.Ref] {
			labels = append(labels, e.label)
		}
	}

	return labels
}
