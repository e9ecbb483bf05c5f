package offline

import (
	"regexp"
	"strings"
)

// outcome is what Reply is told of a turn.
type outcome struct {
	steps    []stepOutcome
	rows     []string // display lines of what this turn read or wrote
	question string   // what has to be asked
	problems []string // what failed, in the prompt's words
	pending  []string // names of drafts that wait to be saved
	dropped  string   // what the memory manager changed
}

type stepOutcome struct {
	kind, result, summary string
}

var (
	outcomeStep    = regexp.MustCompile(`(?i)^(?:#+\s*|[-*]\s+|\*\*)?step (\d+)(?: of \d+)?\b[^A-Za-z]*(.*)$`)
	outcomeWord    = regexp.MustCompile(`\b(ok|partial|empty|failed|skipped)\b`)
	outcomeText    = regexp.MustCompile(`(?i)^[-*\s]*\**(summary|outcome|result|conclusions?|note)\**\s*:\**\s*(.*)$`)
	outcomeAsk     = regexp.MustCompile(`(?i)^[-*\s]*\**(?:question|proposal|ask|questions|ask the user|has to be asked|clarify|propose)\**[^:]*:\**\s*(.*)$`)
	outcomeProblem = regexp.MustCompile(`(?i)^[-*\s]*\**(?:error|problem|failed|blocked|not done)\**[^:]*:\**\s*(.*)$`)
	outcomeLabel   = regexp.MustCompile(`(?i)^\**(?:goal|message|user|user message|request|intent|rows?|results?|outcome|decision|planned|plan|drafts?)\b[^:]*:`)
	pendingLine    = regexp.MustCompile(`(?i)(?:not (?:yet )?saved|unsaved|needs save|waiting to be saved|pending)`)
)

// readOutcome reads the execution results and the guidance.
func (f *facts) readOutcome() *outcome {
	o := &outcome{}
	for line := range strings.SplitSeq(f.body("Execution Results"), "\n") {
		o.readLine(strings.TrimSpace(line))
	}
	if o.question == "" && f.question != nil {
		o.question = f.question.text
	}
	o.pending = f.pendingNames()
	return o
}

func (o *outcome) readLine(line string) {
	if line == "" {
		return
	}
	if m := outcomeStep.FindStringSubmatch(line); m != nil {
		o.steps = append(o.steps, stepOutcome{kind: stepTypeWord.FindString(m[2]), result: outcomeWord.FindString(m[2]), summary: afterColon(m[2])})
		return
	}
	if m := outcomeText.FindStringSubmatch(line); m != nil && len(o.steps) > 0 {
		last := &o.steps[len(o.steps)-1]
		if last.result == "" {
			last.result = outcomeWord.FindString(m[2])
		}
		if last.summary == "" || strings.HasPrefix(strings.ToLower(m[1]), "conclusion") {
			last.summary = m[2]
		}
		return
	}
	if m := outcomeProblem.FindStringSubmatch(line); m != nil {
		o.problems = append(o.problems, m[1])
		return
	}
	if m := outcomeAsk.FindStringSubmatch(line); m != nil && m[1] != "" {
		o.question = m[1]
		return
	}
	if m := optionLine.FindStringSubmatch(line); m != nil && !outcomeLabel.MatchString(m[1]) {
		o.rows = append(o.rows, m[1])
	}
}

// afterColon is a step's summary at the end of its line.
func afterColon(text string) string {
	for _, sep := range []string{" — ", ": ", " - "} {
		if i := strings.LastIndex(text, sep); i >= 0 {
			return strings.TrimSpace(text[i+len(sep):])
		}
	}
	return ""
}

// pendingNames are the drafts that the prompt says are not saved.
func (f *facts) pendingNames() []string {
	var out []string
	for _, e := range f.pending() {
		out = append(out, e.label)
	}
	return out
}
