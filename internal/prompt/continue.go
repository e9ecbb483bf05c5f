package prompt

import (
	"maps"
	"slices"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Within a step, Act's calls are one conversation. Each begins with all of the one before, so that providers have it in
// their caches, and adds what the calls returned and what has changed. It also adds whatever else a prompt that is
// complete in itself would show and the conversation has not shown yet, so a decision can rely on the same facts either
// way.

// maxConversation is how many times as long as a complete prompt a conversation may be before that prompt replaces it.
const maxConversation = 2

// continueRound lets a prompt continue a conversation. The prompt stays complete in itself if the conversation would be too long
// or say something that no longer holds.
func (t *page) continueRound(f *nodes.Frame, round *nodes.Round) {
	if round == nil {
		return
	}
	var told strings.Builder
	for _, m := range round.Messages {
		told.WriteString("\n" + m.Content + "\n")
	}
	alone := nodes.RenderBlocks(f.Blocks)
	news, ok := t.news(told.String())
	if !ok || hasLostDraft(alone, told.String()) {
		return
	}
	results := t.resultsFor(round)
	results[len(results)-1] = strings.TrimSpace(results[len(results)-1] + "\n\n" + nodes.RenderBlocks(news))
	total := round.Tokens()
	for _, result := range results {
		total += clean.Tokens(result)
	}
	if total <= maxConversation*clean.Tokens(alone) {
		f.Round, f.Results = round, results
	}
}

// news is what the sections say and a conversation has not said. It reports false if the conversation says something
// that no longer holds.
func (t *page) news(told string) (news []nodes.Block, holds bool) {
	rows := t.rowsInFull()
	for _, s := range t.sections {
		var more []string
		switch s.told {
		case toldWhole:
			if !s.isShown(told) {
				return nil, false
			}
		case toldByLine:
			if s.hasLostDetails(told) {
				return nil, false
			}
			more = s.unseen(told, rows)
		case toldByResults:
		}
		if len(more) > 0 {
			news = withSection(news, s.tag, nodes.Section{Heading: s.heading, Body: strings.Join(more, "\n")})
		}
	}

	return news, true
}

// rowsInFull are the refs whose rows stand in the data, by themselves or below their parent.
func (t *page) rowsInFull() map[string]bool {
	refs := map[string]bool{}
	for _, s := range t.sections {
		for _, u := range s.units {
			switch {
			case strings.HasPrefix(u.key, rowMark):
				refs[u.ref] = true
			case strings.HasPrefix(u.key, detailMark):
				for _, ref := range slices.Concat(slices.Collect(maps.Values(t.Rows.ByRef[u.ref].Children))...) {
					refs[ref] = true
				}
			}
		}
	}

	return refs
}

// hasLostDraft reports whether a draft that the conversation shows as unsaved appears nowhere any more.
func hasLostDraft(now, told string) bool {
	for line := range strings.SplitSeq(told, "\n") {
		key, rest, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(key, "- gen_") && strings.Contains(rest, needsSave) && !strings.Contains(now, "\n"+key+": ") {
			return true
		}
	}

	return false
}

// isShown reports whether the conversation shows a section as it is now.
func (s *section) isShown(told string) bool {
	title := "\n" + s.heading + "\n"
	if s.text == "" {
		return !strings.Contains(told, title)
	}
	body := title + strings.TrimSpace(s.text)

	return strings.Contains(told, body+"\n\n") || strings.Contains(told, body+"\n</")
}

// unseen returns what a section shows and the conversation has not shown, or has shown differently since. Heads follow only
// with what stands below them. Lists leave out entities whose rows stand in the data: names are told once. That a draft has
// been saved, the data does not say.
func (s *section) unseen(told string, rows map[string]bool) []string {
	isList := s.tag == "entity_context" && s.rule.heading != headJustSaved
	var lines, heads []string
	end, begun := 0, true // begun: the heads have a line below them already
	for _, u := range s.units {
		u.text = strings.TrimSpace(s.normalized(u.text))
		switch {
		case u.text == "":
			continue
		case u.head && begun:
			heads, begun = []string{u.text}, false
			continue
		case u.head:
			heads = append(heads, u.text)
			continue
		}
		begun = true
		if u.isSeen(told) {
			continue
		}
		if !strings.HasPrefix(u.key, detailMark) { // a row's details stand below the table
			lines, heads = append(lines, heads...), nil
		}
		if !isList || !rows[u.ref] {
			lines = append(lines, u.text)
			end = len(lines)
		}
	}

	return lines[:end]
}

// isSeen reports whether the conversation shows a unit, and nothing newer about its row or draft.
func (u *unit) isSeen(told string) bool {
	if u.key == "" {
		return strings.Contains(told, "\n"+u.text+"\n")
	}
	at := strings.LastIndex(told, "\n"+u.key)
	if at < 0 {
		return false
	}
	rest, same := strings.CutPrefix(told[at:], "\n"+u.text+"\n")

	return same && !u.continuesIn(rest)
}

// continuesIn reports whether the conversation's text about a row or draft continues after the text that was found in it: a
// list that has lost its last entries begins as it did.
func (u *unit) continuesIn(rest string) bool {
	switch {
	case strings.HasPrefix(u.key, detailMark):
		return rest != "" && !strings.ContainsRune("\n#(<", rune(rest[0]))
	case strings.HasPrefix(u.key, rowMark):
		return false
	default:
		return strings.HasPrefix(rest, "{")
	}
}

// hasLostDetails reports whether a section shows a row without details although the conversation has shown some: they are gone,
// or no longer fit.
func (s *section) hasLostDetails(told string) bool {
	return slices.ContainsFunc(s.units, func(row unit) bool {
		key := detailMark + row.ref + "\n"
		detailed := func(u unit) bool { return u.key == key }

		return strings.HasPrefix(row.key, rowMark) && strings.Contains(told, "\n"+key) && !slices.ContainsFunc(s.units, detailed)
	})
}

// resultsFor returns the result of each call of an answer, whichever tool it called.
func (t *page) resultsFor(round *nodes.Round) []string {
	mine, made := t.lastResults()
	results := make([]string, 0, len(round.Answer.ToolCalls))
	for _, call := range round.Answer.ToolCalls {
		switch {
		case call.Name == vocab.ToolRequestSchema:
			results = append(results, "Its columns stand below.")
		case slices.Contains(vocab.EveryStep, call.Name):
			results = append(results, "The step goes on.")
		case len(mine) == 0 || made == 0: // so are the calls for later steps
			results = append(results, "Not carried out.")
		default:
			made--
			results, mine = append(results, t.clipped(t.resultWords(mine[0]))), mine[1:]
		}
	}
	last := &results[len(results)-1]
	for _, besides := range mine { // what code has read on its own
		*last += "\n" + t.clipped(t.calledTool(besides))
	}

	return results
}

func (t *page) clipped(line string) string {
	return clean.Weekdays(t.config.Budget.Results.clip(line))
}

// lastResults are the results of the step's last decision, in the order of its calls, and how many of these there were.
func (t *page) lastResults() (results []*view.Result, calls int) {
	before, last := 0, 0
	for _, acted := range t.ActsOf(t.step.Step) {
		before, last, calls = before+last, len(acted.Results), len(acted.Calls)
	}
	var own []*view.Result
	for _, r := range t.Results {
		if r.TurnID == t.Turn.ID && r.Step == t.step.Step {
			own = append(own, r)
		}
	}

	return own[min(before, len(own)):min(before+last, len(own))], calls
}
