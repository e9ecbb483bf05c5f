package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// executionResults prints the facts of the turn that a reply may state: what was asked, how each step ended, the rows,
// what is saved and what is not.
func (t *page) executionResults(s *section) {
	request := clean.Inline(t.WithLabels(t.Turn.Message), 4*say.MaxFact)
	s.line(`Request: "`, request, `"`)
	s.addItem("current", "", t.Number, request)
	t.goal(s)
	s.line("Outcome: ", t.Outcome())
	for _, step := range t.Steps {
		if !t.mended(step) {
			s.line(outcomeLine(step))
		}
		if conclusions := clean.Block(clean.Text(step.Conclusions)); conclusions != "" {
			s.line("  Conclusions: ", conclusions)
		}
		s.addItem("current", "", t.Number, clean.Text(step.Summary))
	}
	if details := t.BlockReason(); details != "" {
		s.line("Blocked: ", details)
	}
	t.notices(s)
	t.resultRows(s)
	t.saveStatus(s)
	t.draftsMentioned(s)
}

func (t *page) goal(s *section) {
	if goal := clean.Inline(clean.Text(t.Turn.Goal), say.MaxFact); goal != "" {
		s.line("Goal: ", goal)
	}
}

// mended reports whether a step did nothing that another has not made up for: who words the reply would apologize for it.
func (t *page) mended(step *db.TurnSteps) bool {
	return !view.Is(step.Outcome, db.StepOutcomePartial) && t.IsMadeUpFor(step)
}

func outcomeLine(step *db.TurnSteps) string {
	return "- " + clean.Inline(step.Description, say.MaxFact) + " (" + string(step.StepType) + "): " + say.OutcomeWords(step)
}

// notices says which of the user's changes and mentions could not be found.
func (t *page) notices(s *section) {
	for _, notice := range t.noticeTexts() {
		s.line("Note: ", notice)
	}
}

func (t *page) noticeTexts() []string {
	var texts []string
	for _, r := range t.OwnResults() {
		if r.IsNotice() {
			texts = append(texts, clean.Inline(clean.Text(r.ErrorMessage), say.MaxFact))
		}
	}

	return texts
}

// questionToAsk prints the question that the reply has to ask.
func (t *page) questionToAsk(s *section) {
	payload := t.QuestionToAsk()
	if payload == nil {
		return
	}
	s.line("Kind: ", t.Question.Kind, ". Ask exactly this:")
	t.questionLines(s, payload)
	s.addItem("question", "", t.Number, payload.Text)
}

func (t *page) resultRows(s *section) {
	left, nested := t.config.Budget.Results, t.NestedRefs()
	var before *view.Result
	for _, d := range t.Effects() {
		operates := t.Domain.Operation(d.Result.Tool) != nil
		if operates && d.Result != before {
			s.line("Carried out: ", strings.ReplaceAll(d.Result.Tool, "_", " "), ". ", notice(d.Result)) // what the owner's function returned, which no row shows
		}
		before = d.Result
		switch {
		case d.Result.Tool == vocab.ToolUndo: // its step says what was deleted, brought back and set back
		case len(d.Result.Rows) == 0 && operates:
		case len(d.Result.Rows) == 0:
			s.line(say.Verb(d.Result.Tool), ": ", t.EmptyText(d))
		case len(d.Refs) > 0:
			t.effect(s, d, nested, &left)
		}
	}
	t.measures(s)
	t.otherResults(s, &left)
}

// measures says what the numbers in a section's rows measure and what their codes mean, where their owner says it, once a prompt: 21180
// may be cents, and O is open.
func (t *page) measures(s *section) {
	kinds := map[*domain.Entity]bool{}
	for _, r := range t.Rows.ByRef {
		kinds[r.Kind] = true
	}
	text := s.body.String()
	for _, e := range t.Domain.Entities {
		for _, c := range e.Columns {
			if kinds[e] && !t.measured[c] && isExplained(text, c) {
				t.measured[c] = true
				s.line("(", c.Name, " of the ", e.Plural, ": ", clean.Inline(strings.TrimRight(c.Comment, "."), say.MaxFact), ")")
			}
		}
	}
}

// isExplained reports whether rows that a text shows have a number or a code of which the owner says what it means.
func isExplained(text string, c *domain.Column) bool {
	if coded := codeWords(c) != "" && !c.Hidden; !coded && !isMeasured(c) {
		return false
	}
	shown := func(code string) bool { return strings.Contains(text, " ["+code+"]") }

	return strings.Contains(text, " "+c.Name+":") || slices.ContainsFunc(c.Enum, shown)
}

// effect prints the rows that a call found or wrote. What is part of a row stands with it.
func (t *page) effect(s *section, d *view.Effect, nested map[string]bool, left *Tokens) {
	besides := ""
	if d.Again {
		besides = " besides those written in this turn"
	}
	s.line(say.Verb(d.Tool), " ", t.CountText(d), besides, ":")
	shown := 0
	for _, ref := range d.Refs {
		lines := t.effectLines(d.Tool, ref)
		switch {
		case !nested[ref] && !left.take(lines):
			s.shown(shown, len(d.Refs), "")

			return
		case !nested[ref]:
			s.item("current", ref, t.Number, lines)
		case t.ByRef[ref] != nil && vocab.Writes(d.Result.Tool):
			s.line("- ", t.ByRef[ref].Label, " (its values stand with the row that it is part of)")
		}
		shown++
	}
}

// effectLines are a row as a tool left it.
func (t *page) effectLines(tool, ref string) string {
	lines := t.PlainRow(ref)
	switch e := t.ByRef[ref]; {
	case tool == vocab.ToolDelete:
		lines, _, _ = strings.Cut(lines, "\n") // nobody asks for the details of what is gone
	case e != nil && e.Stale != "":
		lines = "- " + e.Label + " (" + e.Stale + " since)" // its old values no longer hold
	}

	return lines
}

// saveStatus keeps saved and unsaved apart.
func (t *page) saveStatus(s *section) {
	t.writtenLines(s, " in this turn")
	if len(t.WroteNothing()) > 0 {
		s.line("Nothing was saved, changed or deleted in this turn.")
	}
	var drafts []string
	for _, e := range t.Entities {
		if e.Pending() && e.Tier == "generated" {
			drafts = append(drafts, e.Label+" ("+t.Singular(e.EntityType)+")")
		}
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", say.Enumerate(drafts))
	}
	if labels := t.DroppedNow(); len(labels) > 0 {
		s.line("Discarded drafts: ", say.Enumerate(labels))
	}
}

// writtenLines names what this turn saved, changed and deleted.
func (t *page) writtenLines(s *section, when string) {
	written, _ := t.Written()
	for _, one := range written {
		s.line(one.Verb, when, ": ", one.Names)
	}
}

// otherResults prints totals and formulas, which are not domain rows, and the number of failed calls.
func (t *page) otherResults(s *section, left *Tokens) {
	failed := 0
	told := map[string]bool{}
	for _, r := range t.OwnResults() {
		switch {
		case r.IsNotice():
		case clean.Text(r.ErrorCode) == approvalNeeded: // the question says it
		case r.Failed() && slices.ContainsFunc(t.Steps, func(step *db.TurnSteps) bool { return step.Step == r.Step && (succeeded(step) || t.IsMadeUpFor(step)) }):
		case r.Failed():
			failed++
		case r.Tool == vocab.ToolRecall:
			t.recallLines(s, r, left, told)
		case vocab.CarriesRows(r.Tool) || r.Tool == vocab.ToolGenerate || len(r.Rows) == 0:
		default:
			line := t.totalsLine(r)
			if told[line] {
				continue
			}
			told[line] = true
			s.item("current", "", t.Number, left.takeCut(line))
		}
	}
	if failed > 0 {
		s.line("(", count(failed, "attempt"), " failed on the way)")
	}
}

// totalsLine words totals: of which rows they are, how many of them there are, and what their numbers measure.
func (t *page) totalsLine(r *view.Result) string {
	def := t.Domain.Entity(clean.Text(r.EntityType))
	if def == nil {
		return "Computed: " + clean.JSON(t.WithoutKeys(r))
	}
	line := clean.Inline(nodes.InWords(vocab.Call{Tool: r.Tool, Args: r.Params}, def.Plural), 2*say.MaxFact) + ": " + clean.JSON(namesInPlace(t.WithoutKeys(r)))
	if int(r.RowCount) > len(r.Rows) {
		line += ", the first " + strconv.Itoa(len(r.Rows)) + " of " + strconv.Itoa(int(r.RowCount))
	}
	for _, one := range gjson.GetBytes(r.Params, "aggregates").Array() {
		if c := def.ColumnOrPath(one.Get("column").Str); c != nil && isMeasured(c) {
			line += "; " + c.Name + ": " + clean.Inline(strings.TrimRight(c.Comment, "."), say.MaxFact)
		}
	}

	for _, name := range gjson.GetBytes(r.Params, "group_by").Array() {
		if c := def.ColumnOrPath(name.Str); c != nil && len(c.Enum) > 0 {
			line += clean.Inline(strings.Replace(codeWords(c), ":", "; "+c.Name+":", 1), say.MaxFact)
		}
	}

	return line
}

// namesInPlace puts what rows are called in the place of their refs, which replies do not show.
func namesInPlace(rows []map[string]any) []map[string]any {
	named := make([]map[string]any, len(rows))
	for i, row := range rows {
		named[i] = map[string]any{}
		for name, value := range row {
			if column := domain.Labelled(name); column != name || row["_"+name+"_label"] == nil {
				named[i][column] = value
			}
		}
	}

	return named
}

// approvalNeeded is the code of calls that wait for the user's word.
const approvalNeeded = "approval_needed"

// recallLines words what a search of the past found, each item once.
func (t *page) recallLines(s *section, r *view.Result, left *Tokens, told map[string]bool) {
	if len(r.Rows) == 0 {
		s.line("Looked back: nothing fits")
	}
	for _, found := range r.Rows {
		line := "Recalled: " + t.recalledLine(found)
		ref, number := t.recalledKey(found)
		if e := t.ByRef[ref]; e != nil {
			line = "Recalled: " + strings.TrimPrefix(t.PlainRow(ref), "- ") + " (" + t.Singular(e.EntityType) + ")"
		}
		if told[line] || !left.take(line) {
			continue
		}
		told[line] = true
		s.item("recalled", ref, number, line)
	}
}
