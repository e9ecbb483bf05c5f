package memory

import (
	"slices"
	"strings"

	"alfred/db"
)

// currentStep is what Act has to do now.
func (t *turn) currentStep(step *db.TurnSteps, position, total int) *section {
	s := newSection("## Current Step")
	s.line("Step ", itoa(position), " of ", itoa(total))
	s.line("Type: ", string(step.StepType))
	s.line("Subdomain: ", inline(step.Subdomain, shortLine))
	s.line("Description: ", inline(step.Description, 2*maxFact))
	if refs := t.refWords(step.Refs); refs != "" {
		s.line("Refs: ", refs)
	}
	if goal := inline(text(t.row.Goal), maxFact); goal != "" {
		s.line("Goal: ", goal)
	}
	s.line(`Request: "`, inline(t.withLabels(t.row.Message), 4*maxFact), `"`)
	s.line(t.today())
	if note := t.noteFor(step); note != "" {
		s.line("Note from the step before: ", note)
	}
	_, counted := t.calls(int(step.Step))
	s.line("Decisions left: ", itoa(max(0, t.memory.config.MaxCalls-counted)), " of ", itoa(t.memory.config.MaxCalls))
	s.because("current", "", t.number, s.body.String())

	return s
}

// noteFor is what the last finished step left for this one.
func (t *turn) noteFor(step *db.TurnSteps) string {
	for _, before := range slices.Backward(t.steps) {
		if before.Step < step.Step && before.Outcome != nil && *before.Outcome != db.StepOutcomeSkipped {
			return inline(text(before.Note), maxFact)
		}
	}

	return ""
}

// place is which step of the plan in force a step is, and how many it has. The
// steps that a replan dropped do not count.
func (t *turn) place(step int32) (position, total int) {
	for _, s := range t.steps {
		if s.Outcome != nil && *s.Outcome == db.StepOutcomeSkipped {
			continue
		}
		total++
		if s.Step <= step {
			position++
		}
	}

	return position, total
}

// stepInFull is how many finished steps show every call.
const stepInFull = 3

// stepResults is what this turn's tools returned. Rows stand in the table of
// entities; here is what was called and which refs came of it.
func (t *turn) stepResults() *section {
	s := newSection("## Step Results")
	byStep := map[int32][]*result{}
	for _, r := range t.results {
		if r.TurnID == t.row.ID && !r.isRecalled(t.row.ID) {
			byStep[r.Step] = append(byStep[r.Step], r)
		}
	}
	budget := t.memory.config.Budget.Results
	if inputs := byStep[0]; len(inputs) > 0 {
		s.line("Step 0 (before the plan, by the user)")
		t.calledTools(s, inputs, &budget)
	}
	var ran []*db.TurnSteps
	for _, step := range t.steps {
		if len(byStep[step.Step]) > 0 || step.Outcome != nil && *step.Outcome != db.StepOutcomeSkipped {
			ran = append(ran, step)
		}
	}
	for i, step := range ran {
		full := i >= len(ran)-stepInFull || step.StepType == db.StepTypeAnalyze
		t.stepResult(s, step, byStep[step.Step], full, &budget)
	}

	return s
}

func (t *turn) stepResult(s *section, step *db.TurnSteps, calls []*result, full bool, budget *int) {
	s.line("Step ", itoa(int(step.Step)), " (", string(step.StepType), ", ", inline(step.Subdomain, shortLine), "): ", outcomeWords(step))
	if conclusions := block(text(step.Conclusions)); conclusions != "" {
		s.line("Conclusions: ", conclusions)
	}
	if full {
		t.calledTools(s, calls, budget)
	} else if len(calls) > 0 {
		s.line("(", itoa(len(calls)), " calls, ", t.refWords(refsOf(calls)), ")")
	}
	s.because("current", "", t.number, text(step.Summary))
}

func refsOf(calls []*result) []string {
	var refs []string
	for _, r := range calls {
		refs = append(refs, r.Refs...)
	}

	return refs
}

// calledTools prints one line a call, and the rows of those that have no refs.
func (t *turn) calledTools(s *section, calls []*result, budget *int) {
	for _, r := range calls {
		line := t.calledTool(r)
		if tokens(line) > *budget {
			line = clip(line, max(shortLine, *budget*runesPerToken))
		}
		*budget -= tokens(line)
		s.line(line)
	}
}

// maxRefsNamed is up to how many refs a result names one by one.
const maxRefsNamed = 100

func (t *turn) calledTool(r *result) string {
	line := r.Tool
	if r.EntityType != nil {
		line += " " + *r.EntityType
	}
	if params := draftText(r.Params); params != "{}" && r.Tool != "generate" {
		line += " " + clip(params, 2*shortLine)
	}
	if r.failed() {
		return line + " → error " + text(r.ErrorCode) + ": " + inline(text(r.ErrorMessage), 2*maxFact)
	}
	line += " → " + count(int(r.RowCount), "row")
	if notice := r.notice(); notice != "" {
		line += " (" + notice + ")"
	}
	if int(r.RowCount) > len(r.rows) && carriesRows(r.Tool) {
		line += " (" + itoa(len(r.rows)) + " of " + itoa(int(r.RowCount)) + " shown)"
	}
	switch {
	case !carriesRows(r.Tool) && r.Tool != "generate" && len(r.rows) > 0:
		line += ": " + jsonText(t.guarded(r))
	case len(r.Refs) > maxRefsNamed:
		line += ": " + t.refWords(r.Refs)
	case len(r.Refs) > 0:
		line += ": " + strings.Join(r.Refs, ", ")
	case len(r.rows) > 0:
		line += ": " + jsonText(t.guarded(r))
	}

	return line
}

// notice is what the tool says of its result as a whole.
func (r *result) notice() string {
	if len(r.rows) == 0 || isEmpty(r.rows[0]["_notice"]) {
		return ""
	}

	return inline(plainValue(r.rows[0]["_notice"]), maxFact)
}

// guarded is rows without refs of their own (totals by recipe, formulas), with
// keys taken out wherever a column is known to hold some.
func (t *turn) guarded(r *result) []map[string]any {
	if r.EntityType == nil {
		return r.rows
	}
	def := t.memory.domain.ByType(*r.EntityType)
	if def == nil {
		return r.rows
	}
	rows := make([]map[string]any, len(r.rows))
	for i, columns := range r.rows {
		rows[i] = map[string]any{}
		for name, value := range columns {
			if t.shows(def, name) {
				rows[i][name] = t.guard(def, name, value)
			}
		}
	}

	return rows
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}

	return itoa(n) + " " + word + "s"
}

// justSaved are the drafts that became rows in this turn.
func (t *turn) justSaved() *section {
	s := newSection("## Just Saved This Turn")
	for _, e := range t.entities {
		if t.isJustSaved(e) {
			line := t.line(e, "", "")
			s.line(line)
			s.because("current", e.Ref, t.number, line)
		}
	}

	return s
}

func (t *turn) isJustSaved(e *entity) bool {
	return e.TurnPromoted != nil && *e.TurnPromoted == t.row.Number && e.State != db.RefStateDeleted
}

// firstSeenNow are the refs that this turn met first.
func (t *turn) firstSeenNow() *section {
	s := newSection("## This Turn")
	var fresh []*entity
	for _, e := range t.tier("recent") {
		if t.isNew(e) {
			fresh = append(fresh, e)
		}
	}
	budget := t.memory.config.Budget.Entities
	t.list(s, fresh, "current", &budget)

	return s
}

func (t *turn) isNew(e *entity) bool { return e.TurnCreated == t.row.Number && !t.isJustSaved(e) }
