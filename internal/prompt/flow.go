package prompt

import (
	"cmp"
	"strconv"

	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
)

// conversationFlow tells the reply where the conversation stands, so that it continues instead of starting anew.
func (t *page) conversationFlow(s *section) {
	s.line(t.today())
	last := t.LastReplied()
	if last == nil {
		s.line("This is the first exchange of the conversation.")

		return
	}
	s.line("This is turn ", strconv.Itoa(t.Number), " of a conversation. Phase: ", cmp.Or(last.ConversationPhase, "exploring"), ". Tone: ", cmp.Or(last.Tone, "collaborative"), ".")
	s.line("Last exchange:")
	s.line("- User: ", clean.Quote(t.WithLabels(last.Message), shortMessage))
	if said := clean.Inline(t.WithLabels(last.WhatUserExpressed), say.MaxFact); said != "" && !last.SummaryIsLate && said != clean.Inline(t.WithLabels(last.Message), say.MaxFact) {
		s.line("- The user wanted: ", said)
	}
	s.line("- You: ", clean.Clip(t.ResponseSummary(last), say.ShortLine)) // the whole reply stands in the conversation
	s.line("This exchange:")
	s.line("- User: ", clean.Quote(t.WithLabels(t.Turn.Message), shortMessage))
	s.addItem("summary", "", int(last.Number), s.body.String())
}

// replyGuidance says how to continue. It appears from the second turn on.
func (t *page) replyGuidance(s *section) {
	if last := t.LastReplied(); last != nil {
		s.line("- In mid-conversation: no greeting, no introduction.")
		if heard := t.noted(); heard != "" {
			s.line("- Acknowledge briefly: ", heard)
		} else {
			s.line("- Take up briefly what the user just said.")
		}
		if next := clean.Inline(last.NaturalNext, say.MaxFact); next != "" && !last.SummaryIsLate {
			s.line("- Expected after the last turn: ", next)
		}
	}
	if labels := t.ExcludedNow(); len(labels) > 0 {
		s.line("- Excluded as the user wished: ", say.Enumerate(labels), ". Name it, so that the user sees it was heard.")
	}
	if labels := t.ForgottenNow(); len(labels) > 0 {
		s.line("- Out of the conversation as the user wished, nothing of it deleted: ", say.Enumerate(labels), ".")
	}
	offers := len(t.DraftedNow()) > 0 && t.QuestionToAsk() == nil
	if offers {
		s.line("- Drafts are waiting: name them and offer once to save them.")
	}
	if left := t.viableEntities(); len(left) > 0 {
		s.line("- Not excluded, still to choose from: ", say.Enumerate(view.Labels(left)), ".")
	}
	if t.Question != nil && t.Question.TurnID != t.Turn.ID && t.Question.Status == "open" && !offers { // an offer takes its place
		s.line("- A question of yours is still open; do not press for the answer.")
	}
	if s.body.Len() > 0 {
		s.addItem("current", "", t.Number, s.body.String())
	}
}

// noted is what Understand noted, if the user said it: what only stays in view or leaves it is nothing to tell people.
func (t *page) noted() string {
	out := t.Understood()
	if c := out.Curation; !c.ClearAll && len(c.Exclude)+len(c.Forget)+len(out.Constraints) == 0 {
		return ""
	}

	return clean.Inline(out.CurationSummary, say.MaxFact)
}
