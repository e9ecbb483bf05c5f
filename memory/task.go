package memory

import (
	"encoding/json"
	"strings"
	"time"

	"alfred/db"
	"alfred/nodes"
)

// day is a date with its weekday, computed here because models get weekdays wrong.
func day(at time.Time) string { return at.Format("2006-01-02 (Monday)") }

// today is the user's day and the week from it.
func (t *turn) today() string {
	days := make([]string, 6)
	for i := range days {
		days[i] = t.now.AddDate(0, 0, i+1).Format("Mon 2006-01-02")
	}

	return "Today: " + day(t.now) + "\nNext days: " + strings.Join(days, ", ")
}

// currentMessage is what the user wrote, for Understand.
func (t *turn) currentMessage() *section {
	s := newSection("## Current Message")
	message := t.message()
	s.line(message)
	s.line()
	t.notices(s)
	s.line(t.today())
	s.because("current", "", t.number, message)

	return s
}

func (t *turn) message() string {
	return clip(block(t.withLabels(t.row.Message)), 4*t.memory.config.Budget.Message*runesPerToken)
}

// currentTask is what Think plans for.
func (t *turn) currentTask() *section {
	s := newSection("## Current Task")
	message := t.message()
	s.line(`User says: "`, message, `"`)
	t.notices(s)
	s.line(t.today())
	s.line("Mode: ", strings.ToUpper(t.mode), " (max ", itoa(t.memory.config.MaxSteps[t.mode]), " steps)")
	if t.understood.Intent != "" {
		s.line("Intent: ", inline(t.understood.Intent, shortLine))
	}
	if t.writeAllowed() {
		s.line("Write steps: allowed, the user asked for it")
	} else {
		s.line("Write steps: not allowed, the user has not asked to save, change or delete anything; propose instead")
	}
	t.replan(s)
	s.because("current", "", t.number, message)

	return s
}

// replan says what came of the plan that was given up.
func (t *turn) replan(s *section) {
	if !t.replanned() {
		return
	}
	s.line("The plan so far did not work out. Plan the rest; what is done is done:")
	for _, step := range t.steps {
		s.line("- Step ", itoa(int(step.Step)), " (", string(step.StepType), ", ", inline(step.Subdomain, shortLine), ") ",
			inline(step.Description, maxFact), ": ", outcomeWords(step))
	}
	if details := t.blockedBy(); details != "" {
		s.line("Blocked: ", details)
	}
}

// replanned says whether a plan of this turn was given up.
func (t *turn) replanned() bool {
	for _, step := range t.steps {
		if step.Outcome != nil && (*step.Outcome == db.StepOutcomeSkipped || *step.Outcome == db.StepOutcomeFailed) {
			return true
		}
	}

	return false
}

func outcomeWords(step *db.TurnSteps) string {
	outcome := "open"
	if step.Outcome != nil {
		outcome = string(*step.Outcome)
	}
	if summary := inline(text(step.Summary), maxFact); summary != "" {
		outcome += ". " + summary
	}

	return outcome
}

// blockedBy is why the newest step that gave up did so.
func (t *turn) blockedBy() string {
	details := ""
	for _, run := range t.runs {
		var output nodes.ActOutput
		if run.Node == "act" && json.Unmarshal(run.Output, &output) == nil && output.Blocked != nil {
			details = inline(output.Blocked.Code+": "+output.Blocked.Details, maxFact)
		}
	}

	return details
}

// writeAllowed is the permission to write: the user asked for it in this
// message, said yes to a proposal, or answered a question that stood in the way
// of a write that was asked for.
func (t *turn) writeAllowed() bool {
	u := &t.understood
	if u.Intent == "write" {
		return true
	}
	if t.question == nil || !u.AnswersQuestion {
		return false
	}
	switch t.question.Kind {
	case "propose", "approve":
		return u.Intent == "confirm"
	default:
		return (u.Intent == "confirm" || u.Intent == "answer") && t.question.AskedIntent == "write"
	}
}

// openQuestion is what the assistant waits for, or what this message answered.
func (t *turn) openQuestion() *section {
	s := newSection("## Open Question")
	q := t.question
	if q == nil || q.TurnID == t.row.ID {
		return s
	}
	var payload questionPayload
	if err := json.Unmarshal(q.Payload, &payload); err != nil {
		return s
	}
	head := "Kind: " + q.Kind + ", asked in turn " + itoa(int(q.AskedTurn))
	if q.AnsweredByTurn != nil {
		head += ", answered by the current message"
	}
	s.line(head)
	s.line(block(t.withLabels(payload.Text)))
	for _, option := range payload.Options {
		s.line("- ", t.optionWords(option))
	}
	s.because("question", "", int(q.AskedTurn), s.body.String())

	return s
}

// questionPayload is what every question's payload has.
type questionPayload struct {
	Text    string           `json:"text"`
	Options []questionOption `json:"options"`
}

type questionOption struct {
	Label string `json:"label"`
	Ref   string `json:"ref"`
}

func (t *turn) optionWords(option questionOption) string {
	label := inline(option.Label, maxLabel)
	e := t.byRef[option.Ref]
	switch {
	case e == nil:
		return label
	case label == "" || label == e.Ref:
		return e.label + " (" + e.Ref + ")"
	default:
		return label + " (" + e.Ref + ")"
	}
}

// constraintsInForce are what the user asked to hold, in the user's words and
// with the exact value.
func (t *turn) constraintsInForce() *section {
	s := newSection("## Constraints")
	budget := t.memory.config.Budget.Constraints
	from := len(t.constraints)
	for from > 0 && budget >= 0 {
		if budget -= tokens(t.constraintLine(t.constraints[from-1])); budget >= 0 {
			from--
		}
	}
	s.shown(len(t.constraints)-from, len(t.constraints), ", the newest")
	for _, c := range t.constraints[from:] {
		line := t.constraintLine(c)
		s.line(line)
		s.because("constraint", "", int(c.SourceTurn), line)
	}

	return s
}

func (t *turn) constraintLine(c *db.ConstraintListInForceRow) string {
	line := "- " + inline(c.Text, maxFact) + " [" + c.Kind
	if value := strings.TrimSpace(string(c.Value)); value != "" && value != "null" {
		line += ": " + clip(draftText(c.Value), shortLine)
	}
	line += "]"
	if c.Scope == "lasting" {
		line += " (lasting)"
	} else {
		line += " (since turn " + itoa(int(c.SourceTurn)) + ")"
	}
	if c.ExpiresAt != nil {
		line += " until " + day(c.ExpiresAt.Add(-time.Second).In(t.location)) // the last day it holds on; it ends at midnight
	}

	return line
}
