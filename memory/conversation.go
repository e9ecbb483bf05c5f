package memory

import (
	"strings"

	"alfred/db"
)

// conversation is what was said: the last turns in full, those before them in
// few words. Think and every Act of a turn print exactly this.
func (t *turn) conversation() *section {
	s := newSection("## Conversation")
	t.talk(s, t.window(t.memory.config.FullDetailTurns), nil)
	t.earlierTalk(s, t.memory.config.FullDetailTurns)

	return s
}

// recentConversation is Understand's wider window, each turn with the refs it
// had to do with.
func (t *turn) recentConversation() *section {
	s := newSection("## Recent Conversation")
	t.talk(s, t.window(t.memory.config.UnderstandTurns), t.touched)
	t.earlierTalk(s, t.memory.config.UnderstandTurns)

	return s
}

// talk prints turns in full. Over budget the oldest replies give way to their
// summaries, then the oldest messages are cut.
func (t *turn) talk(s *section, turns []*db.TurnListPastRow, after func(*db.TurnListPastRow) string) {
	texts := make([]string, len(turns))
	total := 0
	for i, p := range turns {
		texts[i] = t.exchange(p, false)
		total += tokens(texts[i])
	}
	for i, p := range turns {
		if total <= t.memory.config.Budget.Conversation {
			break
		}
		short := t.exchange(p, true)
		total += tokens(short) - tokens(texts[i])
		texts[i] = short
	}
	for i, p := range turns {
		if i > 0 {
			s.line()
		}
		s.line(texts[i])
		s.because("window", "", int(p.Number), texts[i])
		if after == nil {
			continue
		}
		if refs := after(p); refs != "" {
			s.line(refs)
		}
	}
}

// shortMessage bounds a message that gave way, in characters.
const shortMessage = 300

// exchange is one turn as dialogue. Failed and cancelled turns have no reply.
func (t *turn) exchange(p *db.TurnListPastRow, short bool) string {
	message := block(t.withLabels(p.Message))
	if int(p.MessageBytes) > len(p.Message) {
		message += " … (cut, " + itoa(int(p.MessageBytes)) + " bytes in all)"
	}
	if short {
		message = clip(message, shortMessage)
	}
	line := "[Turn " + itoa(int(p.Number)) + "] User: " + message + "\n"
	switch p.Status {
	case db.TurnStatusFailed:
		return line + "Alfred (failed): " + inline(text(p.ErrorMessage), shortMessage)
	case db.TurnStatusCancelled:
		return line + "Alfred (cancelled):"
	default:
	}
	if short {
		return line + "Alfred: " + t.responseSummary(p)
	}

	return line + "Alfred: " + block(t.withLabels(p.Reply))
}

// verbatim is up to how many characters a reply is its own summary, cutReply to
// how many a longer one is cut where no model words it.
const (
	verbatim = 400
	cutReply = 300
)

// responseSummary is a reply in short. One that was worded after this turn began
// does not count yet: the turn would see two versions of the past.
func (t *turn) responseSummary(p *db.TurnListPastRow) string {
	if p.ResponseSummary == "" || p.SummaryIsLate {
		return shorten(t.withLabels(p.Reply))
	}

	return inline(t.withLabels(p.ResponseSummary), 2*verbatim)
}

// shorten is the summary of a reply without a model.
func shorten(reply string) string {
	reply = inline(reply, 0)
	if len([]rune(reply)) <= verbatim {
		return reply
	}

	return clip(reply, cutReply)
}

// earlierTalk is what came before the window: the compressed text, and one line
// for each turn that it does not cover yet.
func (t *turn) earlierTalk(s *section, window int) {
	older := t.older("conversation", window)
	lines := make([]string, 0, len(older))
	for _, p := range older {
		lines = append(lines, t.earlierLine(p))
	}
	t.earlierText(s, "conversation", older, lines)
}

func (t *turn) earlierLine(p *db.TurnListPastRow) string {
	line := "Turn " + itoa(int(p.Number)) + ": \"" + inline(t.withLabels(p.Message), shortLine) + "\" → "
	switch p.Status {
	case db.TurnStatusFailed, db.TurnStatusCancelled:
		return line + "(" + string(p.Status) + ")"
	default:
		return line + clip(t.responseSummary(p), shortLine)
	}
}

// shortLine bounds each side of one line of an older turn, in characters.
const shortLine = 200

// earlierText prints a compressed text and lines under ### Earlier. Over budget
// the oldest lines give way.
func (t *turn) earlierText(s *section, kind string, turns []*db.TurnListPastRow, lines []string) {
	budget := t.memory.config.Budget.Earlier
	covered := t.earlier[kind]
	var head string
	if covered != nil {
		head = clip(block(covered.Text), budget*runesPerToken)
		budget -= tokens(head)
	}
	from := len(lines)
	for from > 0 && tokens(lines[from-1]) <= budget {
		from--
		budget -= tokens(lines[from])
	}
	if head == "" && len(lines) == 0 {
		return
	}
	s.line()
	s.line("### Earlier")
	if head != "" {
		s.line(head)
		s.because("summary", "", int(covered.ToTurn), head)
	}
	s.shown(len(lines)-from, len(lines), " of the older turns; `recall` finds the others")
	for i := from; i < len(lines); i++ {
		s.line(lines[i])
		s.because("summary", "", int(turns[i].Number), lines[i])
	}
}

// withLabels shows mention tokens as "Label (ref)", and as the label alone where
// the row is none of this session's.
func (t *turn) withLabels(text string) string {
	return mentionPattern.ReplaceAllStringFunc(text, func(token string) string {
		parts := mentionPattern.FindStringSubmatch(token)
		for _, e := range t.entities {
			if e.EntityType == parts[2] && e.EntityID != nil && strings.EqualFold(*e.EntityID, parts[3]) {
				return parts[1] + " (" + e.Ref + ")"
			}
		}

		return parts[1]
	})
}

// touched lists the refs of a past turn for Understand.
func (t *turn) touched(p *db.TurnListPastRow) string {
	events := t.events[int(p.Number)]
	if len(events) == 0 {
		return ""
	}
	actions := map[string]string{}
	for _, event := range events {
		actions[event.Ref] = event.Action
	}
	var lines []string
	var run []*entity
	flush := func() {
		if len(run) > collapseOver {
			lines = append(lines, "- "+run[0].Ref+".."+run[len(run)-1].Ref+": ["+itoa(len(run))+" "+t.plural(run[0].EntityType)+"] ["+actions[run[0].Ref]+"]")
		} else {
			for _, e := range run {
				lines = append(lines, "- "+e.Ref+": "+e.label+" ["+actions[e.Ref]+"]"+t.risk(e))
			}
		}
		run = nil
	}
	for _, e := range t.byNumber() {
		action, here := actions[e.Ref]
		if !here {
			continue
		}
		if len(run) > 0 {
			last := run[len(run)-1]
			if last.stem() != e.stem() || e.number() != last.number()+1 || actions[last.Ref] != action || t.risk(last) != t.risk(e) {
				flush()
			}
		}
		run = append(run, e)
	}
	flush()
	if len(lines) == 0 {
		return ""
	}

	return "Entities this turn:\n" + strings.Join(lines, "\n")
}

// risk marks a stored ref that leaves the window after this turn.
func (t *turn) risk(e *entity) string {
	leaves := e.Tier == "recent" && t.number-int(e.TurnLastRef) == t.memory.config.RetentionWindow && e.ActiveReason == nil
	if !leaves {
		return ""
	}

	return " — not mentioned for " + itoa(t.memory.config.RetentionWindow) + " turns, at risk"
}
