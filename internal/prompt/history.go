package prompt

import (
	"strconv"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
)

// thisExchange is the turn's own dialogue.
func (t *page) thisExchange(s *section) {
	s.line("[Turn ", strconv.Itoa(t.Number), "] User: ", t.message())
	s.line("Alfred: ", (4 * t.config.Budget.Message).clip(clean.Block(t.WithLabels(clean.Text(t.Turn.Reply)))))
	s.addItem("current", "", t.Number, s.body.String())
}

// turnFacts are what the turn did, with the refs it touched.
func (t *page) turnFacts(s *section) {
	t.goal(s)
	s.line("Outcome: ", t.Outcome())
	for _, step := range t.Steps {
		s.line(outcomeLine(step))
	}
	t.thisTurn(s)
	t.writtenLines(s, "")
	if refs := t.RefWords(view.RefsOf(t.OwnResults())); refs != "" {
		s.line("Refs touched: ", refs)
	}
	var drafts []string
	for _, e := range t.Tier("generated") {
		drafts = append(drafts, e.Ref+": "+e.Label)
		s.addItem("generated", e.Ref, int(e.TurnCreated), e.Label)
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", say.Enumerate(drafts))
	}
	s.addItem("current", "", t.Number, s.body.String())
}

// conversationRange prints what was said in a range of turns: in full where no compressed text covers them yet,
// otherwise a line each.
func (t *page) conversationRange(s *section) {
	t.exchanges(s, t.Older("conversation", 0), nil)
	t.covered(s, "conversation", t.EarlierLine)
}

// narrativeRange prints what was done in a range of turns in the same way.
func (t *page) narrativeRange(s *section) {
	for _, p := range t.Older("narrative", 0) {
		t.pastTurn(s, p, false)
	}
	t.covered(s, "narrative", earlierGoal) // the rest of the lines stands under Conversation
}

// covered lists the turns that a compressed text already covers, rebuilt from rows: compressing compressed text loses a
// little each time. The text itself is used only for turns that do not fit.
func (t *page) covered(s *section, kind string, line func(*db.TurnListPastRow) string) {
	covered := t.Earlier[kind]
	if covered == nil {
		return
	}
	older := t.Past[:len(t.Past)-len(t.Older(kind, 0))]
	lines := linesOf(older, line)
	from := lastThatFit(lines, t.config.Budget.Conversation/2)
	s.line()
	s.line("### Earlier")
	if from > 0 || len(older) > 0 && older[0].Number > 1 {
		s.line(clean.Block(covered.Text))
		s.addItem("summary", "", int(covered.ToTurn), covered.Text)
	}
	for i := from; i < len(older); i++ {
		if lines[i] != "" {
			s.item("window", "", int(older[i].Number), lines[i])
		}
	}
}

// earlierGoal is what a turn was for, "" if its message says it.
func earlierGoal(p *db.TurnListPastRow) string {
	if p.Goal == "" {
		return ""
	}

	return "Turn " + strconv.Itoa(int(p.Number)) + ": " + clean.Inline(p.Goal, say.MaxFact)
}
