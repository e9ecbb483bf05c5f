package prompt

import (
	"strconv"

	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
)

// thisExchange is the turn's own dialogue.
func (t *page) thisExchange(s *section) {
	s.line("[Turn ", strconv.Itoa(t.Number), "] User: ", t.message())
	s.line("Alfred: ", clean.Clip(clean.Block(t.WithLabels(clean.Text(t.Turn.Reply))), 4*t.config.Budget.Message*clean.RunesPerToken))
	s.because("current", "", t.Number, s.body.String())
}

// turnFacts are what the turn did, with the refs it touched.
func (t *page) turnFacts(s *section) {
	if goal := clean.Inline(clean.Text(t.Turn.Goal), say.MaxFact); goal != "" {
		s.line("Goal: ", goal)
	}
	s.line("Outcome: ", t.Outcome())
	for _, step := range t.Steps {
		s.line("- ", clean.Inline(step.Description, say.MaxFact), " (", string(step.StepType), "): ", say.OutcomeWords(step))
	}
	t.thisTurn(s)
	t.written(s, "")
	if refs := t.RefWords(view.RefsOf(t.OwnResults())); refs != "" {
		s.line("Refs touched: ", refs)
	}
	var drafts []string
	for _, e := range t.Tier("generated") {
		drafts = append(drafts, e.Ref+": "+e.Label)
		s.because("generated", e.Ref, int(e.TurnCreated), e.Label)
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", enumerate(drafts))
	}
	s.because("current", "", t.Number, s.body.String())
}

// conversationRange is what was said in a range, with the text so far.
func (t *page) conversationRange(s *section) {
	t.talk(s, t.Past, nil)
	t.covered(s, "conversation")
}

// narrativeRange is what was done in a range, with the text so far.
func (t *page) narrativeRange(s *section) {
	for _, p := range t.Past {
		t.pastTurn(s, p, false)
	}
	t.covered(s, "narrative")
}

func (t *page) covered(s *section, kind string) {
	if covered := t.Earlier[kind]; covered != nil {
		s.line()
		s.line("### Earlier")
		s.line(clean.Block(covered.Text))
		s.because("summary", "", int(covered.ToTurn), covered.Text)
	}
}
