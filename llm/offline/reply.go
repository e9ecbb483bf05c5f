package offline

import (
	"fmt"
	"regexp"
	"strings"
)

// identity is the honest answer to who is speaking.
const identity = "I am Alfred's built-in offline model: a small set of rules without a network, not a large language model."

// abilities is what it can do instead.
const abilities = "I can list, show, search, add, change and delete what you keep here, draft and save new things, plan, and look back at what we said."

// reply words the outcome of a turn. It adds nothing to what the prompt says.
func (m *model) reply(f *facts) string {
	o := f.readOutcome()
	if o.question != "" {
		return o.question
	}
	c := f.command(f.message)
	var parts []string
	if o.idle() {
		parts = append(parts, f.talkReply(c, o))
	} else {
		parts = append(parts, o.problems()...)
		parts = append(parts, o.conclusions()...)
		parts = append(parts, f.deeds(o)...)
		parts = append(parts, f.draftsReply(o)...)
		parts = append(parts, o.found()...)
		if c.verb == verbRecall {
			parts = append(parts, o.recalled())
		}
		parts = append(parts, f.summaries(o, parts)...)
	}
	if len(o.discarded) > 0 {
		parts = append(parts, "Dropped the draft "+joinList(o.discarded)+".")
	}
	return f.offerSave(c, o, strings.TrimSpace(strings.Join(parts, "\n")))
}

// problems say what did not work, before anything else.
func (o *outcome) problems() []string {
	var out []string
	for _, s := range o.steps {
		why := strings.TrimRight(orElse(s.summary, o.blocked), ".")
		switch s.result {
		case "failed":
			out = append(out, "That did not work: "+orElse(why, "the step failed")+".")
		case "partial":
			out = append(out, "This is only partly done: "+orElse(why, "the step stopped early")+".")
		case "skipped":
			out = append(out, "One further step was not carried out.")
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

func (o *outcome) conclusions() []string {
	var out []string
	for _, s := range o.steps {
		if s.conclusions != "" {
			out = append(out, s.conclusions)
		}
	}
	return out
}

// pastDeeds are the words for what was done, by the prompt's.
var pastDeeds = map[string]string{"Saved": "Saved", "Changed": "Updated", "Deleted": "Deleted"}

// deeds say what was written, row by row.
func (f *facts) deeds(o *outcome) []string {
	var out []string
	for _, g := range o.groups {
		word, wrote := pastDeeds[g.deed]
		if !wrote {
			continue
		}
		if e := f.lex.typeIn(g.of); e != nil && single(e) && len(o.steps) > 0 {
			out = append(out, o.steps[len(o.steps)-1].summary) // such a row has no name; what was noted says more
			continue
		}
		var rows []string
		for _, r := range g.rows {
			name, _ := splitFacts(firstLine(r))
			rows = append(rows, name)
		}
		if len(rows) == 1 {
			out = append(out, word+": "+rows[0]+".")
		} else {
			out = append(out, word+" "+g.of+":\n"+numbered(rows))
		}
	}
	return out
}

// found lists what was read, unless it only served to draft or to write.
func (o *outcome) found() []string {
	if o.wrote || o.did("generate") {
		return nil
	}
	var out []string
	for _, n := range o.none {
		if strings.HasPrefix(n, "no ") {
			n = "I found " + n + "."
		}
		out = append(out, n)
	}
	for _, g := range o.groups {
		switch {
		case g.deed != "Found", o.isDraft(g):
		case len(g.rows) == 1:
			out = append(out, inFull(g.rows[0]))
		default:
			var rows []string
			for _, r := range g.rows {
				rows = append(rows, headline(r))
			}
			out = append(out, capitalize(g.of)+":\n"+numbered(rows))
		}
	}
	return out
}

// isDraft reports whether a group is a draft that is shown in full anyway.
func (o *outcome) isDraft(g group) bool {
	for _, d := range o.drafts {
		if len(g.rows) == 1 && strings.HasPrefix(g.rows[0], d.label) {
			return true
		}
	}
	return false
}

// summaries are what the steps say of themselves, for want of anything better.
func (f *facts) summaries(o *outcome, said []string) []string {
	if len(said) > 0 {
		return nil
	}
	var out []string
	for _, s := range o.steps {
		if s.summary != "" && (s.kind != "read" || len(o.steps) == 1) {
			out = append(out, f.plainSummary(s.summary))
		}
	}
	if len(out) == 0 {
		out = append(out, "There was nothing to do.")
	}
	return out
}

var ranByCode = regexp.MustCompile(`^db_(create|update|delete) ([a-z]+): (\d+) rows?$`)

// plainSummary words the summary of a step that code carried out.
func (f *facts) plainSummary(text string) string {
	m := ranByCode.FindStringSubmatch(text)
	if m == nil || f.lex.byType(m[2]) == nil {
		return text
	}
	e := f.lex.byType(m[2])
	name := plural(e)
	if m[3] == "1" {
		name = e.Name
	}
	return map[string]string{"create": "Saved", "update": "Updated", "delete": "Deleted"}[m[1]] + " " + m[3] + " " + name + "."
}

// recalled words what a search of the past has found.
func (o *outcome) recalled() string {
	var lines []string
	for _, row := range o.computed {
		line := ""
		if turn := asText(row["turn"]); turn != "" {
			line = "Turn " + turn + ": "
		}
		for _, key := range []string{"message", "reply", "label", "text"} {
			if v := asText(row[key]); v != "" {
				line += map[string]string{"message": "you said", "reply": "I answered"}[key] + " " + quoted(v) + " "
			}
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, "- "+line)
		}
	}
	if len(lines) == 0 {
		return "I found nothing about that in what we said."
	}
	return "This is what I found:\n" + strings.Join(lines, "\n")
}

func quoted(text string) string { return `"` + clip(text, lineLength) + `"` }

var columnFact = regexp.MustCompile(`(^| )([a-z]+(?:_[a-z]+)*):(\S)`)

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// maxFacts is how many facts a line of a list has room for.
const maxFacts = 3

// headline is a row on one line, its further facts in brackets and in words.
func headline(row string) string {
	name, facts := splitFacts(firstLine(row))
	if len(facts) == 0 || len(facts) > maxFacts {
		return name
	}
	return name + " (" + strings.Join(facts, "; ") + ")"
}

// splitFacts parts a display line from the "column:value" facts behind it.
func splitFacts(line string) (name string, facts []string) {
	locs := columnFact.FindAllStringSubmatchIndex(line, -1)
	if len(locs) == 0 {
		return line, nil
	}
	name = strings.TrimSpace(line[:locs[0][0]])
	for i, loc := range locs {
		end := len(line)
		if i+1 < len(locs) {
			end = locs[i+1][0]
		}
		facts = append(facts, strings.ReplaceAll(line[loc[4]:loc[5]], "_", " ")+" "+strings.TrimSpace(line[loc[6]:end]))
	}
	return name, facts
}

// inFull is a row with every fact on a line of its own and its long texts below.
func inFull(row string) string {
	line, below, _ := strings.Cut(row, "\n")
	name, facts := splitFacts(line)
	out := []string{name}
	for _, fact := range facts {
		if !strings.Contains(fact, " names ") { // the parts stand below, with their amounts
			out = append(out, "- "+fact)
		}
	}
	for line := range strings.SplitSeq(below, "\n") {
		line = strings.TrimPrefix(line, "  ")
		if label, ok := strings.CutSuffix(line, ":"); ok {
			line = capitalize(strings.ReplaceAll(label, "_", " ")) + ":"
		}
		if part, ok := strings.CutPrefix(line, "- "); ok {
			name, _ := splitFacts(part)
			line = "- " + name
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func numbered(rows []string) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d. %s", i+1, r)
	}
	return b.String()
}

// offerSave closes with one offer when the turn was about drafts.
func (f *facts) offerSave(c *command, o *outcome, text string) string {
	about := o.did("generate") || c.verb == verbPending || len(o.drafts) > 0 && c.verb != verbForget && !o.wrote
	if len(o.unsaved) == 0 || !about || strings.HasSuffix(text, "?") {
		return text
	}
	if len(o.unsaved) == 1 {
		return text + "\nIt is not saved yet. Shall I save it?"
	}
	return text + "\nThey are not saved yet. Shall I save them?"
}
