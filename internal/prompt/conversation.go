package prompt

import (
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
)

// conversation prints earlier turns in brief and the last ones in full, oldest first: from turn to turn it only grows at
// its end until older turns are compressed. It is identical in Think and in every Act of a turn.
func (t *page) conversation(s *section) {
	n := t.config.Full(t.Number - 1)
	t.earlierTalk(s, n)
	t.exchanges(s, t.Window(n), nil)
}

// recentConversation is Understand's wider window: each turn with the refs it touched.
func (t *page) recentConversation(s *section) {
	t.earlierTalk(s, t.config.UnderstandTurns)
	t.exchanges(s, t.Window(t.config.UnderstandTurns), t.refsOfTurn)
}

// exchanges prints turns in full. Over budget, the oldest replies are replaced by their summaries, then the oldest messages
// are cut.
func (t *page) exchanges(s *section, turns []*db.TurnListPastRow, after func(*db.TurnListPastRow) string) {
	texts := make([]string, len(turns))
	total := 0
	for i, p := range turns {
		texts[i] = t.exchange(p, false)
		total += clean.Tokens(texts[i])
	}
	for i, p := range turns {
		if total <= int(t.config.Budget.Conversation) {
			break
		}
		short := t.exchange(p, true)
		total += clean.Tokens(short) - clean.Tokens(texts[i])
		texts[i] = short
	}
	for i, p := range turns {
		if i > 0 {
			s.line()
		}
		s.item("window", "", int(p.Number), texts[i])
		if after == nil {
			continue
		}
		if refs := after(p); refs != "" {
			s.line(refs)
		}
	}
}

// shortMessage bounds a shortened message, in characters.
const shortMessage = 300

// cut shortens a text to a budget.
func cut(text string, budget Tokens) string {
	if runes := []rune(text); len(runes) > budget.runes() {
		return string(runes[:budget.runes()])
	}

	return text
}

// exchange prints one turn as dialogue. The reply of a failed or cancelled turn is written by code: why, and what stays.
func (t *page) exchange(p *db.TurnListPastRow, short bool) string {
	said, reply := cut(p.Message, t.config.Budget.Message), cut(p.Reply, t.config.Budget.Message)
	message := clean.Block(t.WithLabels(said))
	if int(p.MessageBytes) > len(said) {
		message += " … (cut, " + strconv.Itoa(int(p.MessageBytes)) + " bytes in all)"
	}
	if short {
		message = clean.Clip(message, shortMessage)
	}
	line := "[Turn " + strconv.Itoa(int(p.Number)) + t.onDay(p) + "] User: " + message + "\n"
	switch p.Status {
	case db.TurnStatusFailed:
		return line + "Alfred (failed): " + clean.Inline(clean.Text(p.ErrorMessage), shortMessage)
	case db.TurnStatusCancelled:
		return strings.TrimRight(line+"Alfred (cancelled): "+clean.Inline(p.Reply, shortMessage), " ")
	default:
	}
	if short {
		return line + "Alfred: " + t.ResponseSummary(p)
	}

	return line + "Alfred: " + clean.Block(t.WithLabels(reply))
}

// onDay says on which day a turn was, if not today: what "today" and "tomorrow" meant in it has moved.
func (t *page) onDay(p *db.TurnListPastRow) string {
	if was := day(p.FinishedAt.In(t.Began.Location())); was != day(t.Began) {
		return ", " + was
	}

	return ""
}

// earlierTalk prints what came before the window: the compressed text, and one line for each turn it does not cover
// yet.
func (t *page) earlierTalk(s *section, window int) {
	t.earlierText(s, "conversation", window, t.EarlierLine)
	if s.body.Len() > 0 {
		s.line()
		s.line("### Since then")
	}
}

// earlierText prints a compressed text, and a line for each turn before the window that it does not cover, under ###
// Earlier. Over budget, the oldest lines are dropped.
func (t *page) earlierText(s *section, kind string, window int, lineOf func(*db.TurnListPastRow) string) {
	turns := slices.DeleteFunc(slices.Clone(t.Older(kind, window)), func(p *db.TurnListPastRow) bool { return lineOf(p) == "" })
	lines := linesOf(turns, lineOf)
	left := t.config.Budget.Earlier
	covered := t.Earlier[kind]
	var head string
	if covered != nil {
		head = left.takeCut(clean.Block(covered.Text))
	}
	from := lastThatFit(lines, left)
	if head == "" && len(lines) == 0 {
		return
	}
	s.line()
	s.line("### Earlier")
	if head != "" {
		s.item("summary", "", int(covered.ToTurn), head)
	}
	s.shown(len(lines)-from, len(lines), " of the older turns; `recall` finds the others")
	for i := from; i < len(lines); i++ {
		s.item("summary", "", int(turns[i].Number), lines[i])
	}
}

func linesOf[T any](things []T, lineOf func(T) string) []string {
	lines := make([]string, len(things))
	for i, thing := range things {
		lines[i] = lineOf(thing)
	}

	return lines
}

// refsOfTurn lists the refs of a past turn for Understand.
func (t *page) refsOfTurn(p *db.TurnListPastRow) string {
	if refs := t.refLinesOfTurn(p); refs != "" {
		return "Entities this turn:\n" + refs
	}

	return ""
}

func (t *page) refLinesOfTurn(p *db.TurnListPastRow) string {
	events := t.Events[int(p.Number)]
	if len(events) == 0 {
		return ""
	}
	actions := map[string]string{}
	for _, event := range events {
		actions[event.Ref] = event.Action
	}
	here := slices.DeleteFunc(t.ByNumber(), func(e *view.Entity) bool { _, touched := actions[e.Ref]; return !touched })
	alike := func(a, b *view.Entity) bool { return actions[a.Ref] == actions[b.Ref] && t.risk(a) == t.risk(b) }
	var lines []string
	for _, run := range view.ConsecutiveRuns(here, alike) {
		if len(run) > collapseOver {
			lines = append(lines, t.rangeLine(run)+"["+actions[run[0].Ref]+"]")

			continue
		}
		for _, e := range run {
			lines = append(lines, "- "+e.Ref+": "+e.Label+" ["+actions[e.Ref]+"]"+t.riskAt(e, p))
		}
	}

	return strings.Join(lines, "\n")
}

// entitiesByTurn lists the refs that each of the last turns touched. Over budget, the oldest turns are dropped.
func (t *page) entitiesByTurn(s *section) {
	turns := t.Window(t.config.UnderstandTurns)
	texts := linesOf(turns, func(p *db.TurnListPastRow) string {
		refs := t.refLinesOfTurn(p)
		if refs == "" {
			return ""
		}

		return "Turn " + strconv.Itoa(int(p.Number)) + "\n" + refs
	})
	from := lastThatFit(texts, t.config.Budget.Entities)
	s.shown(len(turns)-from, len(turns), ", the newest")
	for i := from; i < len(turns); i++ {
		if texts[i] == "" {
			continue
		}
		s.item("window", "", int(turns[i].Number), texts[i])
	}
}

// riskAt is the mark of a ref where the last turn that touched it is listed: once is enough.
func (t *page) riskAt(e *view.Entity, p *db.TurnListPastRow) string {
	if e.TurnLastRef != p.Number {
		return ""
	}

	return t.risk(e)
}

// risk marks a stored ref that leaves the window after this turn.
func (t *page) risk(e *view.Entity) string {
	def := t.Domain.ByType(e.EntityType)
	leaves := e.Tier == "recent" && (def == nil || !def.Part) && t.Number-int(e.TurnLastRef) == t.config.RetentionWindow && e.ActiveReason == nil
	if !leaves {
		return ""
	}

	return " — not mentioned for " + strconv.Itoa(t.config.RetentionWindow) + " turns, at risk"
}
