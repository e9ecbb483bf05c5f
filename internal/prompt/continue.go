package prompt

import (
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

// goOn lets a prompt continue a conversation. The prompt stays complete in itself if the conversation would be too long
// or say something that no longer holds.
func (t *page) goOn(f *nodes.Frame, round *nodes.Round) {
	if round == nil || t.config.Alone {
		return
	}
	var told strings.Builder
	for _, m := range round.Messages {
		told.WriteString("\n" + m.Content + "\n")
	}
	alone := nodes.RenderBlocks(f.Blocks)
	news, ok := t.news(f, told.String())
	if !ok || withdrawn(alone, told.String()) {
		return
	}
	results := t.returnedTo(round)
	results[len(results)-1] = strings.TrimSpace(results[len(results)-1] + "\n\n" + nodes.RenderBlocks(news))
	total := round.Tokens()
	for _, result := range results {
		total += clean.Tokens(result)
	}
	if total <= maxConversation*clean.Tokens(alone) {
		f.Round, f.Results = round, results
	}
}

// news is what the blocks say and a conversation has not said. It reports false if the conversation says something that
// no longer holds.
func (t *page) news(f *nodes.Frame, told string) ([]nodes.Block, bool) {
	body := map[string]string{}
	for _, block := range f.Blocks {
		for _, s := range block.Sections {
			body[block.Tag+s.Heading] = strings.TrimSpace(s.Body)
		}
	}
	var news []nodes.Block
	rows := strings.Split(body["data_to_analyze## Active Entities (Full Data)"], "\n")
	for _, rule := range rulesOf(vocab.NodeAct) {
		title := rule.title(t.config)
		now := body[rule.tag+title]
		var more []string
		switch rule.told {
		case toldWhole:
			if !stands(told, title, now) {
				return nil, false
			}
		case toldByLine:
			if lost(now, told) {
				return nil, false
			}
			more = untold(now, told)
		case toldByTable:
			more = untoldTables(now, told)
		case toldByResults:
		}
		if rule.tag == "entity_context" && rule.heading != headJustSaved { // the data does not say that a draft has been saved
			more = withoutRows(more, rows)
		}
		if len(more) > 0 {
			news = withSection(news, rule.tag, nodes.Section{Heading: title, Body: strings.Join(more, "\n")})
		}
	}

	return news, true
}

// withdrawn reports whether a draft that the conversation shows as unsaved appears nowhere any more.
func withdrawn(now, told string) bool {
	for line := range strings.SplitSeq(told, "\n") {
		key, rest, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(key, "- gen_") && strings.Contains(rest, needsSave) && !strings.Contains(now, "\n"+key+": ") {
			return true
		}
	}

	return false
}

// stands reports whether the conversation shows a section as it is now.
func stands(told, title, body string) bool {
	if body == "" {
		return !strings.Contains(told, "\n"+title+"\n")
	}

	return strings.Contains(told, "\n"+title+"\n"+body+"\n\n") || strings.Contains(told, "\n"+title+"\n"+body+"\n</")
}

// unit is a piece of a section that is shown as a whole: a line, or a row's or draft's lines.
type unit struct {
	text string
	head bool // stands above other units, and is shown with them
}

// units divides a section. Lines that continue a list's entry or a row's details belong to it.
func units(body string) []unit {
	var all []unit
	details := false
	for line := range strings.SplitSeq(body, "\n") {
		switch last := len(all) - 1; {
		case isHead(line):
			all, details = append(all, unit{line, true}), false
		case strings.HasPrefix(line, "### "):
			all, details = append(all, unit{text: line}), true
		case details && !strings.HasPrefix(line, "("), last >= 0 && strings.HasPrefix(all[last].text, "- ") && strings.HasPrefix(line, "{"):
			all[last].text += "\n" + line
		case strings.TrimSpace(line) != "":
			all, details = append(all, unit{text: line}), false
		}
	}
	for i := range all {
		all[i].text = strings.TrimSpace(all[i].text)
	}

	return all
}

func isHead(line string) bool {
	return strings.HasPrefix(line, tableHead) || strings.HasPrefix(line, tableRule) ||
		slices.Contains([]string{headLoaded, headPart, headUnloaded, headGone, noteSummary}, line)
}

// untold returns the lines of a section that the conversation has not shown, or has shown differently since.
func untold(body, told string) []string {
	var lines, heads []string
	fresh := true // the heads above have a line below them already
	for _, u := range units(body) {
		if u.head {
			if fresh {
				heads, fresh = nil, false
			}
			heads = append(heads, u.text)

			continue
		}
		fresh = true
		if isTold(u.text, told) {
			continue
		}
		if !strings.HasPrefix(u.text, "### ") { // a row's details stand below the table
			lines, heads = append(lines, heads...), nil
		}
		lines = append(lines, u.text)
	}

	return lines
}

// untoldTables returns the described tables that the conversation has not shown. Its list of tables that may only be
// read is never repeated.
func untoldTables(body, told string) []string {
	return slices.DeleteFunc(strings.Split(body, "\n\n"), func(table string) bool {
		return table == "" || strings.HasPrefix(table, readBesides) || strings.Contains(told, "\n"+table+"\n")
	})
}

// isTold reports whether the conversation shows a text, and nothing newer about its row or draft.
func isTold(text, told string) bool {
	key := ""
	switch first, _, _ := strings.Cut(text, "\n"); {
	case strings.HasPrefix(text, "### "):
		key = first + "\n"
	case strings.HasPrefix(text, "| "):
		key, _, _ = strings.Cut(text, " | ")
		key += " | "
	case strings.HasPrefix(text, "- gen_"):
		key, _, _ = strings.Cut(text, ": ")
		key += ": "
	}
	if key == "" {
		return strings.Contains(told, "\n"+text+"\n")
	}
	at := strings.LastIndex(told, "\n"+key)
	if at < 0 {
		return false
	}
	rest, same := strings.CutPrefix(told[at:], "\n"+text+"\n")

	return same && !goesOn(key, rest)
}

// goesOn reports whether the conversation's text about a row or draft continues after the text that was found in it: a
// list that has lost its last entries begins as it did.
func goesOn(key, rest string) bool {
	switch {
	case strings.HasPrefix(key, "### "):
		return rest != "" && !strings.ContainsRune("\n#(<", rune(rest[0]))
	case strings.HasPrefix(key, "- "):
		return strings.HasPrefix(rest, "{")
	default:
		return false
	}
}

// lost reports whether a section shows a row without details although the conversation has shown some: they are gone,
// or no longer fit.
func lost(body, told string) bool {
	for line := range strings.SplitSeq(body, "\n") {
		ref, isRow := strings.CutPrefix(line, "| ")
		ref, _, _ = strings.Cut(ref, " | ")
		if head := "\n### " + ref + "\n"; isRow && strings.Contains(told, head) && !strings.Contains(body, head) {
			return true
		}
	}

	return false
}

// withoutRows leaves out the lines of refs whose rows stand in the data, by themselves or below their parent: names are
// told once.
func withoutRows(lines, rows []string) []string {
	var kept []string
	for _, line := range lines {
		ref, _, isRef := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		ref, _, _ = strings.Cut(ref, "..")
		shown := func(row string) bool {
			return strings.HasPrefix(row, "| "+ref+" | ") || strings.HasSuffix(row, " id:"+ref)
		}
		if !isRef || !strings.HasPrefix(line, "- ") || !slices.ContainsFunc(rows, shown) {
			kept = append(kept, line)
		}
	}
	for len(kept) > 0 && isHead(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}

	return kept
}

// returnedTo returns the result of each call of an answer, whichever tool it called.
func (t *page) returnedTo(round *nodes.Round) []string {
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
			results, mine = append(results, t.clipped(t.returned(mine[0]))), mine[1:]
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
	for _, acted := range t.ActedOn(t.step.Step) {
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
