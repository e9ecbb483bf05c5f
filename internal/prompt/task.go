package prompt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// day prints a date with its weekday, computed here because models get weekdays wrong.
func day(at time.Time) string { return at.Format("2006-01-02 (Monday)") }

const (
	nextDays  = 7
	maxInSpan = 31 // the most days listed for one constraint
)

// today prints the user's date and time, the coming week, and the days that constraints name.
func (t *page) today() string {
	const form = "Mon 2006-01-02"
	days := make([]string, nextDays)
	for i := range days {
		days[i] = t.Began.AddDate(0, 0, i+1).Format(form)
	}
	text := "Today: " + day(t.Began) + ", " + t.clock() + "\nNext days: " + strings.Join(days, ", ")
	var named []string
	for _, c := range t.Constraints {
		for _, at := range spanOf(c.Value) {
			if one := at.Format(form); !slices.Contains(days, one) && !slices.Contains(named, one) {
				named = append(named, one)
			}
		}
	}
	if len(named) > 0 {
		text += "\nDays of the constraints: " + strings.Join(named, ", ")
	}

	return text
}

// clock tells the time at which the turn began, and what a time without an offset means.
func (t *page) clock() string {
	zone := t.Began.Location()
	if zone == time.UTC {
		return t.Began.Format("15:04 UTC")
	}

	return t.Began.Format("15:04 in ") + zone.String() + t.Began.Format(" (-07:00)") + ". Rows show local times; write local times, without an offset."
}

// spanOf returns the days from the first to the last date in a constraint's value.
func spanOf(value json.RawMessage) []time.Time {
	from, err := time.Parse(time.DateOnly, gjson.GetBytes(value, "from").Str)
	to, toErr := time.Parse(time.DateOnly, gjson.GetBytes(value, "to").Str)
	if err != nil || toErr != nil {
		return nil
	}
	var days []time.Time
	for ; !from.After(to) && len(days) < maxInSpan; from = from.AddDate(0, 0, 1) {
		days = append(days, from)
	}

	return days
}

// currentMessage prints the user's message for Understand.
func (t *page) currentMessage(s *section) {
	message := t.message()
	s.line(message)
	s.line()
	t.notices(s)
	s.line(t.today())
	s.addItem("current", "", t.Number, message)
}

// message is the user's, whole: a text to be saved would be saved as far as it is shown.
func (t *page) message() string { return clean.Block(t.WithLabels(t.Turn.Message)) }

// currentTask prints what Think plans for.
func (t *page) currentTask(s *section) {
	message := t.message()
	s.line(`User says: "`, message, `"`)
	t.notices(s)
	s.line(t.today())
	s.line("Mode: ", strings.ToUpper(t.Turn.Mode), " (max ", strconv.Itoa(t.config.MaxSteps[t.Turn.Mode]), " steps)")
	if t.Understood().Intent != "" {
		s.line("Intent: ", clean.Inline(t.Understood().Intent, say.ShortLine))
	}
	t.replan(s)
	s.addItem("current", "", t.Number, message)
}

// replan says why the previous plan was abandoned.
func (t *page) replan(s *section) {
	if !t.Replanned() {
		return
	}
	s.line("The plan so far did not work out. Plan the rest; what is done is done:")
	for _, step := range t.Steps {
		s.line("- Step ", strconv.Itoa(int(step.Step)), " (", string(step.StepType), ", ", clean.Inline(step.Subdomain, say.ShortLine), ") ",
			clean.Inline(step.Description, say.MaxFact), ": ", say.OutcomeWords(step))
	}
	if details := t.BlockReason(); details != "" {
		s.line("Blocked: ", details)
	}
}

// openQuestion prints the question that is waiting for an answer, or that this message answered.
func (t *page) openQuestion(s *section) {
	q, payload := t.Question, t.AnyQuestion()
	if payload == nil || q.TurnID == t.Turn.ID {
		return
	}
	head := "Kind: " + q.Kind + ", asked in turn " + strconv.Itoa(int(q.AskedTurn))
	if q.AnsweredByTurn != nil {
		head += ", answered by the current message"
	}
	s.line(head)
	t.questionLines(s, payload)
	if q.Kind == vocab.AskApprove && q.AnsweredByTurn == nil {
		s.line(afterAnswer(q.Payload))
	}
	clicked := t.ClickedOption(q.ID)
	for _, option := range payload.ForModels().Options {
		if clicked != "" && option.ID == clicked {
			s.line("The user clicked: ", t.OptionWords(option))
		}
	}
	s.addItem("question", "", int(q.AskedTurn), s.body.String())
}

// afterAnswer says what follows the answer to a question for approval. A no to it is none to what waited for it, which
// was dropped without a word.
func afterAnswer(payload json.RawMessage) string {
	var waits []string
	for _, step := range gjson.GetBytes(payload, "rest.#.description").Array() {
		waits = append(waits, clean.Inline(step.Str, say.MaxFact))
	}
	if len(waits) == 0 {
		return "After a plain yes code does this: `confirm` needs no plan."
	}

	return "After a plain yes code does this, then what waits for it (" + strings.Join(waits, "; ") + "): `confirm` needs no plan. After a no, what waits is planned, if it is still wanted."
}

// questionLines prints a question and its options.
func (t *page) questionLines(s *section, payload *view.QuestionPayload) {
	asked := payload.ForModels()
	s.line(clean.Block(t.WithLabels(asked.Text)))
	for _, option := range asked.Options {
		s.line("- ", t.OptionWords(option))
	}
}

// constraintsInForce lists the user's constraints, in the user's words and with the exact value.
func (t *page) constraintsInForce(s *section) {
	lines := linesOf(t.Constraints, t.constraintLine)
	from := lastThatFit(lines, t.config.Budget.Constraints)
	s.shown(len(lines)-from, len(lines), ", the newest")
	for i := from; i < len(lines); i++ {
		s.item("constraint", "", int(t.Constraints[i].SourceTurn), lines[i])
	}
}

func (t *page) constraintLine(c *db.ConstraintListInForceRow) string {
	line := "- " + clean.Inline(c.Text, say.MaxFact) + " [" + c.Kind
	if value := strings.TrimSpace(string(c.Value)); value != "" && value != "null" {
		line += ": " + clean.Clip(clean.Content(c.Value), say.ShortLine)
	}
	line += "]"
	if c.Scope == "lasting" {
		line += " (lasting)"
	} else {
		line += " (since turn " + strconv.Itoa(int(c.SourceTurn)) + ")"
	}
	if c.ExpiresAt != nil {
		line += " until " + day(c.ExpiresAt.Add(-time.Second).In(t.Began.Location())) // the last day it holds; it ends at midnight
	}

	return line
}
