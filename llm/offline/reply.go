package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
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
		parts = append(parts, f.deeds(c, o)...)
		parts = append(parts, f.draftsReply(o)...)
		parts = append(parts, f.found(o)...)
		if c.verb == verbRecall {
			parts = append(parts, o.recalled())
		}
		parts = append(parts, f.summaries(o, parts)...)
	}
	if len(o.discarded) > 0 {
		noun := "draft "
		if len(o.discarded) > 1 {
			noun = "drafts "
		}
		parts = append(parts, "Dropped the "+noun+joinList(o.discarded)+".")
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

// deeds say what was written, in one sentence a type; of a change the step tells
// what is different now.
func (f *facts) deeds(c *command, o *outcome) []string {
	var out []string
	for _, g := range o.groups {
		if len(g.rows) == 0 || g.deed == "Found" {
			continue
		}
		e := f.lex.typeIn(g.of)
		said := o.written()
		switch {
		case g.deed == "Changed" && len(said) > 0, e != nil && single(e) && len(said) > 0:
			if !slices.Contains(out, said[0]) {
				out = append(out, said...)
			}
		case e == nil || !f.lex.isChild(e):
			out = append(out, f.deed(c, g, e))
		}
	}
	return out
}

// written are the summaries of the steps that changed rows, in their own words:
// a step that code carried out has none.
func (o *outcome) written() []string {
	var out []string
	for _, s := range o.steps {
		if s.kind == "write" && s.result == "ok" && s.summary != "" && !ranByCode.MatchString(s.summary) {
			out = append(out, s.summary)
		}
	}
	return out
}

// deed is the sentence for the rows of one type.
func (f *facts) deed(c *command, g group, e *domain.Entity) string {
	schedule, _, _ := f.lex.schedule()
	var rows []string
	for _, r := range g.rows {
		name, _ := splitFacts(e, firstLine(r))
		rows = append(rows, plainLine(name))
	}
	what := strings.TrimPrefix(g.of, "1 ")
	switch {
	case g.deed == "Saved" && e != nil && e == schedule:
		return sentence("Planned", rows)
	case g.deed == "Saved" && (c.verb == verbAdd || c.verb == verbNote) && len(rows) == 1:
		return sentence("Added "+article(what)+" "+what+":", rows)
	case g.deed == "Saved" && c.verb == verbAdd:
		return sentence("Added "+what+":", rows)
	case g.deed == "Changed":
		return sentence("Updated", rows)
	}
	return sentence(g.deed, rows)
}

// sentence joins a few rows to one sentence and lists more.
func sentence(lead string, rows []string) string {
	if len(rows) > maxInSentence {
		return fmt.Sprintf("%s:\n%s", strings.TrimSuffix(lead, ":"), numbered(rows))
	}
	return lead + " " + joinList(rows) + "."
}

const maxInSentence = 3

func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an"
	}
	return "a"
}

// found tells what was read, unless it only served to draft, to write or to
// conclude something.
func (f *facts) found(o *outcome) []string {
	if o.wrote || o.did("generate") || len(o.conclusions()) > 0 {
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
		kind := f.lex.typeIn(g.of)
		switch {
		case g.deed != "Found" || len(g.rows) == 0, o.isDraft(g):
		case len(g.rows) == 1 && kind != nil:
			out = append(out, f.tell(f.rowCard(kind, g.rows[0]), ""))
		default:
			var rows []string
			for _, r := range g.rows {
				rows = append(rows, f.headline(kind, r))
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
		var line []string
		if turn := asText(row["turn"]); turn != "" {
			line = append(line, "Turn "+turn+":")
		}
		for _, key := range []string{"message", "reply", "label", "text"} {
			if v := asText(row[key]); v != "" {
				line = append(line, map[string]string{"message": "you said", "reply": "I answered"}[key], quoted(v))
			}
		}
		if len(line) > 0 {
			lines = append(lines, "- "+strings.Join(strings.Fields(strings.Join(line, " ")), " "))
		}
	}
	if len(lines) == 0 {
		return "I found nothing about that in what we said."
	}
	return "This is what I found:\n" + strings.Join(lines, "\n")
}

func quoted(text string) string { return `"` + clip(text, lineLength) + `"` }

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
	gap := "\n"
	if strings.Contains(text, "\n\n") {
		gap = "\n\n"
	}
	about := o.did("generate") || c.verb == verbPending || len(o.drafts) > 0 && c.verb != verbForget && !o.wrote
	if len(o.unsaved) == 0 || !about || strings.HasSuffix(text, "?") {
		return text
	}
	switch {
	case c.verb == verbPending && len(o.unsaved) == 1:
		return text + " Shall I save it?"
	case c.verb == verbPending:
		return text + " Shall I save them?"
	case len(o.unsaved) == 1:
		return text + gap + "It is not saved yet. Shall I save it?"
	}
	return text + gap + "Not saved yet: " + joinList(o.unsaved) + ". Shall I save them?"
}
