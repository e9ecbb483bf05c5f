package offline

import (
	"regexp"
	"strings"
)

var (
	userLine      = regexp.MustCompile(`(?i)^\**(?:\[?turn \d+\]?[^:]*?\s+)?user(?: \([^)]*\))?\**\s*:\**\s*(.*)$`)
	assistantLine = regexp.MustCompile(`(?i)^\**(?:alfred|assistant|you|reply)(?: \([^)]*\))?\**\s*:\**\s*(.*)$`)
	refsLine      = regexp.MustCompile(`(?i)^\**entities this turn`)
)

// readTalk reads the conversation, oldest first, as it stands in the prompt.
func (f *facts) readTalk() {
	body := f.body("Recent Conversation")
	if body == "" {
		body = f.body("Conversation")
	}
	part := ""
	for line := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "###"):
			part = ""
		case userLine.MatchString(trimmed):
			f.talk = append(f.talk, exchange{user: userLine.FindStringSubmatch(trimmed)[1]})
			part = "user"
		case assistantLine.MatchString(trimmed) && len(f.talk) > 0:
			f.talk[len(f.talk)-1].assistant = assistantLine.FindStringSubmatch(trimmed)[1]
			part = "assistant"
		case refsLine.MatchString(trimmed):
			part = "refs"
			f.addTalk(part, trimmed)
		default:
			f.addTalk(part, line)
		}
	}
}

func (f *facts) addTalk(part, line string) {
	if len(f.talk) == 0 {
		return
	}
	last := &f.talk[len(f.talk)-1]
	switch part {
	case "user":
		last.user = strings.TrimSpace(last.user + "\n" + line)
	case "assistant":
		last.assistant = strings.TrimSpace(last.assistant + "\n" + line)
	case "refs":
		last.refs = append(last.refs, f.touchedRefs(line)...)
	}
}

var touchedLine = regexp.MustCompile(`^- ((?:gen_)?[a-z][a-z0-9_]*_\d+): (.+?) \[[a-z:_]+\](.*)$`)

// touchedRefs reads a line of "Entities this turn", which also tells labels and
// what is about to leave the view.
func (f *facts) touchedRefs(line string) []string {
	if m := rangeLine.FindStringSubmatch(line); m != nil {
		return rangeRefs(m)
	}
	m := touchedLine.FindStringSubmatch(line)
	if m == nil {
		return anyRef.FindAllString(line, -1)
	}
	if e := f.find(m[1]); e != nil {
		e.atRisk = e.atRisk || strings.Contains(m[3], "at risk")
		if e.label == "" {
			e.label = m[2]
		}
	}
	return []string{m[1]}
}

var meansLine = regexp.MustCompile(`^- "(.*)" means ((?:gen_)?[a-z][a-z0-9_]*_\d+)\b`)

// readMeanings takes over the references that were resolved in this turn.
func (f *facts) readMeanings() {
	f.means = map[string][]string{}
	_, now, ok := strings.Cut("\n"+f.body("What Happened"), "\n### This turn")
	if !ok {
		return
	}
	now, _, _ = strings.Cut(now, "\n### ")
	for line := range strings.SplitSeq(now, "\n") {
		if m := meansLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			f.means[clean(m[1])] = append(f.means[clean(m[1])], m[2])
		}
	}
}

var optionLine = regexp.MustCompile(`^(?:[-*]|\d+[.)])\s+(.*)$`)

// readQuestion reads the open question and its options.
func (f *facts) readQuestion() {
	body := f.body("Open Question")
	if body == "" {
		return
	}
	q := &question{}
	var text []string
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSpace(line)
		if m := kindLine.FindStringSubmatch(line); m != nil {
			q.kind = m[1]
		} else if m := optionLine.FindStringSubmatch(line); m != nil {
			q.options = append(q.options, readOption(m[1]))
		} else {
			text = append(text, line)
		}
	}
	q.text = strings.TrimSpace(strings.Join(text, "\n"))
	if strings.Contains(body, "Ask exactly this") {
		f.toAsk = q.whole()
		return
	}
	f.question = q
}

// whole is the question with the options that its text does not name.
func (q *question) whole() string {
	var text strings.Builder
	text.WriteString(q.text)
	for _, o := range q.options {
		if !strings.Contains(q.text, o.label) {
			text.WriteString("\n- " + o.label)
		}
	}
	return text.String()
}

var kindLine = regexp.MustCompile(`^Kind: ([a-z_]+)`)

// readOption reads "recipe_1: Butter Chicken", "Butter Chicken (recipe_1)" or a
// label alone.
func readOption(text string) option {
	o := option{label: text, ref: anyRef.FindString(text)}
	if o.ref != "" {
		o.label = strings.Trim(strings.NewReplacer("("+o.ref+")", "", "`", "", o.ref+":", "", o.ref, "").Replace(text), " -—:")
	}
	return o
}
